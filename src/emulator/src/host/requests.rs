//! The requests of the control socket, see docs/interfaces.md section 7.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{json, Value};

use super::boards::Boards;
use super::forward::Forwarder;
use crate::machine::bus::Bus;
use crate::machine::cpu::Core;
use crate::machine::schedule::{CoreState, Machine};
use crate::machine::time::{self, Cycles};
use crate::peripherals;
use crate::pl::{fabric, Pl};

#[derive(Deserialize)]
#[serde(tag = "cmd", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    Status {
        #[serde(default)]
        board: Option<String>,
    },
    Trace {
        #[serde(default)]
        from: usize,
        /// File for the events, which then are not part of the reply.
        #[serde(default)]
        path: Option<PathBuf>,
    },
    TraceClear,
    Pulses {
        path: PathBuf,
    },
    Sev {
        #[serde(default)]
        from: u64,
    },
    Wait(Waiting),
    Uart {
        #[serde(default)]
        from: usize,
        #[serde(default)]
        board: Option<String>,
    },
    Set {
        skip: bool,
    },
    Pad {
        index: usize,
        level: u8,
    },
    Clock {
        input: u64,
    },
    Bench {
        #[serde(default)]
        from: usize,
    },
    Tones {
        part: String,
        output: usize,
    },
    Volts {
        part: String,
        output: usize,
    },
    Numbers {
        part: String,
        output: usize,
    },
    Driven,
    Sources {
        path: PathBuf,
        #[serde(default)]
        from: Vec<usize>,
    },
    /// What kernels have written to memories of the master's gateware.
    Written,
    /// Records what the kernels of each board have at their calls of the firmware, in up to so many bytes in all.
    RecordSteps {
        bytes: usize,
    },
    /// Writes what was recorded on a board, by default the master.
    Steps {
        path: PathBuf,
        board: Option<String>,
    },
    /// Blocks of the firmware that the cores of the master have translated.
    Blocks,
    /// Translates such blocks beforehand.
    Translate {
        blocks: Vec<Vec<(u32, u32)>>,
    },
    Forwards,
    Fork(Fork),
    Links,
    Link {
        /// The downstream board.
        to: String,
        /// The board at the other end, of a link beside the tree.
        #[serde(default)]
        from: Option<String>,
        plugged: bool,
    },
    Read {
        address: u32,
        words: u32,
        #[serde(default)]
        board: Option<String>,
    },
    Write {
        address: u32,
        value: u32,
    },
    Shutdown,
}

/// What a copy of this process does differently. Its client is at the other end of the socket that is passed with the
/// request.
#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub struct Fork {
    /// Seed of its bench's random numbers from then on; unchanged if missing.
    #[serde(default)]
    pub seed: Option<u64>,
}

/// Parameters of a wait.
#[derive(Deserialize, Clone, Copy)]
#[serde(deny_unknown_fields)]
pub struct Waiting {
    r#for: Condition,
    /// Virtual time at which the wait ends at the latest.
    #[serde(default)]
    time_ns: Option<u64>,
    /// Wall-clock time after which the wait ends; unlimited if missing.
    #[serde(default)]
    timeout_ms: Option<u64>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Condition {
    /// The device has been idle with its network up.
    Ready,
    /// Only the host can make progress and is silent, nothing is queued, and no clock is running.
    Idle,
    /// The virtual time `time_ns`.
    Time,
}

/// A request whose reply is deferred.
pub struct Wait {
    waiting: Waiting,
    end: Option<Instant>,
}

impl Wait {
    /// Starts a wait. The error is a one-line message for the user.
    pub fn new(waiting: Waiting) -> Result<Self, String> {
        if waiting.r#for == Condition::Time && waiting.time_ns.is_none() {
            return Err("a wait for a time needs time_ns".into());
        }
        let end = waiting.timeout_ms.map(|ms| Instant::now() + Duration::from_millis(ms));
        Ok(Self { waiting, end })
    }

