//! Access control: each method requires a role (`proto/`), and each client presents a token with
//! one: as metadata, or as the cookie of a browser that has logged in. What a browser sends for the
//! page of another site is refused.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{header, Extensions, HeaderMap, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use sha2::Sha256;
use tokio::sync::{watch, OwnedSemaphorePermit, Semaphore};
use tonic::transport::server::TcpConnectInfo;
use tonic::Status;

use crate::body::PermitBody;
use revocation::RevocableBody;

pub mod revocation;

/// The rights of a client. Each role includes the preceding ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    #[serde(alias = "look")]
    View,
    Operate,
    Administer,
}

impl Role {
    /// Its name in hub.toml.
    pub fn name(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Operate => "operate",
            Self::Administer => "administer",
        }
    }
}

/// Path and required role of each method of the hub's protocol.
const METHODS: &[(&str, Role)] = &include!(concat!(env!("OUT_DIR"), "/methods.rs"));
/// Other paths that the hub serves to clients with the role `view`.
const VIEW_PATHS: [&str; 3] = ["/grpc.health.v1.Health/", "/grpc.reflection.v1", METRICS];
/// The only path with a role that is not a gRPC method.
pub const METRICS: &str = "/metrics";

/// Methods of the services that gRPC itself defines, as far as the hub has them.
const COMMON_METHODS: [&str; 5] = [
    "/grpc.health.v1.Health/Check",
    "/grpc.health.v1.Health/List",
    "/grpc.health.v1.Health/Watch",
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
];

/// Whether the hub itself has a method with this path.
pub fn is_method(path: &str) -> bool {
    path == METRICS || COMMON_METHODS.contains(&path) || METHODS.iter().any(|&(method, _)| method == path)
}

/// Refused calls that are logged in each [`ROUND`]; further ones are only counted.
const REFUSALS_LOGGED: u32 = 10;
const ROUND: Duration = Duration::from_secs(60);
/// Maximum number of characters of a path in the log.
const PATH_SHOWN: usize = 120;

/// Refused calls of a round. Anybody can make any number of them.
#[derive(Debug, Default)]
pub struct Refusals(Mutex<Option<(Instant, u32)>>);

impl Refusals {
    /// Counts a refused call at the time `now`. Returns whether to log it, and how many calls of
    /// the previous round were not logged.
    fn count(&self, now: Instant) -> (bool, u32) {
        let mut round = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut unlisted = 0;
        let (began, count) = round.get_or_insert((now, 0));
        if now.duration_since(*began) >= ROUND {
            unlisted = count.saturating_sub(REFUSALS_LOGGED);
            (*began, *count) = (now, 0);
        }
        *count = count.saturating_add(1);
        (*count <= REFUSALS_LOGGED, unlisted)
    }

    /// Counts a refused call, and logs why, unless there were too many.
    pub fn log(&self, from: &str, path: &str, why: &str) {
        let (is_logged, unlisted) = self.count(Instant::now());
        if unlisted > 0 {
            tracing::warn!("refused {unlisted} more calls, which are not listed");
        }
        if is_logged {
            let shown: String = path.chars().take(PATH_SHOWN).collect();
            tracing::warn!(from, method = shown, "refused: {why}");
        }
    }
}

/// Cookie of a browser that has logged in; its value is the token.
pub const COOKIE: &str = "kairos-token";

/// Maximum number of concurrent calls of a plugin to the hub.
const PLUGIN_CALLS: usize = 16;

/// The caller's name, for inner services.
#[derive(Clone, Debug)]
pub struct Caller(pub Arc<str>);

/// SHA-256 of a token.
type Digest = [u8; 32];

fn digest_of(token: &str) -> Digest {
    <Sha256 as sha2::Digest>::digest(token).into()
}

/// A token of a client. The hub stores only its SHA-256, so hub.toml does not reveal it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub name: Arc<str>,
    pub role: Role,
    pub sha256: Digest,
}

/// All tokens in hub.toml. If there are none, access is not restricted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tokens(pub Vec<Token>);

/// Decides which calls are admitted.
#[derive(Debug, Default)]
pub struct Gate {
    /// Those of hub.toml, which may change.
    tokens: watch::Sender<Tokens>,
    pub refusals: Refusals,
    plugins: RwLock<BTreeMap<String, PluginAccess>>,
}

