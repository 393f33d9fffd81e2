//! `/runs/NUMBER/file`: the file of a run, for a link. It is a call of the laboratory's own method with the rights of
//! the browser.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{header, HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use tokio_stream::StreamExt;
use tonic::metadata::MetadataMap;
use tonic::{Code, Status};

use super::Page;
use crate::access::{is_foreign, is_misled};
use crate::lab_v1::runs_client::RunsClient;
use crate::lab_v1::{RunFileRequest, RunFileResponse};

/// Sends the file of a run.
pub async fn run_file(State(page): State<Page>, Path(rid): Path<u64>, uri: Uri, headers: HeaderMap) -> Response {
    if is_foreign(&uri, &headers, &page.gate) || is_misled(&uri, &headers, &page.gate) {
        return (StatusCode::FORBIDDEN, "the page of another site may not read this\n").into_response();
    }
    match file(&page, rid, &headers).await {
        Ok(response) => response,
        Err(status) => (http_status(status.code()), format!("{}\n", status.message())).into_response(),
    }
}

async fn file(page: &Page, rid: u64, headers: &HeaderMap) -> Result<Response, Status> {
    let mut credentials = HeaderMap::new();
    for name in [header::AUTHORIZATION, header::COOKIE] {
        if let Some(value) = headers.get(&name) {
            credentials.insert(name, value.clone());
        }
    }
    let mut request = tonic::Request::new(RunFileRequest { rid });
    *request.metadata_mut() = MetadataMap::from_headers(credentials);
    let mut pieces = RunsClient::new(page.calls.clone()).file(request).await?.into_inner();
    let RunFileResponse { name, size, data } = pieces.message().await?.unwrap_or_default();
    let first = tokio_stream::once(Ok(data));
    let body = Body::from_stream(first.chain(pieces.map(|piece| piece.map(|piece| piece.data))));
    let mut response = body.into_response();
    let set = response.headers_mut();
    set.insert(header::CONTENT_LENGTH, size.into());
    for (name, value) in [
        (header::CONTENT_TYPE, "application/x-hdf5"),
        // It grows when its waveform has been predicted.
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        set.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(value) = HeaderValue::from_str(&disposition(&name)) {
        set.insert(header::CONTENT_DISPOSITION, value);
    }
    Ok(response)
}

/// Has a browser save a file under its name, whatever letters that has.
fn disposition(name: &str) -> String {
    let encoded = name.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    });
    format!("attachment; filename*=UTF-8''{}", encoded.collect::<String>())
}

fn http_status(code: Code) -> StatusCode {
    match code {
        Code::Unauthenticated => StatusCode::UNAUTHORIZED,
        Code::PermissionDenied => StatusCode::FORBIDDEN,
        Code::NotFound | Code::InvalidArgument | Code::Unimplemented => StatusCode::NOT_FOUND,
        Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_GATEWAY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_of_file_is_encoded_for_the_header() {
        for (name, expected) in [
            ("000000012-Flop.h5", "000000012-Flop.h5"),
            ("1-Größe\"; x.h5", "1-Gr%C3%B6%C3%9Fe%22%3B%20x.h5"),
            ("a\r\nb", "a%0D%0Ab"),
        ] {
            assert_eq!(disposition(name), format!("attachment; filename*=UTF-8''{expected}"));
            assert!(HeaderValue::from_str(&disposition(name)).is_ok());
        }
    }
}
