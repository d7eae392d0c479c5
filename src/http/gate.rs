//! Who may ask: the key, and the name by which the server is reached.

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
use crate::provider::SandboxId;

/// Bytes of a key, at least: what can be guessed is no key.
const KEY_BYTES: usize = 16;
/// Bytes of a token.
const TOKEN_BYTES: usize = 16;
/// Whoever watches a server, or reads about it, needs no key.
const OPEN: [&str; 2] = ["/health", "/openapi.json"];
/// Where the paths begin that carry a token of their own.
pub(super) const SANDBOX_PATH: &str = "/s/";

/// The secret that requests have to show. It is in no log and in no message.
#[derive(Clone)]
pub struct Key(Arc<[u8; 32]>);

impl Key {
    /// A key of at least 16 visible characters; white space around it does not count.
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

    /// Whether it is this one. By digests of one length, in a time that tells nothing.
    fn is(&self, text: &[u8]) -> bool {
        Sha256::digest(text).ct_eq(self.0.as_slice()).into()
    }

    /// What stands for the key in the address of one sandbox, for clients that send none.
    fn token(&self, id: SandboxId) -> String {
        // A key of any length will do for this construction.
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

/// The name of a sandbox in an address: its id, and the token if there is a key.
pub(super) fn access(app: &App, id: SandboxId) -> String {
    match &app.settings.key {
        Some(key) => format!("{id}-{}", key.token(id)),
        None => id.to_string(),
    }
}

/// The sandbox that an address names. The token was looked at before.
pub(super) fn accessed(name: &str) -> Result<SandboxId> {
    let id = name.split_once('-').map_or(name, |(id, _)| id);
    Ok(id.parse()?)
}

/// Lets those in that may ask.
pub(super) async fn guard(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> std::result::Result<Response, ApiError> {
    match &app.settings.key {
        None => known_host(&app, request.uri(), request.headers())?,
        Some(key) if !OPEN.contains(&request.uri().path()) => {
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
    own.or(bearer).is_some_and(|text| key.is(text))
}

fn has_token(key: &Key, path: &str) -> bool {
    let name = path.strip_prefix(SANDBOX_PATH).and_then(|rest| rest.split('/').next());
    let Some((id, token)) = name.and_then(|name| name.split_once('-')) else { return false };
    id.parse().is_ok_and(|id| key.token(id).as_bytes().ct_eq(token.as_bytes()).into())
}

/// Without a key, what keeps web pages out is that a browser says by what name it came here: a name of someone else's that
/// was made to lead to this machine is not one of ours.
fn known_host(app: &App, uri: &Uri, headers: &HeaderMap) -> Result<()> {
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
        assert!(key.is(b"0123456789abcdef") && !key.is(b"0123456789abcdeF") && !key.is(b""));
        assert_eq!(format!("{key:?}"), "Key");
        assert!(Key::new("short").is_err() && Key::new("0123456789 abcdef").is_err());
        let (one, other) = ("00000001".parse().unwrap(), "00000002".parse().unwrap());
        assert!(has_token(&key, &format!("/s/00000001-{}/v1/sandbox", key.token(one))));
        assert!(!has_token(&key, &format!("/s/00000001-{}/v1/sandbox", key.token(other))));
        assert!(!has_token(&key, "/s/00000001-/v1/sandbox") && !has_token(&key, "/s/00000001/v1/sandbox"));
    }
}
