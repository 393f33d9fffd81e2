//! The check that every batch passes before any of it is executed.

use kairos_contracts::batch::{DEPTH_MAX, INSTRUCTION, INSTRUCTIONS_MAX, RESULTS_MAX, STEPS_MAX, TIME_MAX};
use kairos_proto::batch::{Encoded, Ending, Instruction, Operation, Outcome, Transfer};

use crate::{Exported, Permission};

/// A checked batch: it does only what is permitted, and terminates.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    instructions: &'a [[u8; INSTRUCTION]],
}

impl<'a> Batch<'a> {
    /// Checks a batch for a device. On failure returns the reason and the offending instruction.
    pub fn new(bytes: &'a [u8], exported: &impl Exported) -> Result<Self, Ending> {
        let (instructions, rest) = bytes.as_chunks::<INSTRUCTION>();
        let refused = |outcome, instruction: usize| Ending {
            outcome,
            instruction: instruction as u32,
            steps: 0,
        };
        if !rest.is_empty() {
            return Err(refused(Outcome::Malformed, instructions.len()));
        }
        if instructions.len() > INSTRUCTIONS_MAX {
            return Err(refused(Outcome::TooLong, INSTRUCTIONS_MAX));
        }
        let mut bounds = Bounds::new(instructions.len());
        let mut permissions = Permissions { exported, newest: None };
        for (index, bytes) in instructions.iter().enumerate() {
            let checked = Instruction::from_bytes(bytes)
                .ok_or(Outcome::Malformed)
                .and_then(|instruction| {
                    permissions.check(&instruction)?;
                    bounds.count(index, &instruction)
                });
            checked.map_err(|outcome| refused(outcome, index))?;
        }
        Ok(Self { instructions })
    }

    pub fn len(&self) -> usize {
        self.instructions.len()
    }

    pub fn is_empty(&self) -> bool {
        self.instructions.is_empty()
    }

    /// The instruction with this number.
    pub(crate) fn instruction(&self, number: usize) -> Option<Encoded<'a>> {
        self.instructions.get(number).map(Encoded)
    }
}

/// The permissions of instructions, with a cache, as batches use the same register repeatedly.
struct Permissions<'a, E> {
    exported: &'a E,
    newest: Option<(u32, Permission)>,
}

impl<E: Exported> Permissions<'_, E> {
    fn check(&mut self, instruction: &Instruction) -> Result<(), Outcome> {
        let (read, write) = match instruction.operation {
            Operation::Read | Operation::Poll | Operation::Wait => (true, false),
            Operation::Write => (false, true),
            Operation::Modify => (true, true),
            Operation::Delay | Operation::Loop => return Ok(()),
            Operation::I2c => return exported(self.exported.has_bus()),
            Operation::Probe | Operation::Override => return exported(self.exported.has_channel(instruction.a)),
        };
        let has = self.of(instruction.a)?;
        match (read && !has.read) || (write && !has.write) {
            true => Err(Outcome::NotPermitted),
            false => Ok(()),
        }
    }

    fn of(&mut self, address: u32) -> Result<Permission, Outcome> {
        if let Some((_, permission)) = self.newest.filter(|&(of, _)| of == address) {
            return Ok(permission);
        }
        let permission = self.exported.permission(address).ok_or(Outcome::NotExported)?;
        self.newest = Some((address, permission));
        Ok(permission)
    }
}

fn exported(is: bool) -> Result<(), Outcome> {
    is.then_some(()).ok_or(Outcome::NotExported)
}

/// Resource usage of a batch, accumulated instruction by instruction.
struct Bounds {
    /// The enclosing loops: their ends, and how often the code around them is executed.
    around: [(usize, u64); DEPTH_MAX],
    depth: usize,
    /// End of the innermost loop, or of the batch.
    end: usize,
    /// How often the current instruction is executed.
    rounds: u64,
    steps: u64,
    results: u64,
    time: u64,
}

impl Bounds {
    fn new(instructions: usize) -> Self {
        Self {
            around: [(0, 0); DEPTH_MAX],
            depth: 0,
            end: instructions,
            rounds: 1,
            steps: 0,
            results: 0,
            time: 0,
        }
    }

    fn count(&mut self, index: usize, instruction: &Instruction) -> Result<(), Outcome> {
        while self.depth > 0 && index == self.end {
            self.depth -= 1;
            (self.end, self.rounds) = self.around[self.depth];
        }
        let mut add = |sum: fn(&mut Self) -> &mut u64, each: u32| {
            let rounds = self.rounds;
            let sum = sum(self);
            *sum = sum.saturating_add(rounds.saturating_mul(each.into()));
        };
        add(|bounds| &mut bounds.steps, 1);
        match instruction.operation {
            Operation::Read => add(|bounds| &mut bounds.results, 1),
            Operation::Poll => {
                add(|bounds| &mut bounds.results, 1);
                add(|bounds| &mut bounds.time, instruction.d);
            }
            Operation::Wait => add(|bounds| &mut bounds.time, instruction.d),
            Operation::Delay => add(|bounds| &mut bounds.time, instruction.a),
            Operation::Loop => self.enter(index, instruction)?,
            Operation::I2c => {
                let Instruction { a, b, c, d, .. } = *instruction;
                let transfer = Transfer::from_operands([a, b, c, d]).ok_or(Outcome::Malformed)?;
                add(|bounds| &mut bounds.results, transfer.results());
                add(|bounds| &mut bounds.time, transfer.time());
            }
            Operation::Probe => add(|bounds| &mut bounds.results, 2),
            Operation::Write | Operation::Modify | Operation::Override => {}
        }
        let bounds = [
            (self.steps, STEPS_MAX),
            (self.results, RESULTS_MAX),
            (self.time, TIME_MAX),
        ];
        match bounds.iter().any(|&(sum, most)| sum > most.into()) {
            true => Err(Outcome::TooLong),
            false => Ok(()),
        }
    }

    fn enter(&mut self, index: usize, instruction: &Instruction) -> Result<(), Outcome> {
        let end = (index + 1).saturating_add(instruction.b as usize);
        if instruction.a == 0 || instruction.b == 0 || end > self.end {
            return Err(Outcome::Malformed);
        }
        *self.around.get_mut(self.depth).ok_or(Outcome::TooLong)? = (self.end, self.rounds);
        self.depth += 1;
        self.end = end;
        self.rounds = self.rounds.saturating_mul(instruction.a.into());
        Ok(())
    }
}
