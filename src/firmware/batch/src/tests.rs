use std::collections::BTreeMap;
use std::vec::Vec;

use kairos_contracts::batch::{DEPTH_MAX, INSTRUCTIONS_MAX, RESULTS_MAX, STEPS_MAX, TIME_MAX};
use kairos_proto::batch::{Ending, Instruction, Operation, Outcome, Switch, Transfer};
use proptest::prelude::*;

use crate::{Batch, Device, Exported, Pause, Permission, Run};

/// Read-write; read-only; write-only.
const BOTH: u32 = 0x100;
const READ_ONLY: u32 = 0x104;
const WRITE_ONLY: u32 = 0x108;

fn permission(address: u32) -> Option<Permission> {
    let (read, write) = match address {
        BOTH => (true, true),
        READ_ONLY => (true, false),
        WRITE_ONLY => (false, true),
        _ => return None,
    };
    Some(Permission { read, write })
}

/// Gateware with these registers, and channels 0 to 2.
struct Gateware;

impl Exported for Gateware {
    fn permission(&self, address: u32) -> Option<Permission> {
        permission(address)
    }

    fn has_bus(&self) -> bool {
        true
    }

    fn has_channel(&self, number: u32) -> bool {
        number < 3
    }
}

fn instruction(operation: Operation, [a, b, c, d]: [u32; 4]) -> Instruction {
    Instruction { operation, a, b, c, d }
}

fn bytes(program: &[(Operation, [u32; 4])]) -> Vec<u8> {
    program
        .iter()
        .flat_map(|&(operation, operands)| instruction(operation, operands).to_bytes())
        .collect()
}

/// Registers that store writes, and log all accesses.
#[derive(Default)]
struct Memory {
    values: BTreeMap<u32, u32>,
    writes: Vec<(u32, u32)>,
    reads: usize,
    injected: Vec<(u32, u8, u8)>,
}

impl Device for Memory {
    fn read(&mut self, address: u32) -> u32 {
        assert!(permission(address).is_some_and(|has| has.read));
        self.reads += 1;
        self.values.get(&address).copied().unwrap_or(0)
    }

    fn write(&mut self, address: u32, value: u32) {
        assert!(permission(address).is_some_and(|has| has.write));
        self.writes.push((address, value));
        self.values.insert(address, value);
    }

    fn probe(&mut self, channel: u32, number: u8) -> u64 {
        assert!(Gateware.has_channel(channel));
        u64::from(channel) << 32 | u64::from(number)
    }

    fn inject(&mut self, channel: u32, number: u8, value: u8) {
        assert!(Gateware.has_channel(channel));
        self.injected.push((channel, number, value));
    }
}

struct Done {
    ending: Ending,
    results: Vec<u32>,
    /// Microseconds of delays, of polls that timed out, and of transactions on the bus.
    time: u64,
    transfers: Vec<Transfer>,
}

/// The address that no device on the bus acknowledges.
const ABSENT_ADDRESS: u8 = 0x7f;

fn execute(batch: Batch, memory: &mut Memory) -> Done {
    let mut run = Run::new(batch);
    let (mut results, mut time, mut transfers) = (Vec::new(), 0, Vec::new());
    let ending = loop {
        match run.go(3, memory, |word| results.push(word)) {
            Pause::Long => {}
            Pause::Wait(us) => time += u64::from(us),
            Pause::Again(us) => {
                time += u64::from(us);
                break run.end(Outcome::Timeout);
            }
            Pause::Bus(transfer) => {
                transfers.push(transfer);
                time += u64::from(transfer.time());
                if transfer.address == ABSENT_ADDRESS {
                    break run.end(Outcome::NotAcknowledged);
                }
                results.extend((0..transfer.results()).map(|n| 0xb0 + n));
                run.pass();
            }
            Pause::Ended(ending) => break ending,
        }
    };
    Done {
        ending,
        results,
        time,
        transfers,
    }
}

fn run(program: &[(Operation, [u32; 4])], memory: &mut Memory) -> Done {
    let bytes = bytes(program);
    let batch = Batch::new(&bytes, &Gateware).map_err(|ending| ending.outcome).unwrap();
    execute(batch, memory)
}

fn refusal(program: &[(Operation, [u32; 4])]) -> Option<(Outcome, u32)> {
    let ending = Batch::new(&bytes(program), &Gateware).err()?;
    Some((ending.outcome, ending.instruction))
}

use Operation::{Delay, I2c, Loop, Modify, Override, Poll, Probe, Read, Wait, Write};

#[test]
fn sweep_writes_and_reads_each_round() {
    let mut memory = Memory::default();
    let done = run(
        &[
            (Loop, [3, 2, 0, 0]),
            (Write, [BOTH, 10, 5, 0]),
            (Read, [BOTH, 0, 0, 0]),
            (Modify, [BOTH, 0xff, 0xf0, 0]),
            (Delay, [7, 0, 0, 0]),
            (Wait, [BOTH, 0xf0, 0xf0, 9]),
            (Poll, [BOTH, 0xf0, 0xf0, 9]),
        ],
        &mut memory,
    );
    assert_eq!(memory.writes, [(BOTH, 10), (BOTH, 15), (BOTH, 20), (BOTH, 0xf4)]);
    assert_eq!(done.results, [10, 15, 20, 0xf4]);
    assert_eq!(
        (done.ending.outcome, done.ending.instruction, done.ending.steps),
        (Outcome::Done, 7, 11)
    );
    assert_eq!(done.time, 7);
}

