//! Login of a browser: a token becomes a cookie, which scripts cannot read and other sites cannot use.
//!
//! The cookie is the token, so that a browser stays logged in when the hub is started again, and is
//! logged out when the token is removed from hub.toml.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{header, Extensions, HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::Page;
use crate::access::{self, is_foreign, COOKIE};

/// Maximum length of a token.
const TOKEN_MAX: usize = 256;
/// Time for which a browser keeps the cookie, in seconds: 30 days.
const KEPT: u32 = 30 * 24 * 3600;

/// Who is logged in, and what there is to see.
pub async fn session(State(page): State<Page>, headers: HeaderMap) -> Response {
    let open = page.gate.is_open();
    let who = page.gate.client(&headers);
    let said = json!({
        "name": who.as_ref().map(|token| &*token.name),
        "role": match (&who, open) {
            (Some(token), _) => Some(token.role.name()),
            (None, true) => Some("administer"),
            (None, false) => None,
        },
        "login": !open,
        "laboratory": page.laboratory,
    });
    let kinds = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (kinds, said.to_string()).into_response()
}

/// Logs in with the token that is the body of the request.
pub async fn login(
    State(page): State<Page>,
    uri: Uri,
    headers: HeaderMap,
    extensions: Extensions,
    body: Bytes,
) -> Response {
    if is_foreign(&uri, &headers, &page.gate) {
        return StatusCode::FORBIDDEN.into_response();
    }
    let token = std::str::from_utf8(&body).map(str::trim).unwrap_or_default();
    if token.len() > TOKEN_MAX || page.gate.known(token).is_none() {
        let from = access::from(&extensions);
        page.gate
            .refusals
            .log(&from, uri.path(), "a login with an unknown token");
        return (StatusCode::UNAUTHORIZED, "this hub does not know that token").into_response();
    }
    ([(header::SET_COOKIE, cookie(&page, token, KEPT))], "").into_response()
}

/// Logs out.
pub async fn logout(State(page): State<Page>, uri: Uri, headers: HeaderMap) -> Response {
    if is_foreign(&uri, &headers, &page.gate) {
        return StatusCode::FORBIDDEN.into_response();
    }
    ([(header::SET_COOKIE, cookie(&page, "", 0))], "").into_response()
}

fn cookie(page: &Page, token: &str, seconds: u32) -> String {
    let secure = if page.secure { "; Secure" } else { "" };
    format!("{COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}")
}
