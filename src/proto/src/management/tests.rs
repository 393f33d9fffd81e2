//! Every request, byte for byte, in any pieces; every error; arbitrary bytes.

extern crate std;
use super::*;
use proptest::prelude::*;
use std::string::{String, ToString};
use std::vec::Vec;

#[derive(Clone, Debug, PartialEq)]
enum Owned {
    Plain(u8),
    Flash(Vec<u8>),
    Read(String),
    Write(String, Vec<u8>),
    Remove(String),
    Proof([u8; 32]),
    Measure([u8; 12]),
    Batch(Vec<u8>),
}

fn encode(request: &Owned, out: &mut Vec<u8>) {
    let mut put = |kind: u8, key: &[u8], data: &[u8]| Request::encode(out, Kind::try_from(kind).unwrap(), key, data);
    match request {
        Owned::Plain(kind) => put(*kind, b"", b""),
        Owned::Flash(image) => put(9, b"", image),
        Owned::Read(key) => put(12, key.as_bytes(), b""),
        Owned::Write(key, value) => put(13, key.as_bytes(), value),
        Owned::Remove(key) => put(14, key.as_bytes(), b""),
        Owned::Proof(proof) => put(130, b"", proof),
        Owned::Measure(measurement) => put(131, b"", measurement),
        Owned::Batch(program) => put(134, b"", program),
    }
}

fn decode<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Result<Vec<Owned>, ProtocolError> {
    decode_with(RequestDecoder::with_authentication(), pieces)
}

fn decode_with<'a>(
    mut decoder: RequestDecoder,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> Result<Vec<Owned>, ProtocolError> {
    let mut got = Vec::new();
    for mut piece in pieces {
        while let Some(item) = decoder.next(&mut piece)? {
            match item {
                Item::Request(kind) => {
                    let request = decoder.request();
                    assert_eq!(request.kind, kind);
                    let key = request.key.as_str().to_string();
                    got.push(match request.kind {
                        Kind::Flash => Owned::Flash(Vec::new()),
                        Kind::ConfigRead => Owned::Read(key),
                        Kind::ConfigRemove => Owned::Remove(key),
                        Kind::ConfigWrite => Owned::Write(key, Vec::new()),
                        Kind::Authenticate => Owned::Proof(request.proof),
                        Kind::Measure => Owned::Measure(request.measurement.to_bytes()),
                        Kind::Batch => Owned::Batch(Vec::new()),
                        plain => Owned::Plain(plain as u8),
                    });
                }
                Item::Data { data: bytes, .. } => match got.last_mut() {
                    Some(Owned::Flash(data) | Owned::Write(_, data) | Owned::Batch(data)) => data.extend(bytes),
                    other => panic!("data behind {other:?}"),
                },
            }
        }
        assert!(piece.is_empty());
    }
    Ok(got)
}

fn requests() -> impl Strategy<Value = Vec<Owned>> {
    let key = "[a-z0-9_]{1,128}";
    let data = proptest::collection::vec(any::<u8>(), 0..300);
    let one = prop_oneof![
        proptest::sample::select(&[1u8, 2, 5, 7, 8, 15, 128, 129, 132, 133, 135][..]).prop_map(Owned::Plain),
        data.clone().prop_map(Owned::Flash),
        key.prop_map(Owned::Read),
        (key, data).prop_map(|(k, v)| Owned::Write(k, v)),
        key.prop_map(Owned::Remove),
        any::<[u8; 32]>().prop_map(Owned::Proof),
        any::<[u8; 12]>().prop_map(Owned::Measure),
        proptest::collection::vec(any::<u8>(), 0..300).prop_map(Owned::Batch),
    ];
    proptest::collection::vec(one, 0..8)
}

proptest! {
    #[test]
    fn arbitrary_requests_in_arbitrary_pieces_decode(requests in requests(), size in 1usize..50) {
        let mut stream = Vec::new();
        requests.iter().for_each(|r| encode(r, &mut stream));
        prop_assert_eq!(decode(stream.chunks(size)), Ok(requests));
    }

    #[test]
    fn arbitrary_request_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), size in 1usize..50) {
        let mut decoder = RequestDecoder::with_authentication();
        'stream: for mut piece in bytes.chunks(size) {
            loop {
                match decoder.next(&mut piece) {
                    Ok(Some(_)) => {}
                    Ok(None) => break,
                    Err(_) => break 'stream,
                }
            }
        }
    }
}

