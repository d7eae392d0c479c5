//! Why a request was refused: one table of kinds, one shape.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::backend::BackendError;
use crate::error::Errno;
use crate::provider::ProviderError;
use crate::sandbox::ExecuteError;

/// The result of a route.
pub(super) type Result<T> = std::result::Result<T, ApiError>;

/// A refusal: what kind, and one line about it.
#[derive(Debug)]
pub(super) struct ApiError {
    pub(super) kind: Kind,
    pub(super) message: String,
}

/// The table: each kind with its word and its status.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident, $word:literal, $status:ident;)*) => {
        /// Why, in a word that a program can act upon.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub(super) enum Kind {
            $($(#[$doc])* #[serde(rename = $word)] $kind,)*
        }

        impl Kind {
            const ALL: &[(&str, StatusCode)] = &[$(($word, StatusCode::$status),)*];

            /// The status that goes with it.
            pub(super) fn status(self) -> StatusCode {
                match self {
                    $(Kind::$kind => StatusCode::$status,)*
                }
            }
        }
    };
}

kinds! {
    /// The request is not what the route takes.
    BadRequest, "bad_request", BAD_REQUEST;
    /// No key, or a wrong one.
    Unauthorized, "unauthorized", UNAUTHORIZED;
    /// By a name that this server is not known by.
    Forbidden, "forbidden", FORBIDDEN;
    /// The file may not be touched, or a layer said no.
    PermissionDenied, "permission_denied", FORBIDDEN;
    /// No such route, sandbox or session.
    NotFound, "not_found", NOT_FOUND;
    /// No such file.
    FileNotFound, "file_not_found", NOT_FOUND;
    /// The route has other methods.
    MethodNotAllowed, "method_not_allowed", METHOD_NOT_ALLOWED;
    /// The body did not come.
    RequestTimeout, "request_timeout", REQUEST_TIMEOUT;
    /// Another process has the sandbox.
    InUse, "in_use", CONFLICT;
    /// It is there already.
    Exists, "exists", CONFLICT;
    /// Someone else changed the file meanwhile.
    Conflict, "conflict", CONFLICT;
    /// The session's shell has ended.
    SessionEnded, "session_ended", CONFLICT;
    /// The record of the sandbox is not one.
    Damaged, "damaged", CONFLICT;
    /// The body, or a file, has too many bytes.
    TooLarge, "too_large", PAYLOAD_TOO_LARGE;
    /// A body that is not JSON.
    MediaType, "unsupported_media_type", UNSUPPORTED_MEDIA_TYPE;
    /// What a path can not be.
    InvalidPath, "invalid_path", UNPROCESSABLE_ENTITY;
    /// A file was meant.
    IsDirectory, "is_directory", UNPROCESSABLE_ENTITY;
    /// A directory was meant.
    NotADirectory, "not_a_directory", UNPROCESSABLE_ENTITY;
    /// Neither file nor directory.
    NotRegular, "not_regular", UNPROCESSABLE_ENTITY;
    /// Text was meant.
    NotText, "not_text", UNPROCESSABLE_ENTITY;
    /// The text to replace is nothing.
    TextEmpty, "text_empty", UNPROCESSABLE_ENTITY;
    /// The text to replace is not there.
    TextNotFound, "text_not_found", UNPROCESSABLE_ENTITY;
    /// The text to replace is there more than once.
    TextAmbiguous, "text_ambiguous", UNPROCESSABLE_ENTITY;
    /// The page starts behind the last line.
    PastEnd, "past_end", UNPROCESSABLE_ENTITY;
    /// Not a pattern.
    InvalidPattern, "invalid_pattern", UNPROCESSABLE_ENTITY;
    /// The command can not be started.
    InvalidCommand, "invalid_command", UNPROCESSABLE_ENTITY;
    /// More than a limit of the sandbox.
    Limit, "limit", UNPROCESSABLE_ENTITY;
    /// Not a snapshot, or a damaged one.
    InvalidSnapshot, "invalid_snapshot", UNPROCESSABLE_ENTITY;
    /// Something that this server does not do.
    Unsupported, "unsupported", UNPROCESSABLE_ENTITY;
    /// As many sessions as there may be.
    TooMany, "too_many", TOO_MANY_REQUESTS;
    /// Something is wrong with this server.
    Internal, "internal", INTERNAL_SERVER_ERROR;
    /// The process that the sandbox was in has died. What ran is lost; its files are not.
    WorkerDied, "worker_died", BAD_GATEWAY;
    /// As many requests or sandboxes as there may be: try again.
    Overloaded, "overloaded", SERVICE_UNAVAILABLE;
    /// The operation took too long.
    TimedOut, "timed_out", GATEWAY_TIMEOUT;
    /// The sandbox's disk is full.
    NoSpace, "no_space", INSUFFICIENT_STORAGE;
}

impl PartialSchema for Kind {
    fn schema() -> RefOr<Schema> {
        let words = Kind::ALL.iter().map(|(word, _)| *word);
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words)).into()
    }
}

impl ToSchema for Kind {}

/// What every refusal looks like.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(as = Error)]
pub(super) struct ErrorBody {
    error: ErrorDetail,
}