    /// Wall-clock time until the timeout.
    pub fn left(&self) -> Option<Duration> {
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// The first cycle past the virtual time that ends the wait, if there is one.
    pub fn time(&self) -> Option<Cycles> {
        self.waiting.time_ns.map(|end| time::from_ns(end) + 1)
    }

    /// Returns the reply once the wait is over. `still`: the machine can make no progress, and the
    /// host is silent.
    pub fn reply(&self, boards: &Boards, still: bool) -> Option<Value> {
        let now = time::to_ns(boards.master().now());
        let reached = match self.waiting.r#for {
            Condition::Ready => boards.master().ready.then_some("ready"),
            Condition::Idle => (still && boards.queued().is_none() && !boards.runs_on()).then_some("idle"),
            Condition::Time => None,
        };
        let timed = || self.waiting.time_ns.filter(|end| now >= *end).map(|_| "time");
        let reached = reached.or_else(timed);
        let over = reached.is_some() || self.left().is_some_and(|left| left.is_zero());
        over.then(|| json!({ "reached": reached, "time_ns": now }))
    }
}

/// Outcome of a request.
pub enum Answer {
    /// An immediate reply.
    Now(Value),
    /// A deferred reply.
    Later(Wait),
    /// A copy of this process is to be made.
    Fork(Fork),
    /// An empty reply, after which the emulator ends.
    End,
}

/// State of this run of the program besides its boards.
pub struct Run<'a> {
    /// Start time of the process.
    pub started: Instant,
    /// Why UART output is no longer written, if writing has failed.
    pub uart_failed: Option<&'a str>,
    /// Its forwarded ports.
    pub forwarder: &'a Forwarder,
}

/// The core that runs kernels.
const KERNEL: usize = 1;
/// Maximum number of words in one memory read.
const READ_MAX: u32 = 0x10_0000;

/// Reads a request and its `id`, null if it has none. The error is a one-line message for the user.
pub fn parsed(line: &[u8]) -> (Result<Request, String>, Value) {
    let bad = |error| format!("bad request: {error}");
    match serde_json::from_slice::<Value>(line) {
        Ok(mut request) => {
            let id = request.as_object_mut().and_then(|fields| fields.remove("id"));
            let request = serde_json::from_value(request).map_err(bad);
            (request, id.unwrap_or_default())
        }
        Err(error) => (Err(bad(error)), Value::Null),
    }
}

