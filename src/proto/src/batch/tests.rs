extern crate std;

use std::vec::Vec;

use proptest::prelude::*;

use super::*;

#[test]
fn an_instruction_is_its_number_and_four_operands() {
    let poll = Instruction {
        operation: Operation::Poll,
        a: 0x4001_0008,
        b: 1,
        c: 0xff,
        d: 1000,
    };
    let bytes = [4, 0, 0, 0, 8, 0, 1, 0x40, 1, 0, 0, 0, 0xff, 0, 0, 0, 0xe8, 3, 0, 0];
    assert_eq!(poll.to_bytes(), bytes);
    assert_eq!(Instruction::from_bytes(&bytes), Some(poll));
}

#[test]
fn a_reply_is_an_ending_and_words() {
    let ending = Ending {
        outcome: Outcome::Timeout,
        instruction: 3,
        steps: 7,
    };
    let mut reply = Vec::from(ending.to_bytes());
    reply.extend(0x0102_0304_u32.to_le_bytes());
    assert_eq!(Ending::from_reply(&reply), Some((ending, &[[4, 3, 2, 1]][..])));
    assert_eq!(Ending::from_reply(&reply[..13]), None);
    assert_eq!(Ending::from_reply(&reply[..8]), None);
}

proptest! {
    /// Bytes that are an instruction are that one alone: nothing is ignored.
    #[test]
    fn bytes_there_and_back(mut bytes: [u8; INSTRUCTION], number in 0u8..8, sparse: bool) {
        bytes[0] = number;
        if sparse {
            bytes[1..4].fill(0);
            bytes[8..].fill(0);
        }
        if let Some(instruction) = Instruction::from_bytes(&bytes) {
            prop_assert_eq!(instruction.to_bytes(), bytes);
        }
    }

    #[test]
    fn no_reply_is_too_strange(bytes: Vec<u8>) {
        if let Some((ending, results)) = Ending::from_reply(&bytes) {
            prop_assert_eq!(&ending.to_bytes()[..], &bytes[..REPLY]);
            prop_assert_eq!(results.len() * 4 + REPLY, bytes.len());
        }
    }
}
