//! Source lines of outputs: for each output that a kernel submits, and for those of a trace that it
//! plays, the return addresses of the call chain in its library, innermost first; for the latter
//! also those at which each was recorded. The host, which has the library with its debug
//! information, translates them to files and lines.
//!
//! The core has recorded the caller of the firmware when it left the library ([`Caller`]); from
//! there the library's unwind tables lead to the outer callers. Submitted requests are in the
//! kernel initiator's ring (`docs/interfaces.md`, section 5); the firmware reports with a hint
//! where it writes an event of a trace, and that it has another board play one ([`TraceNote`]).

use std::collections::HashMap;

use kairos_contracts::initiator::{Command, NUMBER_BITS, RING_ALIGNMENT, SLOTS, SLOT_BYTES};
use kairos_contracts::initiator::{SLOT_DATA, SLOT_HEADER, SLOT_TARGET, SLOT_TIME};
use kairos_contracts::library::{FINGERPRINT, FINGERPRINT_BYTES};
use kairos_contracts::memory::KERNEL_LIBRARY;
use kairos_contracts::notes::TraceNote;
use kairos_proto::rpc::{BadAddress, Memory as KernelMemory};
use kairos_unwind::{Entry, Registers, LR, PC, SP};
use serde_json::{json, Value};

use super::dma_events::{self, Player};
use super::kernel_writes::Written;
use crate::machine::memory::Memory;
use crate::machine::signals::Caller;
use crate::machine::time::NS_PER_PL_CYCLE;

/// Maximum number of frames unwound.
const DEEPEST: usize = 32;
/// Maximum number of outputs recorded.
const KEPT: usize = 1 << 22;
/// Requests that may be in flight before the ring is known.
const UNDER_WAY: usize = SLOTS as usize;
const NUMBERS: u32 = (1 << NUMBER_BITS) - 1;
/// r11
const FRAME: usize = 11;
const PT_ARM_EXIDX: u32 = 0x7000_0001;
const BASE: u32 = KERNEL_LIBRARY.start as u32;

/// Identifies a library among all those compiled by the host.
type Fingerprint = [u8; FINGERPRINT_BYTES];

/// Return addresses in a library, relative to its base.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Chain {
    library: u32,
    addresses: Vec<u32>,
    /// For an event of a trace that is played by this chain: number of the chain that recorded it,
    /// if known.
    recorded: Option<u32>,
}

/// An output: its time in machine units, target, chain number, and the cycle in which it was
/// submitted, or [`UNKNOWN`].
#[derive(Debug, Clone, Copy)]
struct Output {
    time: i64,
    target: u32,
    chain: u32,
    cycle: u64,
}

/// The cycle of outputs that the player of DMA traces submits, except the first of a trace, and of
/// those that other boards play.
const UNKNOWN: u64 = u64::MAX;

/// The library currently in memory.
#[derive(Default)]
struct Loaded {
    fingerprint: Fingerprint,
    number: u32,
    /// Its unwind index: address and number of entries.
    index: (u32, u32),
    /// Unwind entry by return address; `None` if there is no usable one.
    entries: HashMap<u32, Option<Entry>>,
}

/// Outputs submitted by kernels.
#[derive(Default)]
pub struct Sources {
    /// The player of DMA traces, if the gateware has one.
    player: Option<Player>,
    /// What they wrote to memories of the gateware.
    written_to: Written,
    ring: Option<u32>,
    /// Number of the latest request.
    newest: u32,
    /// Chains and cycles of requests submitted before the ring was known.
    waiting: Vec<(u32, u64)>,
    loaded: Loaded,
    libraries: Vec<Fingerprint>,
    chains: Vec<Chain>,
    numbers: HashMap<Chain, u32>,
    /// For each address of an event of a trace, the chain that recorded it.
    written: HashMap<u32, u32>,
    outputs: Vec<Output>,
}

/// Memory of the device, for reading unwind tables and stacks.
struct Words<'a>(&'a Memory);

impl KernelMemory for Words<'_> {
    /// Not supported: only words are read.
    fn bytes(&self, address: u32, length: u32) -> Result<&[u8], BadAddress> {
        Err(BadAddress { address, length })
    }

    fn word(&self, address: u32) -> Result<u32, BadAddress> {
        Ok(self.0.word(address))
    }
}

impl Sources {
    /// Outputs of a gateware with this descriptor.
    pub(super) fn new(descriptor: &[u8]) -> Self {
        Self {
            player: Player::find(descriptor),
            written_to: Written::new(descriptor),
            ..Self::default()
        }
    }

    /// Handles a store to a register of the gateware, in `cycle`, by a core with this `caller`.
    pub(super) fn stored(&mut self, address: u32, value: u32, caller: Caller, cycle: u64, memory: &Memory) {
        let Some(player) = &mut self.player else { return };
        if player.stored(address, value) {
            let (trace, start) = (player.trace(), player.time());
            self.played(caller, trace, start, cycle, memory);
        }
    }

