//! Data from the host for the management and monitor services: arbitrary bytes in arbitrary pieces.
//! The result must not depend on where the stream is cut.
#![no_main]

use kairos_proto::{management, moninj, ProtocolError};
use libfuzzer_sys::fuzz_target;

/// Decodes a management stream in pieces of `size`, for a device with or without a key. Returns the
/// requests with joined payloads.
fn management(stream: &[u8], size: usize, key: bool) -> Vec<String> {
    let mut decoder = match key {
        true => management::RequestDecoder::with_authentication(),
        false => management::RequestDecoder::new(),
    };
    let (mut found, mut payload) = (Vec::new(), Vec::new());
    for mut piece in stream.chunks(size) {
        loop {
            match decoder.next(&mut piece) {
                Ok(None) => break,
                Ok(Some(management::Item::Data { data, last })) => {
                    payload.extend_from_slice(data);
                    if last {
                        found.push(format!("{:x?}", core::mem::take(&mut payload)));
                    }
                }
                Ok(Some(management::Item::Request(_))) => found.push(format!("{:x?}", decoder.request())),
                Err(error) => {
                    found.push(error.to_string());
                    return found;
                }
            }
        }
    }
    found.push(format!("{payload:x?} {}", decoder.in_request()));
    found
}

/// Does the same for the monitor.
fn monitor(stream: &[u8], size: usize) -> Vec<String> {
    let mut decoder = moninj::Decoder::default();
    let mut found = Vec::new();
    for mut piece in stream.chunks(size) {
        loop {
            match decoder.next::<moninj::Request>(&mut piece) {
                Ok(None) => break,
                Ok(Some(request)) => found.push(format!("{request:x?}")),
                Err(error) => {
                    found.push(ProtocolError::from(error).to_string());
                    return found;
                }
            }
        }
    }
    found.push(decoder.in_message().to_string());
    found
}

fuzz_target!(|data: &[u8]| {
    let Some((&first, stream)) = data.split_first() else {
        return;
    };
    let size = usize::from(first).max(1);
    for key in [false, true] {
        assert_eq!(management(stream, size, key), management(stream, usize::MAX, key));
    }
    assert_eq!(monitor(stream, size), monitor(stream, usize::MAX));
});
