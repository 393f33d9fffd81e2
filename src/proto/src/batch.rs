//! Batches of register accesses: their instructions, and how they ended, as bytes. What a batch is for stands in
//! `docs/batch.md`.

use core::fmt;

pub use kairos_contracts::batch::{Operation, Outcome};
use kairos_contracts::batch::{DEPTH_MAX, INSTRUCTION, INSTRUCTIONS_MAX, REPLY, RESULTS_MAX, STEPS_MAX, TIME_MAX};

/// An instruction. Operands that its operation does not have are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    pub operation: Operation,
    /// Address of a register; microseconds of a delay; rounds of a loop.
    pub a: u32,
    /// What is written, or waited for; instructions in a loop.
    pub b: u32,
    /// Mask; step of a write in a loop.
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

    /// `None`: no operation has this number, or what should be 0 is not.
    pub fn from_bytes(bytes: &[u8; INSTRUCTION]) -> Option<Self> {
        let [number, 0, 0, 0, ref operands @ ..] = *bytes else {
            return None;
        };
        let operand = |n: usize| {
            operands[4 * n..]
                .first_chunk()
                .map_or(0, |bytes| u32::from_le_bytes(*bytes))
        };
        let instruction = Self {
            operation: Operation::try_from(number).ok()?,
            a: operand(0),
            b: operand(1),
            c: operand(2),
            d: operand(3),
        };
        let unused: &[u32] = match instruction.operation {
            Operation::Read | Operation::Delay => &[instruction.b, instruction.c, instruction.d],
            Operation::Write | Operation::Modify => &[instruction.d],
            Operation::Loop => &[instruction.c, instruction.d],
            Operation::Poll => &[],
        };
        unused.iter().all(|&operand| operand == 0).then_some(instruction)
    }
}

/// How a batch ended, in front of its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    pub outcome: Outcome,
    /// Number of the instruction that it ended at; of one that is done, their number.
    pub instruction: u32,
    /// Instructions that were executed.
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

    /// The ending at the begin of a reply, and the bytes of the results. `None`: it is no reply.
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
            Outcome::NotExported => write!(f, "instruction {number} is about an address where there is no register"),
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
        }
    }
}

#[cfg(test)]
mod tests;