/// Carries out a request. The error is a one-line message for the user.
pub fn answer(boards: &mut Boards, request: Request, run: &Run) -> Result<Answer, String> {
    let now = boards.master().now();
    let reply = match request {
        Request::Status { board } => {
            let queued = boards.queued();
            let mut reply = status(boards.board(board.as_deref())?, run.started);
            reply["uart_failed"] = run.uart_failed.into();
            reply["queued_ns"] = queued.map(time::to_ns).into();
            reply["bench_ns"] = boards.bench_due().map(time::to_ns).into();
            reply["boards"] = boards.names().collect();
            reply["outputs"] = boards.outputs().into();
            reply
        }
        Request::Trace { from, path } => trace(boards, from, path)?,
        Request::TraceClear => {
            boards.pads()?;
            boards.clear_events();
            json!({})
        }
        Request::Set { skip } => {
            boards.pads()?;
            boards.set_skip(skip);
            json!({})
        }
        Request::Pad { index, level } => {
            boards.set_pad(index, level != 0)?;
            json!({})
        }
        Request::Sources { path, from } => {
            boards.pads()?;
            let sources = boards.sources(&from);
            write_words(&path, sources.outputs.iter().copied())?;
            sources.reply()
        }
        Request::Written => {
            let (channels, written) = boards.written();
            json!({ "channels": channels, "written": written })
        }
        Request::RecordSteps { bytes } => {
            let machines: Vec<&Machine> = boards.machines().collect();
            for machine in &machines {
                machine.cores[KERNEL].record_steps(bytes / machines.len());
            }
            json!({})
        }
        Request::Steps { path, board } => {
            let steps = boards.board(board.as_deref())?.cores[KERNEL].steps();
            std::fs::write(&path, &steps).map_err(|error| format!("{}: {error}", path.display()))?;
            json!({ "bytes": steps.len() })
        }
        Request::Blocks => {
            let cores = boards.master().cores.iter();
            json!({ "blocks": cores.map(Core::blocks).collect::<Vec<_>>() })
        }
        Request::Translate { blocks } => {
            for (core, blocks) in boards.master_mut().cores.iter_mut().zip(&blocks) {
                core.translate(blocks);
            }
            json!({})
        }
        Request::Forwards => json!({ "forwards": run.forwarder.by_port() }),
        Request::Fork(fork) => {
            if !boards.master().ready || !run.forwarder.is_unconnected() {
                return Err("only a device that is ready, and that has no connections, can be copied".into());
            }
            if boards.bench().is_ok_and(|bench| !bench.may_be_copied()) {
                return Err("a bench with models in Python cannot be copied".into());
            }
            return Ok(Answer::Fork(fork));
        }
        Request::Pulses { path } => {
            boards.pads()?;
            let pulses = boards.pulses();
            write_words(&path, pulses.words.iter().copied())?;
            pulses.reply()
        }
        Request::Links => json!({ "links": boards.links_shown() }),
        Request::Link { to, from, plugged } => {
            boards.plug(&to, from.as_deref(), plugged)?;
            json!({})
        }
        Request::Uart { from, board } => {
            let bus = boards.board(board.as_deref())?.bus.borrow();
            let text = &bus.signals.console.text;
            let new = String::from_utf8_lossy(text.get(from..).unwrap_or_default());
            json!({ "text": new, "next": text.len() })
        }
        Request::Read { address, words, board } => read(boards.board(board.as_deref())?, address, words)?,
        request @ (Request::Bench { .. }
        | Request::Tones { .. }
        | Request::Volts { .. }
        | Request::Numbers { .. }
        | Request::Driven) => of_bench(boards, request)?,
        Request::Wait(waiting) => return Wait::new(waiting).map(Answer::Later),
        Request::Shutdown => return Ok(Answer::End),
        request => of_master(&mut boards.master().bus.borrow_mut(), request, now)?,
    };
    Ok(Answer::Now(reply))
}

/// Words of a board's memory.
fn read(machine: &Machine, address: u32, words: u32) -> Result<Value, String> {
    let mut bytes = vec![0; 4 * words.min(READ_MAX) as usize];
    if !machine.bus.borrow().memory.read(address, &mut bytes) {
        return Err(format!("there are no {words} words of memory at {address:#x}"));
    }
    let words = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word));
    Ok(json!({ "words": words.collect::<Vec<_>>() }))
}

fn no_part(part: &str) -> String {
    format!("the bench has no part {part}")
}

/// Requests that concern what the bench has computed.
fn of_bench(boards: &mut Boards, request: Request) -> Result<Value, String> {
    Ok(match request {
        Request::Bench { from } => boards.report_bench(from)?,
        Request::Tones { part, output } => {
            let tones = boards.bench()?.tones(&part, output);
            json!({ "tones": tones.ok_or_else(|| no_part(&part))? })
        }
        Request::Volts { part, output } => {
            let volts = boards.bench()?.volts(&part, output);
            json!({ "volts": volts.ok_or_else(|| no_part(&part))? })
        }
        Request::Numbers { part, output } => {
            let numbers = boards.bench()?.numbers(&part, output);
            json!({ "numbers": numbers.ok_or_else(|| no_part(&part))? })
        }
        Request::Driven => json!({ "edges": boards.bench()?.driven() }),
        _ => json!({}),
    })
}

