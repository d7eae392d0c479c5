//! Authentication: the API key, the token in a sandbox's address, and the host name without a key.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Uri, header};
use axum::middleware::Next;
use axum::response::Response;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::App;
use super::error::{ApiError, Kind, Result};
use crate::limits::server::http::KEY_BYTES;
use crate::provider::SandboxId;

/// Bytes of a token: half of an HMAC-SHA-256, which is as hard to guess as an AES-128 key.
const TOKEN_BYTES: usize = 16;
/// Paths that need no key: monitors and readers of the documentation have none.
const PUBLIC: [&str; 2] = ["/health", "/openapi.json"];
/// The start of paths that carry a token of their own.
pub(super) const SANDBOX_PATH: &str = "/s/";

/// The secret that requests must present. It appears in no log and no message.
#[derive(Clone)]
pub struct Key(Arc<[u8; 32]>);

impl Key {
    /// Makes a key of a text of at least 16 visible characters. Surrounding white space is ignored.
    pub fn new(text: &str) -> std::result::Result<Key, String> {
        let text = text.trim();
        if text.len() < KEY_BYTES {
            return Err(format!("a key has at least {KEY_BYTES} characters"));
        }
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("a key is made of visible ASCII characters".to_owned());
        }
        Ok(Key(Arc::new(Sha256::digest(text).into())))
    }

    /// Returns whether a text is this key. Digests of one length are compared in constant time.
    fn matches(&self, text: &[u8]) -> bool {
        Sha256::digest(text).ct_eq(self.0.as_slice()).into()
    }

    /// Returns the token that replaces the key in the URL of one sandbox, for clients that cannot send a key.
    fn token(&self, id: SandboxId) -> String {
        // HMAC takes keys of any length, so this does not fail.
        let Ok(mut mac) = <Hmac<Sha256> as KeyInit>::new_from_slice(self.0.as_slice()) else { return String::new() };
        mac.update(id.to_string().as_bytes());
        mac.finalize().into_bytes()[..TOKEN_BYTES].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

/// Returns the name of a sandbox in an address: its id, and its token if there is a key.
pub(super) fn sandbox_address(app: &App, id: SandboxId) -> String {
    match &app.settings.key {
        Some(key) => format!("{id}-{}", key.token(id)),
        None => id.to_string(),
    }
}

/// Parses the sandbox in an address. `authenticate` has checked the token already.
pub(super) fn sandbox_in_address(name: &str) -> Result<SandboxId> {
    let id = name.split_once('-').map_or(name, |(id, _)| id);
    Ok(id.parse()?)
}

/// Refuses requests without the key, or, if there is no key, requests by a foreign host name.
pub(super) async fn authenticate(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> std::result::Result<Response, ApiError> {
    match &app.settings.key {
        None => check_host(&app, request.uri(), request.headers())?,
        Some(key) if !PUBLIC.contains(&request.uri().path()) => {
            if !has_key(key, request.headers()) && !has_token(key, request.uri().path()) {
                return Err(ApiError::new(Kind::Unauthorized, "no key, or a wrong one: Authorization: Bearer KEY"));
            }
        }
        Some(_) => {}
    }
    Ok(next.run(request).await)
}

fn has_key(key: &Key, headers: &HeaderMap) -> bool {
    let own = headers.get("x-api-key").map(|value| value.as_bytes());
    let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.as_bytes().split_at_checked(7));
    let bearer = bearer.filter(|(scheme, _)| scheme.eq_ignore_ascii_case(b"bearer ")).map(|(_, text)| text);
    own.or(bearer).is_some_and(|text| key.matches(text))
}

fn has_token(key: &Key, path: &str) -> bool {
    let name = path.strip_prefix(SANDBOX_PATH).and_then(|rest| rest.split('/').next());
    let Some((id, token)) = name.and_then(|name| name.split_once('-')) else { return false };
    id.parse().is_ok_and(|id| key.token(id).as_bytes().ct_eq(token.as_bytes()).into())
}

/// Refuses host names and origins that are not this machine's. Without a key this keeps web pages out: a browser sends
/// the host name of the page, also if that name was made to resolve to this machine (DNS rebinding).
fn check_host(app: &App, uri: &Uri, headers: &HeaderMap) -> Result<()> {
    let text = |name| headers.get(name).map(|value: &header::HeaderValue| value.to_str().unwrap_or("?"));
    let host = uri.authority().map(|authority| authority.as_str()).or_else(|| text(header::HOST)).unwrap_or_default();
    let origin = text(header::ORIGIN).map(|origin| origin.split_once("://").map_or("", |(_, host)| host));
    let public = app.settings.public_url.as_deref().and_then(|url| url.split_once("://")).map(|(_, host)| host);
    for name in [Some(host), origin].into_iter().flatten() {
        if !is_loopback(name) && Some(name) != public {
            return Err(ApiError::new(
                Kind::Forbidden,
                "without a key this server is for its own machine, as localhost",
            ));
        }
    }
    Ok(())
}

fn is_loopback(authority: &str) -> bool {
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    };
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_loopback() {
        for name in ["localhost", "LOCALHOST:7070", "127.0.0.1", "127.0.0.1:80", "127.9.9.9", "[::1]", "[::1]:7070"] {
            assert!(is_loopback(name), "{name}");
        }
        for name in
            ["", "example.com", "localhost.example.com", "127.0.0.1.example.com", "0.0.0.0:80", "localhost:x", "::2"]
        {
            assert!(!is_loopback(name), "{name}");
        }
    }

    #[test]
    fn a_key_is_long_and_visible_and_never_shown() {
        let key = Key::new(" 0123456789abcdef\n").unwrap();
        assert!(key.matches(b"0123456789abcdef") && !key.matches(b"0123456789abcdeF") && !key.matches(b""));
        assert_eq!(format!("{key:?}"), "Key");
        assert!(Key::new("short").is_err() && Key::new("0123456789 abcdef").is_err());
        let (one, other) = ("00000001".parse().unwrap(), "00000002".parse().unwrap());
        assert!(has_token(&key, &format!("/s/00000001-{}/v1/sandbox", key.token(one))));
        assert!(!has_token(&key, &format!("/s/00000001-{}/v1/sandbox", key.token(other))));
        assert!(!has_token(&key, "/s/00000001-/v1/sandbox") && !has_token(&key, "/s/00000001/v1/sandbox"));
    }
}
