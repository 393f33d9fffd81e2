//! The boards and the links between them, as seen by the host.

use serde_json::{json, Value};

use crate::machine::schedule::{Machine, System};
use crate::machine::time::{self, Cycles};
use crate::pl::bench::Bench;
use crate::pl::event::Event;
use crate::pl::link::Link;
use crate::pl::sources::Report;
use crate::pl::{fabric, Pl};

/// A link between two boards.
pub(super) struct Joined {
    /// The upstream board; of a link beside the tree, either.
    pub(super) from: String,
    /// The other one.
    pub(super) to: String,
    /// It is beside the tree.
    pub(super) cross: bool,
    pub(super) link: Link,
}

impl Joined {
    /// Whether it is the link to a board that a request names, or that between this board and another one.
    fn is(&self, to: &str, from: Option<&str>) -> bool {
        match from {
            None => !self.cross && self.to == to,
            Some(from) => [(from, to), (to, from)].contains(&(&self.from, &self.to)),
        }
    }
}

/// All emulated boards.
pub struct Boards {
    /// The machines.
    pub system: System,
    links: Vec<Joined>,
    /// The bench wired to their pins.
    pub(super) bench: Option<Bench>,
    /// Merged pin events of all boards, and how many events of each board have been merged.
    pub(super) events: Vec<Event>,
    pub(super) merged: Vec<usize>,
    /// How many bytes of each board's UART text have been handed out.
    text: Vec<usize>,
}

impl Boards {
    /// Creates a system of one board.
    pub fn alone(machine: Machine) -> Self {
        Self::new(System::alone(machine), Vec::new())
    }

    /// Creates a system of several boards and the links between them.
    pub(super) fn new(system: System, links: Vec<Joined>) -> Self {
        let count = system.boards().len();
        Self {
            system,
            links,
            bench: None,
            events: Vec::new(),
            merged: vec![0; count],
            text: vec![0; count],
        }
    }

    /// The master, which is the board connected to the host.
    pub fn master(&self) -> &Machine {
        self.system.master()
    }

    /// The first board, with the network.
    pub fn master_mut(&mut self) -> &mut Machine {
        &mut self.system.boards_mut()[0].machine
    }

    /// All boards.
    pub fn machines(&self) -> impl Iterator<Item = &Machine> {
        self.system.boards().iter().map(|board| &board.machine)
    }

