//! Batches of register accesses: the encoding of their instructions and results. `docs/batch.md`
//! describes their purpose.

use core::fmt;

pub use kairos_contracts::batch::{Operation, Outcome};
use kairos_contracts::batch::{DEPTH_MAX, INSTRUCTION, INSTRUCTIONS_MAX, REPLY, RESULTS_MAX, STEPS_MAX, TIME_MAX};

mod transfer;

pub use transfer::{Switch, Transfer};

/// An instruction. Unused operands are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    pub operation: Operation,
    /// Address of a register; microseconds of a delay; iterations of a loop; number of a channel.
    pub a: u32,
    /// Value to write or to wait for; instructions in a loop; number of a probe or override.
    pub b: u32,
    /// Mask; increment of a write in a loop; value of an override.
    pub c: u32,
    /// Timeout in microseconds.
    pub d: u32,
}

impl Instruction {
    pub fn to_bytes(self) -> [u8; INSTRUCTION] {
        let mut bytes = [0; INSTRUCTION];
        bytes[0] = self.operation as u8;
        for (place, operand) in bytes[4..].chunks_exact_mut(4).zip([self.a, self.b, self.c, self.d]) {
            place.copy_from_slice(&operand.to_le_bytes());
        }
        bytes
    }

    /// Decodes an instruction; `None` if the operation is unknown or an operand is invalid.
    pub fn from_bytes(bytes: &[u8; INSTRUCTION]) -> Option<Self> {
        let instruction = Self::decode(bytes)?;
        let Self { a, b, c, d, .. } = instruction;
        let sound = match instruction.operation {
            Operation::Read | Operation::Delay => (b, c, d) == (0, 0, 0),
            Operation::Write | Operation::Modify => d == 0,
            Operation::Loop | Operation::Probe => (c, d) == (0, 0),
            Operation::Override => d == 0 && b <= 0xff && c <= 0xff,
            Operation::Poll | Operation::Wait => true,
            Operation::I2c => Transfer::from_operands([a, b, c, d]).is_some(),
        };
        (sound && bytes[1..4] == [0; 3]).then_some(instruction)
    }

    /// Decodes an instruction without checking its operands.
    fn decode(bytes: &[u8; INSTRUCTION]) -> Option<Self> {
        let encoded = Encoded(bytes);
        Some(Self {
            operation: encoded.operation()?,
            a: encoded.a(),
            b: encoded.b(),
            c: encoded.c(),
            d: encoded.d(),
        })
    }
}

/// A valid instruction in its encoded form. Fields are decoded on access.
#[derive(Clone, Copy)]
pub struct Encoded<'a>(pub &'a [u8; INSTRUCTION]);

impl Encoded<'_> {
    pub fn operation(self) -> Option<Operation> {
        Operation::try_from(self.0[0]).ok()
    }

    pub fn a(self) -> u32 {
        self.operand::<0>()
    }

    pub fn b(self) -> u32 {
        self.operand::<1>()
    }

    pub fn c(self) -> u32 {
        self.operand::<2>()
    }

    pub fn d(self) -> u32 {
        self.operand::<3>()
    }

    fn operand<const N: usize>(self) -> u32 {
        let (words, _) = self.0.as_chunks::<4>();
        u32::from_le_bytes(words[1 + N])
    }
}

/// How a batch ended; precedes its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    pub outcome: Outcome,
    /// Number of the instruction at which it ended; the number of instructions if it completed.
    pub instruction: u32,
    /// Number of instructions executed.
    pub steps: u32,
}

impl Ending {
    pub fn to_bytes(self) -> [u8; REPLY] {
        let mut bytes = [0; REPLY];
        bytes[0] = self.outcome as u8;
        bytes[4..8].copy_from_slice(&self.instruction.to_le_bytes());
        bytes[8..].copy_from_slice(&self.steps.to_le_bytes());
        bytes
    }

    /// Splits a reply into ending and result words; `None` if it is invalid.
    pub fn from_reply(reply: &[u8]) -> Option<(Self, &[[u8; 4]])> {
        let (words, []) = reply.as_chunks::<4>() else {
            return None;
        };
        let ([head, instruction, steps], results) = words.split_first_chunk()?;
        let [outcome, 0, 0, 0] = *head else { return None };
        let ending = Self {
            outcome: Outcome::try_from(outcome).ok()?,
            instruction: u32::from_le_bytes(*instruction),
            steps: u32::from_le_bytes(*steps),
        };
        Some((ending, results))
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.instruction;
        match self.outcome {
            Outcome::Done => write!(f, "the batch is done"),
            Outcome::Malformed => write!(f, "instruction {number} is none, or has operands that it cannot have"),
            Outcome::NotExported => write!(f, "instruction {number} is about a register or channel that there is not"),
            Outcome::NotPermitted => write!(
                f,
                "instruction {number} reads what cannot be read, or writes what cannot be written or is the firmware's own"
            ),
            Outcome::TooLong => write!(
                f,
                "with instruction {number} the batch is longer than it may be: {INSTRUCTIONS_MAX} instructions, \
                 {STEPS_MAX} steps, {RESULTS_MAX} results, {TIME_MAX} us of delays and timeouts, {DEPTH_MAX} loops deep"
            ),
            Outcome::Timeout => write!(f, "instruction {number} did not find in time what it waits for"),
            Outcome::NoGateware => write!(f, "there is no gateware"),
            Outcome::NotAcknowledged => write!(f, "instruction {number}: no device on the I2C bus has acknowledged"),
            Outcome::BusStuck => write!(f, "instruction {number}: a line of the I2C bus is held low"),
            Outcome::BusBusy => write!(f, "instruction {number}: the kernel does not let go of the I2C bus"),
            Outcome::StoreFailed => write!(f, "a store in another board's memory has failed after its acknowledgement"),
        }
    }
}

#[cfg(test)]
mod tests;
