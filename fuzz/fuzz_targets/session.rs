//! Data from the host for the kernel service: arbitrary bytes in arbitrary pieces. The result must
//! not depend on where the stream is cut.
#![no_main]

use kairos_proto::session;
use libfuzzer_sys::fuzz_target;

/// Decodes a session stream in pieces of `size`, while a kernel waits for a reply or not. Returns the
/// requests with joined payloads.
fn requests(stream: &[u8], size: usize, in_call: bool) -> Vec<String> {
    let mut decoder = session::RequestDecoder::new();
    if in_call {
        decoder.begin_call();
    }
    let mut found = Vec::new();
    let mut payload = Vec::new();
    for mut piece in stream.chunks(size) {
        loop {
            match decoder.next(&mut piece) {
                Ok(None) => break,
                Ok(Some(session::Request::Library { data, last })) => {
                    payload.extend_from_slice(data);
                    if last {
                        found.push(format!("library {payload:x?}"));
                        payload.clear();
                    }
                }
                Ok(Some(session::Request::Value(data))) => payload.extend_from_slice(data),
                Ok(Some(request)) => found.push(format!("{request:x?}")),
                Err(error) => {
                    found.push(error.to_string());
                    return found;
                }
            }
        }
    }
    found.push(format!(
        "{payload:x?} {} {}",
        decoder.in_request(),
        decoder.take_discarded()
    ));
    found
}

fuzz_target!(|data: &[u8]| {
    let Some((&first, stream)) = data.split_first() else {
        return;
    };
    let size = usize::from(first).max(1);
    for in_call in [false, true] {
        assert_eq!(requests(stream, size, in_call), requests(stream, usize::MAX, in_call));
    }
});