/// Access to and by a plugin.
#[derive(Debug)]
struct PluginAccess {
    /// The role required by each of its methods.
    methods: BTreeMap<String, Role>,
    /// The token that the hub issued to it, if any; its concurrent calls are limited.
    token: Option<(Token, Arc<Semaphore>)>,
}

/// A client, and the semaphore that limits its concurrent calls, if they are limited.
type AdmittedClient = (Token, Option<Arc<Semaphore>>);

impl Gate {
    pub fn new(tokens: Tokens) -> Self {
        Self {
            tokens: watch::Sender::new(tokens),
            ..Self::default()
        }
    }

    /// Whether access is not restricted, because there is no token.
    pub fn is_open(&self) -> bool {
        self.tokens.borrow().0.is_empty()
    }

    /// Registers the methods of a plugin, and the token with which it makes calls.
    pub fn add_plugin(&self, name: &str, methods: BTreeMap<String, Role>, token: Option<&str>) {
        let token = token.map(|token| Token {
            name: format!("plugin {name}").into(),
            role: Role::Operate,
            sha256: digest_of(token),
        });
        let token = token.map(|token| (token, Arc::new(Semaphore::new(PLUGIN_CALLS))));
        self.change().insert(name.into(), PluginAccess { methods, token });
    }

    /// Forgets a plugin.
    pub fn remove_plugin(&self, name: &str) {
        self.change().remove(name);
    }

    fn plugins(&self) -> RwLockReadGuard<'_, BTreeMap<String, PluginAccess>> {
        self.plugins.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self) -> RwLockWriteGuard<'_, BTreeMap<String, PluginAccess>> {
        self.plugins.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The role that a path requires; for unknown paths, the highest.
    fn required_role(&self, path: &str) -> Role {
        let ours = METHODS
            .iter()
            .find(|&&(method, _)| method == path)
            .map(|&(_, role)| role);
        let of_plugins = || {
            let plugins = self.plugins();
            plugins.values().find_map(|plugin| plugin.methods.get(path).copied())
        };
        match ours.or_else(of_plugins) {
            Some(role) => role,
            None if VIEW_PATHS.iter().any(|start| path.starts_with(start)) => Role::View,
            None => Role::Administer,
        }
    }

    /// The client with this token.
    pub fn known(&self, shown: &str) -> Option<Token> {
        // The timing of a comparison of digests reveals nothing about a token.
        let digest = digest_of(shown);
        let tokens = self.tokens.borrow();
        tokens.0.iter().find(|token| token.sha256 == digest).cloned()
    }

    /// The client that presents a token, if it is known.
    pub fn client(&self, headers: &HeaderMap) -> Option<Token> {
        self.known(shown(headers)?)
    }

    /// The client with this token, if it may call the path. `None`: access is not restricted.
    fn check(&self, path: &str, digest: Option<Digest>) -> Result<Option<AdmittedClient>, Status> {
        let known = |token: &&Token| Some(token.sha256) == digest;
        let plugin = {
            let plugins = self.plugins();
            let mut issued = plugins.values().filter_map(|plugin| plugin.token.as_ref());
            issued.find(|(token, _)| known(&token)).cloned()
        };
        let tokens = self.tokens.borrow();
        let found = match plugin {
            Some((token, calls)) => Some((token, Some(calls))),
            None => tokens.0.iter().find(known).map(|token| (token.clone(), None)),
        };
        let Some((token, calls)) = found else {
            return match (tokens.0.is_empty(), digest) {
                (true, _) => Ok(None),
                (false, None) => Err(Status::unauthenticated("this hub requires a token")),
                (false, Some(_)) => Err(Status::unauthenticated("this hub does not know that token")),
            };
        };
        let required = self.required_role(path);
        match token.role >= required {
            true => Ok(Some((token, calls))),
            false => Err(Status::permission_denied(format!(
                "{} may {}; this requires a token that may {}",
                token.name,
                token.role.name(),
                required.name()
            ))),
        }
    }
}

/// The token that a client presents.
fn shown(headers: &HeaderMap) -> Option<&str> {
    if let Some(value) = headers.get(header::AUTHORIZATION) {
        return value.to_str().ok()?.strip_prefix("Bearer ");
    }
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .find_map(|cookie| cookie.trim().strip_prefix(COOKIE)?.strip_prefix('='))
}

