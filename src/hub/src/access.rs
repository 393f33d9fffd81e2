//! Who may call what: each method asks for a role (`proto/`), each client shows a token that has one.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{header, HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tonic::transport::server::{TcpConnectInfo, TlsConnectInfo};
use tonic::Status;

/// What a client may do. Each role may do what those before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Look,
    Operate,
    Administer,
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::Look => "look",
            Self::Operate => "operate",
            Self::Administer => "administer",
        }
    }
}

/// Path and role of each method of our protocol.
const METHODS: &[(&str, Role)] = &include!(concat!(env!("OUT_DIR"), "/methods.rs"));
/// What else the hub serves, for whoever may look.
const LOOKED_AT: [&str; 3] = ["/grpc.health.v1.Health/", "/grpc.reflection.v1", METRICS];
/// The one path that is not a method of gRPC.
pub const METRICS: &str = "/metrics";

/// The role that a path asks for; of what there is not, the highest.
fn asked(path: &str) -> Role {
    let known = METHODS.iter().find(|&&(method, _)| method == path);
    match known {
        Some(&(_, role)) => role,
        None if LOOKED_AT.iter().any(|start| path.starts_with(start)) => Role::Look,
        None => Role::Administer,
    }
}

/// A client that has shown a token. The hub knows of a token only its SHA-256: hub.toml betrays none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub name: Arc<str>,
    pub role: Role,
    pub sha256: [u8; 32],
}

/// All tokens. Without any the hub asks nobody.
#[derive(Clone, Debug, Default)]
pub struct Tokens(pub Vec<Token>);

impl Tokens {
    /// Who calls, if that client may. `None`: the hub asks nobody.
    fn admit(&self, path: &str, headers: &HeaderMap) -> Result<Option<&Token>, Status> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let shown = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.strip_prefix("Bearer "))
            .ok_or_else(|| Status::unauthenticated("this hub wants a token"))?;
        // Comparing digests tells nothing of a token, however long it takes.
        let digest: [u8; 32] = Sha256::digest(shown).into();
        let token = self
            .0
            .iter()
            .find(|token| token.sha256 == digest)
            .ok_or_else(|| Status::unauthenticated("this hub does not know that token"))?;
        let asked = asked(path);
        match token.role >= asked {
            true => Ok(Some(token)),
            false => Err(Status::permission_denied(format!(
                "{} may {}; this asks for a token that may {}",
                token.name,
                token.role.name(),
                asked.name()
            ))),
        }
    }
}

/// Lets a call through to what is behind, or refuses it.
pub async fn admit(State(tokens): State<Arc<Tokens>>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    match tokens.admit(path, request.headers()) {
        Ok(token) => {
            if let Some(token) = token {
                tracing::debug!(client = &*token.name, method = path, "call");
            }
            next.run(request).await
        }
        Err(status) => {
            tracing::warn!(from = from(&request), method = path, "refused: {}", status.message());
            refuse(path, status)
        }
    }
}

/// Where a call comes from.
fn from(request: &Request) -> String {
    let plain = request.extensions().get::<TcpConnectInfo>();
    let secure = request.extensions().get::<TlsConnectInfo<TcpConnectInfo>>();
    let address = plain
        .and_then(TcpConnectInfo::remote_addr)
        .or_else(|| secure?.get_ref().remote_addr());
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
mod tests {
    use super::*;
    use tonic::Code;

    fn token(name: &str, role: Role) -> Token {
        Token {
            name: name.into(),
            role,
            sha256: Sha256::digest(name).into(),
        }
    }

    fn code(tokens: &Tokens, path: &str, authorization: Option<&str>) -> Code {
        let mut headers = HeaderMap::new();
        if let Some(value) = authorization {
            headers.insert(header::AUTHORIZATION, value.parse().unwrap());
        }
        match tokens.admit(path, &headers) {
            Ok(_) => Code::Ok,
            Err(status) => status.code(),
        }
    }

    #[test]
    fn each_role_may_do_what_those_below_it_may() {
        let tokens = Tokens(vec![
            token("a", Role::Look),
            token("b", Role::Operate),
            token("c", Role::Administer),
        ]);
        let (look, operate) = ("/kairos.hub.v1.Registers/Read", "/kairos.hub.v1.Registers/Write");
        for (path, codes) in [
            (look, [Code::Ok, Code::Ok, Code::Ok]),
            (METRICS, [Code::Ok, Code::Ok, Code::Ok]),
            ("/grpc.health.v1.Health/Check", [Code::Ok, Code::Ok, Code::Ok]),
            (operate, [Code::PermissionDenied, Code::Ok, Code::Ok]),
            (
                "/no.such/Method",
                [Code::PermissionDenied, Code::PermissionDenied, Code::Ok],
            ),
        ] {
            let shown = ["Bearer a", "Bearer b", "Bearer c"].map(|shown| code(&tokens, path, Some(shown)));
            assert_eq!(shown, codes, "{path}");
        }
    }

    #[test]
    fn who_shows_no_token_or_a_wrong_one_is_nobody() {
        let tokens = Tokens(vec![token("a", Role::Administer)]);
        for &(path, _) in METHODS {
            for shown in [
                None,
                Some(""),
                Some("a"),
                Some("bearer a"),
                Some("Bearer "),
                Some("Bearer b"),
                Some("Bearer a "),
            ] {
                assert_eq!(code(&tokens, path, shown), Code::Unauthenticated, "{path} {shown:?}");
            }
        }
    }

    #[test]
    fn a_hub_without_tokens_asks_nobody() {
        assert_eq!(code(&Tokens::default(), METHODS[0].0, None), Code::Ok);
    }
}
