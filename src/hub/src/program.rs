//! Compiles steps that name registers to batches.

use kairos_batch::Batch;
use kairos_contracts::batch::{DEPTH_MAX, I2C_READ_MAX, I2C_WRITTEN_MAX, INSTRUCTION, INSTRUCTIONS_MAX};
use kairos_contracts::descriptor::ChannelKind;
use kairos_proto::batch::{Ending, Instruction, Operation, Outcome, Switch, Transfer};
use tonic::Status;

use crate::job::Done;
use crate::names;
use crate::registers::{Channel, Gateware, Register};
use crate::spi;
use crate::v1::step::{self, Step as Kind};
use crate::v1::{self, RunResponse, Step};

/// A program in the device's encoding.
#[derive(Debug, Default)]
pub struct Compiled {
    /// The encoded instructions.
    pub bytes: Vec<u8>,
    /// The step that each instruction belongs to.
    steps: Vec<u32>,
}

impl Compiled {
    /// The step that an instruction belongs to: its number among the program's steps, from 0; a
    /// loop is counted before its body.
    pub fn step(&self, instruction: u32) -> u32 {
        self.steps.get(instruction as usize).copied().unwrap_or_default()
    }

    /// The response to the client after execution.
    pub fn response(&self, done: Done) -> RunResponse {
        let Done { ending, results } = done;
        let (outcome, why) = match ending.outcome {
            Outcome::Timeout => (v1::Outcome::Timeout, "the poll timed out"),
            Outcome::NotAcknowledged => (
                v1::Outcome::NotAcknowledged,
                "no device on the I2C bus has acknowledged",
            ),
            Outcome::BusStuck => (v1::Outcome::BusStuck, "a line of the I2C bus is held low"),
            Outcome::BusBusy => (v1::Outcome::BusBusy, "the kernel does not release the I2C bus"),
            Outcome::StoreFailed => (
                v1::Outcome::StoreFailed,
                "a store in another board's memory has failed after its acknowledgement: see remote_late_address",
            ),
            _ => (v1::Outcome::Done, ""),
        };
        let complete = outcome == v1::Outcome::Done;
        let failed_step = if complete { 0 } else { self.step(ending.instruction) };
        RunResponse {
            results,
            steps: ending.steps,
            done: complete,
            error: match complete {
                true => String::new(),
                false => format!("step {failed_step}: {why}"),
            },
            outcome: outcome.into(),
            failed_step,
        }
    }
}

/// Compiles steps for a device with this gateware. Programs that the device would reject are
/// rejected here, before anything is sent.
pub fn compile(steps: &[Step], gateware: &Gateware) -> Result<Compiled, Status> {
    let mut program = Program {
        gateware,
        made: Compiled::default(),
        step: 0,
    };
    program.steps(steps, 0)?;
    let made = program.made;
    match Batch::new(&made.bytes, gateware) {
        Ok(_) => Ok(made),
        Err(ending) => Err(refusal(&ending)),
    }
}

/// The status for a rejected batch.
pub fn refusal(ending: &Ending) -> Status {
    let text = ending.to_string();
    match ending.outcome {
        Outcome::NotPermitted => Status::permission_denied(text),
        Outcome::NoGateware => Status::failed_precondition(text),
        _ => Status::invalid_argument(text),
    }
}

/// The batch that reads each register once; wide registers as two words.
pub fn read<'a>(registers: impl IntoIterator<Item = &'a Register>) -> Vec<u8> {
    let words = registers.into_iter().flat_map(Register::words);
    words
        .flat_map(|address| instruction(Operation::Read, [address, 0, 0, 0]))
        .collect()
}

/// The batch that writes a register.
pub fn write(register: &Register, value: u64) -> Vec<u8> {
    let halves = [(value >> 32) as u32, value as u32];
    let values = &halves[usize::from(!register.is_wide())..];
    let pairs = register.words().zip(values);
    pairs
        .flat_map(|(address, &value)| instruction(Operation::Write, [address, value, 0, 0]))
        .collect()
}

/// Takes the value of a register from the results of [`read`].
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
    made: Compiled,
    /// Number of the next step.
    step: u32,
}

impl<'a> Program<'a> {
    /// Appends instructions of the current step.
    fn extend(&mut self, bytes: &[u8]) {
        self.made.bytes.extend(bytes);
        self.made
            .steps
            .resize(self.made.bytes.len() / INSTRUCTION, self.step - 1);
    }

    fn add(&mut self, operation: Operation, operands: [u32; 4]) {
        self.extend(&instruction(operation, operands));
    }

