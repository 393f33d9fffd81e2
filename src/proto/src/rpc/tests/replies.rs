//! Replies: values as the host sends them, complete, truncated, and too large.

use super::*;

#[test]
fn too_large_reply_is_refused() {
    let model = V::List(Box::new(V::Int64(0)), vec![]);
    assert_eq!(decode(&model, &[0xff; 4]), Err(DecodeError::TooLarge));
    assert_eq!(decode(&V::Int32(0), &[1, 2]), Err(DecodeError::Source("ended")));
}

/// Supplies memory for `gives` requests only. Returns the number of requests, and the bytes left
/// after the rest was discarded.
fn discard(model: &V, bytes: &[u8], gives: usize) -> Result<(usize, usize), DecodeError<&'static str>> {
    let mut ram = Ram::new(1 << 20);
    let (size, align) = model.layout();
    let mut address = ram.allocate(size, align);
    let tag = model.tag();
    let mut decoder = Decoder::new(&tag);
    let mut source = bytes;
    for made in 0.. {
        match decoder.resume(address, &mut source, &mut ram)? {
            Step::Done => return Ok((made, source.len())),
            Step::Allocate(_) if made == gives => {
                decoder.discard(&mut source)?;
                return Ok((made + 1, source.len()));
            }
            Step::Allocate(bytes) => address = ram.allocate(bytes, 8),
        }
    }
    unreachable!()
}

proptest! {
    #[test]
    fn reply_without_memory_is_drained_completely(value in typed_values(), gives in 0usize..6, surplus in 0usize..3) {
        let mut bytes = Vec::new();
        value.wire(false, &mut bytes);
        bytes.resize(bytes.len() + surplus, 0x55);
        let (made, left) = discard(&value, &bytes, gives).unwrap();
        prop_assert_eq!(left, surplus);
        prop_assert!(made <= gives + 1);
    }

    #[test]
    fn replies_of_the_host_are_decoded(value in typed_values(), surplus in 0usize..3) {
        let mut bytes = Vec::new();
        value.wire(false, &mut bytes);
        bytes.resize(bytes.len() + surplus, 0x55);
        let (decoded, left) = decode(&value, &bytes).unwrap();
        prop_assert_eq!(decoded, value);
        prop_assert_eq!(left, surplus);
    }

    #[test]
    fn truncated_reply_is_an_error(value in typed_values(), cut in 1usize..9) {
        let mut bytes = Vec::new();
        value.wire(false, &mut bytes);
        prop_assume!(!bytes.is_empty());
        bytes.truncate(bytes.len().saturating_sub(cut));
        prop_assert_eq!(decode(&value, &bytes).unwrap_err(), DecodeError::Source("ended"));
    }
}