/// What was wrong.
#[derive(Serialize, Deserialize, ToSchema)]
struct ErrorDetail {
    kind: Kind,
    message: String,
}

impl ApiError {
    pub(super) fn new(kind: Kind, message: impl Into<String>) -> ApiError {
        ApiError { kind, message: message.into() }
    }

    /// Seconds after which it may be worth another try.
    pub(super) fn retry_after(&self) -> Option<HeaderValue> {
        (self.kind.status() == StatusCode::SERVICE_UNAVAILABLE).then(|| HeaderValue::from_static("1"))
    }

    /// Puts what belongs to a refusal of this kind into the head of an answer.
    pub(super) fn dress(&self, mut response: Response) -> Response {
        *response.status_mut() = self.kind.status();
        if let Some(seconds) = self.retry_after() {
            response.headers_mut().insert(header::RETRY_AFTER, seconds);
        }
        if self.kind == Kind::Unauthorized {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let detail = ErrorDetail { kind: self.kind, message: self.message.clone() };
        self.dress(Json(ErrorBody { error: detail }).into_response())
    }
}

/// A refusal that came from a worker.
impl From<ErrorBody> for ApiError {
    fn from(ErrorBody { error }: ErrorBody) -> ApiError {
        ApiError::new(error.kind, error.message)
    }
}

impl From<BackendError> for ApiError {
    fn from(error: BackendError) -> ApiError {
        use BackendError as E;
        let kind = match &error {
            E::File { errno, .. } => of_errno(*errno),
            E::NotRegular(_) => Kind::NotRegular,
            E::NotText(_) => Kind::NotText,
            E::EmptyText(_) => Kind::TextEmpty,
            E::TextNotFound(_) => Kind::TextNotFound,
            E::Ambiguous { .. } => Kind::TextAmbiguous,
            E::Conflict(_) => Kind::Conflict,
            E::PastEnd { .. } => Kind::PastEnd,
            E::TooLarge { .. } => Kind::TooLarge,
            E::Pattern { .. } => Kind::InvalidPattern,
            // The sandbox was released or deleted meanwhile: who asks again gets it, or hears that it has gone.
            E::Refused { layer: "provider", .. } => Kind::Overloaded,
            E::Refused { .. } => Kind::PermissionDenied,
            E::TimedOut(_) => Kind::TimedOut,
            E::Execute(error) => of_execute(error),
            E::ExecutesNothing | E::Unsupported(_) => Kind::Unsupported,
            E::WorkerDied(_) => Kind::WorkerDied,
            E::Transport { .. } => Kind::Internal,
        };
        ApiError::new(kind, error.to_string())
    }
}

impl From<ProviderError> for ApiError {
    fn from(error: ProviderError) -> ApiError {
        use ProviderError as E;
        let kind = match &error {
            // A sandbox of that name cannot be there.
            E::InvalidId | E::NotFound(_) => Kind::NotFound,
            E::InvalidName { .. } => Kind::BadRequest,
            E::InUse(_) | E::NotLeased(_) | E::OtherOwner(_) => Kind::InUse,
            E::AllLeased(_) | E::ShutDown => Kind::Overloaded,
            E::Damaged { .. } => Kind::Damaged,
            E::Copy(_) => Kind::NoSpace,
            E::Build(_) | E::Archive(_) | E::Host { .. } => Kind::Internal,
            E::Backend(_) => match error {
                E::Backend(error) => return error.into(),
                _ => Kind::Internal,
            },
        };
        ApiError::new(kind, error.to_string())
    }
}

fn of_errno(errno: Errno) -> Kind {
    match errno {
        Errno::NoEntry => Kind::FileNotFound,
        Errno::Access | Errno::NotPermitted | Errno::ReadOnly => Kind::PermissionDenied,
        Errno::IsDirectory => Kind::IsDirectory,
        Errno::NotDirectory => Kind::NotADirectory,
        Errno::Exist | Errno::NotEmpty => Kind::Exists,
        Errno::Busy | Errno::Again => Kind::Conflict,
        Errno::NoSpace | Errno::Quota => Kind::NoSpace,
        Errno::FileTooLarge => Kind::TooLarge,
        Errno::TimedOut => Kind::TimedOut,
        Errno::Io | Errno::TooManyFiles | Errno::NoMemory => Kind::Internal,
        _ => Kind::InvalidPath,
    }
}

fn of_execute(error: &ExecuteError) -> Kind {
    match error {
        ExecuteError::Limit(_) => Kind::Limit,
        ExecuteError::Ended => Kind::SessionEnded,
        ExecuteError::Host(_) | ExecuteError::WithinRuntime => Kind::Internal,
        _ => Kind::InvalidCommand,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// docs/http.md has the table of kinds, by status.
    #[test]
    fn the_documentation_has_every_kind() {
        let mut rows = std::collections::BTreeMap::<u16, Vec<&str>>::new();
        for (word, status) in Kind::ALL {
            rows.entry(status.as_u16()).or_default().push(word);
        }
        let docs = include_str!("../../docs/http.md");
        for (status, words) in rows {
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            let row = format!("| {status} | {} |\n", words.join(", "));
            assert!(docs.contains(&row), "docs/http.md lacks this row:\n{row}");
        }
    }
}