#[test]
fn requests_and_replies_have_the_documented_bytes() {
    let write = b"\x0d\x02\0\0\0ip\x07\0\0\x0010.0.0.";
    assert_eq!(
        decode([&write[..]].into_iter()),
        Ok(std::vec![Owned::Write("ip".into(), b"10.0.0.".to_vec())])
    );
    let mut proof = std::vec![130];
    proof.extend([9; 32]);
    assert_eq!(decode([&proof[..]].into_iter()), Ok(std::vec![Owned::Proof([9; 32])]));
    assert_eq!(
        decode([&[1, 2, 5, 7, 8, 15, 128, 129, 132, 133, 135][..]].into_iter())
            .unwrap()
            .len(),
        11
    );
    for (request, bytes) in [
        (Owned::Flash(b"abc".to_vec()), &b"\x09\x03\0\0\0abc"[..]),
        (Owned::Read("ip".into()), b"\x0c\x02\0\0\0ip"),
        (Owned::Remove("ip".into()), b"\x0e\x02\0\0\0ip"),
        (Owned::Write("ip".into(), b"10.0.0.".to_vec()), write),
        (Owned::Proof([9; 32]), &proof),
    ] {
        let mut out = Vec::new();
        encode(&request, &mut out);
        assert_eq!(out, bytes);
    }
    assert_eq!(reply::log_content(0x0102_0304), [2, 4, 3, 2, 1]);
    assert_eq!(reply::config_data(5), [7, 5, 0, 0, 0]);
    assert_eq!((reply::SUCCESS, reply::REBOOT_IMMINENT, reply::ERROR), ([1], [3], [6]));
    assert_eq!(GREETING, b"ARTIQ management\n");
    assert_eq!(reply::behind(Reply::Success), reply::Behind::Bytes(0));
    assert_eq!(reply::behind(Reply::Challenge), reply::Behind::Bytes(32));
    assert_eq!(reply::behind(Reply::LogContent), reply::Behind::Counted);
    let challenge = reply::challenge(&[7; 32]);
    assert_eq!((challenge[0], &challenge[1..]), (128, &[7; 32][..]));
}

#[test]
fn flash_request_ends_with_its_checksum() {
    let mut bytes = Vec::new();
    Request::encode_flash(&mut bytes, b"image", 0x0403_0201);
    assert_eq!(bytes, b"\x09\x09\0\0\0image\x01\x02\x03\x04");
}

#[test]
fn invalid_requests_are_reported_with_their_reason() {
    let fails = |bytes: &[u8]| decode([bytes].into_iter()).unwrap_err();
    for kind in [0u8, 3, 4, 6, 10, 11, 16, 0x5a, 127, 137, 255] {
        assert_eq!(fails(&[kind]), ProtocolError::UnknownType(kind));
    }
    assert_eq!(fails(&[12, 0, 0, 0, 0]), ProtocolError::KeyLength(0));
    assert_eq!(fails(&[14, 129, 0, 0, 0]), ProtocolError::KeyLength(129));
    assert_eq!(fails(&[13, 255, 255, 255, 255]), ProtocolError::KeyLength(u32::MAX));
    assert_eq!(fails(&[12, 1, 0, 0, 0, 0xc3]), ProtocolError::KeyCharacter);
    assert!(!is_answered(fails(&[0])) && is_answered(fails(&[12, 0, 0, 0, 0])));
}

#[test]
fn authentication_request_without_key_is_unknown() {
    for kind in [129, 130] {
        let fails = decode_with(RequestDecoder::new(), [&[kind][..]].into_iter());
        assert_eq!(fails, Err(ProtocolError::UnknownType(kind)));
    }
}

#[test]
fn negative_length_counts_as_zero() {
    let got = decode([&b"\x0d\x01\0\0\0k\xff\xff\xff\xff\x09\0\0\0\x80"[..]].into_iter());
    assert_eq!(
        got,
        Ok(std::vec![
            Owned::Write("k".into(), Vec::new()),
            Owned::Flash(Vec::new())
        ])
    );
}
