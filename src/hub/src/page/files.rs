//! The files of the page, which `make page` builds and the build script of this program embeds.

use std::borrow::Cow;
use std::path::PathBuf;

use axum::extract::{Path, State};
use axum::http::{header, HeaderMap, StatusCode};
use axum::response::{Html, IntoResponse, Response};

use super::Page;

/// Name, contents, and whether they are compressed by gzip.
static EMBEDDED: &[(&str, &[u8], bool)] = &include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// Everything comes from the hub itself; no script and no style within a page.
const POLICY: &str = "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
                      connect-src 'self'; worker-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; \
                      frame-ancestors 'none'";

const MISSING: &str = "<!doctype html><html lang=\"en\"><title>Kairos</title><p>This hub was built without its page: \
                       install Node.js, then run <code>make page hub</code>.</p></html>";

/// Where the files are.
#[derive(Debug)]
pub enum Files {
    /// In the program.
    Embedded,
    /// In a folder, for work on the page.
    Folder(PathBuf),
}

impl Files {
    fn get(&self, name: &str) -> Option<(Cow<'static, [u8]>, bool)> {
        match self {
            Self::Embedded => EMBEDDED
                .iter()
                .find(|(known, ..)| *known == name)
                .map(|&(_, contents, compressed)| (contents.into(), compressed)),
            Self::Folder(folder) => {
                let inside = name.split('/').all(|part| !part.is_empty() && !part.starts_with('.'));
                let read = |name: &str| std::fs::read(folder.join(name)).ok();
                let found = match inside {
                    true => read(name).map(|contents| (contents, false)),
                    false => None,
                };
                let (contents, compressed) = match (found, inside) {
                    (None, true) => (read(&format!("{name}.gz"))?, true),
                    (found, _) => found?,
                };
                Some((contents.into(), compressed))
            }
        }
    }
}

/// The page.
pub async fn index(State(page): State<Page>, headers: HeaderMap) -> Response {
    match page.files.get("index.html") {
        Some(_) => respond(&page, "index.html", &headers, false),
        None => with_policy(Html(MISSING).into_response()),
    }
}

/// A file next to the page.
pub async fn file(State(page): State<Page>, Path(name): Path<String>, headers: HeaderMap) -> Response {
    respond(&page, &name, &headers, false)
}

/// A file whose name contains a hash of its contents.
pub async fn asset(State(page): State<Page>, Path(name): Path<String>, headers: HeaderMap) -> Response {
    respond(&page, &format!("assets/{name}"), &headers, true)
}

fn respond(page: &Page, name: &str, headers: &HeaderMap, immutable: bool) -> Response {
    let Some((contents, compressed)) = page.files.get(name) else {
        return with_policy(StatusCode::NOT_FOUND.into_response());
    };
    let accepted = headers
        .get(header::ACCEPT_ENCODING)
        .and_then(|value| value.to_str().ok());
    if compressed && !accepted.is_some_and(|accepted| accepted.contains("gzip")) {
        let text = "this file is sent compressed by gzip, which the client does not accept\n";
        return (StatusCode::NOT_ACCEPTABLE, text).into_response();
    }
    let cached = if immutable {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let mut response = contents.into_response();
    let set = response.headers_mut();
    set.insert(
        header::CONTENT_TYPE,
        kind(name).parse().expect("a constant is a header"),
    );
    set.insert(header::CACHE_CONTROL, cached.parse().expect("a constant is a header"));
    if compressed {
        set.insert(
            header::CONTENT_ENCODING,
            "gzip".parse().expect("a constant is a header"),
        );
    }
    with_policy(response)
}

fn with_policy(mut response: Response) -> Response {
    let set = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        set.insert(name, value.parse().expect("a constant is a header"));
    }
    response
}

fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, end)| end) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json" | "webmanifest") => "application/json",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_outside_the_folder_are_not_served() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("secret"), "s").unwrap();
        let page = folder.path().join("page");
        std::fs::create_dir(&page).unwrap();
        std::fs::write(page.join("a.js"), "a").unwrap();
        let files = Files::Folder(page);
        assert!(files.get("a.js").is_some());
        for name in [
            "../secret",
            "/etc/passwd",
            "assets/../../secret",
            "..",
            "",
            ".hidden",
            "none",
        ] {
            assert!(files.get(name).is_none(), "{name}");
        }
    }
}
