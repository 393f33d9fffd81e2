extern crate std;
use super::*;
use hmac::{Hmac, Mac};
use proptest::prelude::*;
use std::vec::Vec as StdVec;

/// Accepts all files except those that begin with a zero.
struct Honest;
impl Check for Honest {
    fn check(&mut self, _: Kind, content: &[u8]) -> Result<(), Text> {
        match content[0] {
            0 => Err(text(format_args!("it begins with a zero"))),
            _ => Ok(()),
        }
    }
}

fn offer(kind: Kind, content: &[u8]) -> Offer {
    Offer {
        kind,
        length: content.len() as u32,
        digest: Sha256::digest(content).into(),
    }
}

fn message(request: Request, nonce: Digest, key: &[u8]) -> StdVec<u8> {
    let (bytes, length) = request.encode();
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(&nonce);
    mac.update(&bytes[..length]);
    let proof = mac.finalize().into_bytes();
    bytes[..length].iter().chain(&proof).copied().collect()
}

/// Feeds `input` in pieces of `step` bytes; returns the output, with only the first byte of each
/// answer.
fn feed(connection: &mut Connection, files: &mut Files, input: &[u8], step: usize) -> (StdVec<u8>, bool) {
    let mut answers = StdVec::new();
    for piece in input.chunks(step) {
        let mut rest = piece;
        loop {
            let (taken, output) = connection.advance(files, &mut Honest, rest);
            rest = &rest[taken..];
            match output {
                Output::None if taken == 0 || rest.is_empty() => break,
                Output::None => {}
                Output::Send(bytes) => answers.push(bytes[0]),
                Output::Refuse(bytes, _) => {
                    answers.push(bytes[0]);
                    return (answers, false);
                }
                Output::Boot(bytes) => {
                    answers.push(bytes[0]);
                    return (answers, true);
                }
            }
        }
    }
    (answers, false)
}

fn session(content: &[(Kind, StdVec<u8>)], key: &[u8]) -> StdVec<u8> {
    let mut input = StdVec::from(GREETING);
    for (kind, bytes) in content {
        input.extend(message(Request::Offer(offer(*kind, bytes)), [5; 32], key));
        input.extend(bytes);
    }
    input.extend(message(Request::Boot, [5; 32], key));
    input
}

const KEY: &[u8] = b"0123456789abcdef";

proptest! {
    #[test]
    fn files_in_arbitrary_pieces_are_complete(
        firmware in proptest::collection::vec(1u8.., 1..500),
        gateware in proptest::collection::vec(1u8.., 1..500),
        step in 1usize..600,
        locked in any::<bool>(),
    ) {
        let (mut a, mut b) = ([0; 500], [0; 500]);
        let mut files = Files { firmware: File::new(&mut a), gateware: File::new(&mut b) };
        let input = session(&[(Kind::Firmware, firmware.clone()), (Kind::Gateware, gateware.clone())], KEY);
        let mut connection = Connection::new(locked.then_some(KEY), [5; 32]);
        let (answers, booted) = feed(&mut connection, &mut files, &input, step);
        prop_assert_eq!(answers, [1, 2, 3, 2, 3, 4]);
        prop_assert!(booted);
        prop_assert_eq!(&*files.firmware.content().unwrap(), &firmware[..]);
        prop_assert_eq!(&*files.gateware.content().unwrap(), &gateware[..]);
    }

    #[test]
    fn lost_connection_resumes_at_its_position(
        content in proptest::collection::vec(1u8.., 2..500), cut in 1usize..499,
    ) {
        let cut = cut.min(content.len() - 1);
        let (mut a, mut b) = ([0; 500], [0; 500]);
        let mut files = Files { firmware: File::new(&mut a), gateware: File::new(&mut b) };
        let offered = message(Request::Offer(offer(Kind::Firmware, &content)), [5; 32], KEY);
        let start = [&GREETING[..], &offered].concat();
        feed(&mut Connection::new(None, [5; 32]), &mut files, &[&start, &content[..cut]].concat(), 100);
        let mut second = Connection::new(None, [6; 32]);
        let (_, output) = second.advance(&mut files, &mut Honest, GREETING);
        prop_assert!(matches!(output, Output::Send(_)));
        let (_, output) = second.advance(&mut files, &mut Honest, &offered);
        prop_assert_eq!(output, Output::Send(encoded(Reply::Have(cut as u32))));
        let (_, output) = second.advance(&mut files, &mut Honest, &content[cut..]);
        prop_assert_eq!(output, Output::Send(encoded(Reply::Verified)));
        prop_assert_eq!(&*files.firmware.content().unwrap(), &content[..]);
    }

    #[test]
    fn arbitrary_bytes_never_panic(input in proptest::collection::vec(any::<u8>(), 0..300), greeted in any::<bool>(), step in 1usize..50) {
        let (mut a, mut b) = ([0; 100], [0; 100]);
        let mut files = Files { firmware: File::new(&mut a), gateware: File::new(&mut b) };
        let input = [if greeted { &GREETING[..] } else { b"" }, &input].concat();
        let (_, booted) = feed(&mut Connection::new(Some(KEY), [5; 32]), &mut files, &input, step);
        prop_assert!(!booted);
    }
}