#[test]
fn nested_loops_count_their_own_rounds() {
    let mut memory = Memory::default();
    run(
        &[
            (Loop, [2, 3, 0, 0]),
            (Write, [WRITE_ONLY, 100, 1, 0]),
            (Loop, [2, 1, 0, 0]),
            (Write, [WRITE_ONLY, 0, 1, 0]),
            (Write, [WRITE_ONLY, 7, 1, 0]),
        ],
        &mut memory,
    );
    let values: Vec<_> = memory.writes.iter().map(|&(_, value)| value).collect();
    assert_eq!(values, [100, 0, 1, 101, 0, 1, 7]);
}

#[test]
fn unanswered_poll_ends_batch_at_its_instruction() {
    let mut memory = Memory::default();
    let done = run(
        &[
            (Read, [BOTH, 0, 0, 0]),
            (Poll, [BOTH, 1, 1, 50]),
            (Write, [BOTH, 1, 0, 0]),
        ],
        &mut memory,
    );
    assert_eq!(
        (done.ending.outcome, done.ending.instruction, done.ending.steps),
        (Outcome::Timeout, 1, 1)
    );
    assert_eq!((done.results, memory.writes), (Vec::from([0]), Vec::new()));
}

#[test]
fn bus_and_pin_steps_are_executed() {
    let mut memory = Memory::default();
    let switch = Some(Switch { address: 0x74, mask: 1 });
    let wanted = Transfer::new(0x50, &[1, 2], 5, switch).unwrap();
    let absent = Transfer::new(ABSENT_ADDRESS, &[], 1, None).unwrap();
    let done = run(
        &[
            (Loop, [2, 2, 0, 0]),
            (I2c, wanted.operands()),
            (Override, [2, 1, 0xff, 0]),
            (Probe, [2, 1, 0, 0]),
            (I2c, absent.operands()),
            (Read, [BOTH, 0, 0, 0]),
        ],
        &mut memory,
    );
    assert_eq!(done.transfers, [wanted, wanted, absent]);
    assert_eq!(memory.injected, [(2, 1, 0xff); 2]);
    assert_eq!(done.results, [0xb0, 0xb1, 0xb0, 0xb1, 2, 1]);
    let Ending {
        outcome,
        instruction,
        steps,
    } = done.ending;
    assert_eq!((outcome, instruction, steps), (Outcome::NotAcknowledged, 4, 6));
}

#[test]
fn forbidden_step_is_refused_before_execution() {
    let good = (Read, [BOTH, 0, 0, 0]);
    for (wrong, outcome) in [
        ((Read, [0x10c, 0, 0, 0]), Outcome::NotExported),
        ((Read, [WRITE_ONLY, 0, 0, 0]), Outcome::NotPermitted),
        ((Poll, [WRITE_ONLY, 0, 0, 0]), Outcome::NotPermitted),
        ((Write, [READ_ONLY, 0, 0, 0]), Outcome::NotPermitted),
        ((Modify, [READ_ONLY, 0, 0, 0]), Outcome::NotPermitted),
        ((Modify, [WRITE_ONLY, 0, 0, 0]), Outcome::NotPermitted),
        ((Read, [BOTH, 1, 0, 0]), Outcome::Malformed),
        ((Probe, [3, 0, 0, 0]), Outcome::NotExported),
        ((Override, [0x1_0000, 0, 0, 0]), Outcome::NotExported),
        ((Override, [0, 0, 0x100, 0]), Outcome::Malformed),
        ((I2c, [0x80, 0, 0, 0]), Outcome::Malformed),
        ((I2c, [0x0041_0050, 0, 0, 0]), Outcome::Malformed),
        ((Delay, [TIME_MAX + 1, 0, 0, 0]), Outcome::TooLong),
        ((Poll, [BOTH, 0, 0, TIME_MAX + 1]), Outcome::TooLong),
        ((Wait, [BOTH, 0, 0, TIME_MAX + 1]), Outcome::TooLong),
        ((Wait, [WRITE_ONLY, 0, 0, 0]), Outcome::NotPermitted),
        ((Loop, [0, 1, 0, 0]), Outcome::Malformed),
        ((Loop, [1, 0, 0, 0]), Outcome::Malformed),
        ((Loop, [1, 2, 0, 0]), Outcome::Malformed),
        ((Loop, [1, u32::MAX, 0, 0]), Outcome::Malformed),
    ] {
        assert_eq!(refusal(&[good, wrong, good]), Some((outcome, 1)), "{wrong:?}");
    }
    assert_eq!(
        refusal(&[(Loop, [2, 2, 0, 0]), (Loop, [2, 2, 0, 0]), good, good]),
        Some((Outcome::Malformed, 1))
    );
}

