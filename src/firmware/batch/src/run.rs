//! Execution of a batch in stretches of steps, between which other tasks can run.

use kairos_contracts::batch::DEPTH_MAX;
use kairos_proto::batch::{Ending, Operation, Outcome, Transfer};

use crate::Batch;

/// The device that a batch operates on. Only permitted accesses are made.
pub trait Device {
    fn read(&mut self, address: u32) -> u32;
    fn write(&mut self, address: u32, value: u32);
    /// Reads a probe of a channel; 0 if the channel does not have it.
    fn probe(&mut self, channel: u32, number: u8) -> u64;
    /// Sets an override of a channel, if it exists.
    fn inject(&mut self, channel: u32, number: u8, value: u8);
}

/// Why a stretch has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// The requested number of steps was executed.
    Long,
    /// The next step is to follow after this many microseconds.
    Wait(u32),
    /// A poll has not succeeded. Continue, which polls again, until this many microseconds have
    /// passed since the first time; then call [`Run::end`].
    Again(u32),
    /// Execute this on the I2C bus, then call [`Run::pass`] or [`Run::end`].
    Bus(Transfer),
    /// The batch has ended.
    Ended(Ending),
}

#[derive(Clone, Copy, Default)]
struct Loop {
    start: usize,
    end: usize,
    rounds: u32,
    round: u32,
}

/// A batch being executed.
pub struct Run<'a> {
    batch: Batch<'a>,
    next: usize,
    /// End of the innermost loop, or of the batch.
    end: usize,
    loops: [Loop; DEPTH_MAX],
    depth: usize,
    steps: u32,
}

impl<'a> Run<'a> {
    pub fn new(batch: Batch<'a>) -> Self {
        Self {
            batch,
            next: 0,
            end: batch.len(),
            loops: [Loop::default(); DEPTH_MAX],
            depth: 0,
            steps: 0,
        }
    }

    /// Executes up to `steps` steps, passing their results to `result`.
    pub fn go(&mut self, steps: usize, device: &mut impl Device, mut result: impl FnMut(u32)) -> Pause {
        for _ in 0..steps {
            if self.next == self.end && !self.close_loops() {
                return Pause::Ended(self.ending(Outcome::Done));
            }
            let known = self.batch.instruction(self.next);
            let Some((of, operation)) = known.and_then(|of| Some((of, of.operation()?))) else {
                return Pause::Ended(self.ending(Outcome::Malformed));
            };
            match operation {
                Operation::Read => result(device.read(of.a())),
                Operation::Write => {
                    let value = of.b().wrapping_add(of.c().wrapping_mul(self.round()));
                    device.write(of.a(), value);
                }
                Operation::Modify => {
                    let others = device.read(of.a()) & !of.c();
                    device.write(of.a(), others | (of.b() & of.c()));
                }
                Operation::Poll | Operation::Wait => match device.read(of.a()) {
                    value if (value ^ of.b()) & of.c() != 0 => return Pause::Again(of.d()),
                    value if operation == Operation::Poll => result(value),
                    _ => {}
                },
                Operation::Delay => {
                    self.pass();
                    return Pause::Wait(of.a());
                }
                Operation::Loop => self.enter(of.a(), of.b() as usize),
                Operation::I2c => {
                    return match Transfer::from_operands([of.a(), of.b(), of.c(), of.d()]) {
                        Some(transfer) => Pause::Bus(transfer),
                        None => Pause::Ended(self.ending(Outcome::Malformed)),
                    }
                }
                Operation::Probe => {
                    let value = device.probe(of.a(), of.b() as u8);
                    result((value >> 32) as u32);
                    result(value as u32);
                }
                Operation::Override => device.inject(of.a(), of.b() as u8, of.c() as u8),
            }
            self.pass();
        }
        Pause::Long
    }

    /// Completes the current step.
    pub fn pass(&mut self) {
        self.next += 1;
        self.steps += 1;
    }

    /// Number of completed steps.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// Ends the batch at a step that failed.
    pub fn end(self, outcome: Outcome) -> Ending {
        self.ending(outcome)
    }

    fn ending(&self, outcome: Outcome) -> Ending {
        Ending {
            outcome,
            instruction: self.next as u32,
            steps: self.steps,
        }
    }

    /// At the end of the innermost loop, begins its next iteration or leaves it. False at the end
    /// of the batch.
    fn close_loops(&mut self) -> bool {
        while self.next == self.end {
            let Some(innermost) = self.loops[..self.depth].last_mut() else {
                return false;
            };
            innermost.round += 1;
            if innermost.round < innermost.rounds {
                self.next = innermost.start;
                break;
            }
            self.depth -= 1;
            self.end = self.loops[..self.depth]
                .last()
                .map_or(self.batch.len(), |around| around.end);
        }
        true
    }

    fn enter(&mut self, rounds: u32, instructions: usize) {
        let start = self.next + 1;
        self.end = start + instructions;
        self.loops[self.depth] = Loop {
            start,
            end: self.end,
            rounds,
            round: 0,
        };
        self.depth += 1;
    }

    /// Iteration of the innermost loop, from 0.
    fn round(&self) -> u32 {
        self.loops[..self.depth].last().map_or(0, |innermost| innermost.round)
    }
}