    /// Records the `sev` executed in `cycle` by a core with this `caller`.
    pub fn submitted(&mut self, caller: Caller, cycle: u64, memory: &Memory) {
        let chain = self.chain(caller, memory);
        match self.ring {
            Some(ring) => self.note(ring, chain, cycle, memory),
            None if self.waiting.len() < UNDER_WAY => self.waiting.push((chain, cycle)),
            None => {}
        }
    }

    /// Records that the gateware has begun to read a request at `address`.
    pub fn reads(&mut self, address: u32, memory: &Memory) {
        if self.ring.is_some() {
            return;
        }
        let ring = address & !(RING_ALIGNMENT as u32 - 1);
        self.ring = Some(ring);
        for (chain, cycle) in std::mem::take(&mut self.waiting) {
            self.note(ring, chain, cycle, memory);
        }
    }

    /// Handles a hint executed by a core with this `caller`: its number, and r0 to r3.
    pub fn noted(&mut self, number: u8, [event, from, low, high]: [u32; 4], caller: Caller, memory: &Memory) {
        let number = u32::from(number);
        if number == TraceNote::Elsewhere as u32 {
            let start = (u64::from(low) | u64::from(high) << 32) as i64;
            self.played(caller, event, start, UNKNOWN, memory);
        } else if number == TraceNote::Written as u32 {
            let chain = match from {
                0 => Some(self.chain(caller, memory)),
                _ => self.written.get(&from).copied(),
            };
            match chain {
                Some(chain) => self.written.insert(event, chain),
                None => self.written.remove(&event),
            };
        }
    }

    /// Records that a core with this `caller` has started playback of the trace at an address, here
    /// or on another board, at time `start`. Playback for another board's kernel is recorded on
    /// that board. The first event counts as submitted in `cycle`.
    pub fn played(&mut self, caller: Caller, trace: u32, start: i64, cycle: u64, memory: &Memory) {
        let plays = self.chain(caller, memory);
        if self.outputs.len() == KEPT || self.chains[plays as usize].addresses.is_empty() {
            return;
        }
        let (mut chains, mut first) = (HashMap::new(), cycle);
        dma_events::events(trace, memory, |address, target, time, data| {
            let recorded = self.written.get(&address).copied();
            let number = || {
                let chain = self.chains[plays as usize].clone();
                self.number(Chain { recorded, ..chain })
            };
            let chain = *chains.entry(recorded).or_insert_with(number);
            let time = start.wrapping_add(time);
            self.written_to.take(target, time, data);
            let cycle = std::mem::replace(&mut first, UNKNOWN);
            self.keep(Output {
                time,
                target,
                chain,
                cycle,
            });
        });
    }

    fn keep(&mut self, output: Output) {
        if self.outputs.len() < KEPT {
            self.outputs.push(output);
        }
    }

    /// Records the latest request in the ring, if it is an output.
    fn note(&mut self, ring: u32, chain: u32, cycle: u64, memory: &Memory) {
        let slot = |number: u32| ring + number % SLOTS * SLOT_BYTES as u32;
        let head = |number: u32| memory.word(slot(number) + SLOT_HEADER as u32);
        let held = |number: u32| head(number) >> 1 & NUMBERS == number;
        let next = |number: u32| (number + 1) & NUMBERS;
        self.newest = match held(next(self.newest)) {
            true => next(self.newest),
            // The ring has been restarted.
            false => {
                let numbers = (0..SLOTS).map(|slot| head(slot) >> 1 & NUMBERS);
                let newest = numbers
                    .enumerate()
                    .find(|(index, number)| *number != 0 && *number % SLOTS == *index as u32 && !held(next(*number)));
                match newest {
                    Some((_, number)) => number,
                    None => return,
                }
            }
        };
        let slot = slot(self.newest);
        if (head(self.newest) >> 16) as u8 == Command::Input as u8 {
            return;
        }
        let half = |offset: usize| u64::from(memory.word(slot + (SLOT_TIME + offset) as u32));
        let time = (half(0) | half(4) << 32) as i64;
        let target = memory.word(slot + SLOT_TARGET as u32);
        self.written_to.take(target, time, memory.word(slot + SLOT_DATA as u32));
        self.keep(Output {
            time,
            target,
            chain,
            cycle,
        });
    }

    /// The number of the call chain of `caller`.
    fn chain(&mut self, caller: Caller, memory: &Memory) -> u32 {
        self.update_library(memory);
        let mut registers = Registers::default();
        (registers.r[LR], registers.r[PC]) = (caller.link, caller.link);
        (registers.r[SP], registers.r[FRAME]) = (caller.stack, caller.frame);
        let mut addresses = Vec::with_capacity(8);
        let words = Words(memory);
        let loaded = &mut self.loaded;
        while addresses.len() < DEEPEST && KERNEL_LIBRARY.contains(&(registers.r[PC] as usize)) {
            let pc = registers.r[PC];
            addresses.push(pc - BASE);
            let find = || Entry::find(&words, loaded.index, pc).ok();
            let entry = loaded.entries.entry(pc).or_insert_with(find);
            let stepped = entry.is_some_and(|entry| entry.step(&words, &mut registers).is_ok());
            if !stepped || registers.r[PC] == pc {
                break;
            }
        }
        let library = loaded.number;
        self.number(Chain {
            library,
            addresses,
            recorded: None,
        })
    }

