//! Refusals of a request: one table of kinds, one JSON shape.

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

/// A refusal: its kind and a message of one line.
#[derive(Debug)]
pub(super) struct ApiError {
    pub(super) kind: Kind,
    pub(super) message: String,
}

/// Makes the table of kinds, each with its word and its status.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident, $word:literal, $status:ident;)*) => {
        /// The reason of a refusal, as a word that a program can act upon.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub(super) enum Kind {
            $($(#[$doc])* #[serde(rename = $word)] $kind,)*
        }

        impl Kind {
            const ALL: &[(&str, StatusCode)] = &[$(($word, StatusCode::$status),)*];

            /// Returns the HTTP status of the kind.
            pub(super) fn status(self) -> StatusCode {
                match self {
                    $(Kind::$kind => StatusCode::$status,)*
                }
            }
        }
    };
}

kinds! {
    /// The route does not take such a request.
    BadRequest, "bad_request", BAD_REQUEST;
    /// The key is missing or wrong.
    Unauthorized, "unauthorized", UNAUTHORIZED;
    /// The host name is not one of this server.
    Forbidden, "forbidden", FORBIDDEN;
    /// The file may not be accessed, or a layer refused the call.
    PermissionDenied, "permission_denied", FORBIDDEN;
    /// There is no such route, sandbox or session.
    NotFound, "not_found", NOT_FOUND;
    /// There is no such file.
    FileNotFound, "file_not_found", NOT_FOUND;
    /// The route does not take this method.
    MethodNotAllowed, "method_not_allowed", METHOD_NOT_ALLOWED;
    /// The body did not arrive in time.
    RequestTimeout, "request_timeout", REQUEST_TIMEOUT;
    /// Another process has leased the sandbox.
    InUse, "in_use", CONFLICT;
    /// It exists already.
    Exists, "exists", CONFLICT;
    /// Another writer changed the file in between.
    Conflict, "conflict", CONFLICT;
    /// The session's shell has ended.
    SessionEnded, "session_ended", CONFLICT;
    /// The record of the sandbox is damaged.
    Damaged, "damaged", CONFLICT;
    /// The body or a file is too large.
    TooLarge, "too_large", PAYLOAD_TOO_LARGE;
    /// The body is not JSON.
    MediaType, "unsupported_media_type", UNSUPPORTED_MEDIA_TYPE;
    /// The path is not valid.
    InvalidPath, "invalid_path", UNPROCESSABLE_ENTITY;
    /// The path is a directory, and a file was expected.
    IsDirectory, "is_directory", UNPROCESSABLE_ENTITY;
    /// The path is not a directory.
    NotADirectory, "not_a_directory", UNPROCESSABLE_ENTITY;
    /// The path is neither a file nor a directory.
    NotRegular, "not_regular", UNPROCESSABLE_ENTITY;
    /// The file is not text.
    NotText, "not_text", UNPROCESSABLE_ENTITY;
    /// The text to replace is empty.
    TextEmpty, "text_empty", UNPROCESSABLE_ENTITY;
    /// The text to replace was not found.
    TextNotFound, "text_not_found", UNPROCESSABLE_ENTITY;
    /// The text to replace was found more than once.
    TextAmbiguous, "text_ambiguous", UNPROCESSABLE_ENTITY;
    /// The page starts after the last line.
    PastEnd, "past_end", UNPROCESSABLE_ENTITY;
    /// The pattern is not valid.
    InvalidPattern, "invalid_pattern", UNPROCESSABLE_ENTITY;
    /// The command cannot be started.
    InvalidCommand, "invalid_command", UNPROCESSABLE_ENTITY;
    /// A limit of the sandbox is exceeded.
    Limit, "limit", UNPROCESSABLE_ENTITY;
    /// The snapshot is damaged, or no snapshot.
    InvalidSnapshot, "invalid_snapshot", UNPROCESSABLE_ENTITY;
    /// This server does not support the request.
    Unsupported, "unsupported", UNPROCESSABLE_ENTITY;
    /// There are too many sessions.
    TooMany, "too_many", TOO_MANY_REQUESTS;
    /// The server has failed.
    Internal, "internal", INTERNAL_SERVER_ERROR;
    /// The process of the sandbox died. Running commands are lost; files are not.
    WorkerDied, "worker_died", BAD_GATEWAY;
    /// There are too many requests or sandboxes: the client may try again.
    Overloaded, "overloaded", SERVICE_UNAVAILABLE;
    /// The operation took too long.
    TimedOut, "timed_out", GATEWAY_TIMEOUT;
    /// The disk of the sandbox is full.
    NoSpace, "no_space", INSUFFICIENT_STORAGE;
}

impl PartialSchema for Kind {
    fn schema() -> RefOr<Schema> {
        let words = Kind::ALL.iter().map(|(word, _)| *word);
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words)).into()
    }
}

impl ToSchema for Kind {}

/// The JSON of a refusal.
#[derive(Serialize, Deserialize, ToSchema)]
#[schema(as = Error)]
pub(super) struct ErrorBody {
    error: ErrorDetail,
}

/// Kind and message of a refusal.
#[derive(Serialize, Deserialize, ToSchema)]
struct ErrorDetail {
    kind: Kind,
    message: String,
}

impl ApiError {
    pub(super) fn new(kind: Kind, message: impl Into<String>) -> ApiError {
        ApiError { kind, message: message.into() }
    }

    /// Returns the seconds after which another attempt makes sense.
    pub(super) fn retry_after(&self) -> Option<HeaderValue> {
        (self.kind.status() == StatusCode::SERVICE_UNAVAILABLE).then(|| HeaderValue::from_static("1"))
    }

    /// Sets the status and the headers of a refusal.
    pub(super) fn with_headers(&self, mut response: Response) -> Response {
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
        self.with_headers(Json(ErrorBody { error: detail }).into_response())
    }
}

/// Restores a refusal that came from a worker.
impl From<ErrorBody> for ApiError {
    fn from(ErrorBody { error }: ErrorBody) -> ApiError {
        ApiError::new(error.kind, error.message)
    }
}

impl From<BackendError> for ApiError {
    fn from(error: BackendError) -> ApiError {
        use BackendError as E;
        let kind = match &error {
            E::File { errno, .. } => kind_of_errno(*errno),
            E::NotRegular(_) => Kind::NotRegular,
            E::NotText(_) => Kind::NotText,
            E::EmptyText(_) => Kind::TextEmpty,
            E::TextNotFound(_) => Kind::TextNotFound,
            E::Ambiguous { .. } => Kind::TextAmbiguous,
            E::Conflict(_) => Kind::Conflict,
            E::PastEnd { .. } => Kind::PastEnd,
            E::TooLarge { .. } => Kind::TooLarge,
            E::Pattern { .. } => Kind::InvalidPattern,
            // The sandbox was released or deleted in between: another attempt leases it, or finds that it is gone.
            E::Refused { layer: "provider", .. } => Kind::Overloaded,
            E::Refused { .. } => Kind::PermissionDenied,
            E::TimedOut(_) => Kind::TimedOut,
            E::Execute(error) => kind_of_execute(error),
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
            // No sandbox can have such an id.
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

fn kind_of_errno(errno: Errno) -> Kind {
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

fn kind_of_execute(error: &ExecuteError) -> Kind {
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

    /// docs/http.md lists the kinds by status.
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
