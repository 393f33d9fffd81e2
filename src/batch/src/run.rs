//! Execution of a batch, one instruction a step, so that others can have the processor between steps.

use kairos_contracts::batch::DEPTH_MAX;
use kairos_proto::batch::{Ending, Instruction, Operation, Outcome};

use crate::Batch;

/// The registers that a batch works on. It asks only for what its check permitted.
pub trait Registers {
    fn read(&mut self, address: u32) -> u32;
    fn write(&mut self, address: u32, value: u32);
}

/// What a step comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The next one may follow at once. A word of result, if there is one.
    Next(Option<u32>),
    /// The next one is to follow after so many microseconds.
    Wait(u32),
    /// A poll has not found what it waits for. The same step again, until so many microseconds have passed since the first
    /// time; then [`Run::give_up`].
    Again(u32),
    /// It was the last one.
    Ended(Ending),
}

#[derive(Clone, Copy, Default)]
struct Loop {
    start: usize,
    end: usize,
    rounds: u32,
    round: u32,
}

/// A batch that is being executed.
pub struct Run<'a> {
    batch: Batch<'a>,
    next: usize,
    loops: [Loop; DEPTH_MAX],
    depth: usize,
    steps: u32,
}

impl<'a> Run<'a> {
    pub fn new(batch: Batch<'a>) -> Self {
        Self {
            batch,
            next: 0,
            loops: [Loop::default(); DEPTH_MAX],
            depth: 0,
            steps: 0,
        }
    }

    /// Executes the next instruction.
    pub fn step(&mut self, registers: &mut impl Registers) -> Step {
        self.close_loops();
        let Some(instruction) = self.batch.instruction(self.next) else {
            return Step::Ended(self.ending(Outcome::Done));
        };
        let Instruction { operation, a, b, c, d } = instruction;
        let mut done = Step::Next(None);
        match operation {
            Operation::Read => done = Step::Next(Some(registers.read(a))),
            Operation::Write => registers.write(a, b.wrapping_add(c.wrapping_mul(self.round()))),
            Operation::Modify => {
                let others = registers.read(a) & !c;
                registers.write(a, others | (b & c));
            }
            Operation::Poll => match registers.read(a) {
                value if (value ^ b) & c == 0 => done = Step::Next(Some(value)),
                _ => return Step::Again(d),
            },
            Operation::Delay => done = Step::Wait(a),
            Operation::Loop => self.enter(a, b as usize),
        }
        self.next += 1;
        self.steps += 1;
        done
    }

    /// Ends the batch at the poll that was not answered in time.
    pub fn give_up(self) -> Ending {
        self.ending(Outcome::Timeout)
    }

    fn ending(&self, outcome: Outcome) -> Ending {
        Ending {
            outcome,
            instruction: self.next as u32,
            steps: self.steps,
        }
    }

    /// Begins the next round of a loop whose end is reached, or leaves it.
    fn close_loops(&mut self) {
        while let Some(innermost) = self.loops[..self.depth].last_mut() {
            if self.next != innermost.end {
                return;
            }
            innermost.round += 1;
            if innermost.round < innermost.rounds {
                self.next = innermost.start;
                return;
            }
            self.depth -= 1;
        }
    }

    fn enter(&mut self, rounds: u32, instructions: usize) {
        let start = self.next + 1;
        self.loops[self.depth] = Loop {
            start,
            end: start + instructions,
            rounds,
            round: 0,
        };
        self.depth += 1;
    }

    /// Round of the innermost loop, from 0.
    fn round(&self) -> u32 {
        self.loops[..self.depth].last().map_or(0, |innermost| innermost.round)
    }
}