/// Requests that concern only the master.
fn of_master(bus: &mut Bus, request: Request, now: Cycles) -> Result<Value, String> {
    let no_pl = || "there is no gateware; start the emulator with --pl".to_string();
    Ok(match request {
        Request::Sev { from } => {
            let (first, next, cycles) = fabric::of(bus).ok_or_else(no_pl)?.submissions(from);
            json!({ "first": first, "cycles": cycles.collect::<Vec<u64>>(), "next": next })
        }
        Request::Clock { input } => {
            peripherals::set_clock_input(bus, input, now);
            json!({})
        }
        Request::Write { address, .. } if address % 4 != 0 => {
            return Err(format!("{address:#x} is not the address of a word"));
        }
        Request::Write { address, value } => {
            if bus.memory.write(address, &value.to_le_bytes()) {
                bus.signals.flush_code = [true; 2];
            } else {
                bus.write(0, address, 4, value, now);
            }
            json!({})
        }
        _ => json!({}),
    })
}

/// The changes at the pads from number `from` on: in the reply, or in the file `path`.
fn trace(boards: &mut Boards, from: usize, path: Option<PathBuf>) -> Result<Value, String> {
    let pads = boards.pads()?;
    let pads: Vec<Value> = pads
        .iter()
        .map(|p| json!({ "index": p.index, "name": p.name, "channel": p.channel }))
        .collect();
    let (new, next) = boards.events(from);
    let new: Vec<Value> = match path {
        Some(path) => {
            write_words(&path, new.iter().flat_map(|event| event.words()))?;
            Vec::new()
        }
        None => new
            .iter()
            .map(|e| json!([e.time_ns, e.pad, e.level.map(u8::from)]))
            .collect(),
    };
    let (runs, known) = boards.runs();
    let waves: Vec<Value> = runs
        .iter()
        .map(|run| {
            let wave = run.wave;
            json!([
                wave.pad,
                run.start_ns(),
                wave.half,
                wave.accumulator,
                wave.word,
                run.count
            ])
        })
        .collect();
    Ok(json!({ "pads": pads, "events": new, "next": next, "waves": waves, "time_ns": known }))
}

/// Writes words to a file, eight bytes each, little-endian. The error is a one-line message for the
/// user.
fn write_words(path: &Path, words: impl Iterator<Item = u64>) -> Result<(), String> {
    let write = || {
        let mut file = BufWriter::new(File::create(path)?);
        for word in words {
            file.write_all(&word.to_le_bytes())?;
        }
        file.flush()
    };
    write().map_err(|error: io::Error| format!("{}: {error}", path.display()))
}

fn status(machine: &Machine, started: Instant) -> Value {
    let (now, bus) = (machine.now(), machine.bus.borrow());
    let pl = fabric::of(&bus);
    let (run, skipped) = pl.map_or((0, 0), Pl::cycles);
    json!({
        "time_ns": time::to_ns(now),
        "instructions": machine.cores.each_ref().map(|core| core.instructions()),
        "pl_cycles": run,
        "pl_cycles_skipped": skipped,
        "uart_bytes": bus.signals.console.sent,
        "pl_slips": pl.map_or(0, Pl::slips),
        "pl_ahead": pl.map_or(0, Pl::ahead),
        "clock_output": bus.signals.synthesiser.at(now),
        "wall_s": started.elapsed().as_secs_f64(),
        "state": ([0, 1].map(|core| state_name(machine.state(core)))),
        "pc": machine.cores.each_ref().map(|core| core.pc()),
        "sev_count": bus.sev_count,
    })
}

fn state_name(state: CoreState) -> &'static str {
    match state {
        CoreState::Running => "running",
        CoreState::WaitInterrupt => "wfi",
        CoreState::WaitEvent => "wfe",
        CoreState::WaitAccess => "access",
        CoreState::Reset => "reset",
        CoreState::BootRom => "boot_rom",
        CoreState::Crashed => "crashed",
    }
}
