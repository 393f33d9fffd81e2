//! Payloads of the messages between the two cores (`docs/interfaces.md`, section 2). Those that are of other protocols, as
//! the messages about RPCs, are in their modules.

pub use kairos_contracts::intercore::Outcome;

use crate::kernel_message::Played;
use crate::layout::{layouts, Layout};

kairos_contracts::intercore_layouts!(layouts);

/// Most bytes of an [`Answer`].
const ANSWER_MAX: usize = 1 + Played::LENGTH;

/// An answer to a request about other boards, without the values or the report that may follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    bytes: [u8; ANSWER_MAX],
    length: usize,
}

impl Answer {
    /// Success of a request that asks for nothing.
    pub fn done() -> Self {
        let mut bytes = [0; ANSWER_MAX];
        bytes[0] = Outcome::Done as u8;
        Self { bytes, length: 1 }
    }

    /// An outcome with the record that belongs to it. A record that is longer than all of them does not compile.
    pub fn new<L: Layout>(outcome: Outcome, record: &L) -> Self {
        const { assert!(L::LENGTH < ANSWER_MAX) };
        let mut bytes = [0; ANSWER_MAX];
        bytes[0] = outcome as u8;
        bytes[1..=L::LENGTH].copy_from_slice(record.encode().as_ref());
        let length = 1 + L::LENGTH;
        Self { bytes, length }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length.min(ANSWER_MAX)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_the_bytes_of_the_contract() {
        let run = SubkernelRun {
            number: 0x0403_0201,
            destination: 5,
            run: true,
            cursor: -2,
        };
        let bytes = [1, 2, 3, 4, 5, 1, 0, 0, 0xfe, 255, 255, 255, 255, 255, 255, 255];
        assert_eq!(run.encode(), bytes);
        assert_eq!(SubkernelRun::decode(&bytes), Ok(run));
        let send = SubkernelSend {
            number: 7,
            destination: 2,
            is_result: true,
            count: 3,
            length: 0x1234,
        };
        assert_eq!(send.encode(), [7, 0, 0, 0, 2, 1, 3, 0, 0x34, 0x12, 0, 0]);
        let wait = SubkernelWait {
            number: 7,
            milliseconds: 1,
        };
        assert_eq!(wait.encode(), [7, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
        let play = TracePlay {
            number: 1,
            boards: 2,
            time: 3,
        };
        assert_eq!(play.encode(), [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn answers_have_the_bytes_of_the_contract() {
        assert_eq!(Answer::done().bytes(), [0]);
        let values = Values { count: 2, length: 300 };
        assert_eq!(Answer::new(Outcome::Message, &values).bytes(), [1, 2, 0x2c, 1, 0, 0]);
        assert_eq!(Answer::new(Outcome::Lost, &Concerned { board: 9 }).bytes(), [6, 9]);
        let report = Report { number: 1, length: 2 };
        assert_eq!(
            Answer::new(Outcome::Exception, &report).bytes(),
            [2, 1, 0, 0, 0, 2, 0, 0, 0]
        );
        let played = Played {
            bits: 1,
            channel: 2,
            time: -1,
        };
        assert_eq!(
            Answer::new(Outcome::Played, &played).bytes(),
            [8, 1, 0, 0, 0, 2, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]
        );
    }
}
