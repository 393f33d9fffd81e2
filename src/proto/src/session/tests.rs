//! Byte-exact vectors of the specification, and the decoder on arbitrarily cut streams.

extern crate std;
use super::*;
use proptest::prelude::*;
use std::vec::Vec;

/// A request with its payload, for comparison in tests.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Owned {
    SystemInfo,
    Load(Vec<u8>),
    Run,
    Reply(Vec<u8>),
    Exception(Vec<u8>),
    /// With number 1 and destination 2.
    Subkernel(Vec<u8>),
}

/// The host's encoder, written from the specification.
fn encode(request: &Owned, out: &mut Vec<u8>) {
    out.extend([0x5a; 4]);
    let bytes = |out: &mut Vec<u8>, data: &[u8]| {
        out.extend((data.len() as u32).to_le_bytes());
        out.extend(data);
    };
    match request {
        Owned::SystemInfo => out.push(3),
        Owned::Load(library) => {
            out.push(5);
            bytes(out, library);
        }
        Owned::Run => out.push(6),
        Owned::Reply(value) => {
            out.push(7);
            out.extend(value);
        }
        Owned::Exception(data) => {
            out.push(8);
            out.extend(data);
        }
        Owned::Subkernel(library) => {
            out.extend([9, 1, 0, 0, 0, 2]);
            bytes(out, library);
        }
    }
}

/// Decodes a stream that arrives in `pieces`, while a kernel always waits for the host; a reply's tag
/// and value are 9 bytes.
fn decode<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Result<(Vec<Owned>, u32), ProtocolError> {
    let mut decoder = RequestDecoder::new();
    let mut got = Vec::new();
    let mut value = Vec::new();
    for mut piece in pieces {
        while !piece.is_empty() {
            if !decoder.in_call() {
                decoder.begin_call();
            }
            let mut is_read = false;
            match decoder.next(&mut piece)? {
                None => assert!(piece.is_empty()),
                Some(Request::SystemInfo) => got.push(Owned::SystemInfo),
                Some(Request::LoadKernel { length }) => {
                    got.push(Owned::Load(Vec::new()));
                    if length == 0 {
                        // The empty last piece needs no input.
                        assert_eq!(
                            decoder.next(&mut piece)?,
                            Some(Request::Library { data: &[], last: true })
                        );
                    }
                }
                Some(Request::Library { data, .. }) => {
                    let Some(Owned::Load(library) | Owned::Subkernel(library)) = got.last_mut() else {
                        panic!()
                    };
                    library.extend(data);
                }
                Some(Request::RunKernel) => got.push(Owned::Run),
                Some(Request::Value(data)) => {
                    let used = data.len().min(9 - value.len());
                    value.extend(&data[..used]);
                    // A real host waits here; in this stream the next message may have arrived
                    // already.
                    piece = &data[used..];
                    is_read = value.len() == 9;
                    if is_read {
                        got.push(Owned::Reply(core::mem::take(&mut value)));
                    }
                }
                Some(Request::RpcException) => {
                    got.push(Owned::Exception(decoder.exception().to_vec()));
                    is_read = true;
                }
                Some(Request::SubkernelUpload {
                    number,
                    destination,
                    length,
                }) => {
                    assert_eq!((number, destination), (1, 2));
                    got.push(Owned::Subkernel(Vec::new()));
                    if length == 0 {
                        assert_eq!(
                            decoder.next(&mut piece)?,
                            Some(Request::Library { data: &[], last: true })
                        );
                    }
                }
            }
            if is_read {
                decoder.end_call();
            }
        }
    }
    Ok((got, decoder.take_discarded()))
}

#[test]
fn messages_have_the_bytes_of_the_specification() {
    assert_eq!(reply::system_info(), *b"\x5a\x5a\x5a\x5a\x02ARZQ");
    assert_eq!(reply::load_completed(), [0x5a, 0x5a, 0x5a, 0x5a, 5]);
    assert_eq!(
        reply::load_failed(0x1234),
        [0x5a, 0x5a, 0x5a, 0x5a, 6, 0x34, 0x12, 0, 0]
    );
    assert_eq!(reply::kernel_finished(0xff), [0x5a, 0x5a, 0x5a, 0x5a, 7, 7]);
    assert_eq!(reply::kernel_startup_failed(), [0x5a, 0x5a, 0x5a, 0x5a, 8]);
    assert_eq!(reply::clock_failure(), [0x5a, 0x5a, 0x5a, 0x5a, 15]);
    assert_eq!(reply::kernel_exception(), [0x5a, 0x5a, 0x5a, 0x5a, 9]);
    assert_eq!(reply::rpc_request(false), [0x5a, 0x5a, 0x5a, 0x5a, 10, 0]);
    assert_eq!(reply::rpc_request(true), [0x5a, 0x5a, 0x5a, 0x5a, 10, 1]);
    assert_eq!(GREETING.len(), 14);
    // Section 1.6: the reply 3 to a call that returns an int32.
    let stream = b"\x5a\x5a\x5a\x5a\x07\x01\0\0\0i\x03\0\0\0";
    assert_eq!(
        decode([&stream[..]].into_iter()),
        Ok((Vec::from([Owned::Reply(Vec::from(*b"\x01\0\0\0i\x03\0\0\0"))]), 0))
    );
}