#[test]
fn batch_of_too_many_rounds_is_refused_before_execution() {
    let read = (Read, [BOTH, 0, 0, 0]);
    let rounds = |rounds, body| [(Loop, [rounds, 1, 0, 0]), body];
    assert_eq!(refusal(&rounds(RESULTS_MAX, read)), None);
    assert_eq!(refusal(&rounds(RESULTS_MAX + 1, read)), Some((Outcome::TooLong, 1)));
    let write = (Write, [BOTH, 0, 0, 0]);
    assert_eq!(refusal(&rounds(STEPS_MAX - 1, write)), None);
    assert_eq!(refusal(&rounds(STEPS_MAX, write)), Some((Outcome::TooLong, 1)));
    assert_eq!(refusal(&rounds(1000, (Delay, [TIME_MAX / 1000, 0, 0, 0]))), None);
    assert_eq!(
        refusal(&rounds(1001, (Delay, [TIME_MAX / 1000, 0, 0, 0]))),
        Some((Outcome::TooLong, 1))
    );
    let byte = (I2c, [0x50, 0, 0, 0]);
    let most = TIME_MAX / 200;
    assert_eq!(refusal(&rounds(most, byte)), None);
    assert_eq!(refusal(&rounds(most + 1, byte)), Some((Outcome::TooLong, 1)));
    assert_eq!(
        refusal(&rounds(RESULTS_MAX / 2 + 1, (Probe, [0; 4]))),
        Some((Outcome::TooLong, 1))
    );
    // The product of the iterations exceeds 64 bits.
    let nested: Vec<_> = (0..DEPTH_MAX as u32)
        .map(|n| (Loop, [u32::MAX, DEPTH_MAX as u32 - n, 0, 0]))
        .chain([write])
        .collect();
    assert_eq!(refusal(&nested).map(|(outcome, _)| outcome), Some(Outcome::TooLong));
    let deep: Vec<_> = (0..=DEPTH_MAX as u32)
        .map(|n| (Loop, [1, DEPTH_MAX as u32 + 1 - n, 0, 0]))
        .chain([write])
        .collect();
    assert_eq!(refusal(&deep), Some((Outcome::TooLong, DEPTH_MAX as u32)));
}

#[test]
fn truncated_or_too_long_program_is_rejected() {
    let whole = bytes(&[(Read, [BOTH, 0, 0, 0])]);
    assert!(Batch::new(&whole[..19], &Gateware).is_err_and(|ending| ending.outcome == Outcome::Malformed));
    let long = whole.repeat(INSTRUCTIONS_MAX + 1);
    assert!(Batch::new(&long, &Gateware).is_err_and(|ending| ending.outcome == Outcome::TooLong));
    assert!(Batch::new(&long[20..], &Gateware).is_ok());
    let nothing = run(&[], &mut Memory::default());
    assert_eq!(nothing.ending.outcome, Outcome::Done);
}

fn any_program() -> impl Strategy<Value = Vec<(Operation, [u32; 4])>> {
    let address = prop_oneof![Just(BOTH), Just(READ_ONLY), Just(WRITE_ONLY)];
    let any = (0..10usize, address, 0..5u32, 0..9u32, 0..50u32).prop_map(|(kind, address, small, size, time)| {
        match Operation::ALL[kind] {
            Read => (Read, [address, 0, 0, 0]),
            Write => (Write, [address, small, size, 0]),
            Modify => (Modify, [address, small, size, 0]),
            Poll => (Poll, [address, small, size, time]),
            Wait => (Wait, [address, small, size, time]),
            Delay => (Delay, [time, 0, 0, 0]),
            Loop => (Loop, [small, size, 0, 0]),
            I2c => (
                I2c,
                Transfer::new(size as u8, &[], time as usize, None).unwrap().operands(),
            ),
            Probe => (Probe, [small, size, 0, 0]),
            Override => (Override, [small, size, time, 0]),
        }
    });
    proptest::collection::vec(any, 0..24)
}

proptest! {
    /// Batches that pass the check stay within their bounds, and access only what is permitted.
    #[test]
    fn accepted_batch_ends_within_its_bounds(program in any_program()) {
        let bytes = bytes(&program);
        if let Ok(batch) = Batch::new(&bytes, &Gateware) {
            let mut memory = Memory::default();
            let done = execute(batch, &mut memory);
            prop_assert!(done.ending.steps <= STEPS_MAX);
            prop_assert!(done.results.len() as u32 <= RESULTS_MAX);
            prop_assert!(done.time <= TIME_MAX.into());
            let expected = [Outcome::Done, Outcome::Timeout, Outcome::NotAcknowledged];
            prop_assert!(expected.contains(&done.ending.outcome));
        }
    }

    /// Arbitrary batches are refused, or do only what is permitted.
    #[test]
    fn arbitrary_batches_are_refused_or_executed(bytes in proptest::collection::vec(0u8..8, 0..200)) {
        if let Ok(batch) = Batch::new(&bytes, &Gateware) {
            execute(batch, &mut Memory::default());
        }
    }
}