    fn number(&mut self, chain: Chain) -> u32 {
        if let Some(number) = self.numbers.get(&chain) {
            return *number;
        }
        let number = self.chains.len() as u32;
        self.chains.push(chain.clone());
        self.numbers.insert(chain, number);
        number
    }

    /// Finds the unwind index of the library in memory, if the library has changed.
    fn update_library(&mut self, memory: &Memory) {
        let mut fingerprint = Fingerprint::default();
        memory.read(BASE + FINGERPRINT as u32, &mut fingerprint);
        if fingerprint == self.loaded.fingerprint {
            return;
        }
        let known = self.libraries.iter().position(|one| *one == fingerprint);
        let number = known.unwrap_or_else(|| {
            self.libraries.push(fingerprint);
            self.libraries.len() - 1
        });
        self.loaded = Loaded {
            fingerprint,
            number: number as u32,
            index: index(memory).unwrap_or_default(),
            entries: HashMap::new(),
        };
    }

    /// What was written to memories of the gateware.
    pub fn written(&self) -> &Written {
        &self.written_to
    }

    /// Number of recorded outputs.
    pub fn len(&self) -> usize {
        self.outputs.len()
    }

    /// Whether no output has been recorded.
    pub fn is_empty(&self) -> bool {
        self.outputs.is_empty()
    }

    /// The latest output on one of these channels that is due at or before a time in ns since
    /// power-up: its time, and its chain as [fingerprint of its library, addresses].
    pub fn before(&self, at: u64, origin_ns: u64, channels: &[u32]) -> Option<(u64, Value)> {
        let at = (at as i64).wrapping_sub(origin_ns as i64);
        let theirs = |output: &&Output| output.time <= at && channels.contains(&(output.target >> 8));
        // The last one among those at the same time.
        let newest = self.outputs.iter().filter(theirs).max_by_key(|output| output.time);
        newest.map(|output| {
            let chain = &self.chains[output.chain as usize];
            let library = self.libraries.get(chain.library as usize);
            let time = output.time.wrapping_add(origin_ns as i64) as u64;
            (time, json!([library.map(hex), chain.addresses]))
        })
    }
}

/// Data from which the host finds source lines, of all boards.
#[derive(Default)]
pub struct Report {
    libraries: Vec<String>,
    chains: Vec<Value>,
    /// Three words per output: time in ns since power-up; target and, in the upper half, chain
    /// number; time of its submission, or all ones.
    pub outputs: Vec<u64>,
}

impl Report {
    /// Adds the outputs of a board from number `from` on. `origin_ns`: the time at which its RTIO
    /// counter was 0.
    pub fn add(&mut self, sources: &Sources, origin_ns: u64, from: usize) {
        let (library, chain) = (self.libraries.len() as u32, self.chains.len());
        self.libraries.extend(sources.libraries.iter().map(hex));
        for one in &sources.chains {
            let recorded = one.recorded.map(|number| chain + number as usize);
            self.chains
                .push(json!([library + one.library, one.addresses, recorded]));
        }
        for output in sources.outputs.get(from..).unwrap_or_default() {
            let time = output.time.wrapping_add(origin_ns as i64) as u64;
            let chain = u64::from(output.chain) + chain as u64;
            let submitted = match output.cycle {
                UNKNOWN => UNKNOWN,
                cycle => cycle * NS_PER_PL_CYCLE,
            };
            self.outputs
                .extend([time, u64::from(output.target) | chain << 32, submitted]);
        }
    }

    /// Returns fingerprints of libraries, and chains as [library, addresses, chain that recorded it
    /// or null].
    pub fn reply(self) -> Value {
        json!({ "libraries": self.libraries, "chains": self.chains, "outputs": self.outputs.len() / 3 })
    }
}

fn hex(fingerprint: &Fingerprint) -> String {
    fingerprint.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The unwind index of the library in memory: address and number of entries.
fn index(memory: &Memory) -> Option<(u32, u32)> {
    let half = |at: u32| memory.word(BASE + (at & !3)) >> (8 * (at & 2)) & 0xffff;
    let (table, size, count) = (memory.word(BASE + 28), half(42), half(44));
    let mut segments = (0..count).map(|number| BASE + table + number * size);
    let segment = segments.find(|at| memory.word(*at) == PT_ARM_EXIDX)?;
    Some((BASE + memory.word(segment + 8), memory.word(segment + 16) / 8))
}