#[test]
fn five_synchronisation_bytes_are_an_unknown_type() {
    assert_eq!(
        decode([&[0x5a; 5][..]].into_iter()),
        Err(ProtocolError::UnknownType(0x5a))
    );
}

#[test]
fn bytes_between_messages_are_skipped_and_counted() {
    let stream = b"xy\x5a\x5az\x5a\x5a\x5a\x5a\x03";
    assert_eq!(
        decode([&stream[..]].into_iter()),
        Ok((Vec::from([Owned::SystemInfo]), 5))
    );
}

#[test]
fn impossible_length_is_an_error() {
    assert_eq!(
        decode([&b"\x5a\x5a\x5a\x5a\x05\0\0\0\x80"[..]].into_iter()),
        Err(ProtocolError::Length(1 << 31))
    );
}

/// A reply and an exception of the host, up to the part that decides whether they are permitted.
const REPLIES: [&[u8]; 2] = [b"ZZZZ\x07", b"ZZZZ\x08................................................"];

#[test]
fn reply_without_a_call_is_rejected() {
    for mut reply in REPLIES {
        let next = RequestDecoder::new().next(&mut reply);
        assert_eq!(next, Err(ProtocolError::UnsolicitedReply));
    }
}

#[test]
fn second_reply_to_a_call_is_rejected() {
    for mut reply in REPLIES {
        let mut decoder = RequestDecoder::new();
        decoder.begin_call();
        let exception = [b"ZZZZ\x08", &[0; RPC_EXCEPTION][..]].concat();
        assert_eq!(decoder.next(&mut &exception[..]), Ok(Some(Request::RpcException)));
        assert_eq!(decoder.next(&mut reply), Err(ProtocolError::UnsolicitedReply));
    }
}

#[test]
fn call_that_has_ended_accepts_no_reply() {
    for mut reply in REPLIES {
        let mut decoder = RequestDecoder::new();
        decoder.begin_call();
        assert_eq!(decoder.next(&mut &b"ZZZZ\x07"[..]), Ok(None));
        assert!(decoder.in_value() && decoder.in_request());
        decoder.end_call();
        assert!(!decoder.in_call() && !decoder.in_request());
        assert_eq!(decoder.next(&mut reply), Err(ProtocolError::UnsolicitedReply));
    }
}

#[test]
fn rest_of_a_reply_to_a_kernel_that_has_ended_is_rejected() {
    let mut decoder = RequestDecoder::new();
    decoder.begin_call();
    assert_eq!(decoder.next(&mut &b"ZZZZ\x07"[..]), Ok(None));
    decoder.abandon_call();
    assert!(!decoder.in_call());
    assert_eq!(decoder.next(&mut &b""[..]), Ok(None));
    assert_eq!(
        decoder.next(&mut &b"ZZZZ\x03"[..]),
        Err(ProtocolError::UnsolicitedReply)
    );
}

#[test]
fn request_after_a_kernel_that_has_ended_is_decoded() {
    let mut decoder = RequestDecoder::new();
    decoder.begin_call();
    decoder.abandon_call();
    assert_eq!(decoder.next(&mut &b"ZZZZ\x03"[..]), Ok(Some(Request::SystemInfo)));
    for mut reply in REPLIES {
        assert_eq!(decoder.next(&mut reply), Err(ProtocolError::UnsolicitedReply));
        decoder = RequestDecoder::new();
    }
}

#[test]
fn other_requests_during_a_call_leave_it_pending() {
    let mut decoder = RequestDecoder::new();
    decoder.begin_call();
    assert_eq!(decoder.next(&mut &b"ZZZZ\x03"[..]), Ok(Some(Request::SystemInfo)));
    assert!(decoder.in_call() && !decoder.in_reply());
    assert_eq!(decoder.next(&mut &b"ZZZZ\x07"[..]), Ok(None));
    assert!(decoder.in_reply());
}

fn request() -> impl Strategy<Value = Owned> {
    let bytes = |size| prop::collection::vec(any::<u8>(), size);
    prop_oneof![
        Just(Owned::SystemInfo),
        Just(Owned::Run),
        bytes(0..300).prop_map(Owned::Load),
        bytes(0..300).prop_map(Owned::Subkernel),
        bytes(9..10).prop_map(Owned::Reply),
        bytes(48..49).prop_map(Owned::Exception),
    ]
}

proptest! {
    /// Any sequence of requests is decoded correctly, however TCP splits it.
    #[test]
    fn requests_in_any_pieces_are_decoded(requests in prop::collection::vec(request(), 0..12), cut in 1usize..40) {
        let mut stream = Vec::new();
        requests.iter().for_each(|request| encode(request, &mut stream));
        prop_assert_eq!(decode(stream.chunks(cut)), Ok((requests, 0)));
    }

    /// No input makes the decoder panic or hang.
    #[test]
    fn arbitrary_stream_never_panics(
        stream in prop::collection::vec(prop_oneof![Just(0x5au8), 0u8..10, any::<u8>()], 0..400),
        in_call: bool,
    ) {
        let mut decoder = RequestDecoder::new();
        if in_call {
            decoder.begin_call();
        }
        let mut input = &stream[..];
        let mut steps = 0;
        while let Ok(Some(_)) = decoder.next(&mut input) {
            steps += 1;
            prop_assert!(steps <= stream.len() + 1);
        }
    }
}
