//! Requests: those of the wire document, their tags, and values that cannot be encoded.

use super::*;

#[test]
fn request_of_the_wire_document_has_its_bytes() {
    // report(self, x: float) -> int32, service 1; self has object id 3.
    let mut ram = Ram::new(256);
    let base = ram.base;
    ram.put(base, &[base + 16, base + 32].map(u32::to_le_bytes).concat());
    ram.set_word(base + 16, base + 48).unwrap();
    ram.set_word(base + 48, 3).unwrap();
    ram.put(base + 32, &1.5f64.to_le_bytes());
    let mut out = Vec::new();
    let signature = encode_request(&mut out, &ram, 1, b"Of:i", base).unwrap();
    assert_eq!(signature.result, b"i");
    let expected = b"\x01\0\0\0\x4f\x03\0\0\0\x66\0\0\0\0\0\0\xf8\x3f\0\x01\0\0\0i";
    assert_eq!(out, expected);
}

#[test]
fn list_of_strings_repeats_the_element_tag() {
    let text = |bytes: &[u8]| V::Text(b's', bytes.to_vec());
    let list = V::List(Box::new(text(b"")), vec![text(b"a"), text(b"bc")]);
    let out = encode(0, b"ls:n", &[list]).unwrap();
    assert_eq!(
        &out[4..out.len() - 6],
        b"\x6c\x02\0\0\0\x73\x73\x01\0\0\0\x61\x73\x02\0\0\0bc"
    );
}

#[test]
fn keyword_argument_is_encoded_with_its_name() {
    let mut ram = Ram::new(256);
    let base = ram.base;
    ram.set_word(base, base + 8).unwrap();
    ram.put(base + 8, &[base + 32, 2].map(u32::to_le_bytes).concat());
    ram.put(base + 16, &7i64.to_le_bytes());
    ram.put(base + 32, b"to");
    let mut out = Vec::new();
    encode_request(&mut out, &ram, 9, b"kI:n", base).unwrap();
    assert_eq!(out, b"\x09\0\0\0k\x02\0\0\0toI\x07\0\0\0\0\0\0\0\0\x01\0\0\0n");
}

#[test]
fn host_string_is_encoded_without_reading_memory() {
    let mut ram = Ram::new(64);
    let base = ram.base;
    ram.put(base, &[base + 4, 0x2a, HOST_STRING].map(u32::to_le_bytes).concat());
    let mut out = Vec::new();
    encode_request(&mut out, &ram, 0, b"s:n", base).unwrap();
    assert!(out.windows(24).any(|window| window == b"<host string 0x0000002a>"));
}

#[test]
fn colon_as_element_count_does_not_end_arguments() {
    let tuple = V::Tuple(vec![V::Bool(true); 58]);
    let tag = [tuple.tag(), b":n".to_vec()].concat();
    assert_eq!(Signature::parse(&tag).unwrap().arguments, &tag[..60]);
    assert_eq!(encode(0, &tag, &[tuple]).unwrap().len(), 4 + 2 + 2 * 58 + 6);
}

#[test]
fn invalid_tags_are_rejected_with_the_reason() {
    let parse = |tag: &[u8]| Signature::parse(tag).unwrap_err();
    assert_eq!(parse(b""), TagError::Truncated);
    assert_eq!(parse(b"i"), TagError::Truncated);
    assert_eq!(parse(b"t\x02i:n"), TagError::Unknown(b':'));
    assert_eq!(parse(b"F:n"), TagError::Unknown(b'F'));
    assert_eq!(parse(b":"), TagError::Truncated);
    assert_eq!(parse(b":nn"), TagError::Trailing);
    assert_eq!(parse(b":O"), TagError::Unknown(b'O'));
    assert_eq!(parse(b"lki:n"), TagError::Unknown(b'k'));
    assert_eq!(parse(&[b"l".repeat(40), b"i:n".to_vec()].concat()), TagError::TooDeep);
    assert_eq!(
        format!("{}", TagError::Unknown(0x46)),
        "RPC tag has an unexpected byte 0x46"
    );
}

#[test]
fn invalid_text_pointer_is_an_error() {
    let mut ram = Ram::new(64);
    let base = ram.base;
    ram.put(
        base,
        &[base + 8, 0, 0xdead_0000, 0x7fff_ffff].map(u32::to_le_bytes).concat(),
    );
    let result = encode_request(&mut Vec::new(), &ram, 0, b"s:n", base);
    assert_eq!(
        result.unwrap_err(),
        EncodeError::Address(BadAddress {
            address: 0xdead_0000,
            length: 0x7fff_ffff
        })
    );
}

/// Found by fuzzing: each level would triple the work.
#[test]
fn ranges_within_ranges_are_refused() {
    assert_eq!(Signature::parse(b":rrrri"), Err(TagError::Unknown(b'r')));
    assert_eq!(Signature::parse(b"rt\0:n"), Err(TagError::Unknown(b't')));
    assert!(Signature::parse(b"rirI:rf").is_ok());
}

proptest! {
    #[test]
    fn encoded_request_equals_the_reference(arguments in prop::collection::vec(typed_values(), 0..4), result in types()) {
        let mut tag: Vec<u8> = arguments.iter().flat_map(V::tag).collect();
        tag.push(b':');
        tag.extend(result.tag());
        let mut expected = 5u32.to_le_bytes().to_vec();
        arguments.iter().for_each(|argument| argument.wire(true, &mut expected));
        expected.push(0);
        expected.extend((result.tag().len() as u32).to_le_bytes());
        expected.extend(result.tag());
        prop_assert_eq!(encode(5, &tag, &arguments).unwrap(), expected);
    }
}