/// Whether a request comes from the page of another site, which a browser says in `Origin`.
pub fn is_foreign(uri: &Uri, headers: &HeaderMap, gate: &Gate) -> bool {
    let Some(origin) = headers.get(header::ORIGIN) else {
        return false;
    };
    let Some(host) = host_of(uri, headers) else {
        return true;
    };
    let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://"));
    origin.is_none_or(|(_, from)| !from.eq_ignore_ascii_case(host)) || (gate.is_open() && !is_local(host))
}

/// Whether a browser has been led here by another site: a request for something that a link names has no `Origin`.
pub fn is_misled(uri: &Uri, headers: &HeaderMap, gate: &Gate) -> bool {
    let site = headers.get("sec-fetch-site").map(|site| site.as_bytes());
    let elsewhere = site.is_some_and(|site| site != b"same-origin" && site != b"none");
    elsewhere || (gate.is_open() && !host_of(uri, headers).is_some_and(is_local))
}

/// The host to which a request is addressed.
fn host_of<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Option<&'a str> {
    let named = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    uri.authority().map(|authority| authority.as_str()).or(named)
}

/// Whether this is a name of this machine: without tokens only it is served, but a foreign name may have been made to
/// lead to it.
fn is_local(host: &str) -> bool {
    // The colons in the brackets of an address do not begin a port.
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => name,
        _ => host,
    };
    ["localhost", "127.0.0.1", "[::1]"]
        .iter()
        .any(|local| name.eq_ignore_ascii_case(local))
}

/// Passes a call to the inner service, or rejects it. The call ends when its client loses the right to it.
pub async fn admit(State(gate): State<Arc<Gate>>, mut request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let digest = shown(request.headers()).map(digest_of);
    // From before the check on, so that no change is missed.
    let changes = gate.tokens.subscribe();
    let admitted = match is_foreign(request.uri(), request.headers(), &gate) {
        true => Err(Status::permission_denied(
            "the page of another site may not call this hub",
        )),
        false => gate.check(&path, digest),
    };
    let entered = admitted.map(|client| {
        let name = client.as_ref().map(|(token, _)| token.name.clone());
        (
            name,
            client.map_or(Ok(None), |client| enter(&gate, &mut request, client)),
        )
    });
    let (name, permit) = match entered {
        Ok((name, Ok(permit))) => (name, permit),
        Ok((_, Err(status))) => return refuse(&path, status),
        Err(status) => {
            gate.refusals.log(&from(request.extensions()), &path, status.message());
            return refuse(&path, status);
        }
    };
    let mut revocation = gate.revocation(changes, path.clone(), digest, name);
    let response = tokio::select! {
        response = next.run(request) => response,
        status = &mut revocation => return refuse(&path, status),
    };
    let response = response.map(|body| Body::new(RevocableBody::new(body, revocation)));
    match permit {
        Some(permit) => response.map(|body| Body::new(PermitBody::new(body, permit, None))),
        None => response,
    }
}

/// Notes who makes a call; returns the permit for it, if the client needs one.
fn enter(
    gate: &Gate,
    request: &mut Request,
    (token, calls): AdmittedClient,
) -> Result<Option<OwnedSemaphorePermit>, Status> {
    let path = request.uri().path();
    if gate.required_role(path) == Role::View {
        tracing::debug!(client = &*token.name, method = path, "call");
    } else {
        // Who has changed something can be looked up.
        tracing::info!(client = &*token.name, method = path, "call");
    }
    let permit = calls.map(|calls| calls.try_acquire_owned());
    let permit = permit.transpose().map_err(|_| {
        Status::resource_exhausted(format!(
            "{} has reached the limit of {PLUGIN_CALLS} concurrent calls",
            token.name
        ))
    })?;
    tracing::Span::current().record("kairos.client", &*token.name);
    request.extensions_mut().insert(Caller(token.name));
    Ok(permit)
}

/// The address that a call comes from.
pub fn from(extensions: &Extensions) -> String {
    let connection = extensions.get::<TcpConnectInfo>();
    let address = connection.and_then(TcpConnectInfo::remote_addr);
    address.map_or_else(|| "?".into(), |address| address.to_string())
}

fn refuse(path: &str, status: Status) -> Response {
    match (path, status.code()) {
        (METRICS, tonic::Code::PermissionDenied) => StatusCode::FORBIDDEN.into_response(),
        (METRICS, _) => StatusCode::UNAUTHORIZED.into_response(),
        _ => status.into_http(),
    }
}

#[cfg(test)]
mod tests;
