//! Forwarding of client calls to the plugin that offers the method.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{header, HeaderValue};
use axum::response::Response;
use tonic::Status;
use tower::{Service, ServiceExt};

use super::Plugins;
use crate::access::Caller;
use crate::body::PermitBody;

/// Header with the name of the calling client, for the plugin.
const CLIENT: &str = "kairos-client";

/// Forwards a call and its response as streams. Unknown methods end with UNIMPLEMENTED.
pub async fn forward(State(plugins): State<Plugins>, mut request: Request) -> Response {
    let Some(plugin) = plugins.with_method(request.uri().path()) else {
        return Status::unimplemented("there is no such method").into_http();
    };
    let name = plugin.name();
    let mut channel = match plugin.channel() {
        Ok(channel) => channel,
        Err(why) => return Status::unavailable(format!("plugin {name} is not running: {why}")).into_http(),
    };
    // Calls of one client must not block the plugin for others, nor exhaust its memory.
    let Ok(permit) = plugin.calls().try_acquire_owned() else {
        return Status::resource_exhausted(format!("plugin {name} has too many concurrent calls")).into_http();
    };
    // A plugin must know the caller, but must not be able to make calls as that client.
    request.headers_mut().remove(header::AUTHORIZATION);
    request.headers_mut().remove(CLIENT);
    if let Some(Caller(client)) = request.extensions().get::<Caller>().cloned() {
        if let Ok(value) = HeaderValue::from_str(&client) {
            request.headers_mut().insert(CLIENT, value);
        }
    }
    let lost = Status::unavailable(format!(
        "plugin {name} was lost during the call: it is unknown how much of it was executed"
    ));
    let answer = async { channel.ready().await?.call(request.map(tonic::body::Body::new)).await };
    match answer.await {
        Ok(response) => response.map(|body| Body::new(PermitBody::new(Body::new(body), permit, Some(lost)))),
        Err(_) => lost.into_http(),
    }
}
