//! The reflection service, which describes the methods of the hub and of its plugins. These come and
//! go while it is served.

use std::sync::{Arc, PoisonError, RwLock};

use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::any;
use axum::Router;
use tonic::service::Routes;
use tower::ServiceExt;

use crate::v1;

/// Clients in use request either version of the service.
const PATHS: [&str; 2] = [
    "/grpc.reflection.v1.ServerReflection/{method}",
    "/grpc.reflection.v1alpha.ServerReflection/{method}",
];

/// The service as it is now.
#[derive(Clone, Debug)]
pub struct Reflection(Arc<RwLock<Router>>);

impl Reflection {
    /// Describes the hub alone.
    pub fn new() -> Result<Self, String> {
        Ok(Self(Arc::new(RwLock::new(described(std::iter::empty())?))))
    }

    /// From now on describes these protocols of plugins, too: encoded `FileDescriptorSet`s.
    pub fn describe<'a>(&self, plugins: impl Iterator<Item = &'a [u8]> + Clone) -> Result<(), String> {
        let described = described(plugins)?;
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = described;
        Ok(())
    }

    pub fn routes(&self) -> Router {
        let routes = PATHS
            .into_iter()
            .fold(Router::new(), |routes, path| routes.route(path, any(answer)));
        routes.with_state(self.clone())
    }
}

async fn answer(State(reflection): State<Reflection>, request: Request) -> Response {
    let service = reflection.0.read().unwrap_or_else(PoisonError::into_inner).clone();
    match service.oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

fn described<'a>(plugins: impl Iterator<Item = &'a [u8]> + Clone) -> Result<Router, String> {
    let builder = || {
        let ours = tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(v1::FILES)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET);
        plugins.clone().fold(ours, |builder, files| {
            builder.register_encoded_file_descriptor_set(files)
        })
    };
    let (Ok(service), Ok(alpha)) = (builder().build_v1(), builder().build_v1alpha()) else {
        return Err("the protocol description is invalid".into());
    };
    Ok(Routes::new(service).add_service(alpha).into_axum_router())
}