    fn register(&self, name: &str) -> Result<&'a Register, Status> {
        find(self.gateware, name)
    }

    /// Looks up a channel of the device itself.
    fn channel(&self, name: &str) -> Result<&'a Channel, Status> {
        let found = self.gateware.channels().iter().find(|channel| channel.name == name);
        let known = || self.gateware.channels().iter().map(|channel| channel.name.as_str());
        let channel = found.ok_or_else(|| names::unknown("RTIO channel", name, known()))?;
        match channel.number >> 16 {
            0 => Ok(channel),
            board => Err(Status::invalid_argument(format!(
                "{name} is a channel of board {board}: a batch can only access channels of the device itself"
            ))),
        }
    }

    fn spi(&mut self, transfer: &step::Spi) -> Result<(), Status> {
        let channel = self.channel(&transfer.channel)?;
        if !channel.is(ChannelKind::SpiMaster) {
            let text = format!("{} is not an SPI master but {}", channel.name, channel.kind_name());
            return Err(Status::invalid_argument(text));
        }
        let find = |name| match self.gateware.register(name) {
            Some(register) => Ok(register.address),
            None => Err(Status::failed_precondition(
                "this gateware is too old for SPI transfers during experiments",
            )),
        };
        let registers = spi::Registers {
            channel: find("spi/channel")?,
            config: find("spi/config")?,
            data: find("spi/data")?,
            state: find("spi/state")?,
            value: find("spi/value")?,
        };
        for (operation, operands) in spi::instructions(transfer, channel.number, &registers)? {
            self.add(operation, operands);
        }
        Ok(())
    }

    /// Address of a register with a single word.
    fn narrow(&self, name: &str) -> Result<u32, Status> {
        let register = self.register(name)?;
        match register.is_wide() {
            true => Err(Status::invalid_argument(format!(
                "{name} has {} bits: in a batch it can only be read and written as a whole",
                register.width
            ))),
            false => Ok(register.address),
        }
    }

    fn steps(&mut self, steps: &[Step], depth: usize) -> Result<(), Status> {
        // The device would reject it too, but here the recursion could overflow the stack.
        if depth > DEPTH_MAX {
            return Err(Status::invalid_argument(format!(
                "loops can be nested at most {DEPTH_MAX} deep"
            )));
        }
        for step in steps {
            self.step(step, depth)?;
            if self.made.steps.len() > INSTRUCTIONS_MAX {
                return Err(Status::invalid_argument(format!(
                    "a batch has at most {INSTRUCTIONS_MAX} steps"
                )));
            }
        }
        Ok(())
    }

    fn step(&mut self, step: &Step, depth: usize) -> Result<(), Status> {
        let kind = step.step.as_ref();
        self.step += 1;
        match kind.ok_or_else(|| Status::invalid_argument("a step contains no operation"))? {
            Kind::Read(step::Read { register }) => {
                let bytes = read([self.register(register)?]);
                self.extend(&bytes);
            }
            Kind::Write(step::Write { register, value, step }) => {
                let found = self.register(register)?;
                found.takes(register, *value)?;
                match step {
                    0 => self.extend(&write(found, *value)),
                    _ => self.add(Operation::Write, [self.narrow(register)?, *value as u32, *step, 0]),
                }
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
            Kind::I2c(i2c) => self.add(Operation::I2c, transfer(i2c)?.operands()),
            Kind::Probe(step::Probe { channel, probe }) => {
                let number = self.channel(channel)?.number;
                self.add(Operation::Probe, [number, *probe, 0, 0]);
            }
            Kind::Inject(step::Inject {
                channel: name,
                r#override,
                value,
            }) => {
                let channel = self.channel(name)?;
                if !channel.is_ttl() || *r#override > 2 || *value > 1 {
                    let text =
                        format!("{name}: only TTLs have overrides; their numbers are 0 to 2, their values 0 or 1");
                    return Err(Status::invalid_argument(text));
                }
                self.add(Operation::Override, [channel.number, *r#override, *value, 0]);
            }
            Kind::Spi(transfer) => self.spi(transfer)?,
            Kind::Delay(step::Delay { us }) => self.add(Operation::Delay, [*us, 0, 0, 0]),
            Kind::Loop(step::Loop { rounds, steps }) => {
                let start = self.made.bytes.len();
                self.add(Operation::Loop, [*rounds, 0, 0, 0]);
                let body = self.made.bytes.len();
                self.steps(steps, depth + 1)?;
                let instructions = (self.made.bytes.len() - body) / INSTRUCTION;
                self.made.bytes[start..body]
                    .copy_from_slice(&instruction(Operation::Loop, [*rounds, instructions as u32, 0, 0]));
            }
        }
        Ok(())
    }
}

/// Converts a transaction on the I2C bus.
fn transfer(i2c: &step::I2c) -> Result<Transfer, Status> {
    let step::I2c {
        address,
        write,
        read,
        through,
    } = i2c;
    let byte = |number: u32| u8::try_from(number).ok();
    let switch = match through {
        None => Some(None),
        Some(switch) => byte(switch.address)
            .zip(byte(switch.mask))
            .map(|(address, mask)| Some(Switch { address, mask })),
    };
    let found = byte(*address)
        .zip(switch)
        .and_then(|(address, switch)| Transfer::new(address, write, *read as usize, switch));
    found.ok_or_else(|| {
        Status::invalid_argument(format!(
            "on the I2C bus addresses have 7 bits, masks of switches 8; at most {I2C_WRITTEN_MAX} bytes are written at a time, \
             and {I2C_READ_MAX} read"
        ))
    })
}

/// Looks up a register; NOT_FOUND suggests a similar name, the registers of the block, or the
/// blocks.
pub fn find<'a>(gateware: &'a Gateware, name: &str) -> Result<&'a Register, Status> {
    gateware.register(name).ok_or_else(|| {
        let block = name.split('/').next().unwrap_or_default();
        let known = || gateware.registers().map(|(name, _)| name);
        let near: Vec<_> = known().filter(|name| name.starts_with(&format!("{block}/"))).collect();
        if names::nearest(name, known()).is_some() {
            return names::unknown("register", name, known());
        }
        Status::not_found(match near[..] {
            [] => {
                let mut blocks: Vec<_> = known().filter_map(|name| name.split('/').next()).collect();
                blocks.dedup();
                let blocks = blocks.join(", ");
                let (name, block) = (names::quoted(name), names::quoted(block));
                format!("there is no register {name} and no block {block}; the blocks are {blocks}")
            }
            _ => format!(
                "there is no register {}; its block has {}",
                names::quoted(name),
                near.join(", ")
            ),
        })
    })
}
