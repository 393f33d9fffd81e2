//! Batches from steps that name registers.

use kairos_batch::Batch;
use kairos_contracts::batch::{DEPTH_MAX, INSTRUCTION, INSTRUCTIONS_MAX};
use kairos_proto::batch::{Ending, Instruction, Operation, Outcome};
use tonic::Status;

use crate::registers::{Gateware, Register};
use crate::v1::step::{self, Step as Kind};
use crate::v1::Step;

/// The batch that does these steps on a device with this gateware. What the device would refuse is refused here, before
/// anything is sent.
pub fn compile(steps: &[Step], gateware: &Gateware) -> Result<Vec<u8>, Status> {
    let mut program = Program {
        gateware,
        bytes: Vec::new(),
    };
    program.steps(steps, 0)?;
    match Batch::new(&program.bytes, |address| gateware.permission(address)) {
        Ok(_) => Ok(program.bytes),
        Err(ending) => Err(refusal(&ending)),
    }
}

/// Why a batch is not executed.
pub fn refusal(ending: &Ending) -> Status {
    let text = ending.to_string();
    match ending.outcome {
        Outcome::NotPermitted => Status::permission_denied(text),
        Outcome::NoGateware => Status::failed_precondition(text),
        _ => Status::invalid_argument(text),
    }
}

/// The batch that reads registers once: both words of a wide one.
pub fn read<'a>(registers: impl IntoIterator<Item = &'a Register>) -> Vec<u8> {
    let words = registers.into_iter().flat_map(Register::words);
    words
        .flat_map(|address| instruction(Operation::Read, [address, 0, 0, 0]))
        .collect()
}

/// The batch that sets a register.
pub fn write(register: &Register, value: u64) -> Vec<u8> {
    let halves = [(value >> 32) as u32, value as u32];
    let values = &halves[usize::from(!register.is_wide())..];
    let pairs = register.words().zip(values);
    pairs
        .flat_map(|(address, &value)| instruction(Operation::Write, [address, value, 0, 0]))
        .collect()
}

/// The value of a register from the front of what [`read`] gives.
pub fn value(register: &Register, words: &mut impl Iterator<Item = u32>) -> Option<u64> {
    let first = words.next()?.into();
    match register.is_wide() {
        true => Some(first << 32 | u64::from(words.next()?)),
        false => Some(first),
    }
}

fn instruction(operation: Operation, [a, b, c, d]: [u32; 4]) -> [u8; INSTRUCTION] {
    Instruction { operation, a, b, c, d }.to_bytes()
}

struct Program<'a> {
    gateware: &'a Gateware,
    bytes: Vec<u8>,
}

impl Program<'_> {
    fn add(&mut self, operation: Operation, operands: [u32; 4]) {
        self.bytes.extend(instruction(operation, operands));
    }

    fn register(&self, name: &str) -> Result<&Register, Status> {
        find(self.gateware, name)
    }

    /// The address of a register of one word.
    fn narrow(&self, name: &str) -> Result<u32, Status> {
        let register = self.register(name)?;
        match register.is_wide() {
            true => Err(Status::invalid_argument(format!(
                "{name} has {} bits: in a batch it can only be read",
                register.width
            ))),
            false => Ok(register.address),
        }
    }

    fn steps(&mut self, steps: &[Step], depth: usize) -> Result<(), Status> {
        // The device would refuse it too; but here it would be our stack.
        if depth > DEPTH_MAX {
            return Err(Status::invalid_argument(format!(
                "at most {DEPTH_MAX} loops within each other"
            )));
        }
        for step in steps {
            self.step(step, depth)?;
            if self.bytes.len() > INSTRUCTIONS_MAX * INSTRUCTION {
                return Err(Status::invalid_argument(format!(
                    "a program has at most {INSTRUCTIONS_MAX} steps"
                )));
            }
        }
        Ok(())
    }

    fn step(&mut self, step: &Step, depth: usize) -> Result<(), Status> {
        let kind = step.step.as_ref();
        match kind.ok_or_else(|| Status::invalid_argument("a step says nothing of what it does"))? {
            Kind::Read(step::Read { register }) => {
                let bytes = read([self.register(register)?]);
                self.bytes.extend(bytes);
            }
            Kind::Write(step::Write { register, value, step }) => {
                self.add(Operation::Write, [self.narrow(register)?, *value, *step, 0]);
            }
            Kind::Modify(step::Modify { register, value, mask }) => {
                self.add(Operation::Modify, [self.narrow(register)?, *value, *mask, 0]);
            }
            Kind::Poll(step::Poll {
                register,
                value,
                mask,
                timeout_us,
            }) => {
                self.add(Operation::Poll, [self.narrow(register)?, *value, *mask, *timeout_us]);
            }
            Kind::Delay(step::Delay { us }) => self.add(Operation::Delay, [*us, 0, 0, 0]),
            Kind::Loop(step::Loop { rounds, steps }) => {
                let start = self.bytes.len();
                self.add(Operation::Loop, [*rounds, 0, 0, 0]);
                let body = self.bytes.len();
                self.steps(steps, depth + 1)?;
                let instructions = (self.bytes.len() - body) / INSTRUCTION;
                self.bytes[start..body]
                    .copy_from_slice(&instruction(Operation::Loop, [*rounds, instructions as u32, 0, 0]));
            }
        }
        Ok(())
    }
}

/// The register called `name`; NOT_FOUND tells of those of its block.
pub fn find<'a>(gateware: &'a Gateware, name: &str) -> Result<&'a Register, Status> {
    gateware.register(name).ok_or_else(|| {
        let block = name.split('/').next().unwrap_or_default();
        let near: Vec<_> = gateware
            .registers()
            .map(|(name, _)| name)
            .filter(|name| name.starts_with(&format!("{block}/")))
            .collect();
        Status::not_found(match near[..] {
            [] => format!("there is no register '{name}', and no block '{block}'"),
            _ => format!("there is no register '{name}'; in its block are {}", near.join(", ")),
        })
    })
}
