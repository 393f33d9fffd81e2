//! What is received: values as the host sends them, whole, cut off, and too large.

use super::*;

#[test]
fn huge_reply_is_refused() {
    let model = V::List(Box::new(V::Int64(0)), vec![]);
    assert_eq!(decode(&model, &[0xff; 4]), Err(DecodeError::TooLarge));
    assert_eq!(decode(&V::Int32(0), &[1, 2]), Err(DecodeError::Source("ended")));
}

proptest! {
    #[test]
    fn decodes_what_the_host_sends(value in typed_values(), surplus in 0usize..3) {
        let mut bytes = Vec::new();
        value.wire(false, &mut bytes);
        bytes.resize(bytes.len() + surplus, 0x55);
        let (decoded, left) = decode(&value, &bytes).unwrap();
        prop_assert_eq!(decoded, value);
        prop_assert_eq!(left, surplus);
    }

    #[test]
    fn truncated_replies_are_errors(value in typed_values(), cut in 1usize..9) {
        let mut bytes = Vec::new();
        value.wire(false, &mut bytes);
        prop_assume!(!bytes.is_empty());
        bytes.truncate(bytes.len().saturating_sub(cut));
        prop_assert_eq!(decode(&value, &bytes).unwrap_err(), DecodeError::Source("ended"));
    }
}