    /// Names of all boards; empty for a single one.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.system.boards().iter().map(|board| &board.name[..])
    }

    /// Number of outputs by the kernels of each board.
    pub fn outputs(&self) -> Vec<usize> {
        let boards = self.system.boards().iter();
        boards
            .map(|board| fabric::of(&board.machine.bus.borrow()).map_or(0, |pl| pl.sources().len()))
            .collect()
    }

    /// Source locations of kernel outputs, for each board from the given number on.
    pub fn sources(&self, from: &[usize]) -> Report {
        let mut report = Report::default();
        for (number, board) in self.system.boards().iter().enumerate() {
            if let Some(pl) = fabric::of(&board.machine.bus.borrow()) {
                let from = from.get(number).copied().unwrap_or(0);
                report.add(pl.sources(), pl.origin_ns().unwrap_or(0), from);
            }
        }
        report
    }

    /// What kernels have written to memories of the first board's gateware: its channels that have some, and target,
    /// address above the value, and value.
    pub fn written(&self) -> (Vec<u32>, Vec<[u32; 3]>) {
        let bus = self.master().bus.borrow();
        let Some(pl) = fabric::of(&bus) else {
            return Default::default();
        };
        let written = pl.sources().written();
        (written.channels().collect(), written.values().collect())
    }

    /// Returns the board with this name, or the first one if `name` is `None`. The error is a
    /// one-line message for the user.
    pub fn board(&self, name: Option<&str>) -> Result<&Machine, String> {
        let Some(name) = name else { return Ok(self.master()) };
        let found = self.system.boards().iter().find(|board| board.name == name);
        found
            .map(|board| &board.machine)
            .ok_or_else(|| format!("there is no board {name}"))
    }

    /// Takes the reasons of core crashes since the last call.
    pub fn take_crashes(&mut self) -> Vec<String> {
        let several = self.system.boards().len() > 1;
        let crashes = self.system.boards_mut().iter_mut().flat_map(|board| {
            let prefix = if several {
                format!("{}: ", board.name)
            } else {
                String::new()
            };
            let crashes = std::mem::take(&mut board.machine.crashes).into_iter();
            crashes.map(move |why| format!("{prefix}{why}"))
        });
        crashes.collect()
    }

    /// The earliest due time, on any board, of queued events that wake no core.
    pub fn queued(&self) -> Option<Cycles> {
        let boards = self.system.boards().iter();
        boards.filter_map(|board| board.machine.bus.borrow().queued()).min()
    }

    /// When the bench next drives an input of any board by itself.
    pub fn bench_due(&self) -> Option<Cycles> {
        let boards = self.system.boards().iter();
        boards
            .filter_map(|board| fabric::of(&board.machine.bus.borrow())?.bench_next())
            .min()
    }

    /// Whether clock generators are running on any board.
    pub fn runs_on(&self) -> bool {
        let mut boards = self.system.boards().iter();
        boards.any(|board| fabric::of(&board.machine.bus.borrow()).is_some_and(Pl::runs_on))
    }

    /// UART output since the last call. With several boards, whole lines, each prefixed with the
    /// board's name; with `all`, incomplete lines too.
    pub fn new_text(&mut self, all: bool) -> Vec<u8> {
        let mut new = Vec::new();
        let several = self.system.boards().len() > 1;
        for (board, written) in self.system.boards().iter().zip(&mut self.text) {
            let bus = board.machine.bus.borrow();
            let text = &bus.signals.console.text[*written..];
            if !several {
                new.extend_from_slice(text);
                *written += text.len();
                continue;
            }
            for line in text.split_inclusive(|byte| *byte == b'\n') {
                if line.ends_with(b"\n") || all {
                    new.extend_from_slice(board.name.as_bytes());
                    new.extend_from_slice(b": ");
                    new.extend_from_slice(line);
                    *written += line.len();
                }
            }
        }
        new
    }

    /// Sets whether the counters are moved over quiescent times.
    pub fn set_skip(&mut self, skip: bool) {
        for board in self.system.boards() {
            if let Some(pl) = fabric::of_mut(&mut board.machine.bus.borrow_mut()) {
                pl.set_skip(skip);
            }
        }
    }

    /// Drives an input pad. The error is a one-line message for the user.
    pub fn set_pad(&mut self, index: usize, level: bool) -> Result<(), String> {
        let now = self.master().now();
        let mut rest = index;
        for board in self.system.boards() {
            let mut bus = board.machine.bus.borrow_mut();
            let count = fabric::of(&bus).map_or(0, |pl| pl.info().pads.len());
            if rest < count {
                return fabric::set_pad(&mut bus, rest, level, now);
            }
            rest -= count;
        }
        Err(format!("there is no pad {index}"))
    }

    /// The links.
    pub(super) fn links(&self) -> &[Joined] {
        &self.links
    }

    /// State and counters of the links, as JSON for the control socket.
    pub fn links_shown(&self) -> Vec<Value> {
        // A link counts as unplugged as soon as the board that has run furthest has reached that
        // time
        let now = self.reached().max().unwrap_or(0).max(time::to_pl(self.master().now()));
        let shown = self.links.iter().map(|joined| {
            let link = &joined.link;
            let directions = link
                .counts()
                .map(|(sent, wrong, lost)| json!({"sent": sent, "wrong": wrong, "lost": lost}));
            json!({
                "from": joined.from,
                "to": joined.to,
                "cross": joined.cross,
                "plugged": link.is_plugged(now),
                "delay_ns": link.delay_ns(),
                "down": directions[0],
                "up": directions[1],
            })
        });
        shown.collect()
    }

    /// Plugs or unplugs the link to the board `to`, or that between it and the board `from`, effective at the first cycle that no board's
    /// logic has passed, which is some microseconds later at most. The error is a one-line message
    /// for the user.
    pub fn plug(&mut self, to: &str, from: Option<&str>, plugged: bool) -> Result<(), String> {
        let found = self.links.iter().find(|joined| joined.is(to, from));
        let link = &found
            .ok_or_else(|| match from {
                None => format!("there is no link to a board {to}"),
                Some(from) => format!("there is no link between boards {from} and {to}"),
            })?
            .link;
        let now = self.master().now();
        let cycles: Vec<u64> = self.reached().collect();
        let past = cycles.iter().copied().min().unwrap_or(0);
        let at = cycles.into_iter().max().unwrap_or(0).max(time::to_pl(now));
        link.plug(plugged, past, at);
        for board in self.system.boards() {
            if let Some(pl) = fabric::of_mut(&mut board.machine.bus.borrow_mut()) {
                pl.update_plugs();
            }
        }
        Ok(())
    }

    /// The first cycle of each board's logic that has not been simulated.
    fn reached(&self) -> impl Iterator<Item = u64> + '_ {
        let boards = self.system.boards().iter();
        boards.map(|board| fabric::of(&board.machine.bus.borrow()).map_or(0, Pl::reached))
    }
}
