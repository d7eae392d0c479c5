//! Answers the requests of the protocol with the tools.

use std::borrow::Cow;
use std::sync::Arc;

use hyper::http::request::Parts;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, Implementation, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;

use super::progress::Progress;
use super::session::{ClientSession, SessionTemplate};
use super::session_table::{ClientSessions, SESSION_ID};
use super::tools::{self, Call, Refusal};
use crate::limits::server::mcp as limits;

/// The text that every client gets first.
const INSTRUCTIONS: &str = "A sandbox with a bash shell and GNU programs, in memory and without a network. \
    `execute` runs commands in one shell that keeps its directory, variables and background jobs between calls; the \
    other tools work on the same files without a command. `snapshot` keeps the files under a name, `fork` goes back to \
    such a state; \"start\" is the initial state of the sandbox.";

/// Answers one client over stdio, or all clients over HTTP.
#[derive(Clone)]
pub(super) struct Server {
    pub(super) template: Arc<SessionTemplate>,
    pub(super) clients: Clients,
}

/// The sessions of the server's clients.
#[derive(Clone)]
pub(super) enum Clients {
    /// One client, and so one session.
    One(Arc<ClientSession>),
    /// Many clients. The header of a request names the session.
    Many(Arc<ClientSessions>),
}

impl Server {
    fn session(&self, context: &RequestContext<RoleServer>) -> Result<Arc<ClientSession>, ErrorData> {
        let sessions = match &self.clients {
            Clients::One(session) => return Ok(Arc::clone(session)),
            Clients::Many(sessions) => sessions,
        };
        let parts = context.extensions.get::<Parts>();
        let id = parts.and_then(|parts| parts.headers.get(SESSION_ID)).and_then(|id| id.to_str().ok());
        let session = id.and_then(|id| sessions.get(id));
        session.ok_or_else(|| ErrorData::invalid_request("no session: send `initialize` first", None))
    }

    fn offers(&self) -> impl Iterator<Item = &'static tools::Entry> {
        let has_commit = self.template.has_commit();
        tools::TOOLS.iter().filter(move |entry| has_commit || entry.name != tools::COMMIT)
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut instructions = INSTRUCTIONS.to_owned();
        if cfg!(feature = "python") {
            instructions.push_str(" There is python3, with its standard library.");
        }
        instructions.push_str(&format!("\nCommands start in {}, and relative paths begin there.", self.template.cwd()));
        for line in self.template.mounts() {
            instructions.push('\n');
            instructions.push_str(line);
        }
        let mut implementation = Implementation::new("isopod", env!("CARGO_PKG_VERSION"));
        implementation.title = Some("Isopod sandbox".to_owned());
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(implementation)
            .with_instructions(instructions)
    }

    /// The revision of 2026-07-28 has no sessions over HTTP, and a sandbox that lasts for one request is useless:
    /// clients have to speak an earlier one. Over stdio the connection is the session in every revision.
    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        match self.clients {
            Clients::One(_) => Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS),
            Clients::Many(_) => Cow::Borrowed(ProtocolVersion::known_up_to(&ProtocolVersion::V_2025_11_25)),
        }
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.offers().map(|entry| (entry.describe)()).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.offers().find(|entry| entry.name == name).map(|entry| (entry.describe)())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(entry) = self.offers().find(|entry| entry.name == request.name) else {
            return Err(ErrorData::invalid_params(format!("unknown tool: {:?}", request.name), None));
        };
        let session = self.session(&context)?;
        let Ok(_permit) = session.calls.try_acquire() else {
            let busy = Refusal(format!("{} calls are running: wait for one of them", limits::CALLS));
            return Ok(busy.into_result().into());
        };
        let call = Call { session: Arc::clone(&session), progress: Progress::of(&context) };
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        tokio::select! {
            result = (entry.call)(arguments, call) => Ok(result.into()),
            // Dropping the call's future ends the work. A client that cancels waits for no answer.
            () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
            () = session.closed.cancelled() => Err(ErrorData::internal_error("the session has ended", None)),
        }
    }
}