/// The text of the refusal that ends a session in an empty loader.
fn refusal(input: &[u8], key: Option<&[u8]>) -> Text {
    let (mut a, mut b) = ([0; 50], [0; 50]);
    let mut files = Files {
        firmware: File::new(&mut a),
        gateware: File::new(&mut b),
    };
    let mut connection = Connection::new(key, [5; 32]);
    let mut rest = input;
    loop {
        let (taken, output) = connection.advance(&mut files, &mut Honest, rest);
        rest = &rest[taken..];
        if let Output::Refuse(_, reason) = output {
            assert!(files.firmware.content().is_none());
            return reason;
        }
        assert!(taken > 0 || output != Output::None, "not refused");
    }
}

#[test]
fn invalid_request_is_answered_with_reason() {
    let good = session(&[(Kind::Firmware, [7; 20].into())], KEY);
    let mut damaged = good.clone();
    damaged[GREETING.len() + OFFER] ^= 1;
    assert!(refusal(&damaged, None).contains("checksum"));
    assert!(refusal(&good, Some(b"another key, 16+")).contains("key"));
    assert!(refusal(b"GET / HTTP/1.1", None).contains("kairos boot"));
    assert!(refusal(&session(&[(Kind::Firmware, [7; 51].into())], KEY), None).contains("limit is 50"));
    assert!(refusal(&session(&[(Kind::Firmware, [0; 9].into())], KEY), None).contains("zero"));
    assert!(refusal(&session(&[(Kind::Gateware, [7; 9].into())], KEY), None).contains("no firmware"));
    assert!(refusal(&[&GREETING[..], &[77]].concat(), None).contains("unknown request 77"));
}

#[test]
fn proof_is_valid_for_one_connection() {
    let good = session(&[(Kind::Firmware, [7; 20].into())], KEY);
    let (mut a, mut b) = ([0; 50], [0; 50]);
    let mut files = Files {
        firmware: File::new(&mut a),
        gateware: File::new(&mut b),
    };
    let (answers, booted) = feed(&mut Connection::new(Some(KEY), [6; 32]), &mut files, &good, 10);
    assert_eq!((answers, booted), (std::vec![1, 5], false));
}

#[test]
fn complete_file_needs_no_more_input() {
    let (mut a, mut b) = ([0; 50], [0; 50]);
    let mut files = Files {
        firmware: File::new(&mut a),
        gateware: File::new(&mut b),
    };
    let content = [7; 20];
    let offered = message(Request::Offer(offer(Kind::Firmware, &content)), [5; 32], KEY);
    let whole = [&GREETING[..], &offered, &content].concat();
    feed(&mut Connection::new(None, [5; 32]), &mut files, &whole, 100);
    let mut second = Connection::new(None, [6; 32]);
    second.advance(&mut files, &mut Honest, GREETING);
    let (_, output) = second.advance(&mut files, &mut Honest, &offered);
    assert_eq!(output, Output::Send(encoded(Reply::Have(20))));
    assert!(second.has_offered());
    assert_eq!(
        second.advance(&mut files, &mut Honest, &[]),
        (0, Output::Send(encoded(Reply::Verified)))
    );
    assert_eq!(second.advance(&mut files, &mut Honest, &[]), (0, Output::None));
}
