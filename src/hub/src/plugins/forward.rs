//! Forwarding of client calls to the process that offers the method: the laboratory, or a plugin.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{header, HeaderValue};
use axum::response::Response;
use tokio::sync::OwnedSemaphorePermit;
use tonic::transport::Channel;
use tonic::Status;
use tower::{Service, ServiceExt};

use super::host::Plugins;
use crate::access::Caller;
use crate::body::{is_cut, Lost, PermitBody};
use crate::laboratory::Laboratory;

/// Header with the name of the calling client, for the process.
const CLIENT: &str = "kairos-client";

/// The processes to which calls are forwarded.
#[derive(Clone)]
pub struct Processes {
    pub plugins: Plugins,
    pub laboratory: Option<Laboratory>,
}

/// Forwards a call and its response as streams. Unknown methods end with UNIMPLEMENTED.
pub async fn forward(State(processes): State<Arc<Processes>>, request: Request) -> Response {
    if Laboratory::has_method(request.uri().path()) {
        return to_laboratory(processes.laboratory.as_ref(), request).await;
    }
    let Some(plugin) = processes.plugins.with_method(request.uri().path()) else {
        return Status::unimplemented("there is no such method").into_http();
    };
    let name = plugin.name();
    let channel = match plugin.channel() {
        Ok(channel) => channel,
        Err(why) => return Status::unavailable(format!("plugin {name} is not running: {why}")).into_http(),
    };
    // Calls of one client must not block the plugin for others, nor exhaust its memory.
    let Ok(permit) = plugin.calls().try_acquire_owned() else {
        return Status::resource_exhausted(format!("plugin {name} has too many concurrent calls")).into_http();
    };
    let lost = format!("plugin {name} was lost during the call: it is unknown how much of it was executed");
    pass(channel, request, permit, Status::unavailable(lost)).await
}

async fn to_laboratory(laboratory: Option<&Laboratory>, request: Request) -> Response {
    let Some(laboratory) = laboratory else {
        let text = "this hub has no laboratory: [laboratory] of hub.toml names its folder";
        return Status::unimplemented(text).into_http();
    };
    let Ok(permit) = laboratory.calls().try_acquire_owned() else {
        return Status::resource_exhausted("the laboratory has too many concurrent calls").into_http();
    };
    let mut channel = laboratory.channel();
    if channel.ready().await.is_err() {
        return Status::unavailable("the laboratory is not running: start it with 'kairos lab'").into_http();
    }
    let lost = "the laboratory does not answer: start it with 'kairos lab', then look whether the call was executed";
    pass(channel, request, permit, Status::unavailable(lost)).await
}

/// Forwards a call. `lost`: the status if the process is lost meanwhile.
async fn pass(mut channel: Channel, mut request: Request, permit: OwnedSemaphorePermit, lost: Status) -> Response {
    let lost = Lost::new(lost, request.headers());
    // The process must know the caller, but must not be able to make calls as that client.
    for name in [header::AUTHORIZATION.as_str(), header::COOKIE.as_str(), CLIENT] {
        request.headers_mut().remove(name);
    }
    if let Some(Caller(client)) = request.extensions().get::<Caller>().cloned() {
        if let Ok(value) = HeaderValue::from_str(&client) {
            request.headers_mut().insert(CLIENT, value);
        }
    }
    let answer = async { channel.ready().await?.call(request.map(tonic::body::Body::new)).await };
    match answer.await {
        Ok(response) if is_cut(response.headers()) => lost.status().into_http(),
        Ok(response) => response.map(|body| Body::new(PermitBody::new(Body::new(body), permit, Some(lost)))),
        Err(_) => lost.status().into_http(),
    }
}
