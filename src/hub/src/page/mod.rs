//! The page in the browser (`src/page`): its files, which are part of this program, login by token
//! to a cookie ([`session`]), streams over one WebSocket ([`live`]), calls as gRPC-web ([`web`]), and files of runs
//! ([`download`]).

pub mod download;
pub mod files;
pub mod live;
pub mod session;
pub mod web;

use std::sync::Arc;

use axum::routing::{any, get, post};
use axum::Router;

use crate::access::Gate;
use files::Files;

/// What the routes of the page share.
#[derive(Clone)]
pub struct Page {
    pub gate: Arc<Gate>,
    pub files: Arc<Files>,
    /// Serves the calls of streams.
    pub calls: Router,
    /// Whether connections are encrypted.
    pub secure: bool,
    /// Whether the hub has a laboratory.
    pub laboratory: bool,
}

/// The routes of the page.
pub fn routes(page: Page) -> Router {
    Router::new()
        .route("/", get(files::index))
        .route("/{name}", get(files::file))
        .route("/assets/{name}", get(files::asset))
        .route("/session", get(session::session))
        .route("/login", post(session::login))
        .route("/logout", post(session::logout))
        .route("/live", any(live::live))
        .route("/runs/{rid}/file", get(download::run_file))
        .with_state(page)
}
