extern crate std;

use std::vec::Vec;

use proptest::prelude::*;

use super::*;

#[test]
fn instruction_consists_of_number_and_four_operands() {
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
fn reply_contains_ending_and_words() {
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

#[test]
fn bus_transaction_is_one_instruction() {
    let switch = Some(Switch { address: 0x74, mask: 4 });
    let transfer = Transfer::new(0x50, &[3, 1, 2, 4, 5], 2, switch).unwrap();
    assert_eq!(transfer.operands(), [0x0002_0550, 0x0402_0103, 5, 0x0474]);
    assert_eq!(Transfer::from_operands(transfer.operands()), Some(transfer));
    assert_eq!((transfer.results(), transfer.time()), (1, 1500));
    for wrong in [
        [0x80, 0, 0, 0],
        [0x0100_0050, 0, 0, 0],
        [0x0041_0050, 0, 0, 0],
        [0x0950, 0, 0, 0],
        [0x0050, 1, 0, 0],
        [0x0150, 0x100, 0, 0],
        [0x50, 0, 0, 0x100],
        [0x50, 0, 0, 0x80],
        [0x50, 0, 0, 0x0001_0074],
    ] {
        assert_eq!(Transfer::from_operands(wrong), None, "{wrong:x?}");
    }
}

proptest! {
    #[test]
    fn operands_of_transactions_round_trip(operands: [u32; 4], address in 0u8..128, read in 0u8..70, count in 0u8..9) {
        let [_, b, c, d] = operands;
        let a = u32::from_le_bytes([address, count, read, 0]);
        for operands in [operands, [a, b, c, d], [a, b, c, d & 0x7f7f], [a, b, 0, 0], [a, 0, 0, 0]] {
            if let Some(transfer) = Transfer::from_operands(operands) {
                prop_assert_eq!(transfer.operands(), operands);
            }
        }
    }

    /// Valid encodings are unique: no bytes are ignored.
    #[test]
    fn bytes_of_valid_instructions_round_trip(mut bytes: [u8; INSTRUCTION], number in 0u8..12, sparse: bool) {
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
    fn arbitrary_reply_never_panics(bytes: Vec<u8>) {
        if let Some((ending, results)) = Ending::from_reply(&bytes) {
            prop_assert_eq!(&ending.to_bytes()[..], &bytes[..REPLY]);
            prop_assert_eq!(results.len() * 4 + REPLY, bytes.len());
        }
    }
}
