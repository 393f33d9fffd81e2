//! Rights that are taken away while they are used: hub.toml is read again when it has changed, and calls whose token
//! it no longer admits end with the reason.

use std::fs::Metadata;
use std::future::Future;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::HeaderMap;
use http_body::{Frame, SizeHint};
use tokio::sync::watch;
use tonic::{Code, Status};

use super::{digest_of, shown, Digest, Gate, Tokens, METRICS};
use crate::settings::Settings;

/// Interval at which hub.toml is looked at. Its contents count when they are the same twice: an editor may be about
/// to write the rest.
const PERIOD: Duration = Duration::from_millis(200);

/// Lets the gate admit the tokens of hub.toml as it is now, until the process ends. `listen`: the hub's address.
pub async fn follow(gate: Arc<Gate>, file: PathBuf, listen: SocketAddr) {
    // It may have changed since the hub read it.
    let (mut read, mut seen) = (None, None);
    loop {
        tokio::time::sleep(PERIOD).await;
        let now = stamp(&file);
        let is_settled = now == seen;
        seen = now;
        if now == read || !is_settled {
            continue;
        }
        read = now;
        match Settings::load_tokens(&file, listen) {
            Ok(tokens) => gate.set_tokens(tokens),
            Err(error) => tracing::warn!("{error}; the tokens remain those of before"),
        }
    }
}

/// What differs after a file was written or replaced.
fn stamp(file: &Path) -> Option<(u64, u64, i64, i64)> {
    let stamp = |found: Metadata| (found.ino(), found.size(), found.mtime(), found.mtime_nsec());
    file.metadata().ok().map(stamp)
}

impl Gate {
    /// Admits these tokens from now on, and no others of hub.toml.
    pub fn set_tokens(&self, tokens: Tokens) {
        if *self.tokens.borrow() == tokens {
            return;
        }
        let names: Vec<&str> = tokens.0.iter().map(|token| &*token.name).collect();
        match names[..] {
            [] => tracing::warn!("hub.toml has no token any more: everyone on this machine may administer"),
            _ => tracing::info!("the tokens of hub.toml are now those of {}", names.join(", ")),
        }
        self.tokens.send_replace(tokens);
    }

    /// Ends when a change of the tokens takes the right to call a path from a client, and says why. `name`: the
    /// client's.
    pub fn revocation(
        self: &Arc<Self>,
        mut changes: watch::Receiver<Tokens>,
        path: String,
        digest: Option<Digest>,
        name: Option<Arc<str>>,
    ) -> Revocation {
        let gate = self.clone();
        Box::pin(async move {
            while changes.changed().await.is_ok() {
                let Err(mut status) = gate.check(&path, digest) else {
                    continue;
                };
                if let (Some(name), Code::Unauthenticated) = (&name, status.code()) {
                    status = Status::unauthenticated(format!("the token of {name} has been removed from hub.toml"));
                }
                tracing::info!(client = name.as_deref(), method = path, "ended: {}", status.message());
                return status;
            }
            std::future::pending().await
        })
    }

    /// As [`Gate::revocation`], of a client that stays to make calls, if the hub knows it.
    pub fn visit(self: &Arc<Self>, headers: &HeaderMap) -> Result<Revocation, Status> {
        let (changes, digest) = (self.tokens.subscribe(), shown(headers).map(digest_of));
        // A path that every role may call.
        let client = self.check(METRICS, digest)?;
        Ok(self.revocation(changes, METRICS.into(), digest, client.map(|(token, _)| token.name)))
    }
}

/// See [`Gate::revocation`].
pub type Revocation = Pin<Box<dyn Future<Output = Status> + Send>>;

/// A body that ends when the right to it is taken away.
pub struct RevocableBody {
    /// None when it has ended.
    inner: Option<(Body, Revocation)>,
}

impl RevocableBody {
    pub fn new(body: Body, revocation: Revocation) -> Self {
        Self {
            inner: Some((body, revocation)),
        }
    }
}

impl HttpBody for RevocableBody {
    type Error = axum::Error;
    type Data = Bytes;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some((body, revocation)) = &mut self.inner else {
            return Poll::Ready(None);
        };
        if let Poll::Ready(status) = revocation.as_mut().poll(context) {
            self.inner = None;
            let trailers = status.into_http::<()>().into_parts().0.headers;
            return Poll::Ready(Some(Ok(Frame::trailers(trailers))));
        }
        Pin::new(body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(|(body, _)| body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        self.inner
            .as_ref()
            .map_or(SizeHint::with_exact(0), |(body, _)| body.size_hint())
    }
}
