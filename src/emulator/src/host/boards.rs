//! The boards and what joins them, as the host sees them.

use serde_json::{json, Value};

use crate::machine::schedule::{Machine, System};
use crate::machine::time::{self, Cycles};
use crate::pl::bench::Bench;
use crate::pl::event::Event;
use crate::pl::link::Link;
use crate::pl::sources::Report;
use crate::pl::{fabric, Pl};

/// All boards of what is emulated.
pub struct Boards {
    /// The machines.
    pub system: System,
    /// (board above, board below, link)
    links: Vec<(String, String, Link)>,
    /// What is wired to their pins.
    pub(super) bench: Option<Bench>,
    /// Events of all boards' pins, and how many of each board's are among them.
    pub(super) events: Vec<Event>,
    pub(super) merged: Vec<usize>,
    /// How much of each board's text has been handed out.
    text: Vec<usize>,
}

impl Boards {
    /// One board.
    pub fn alone(machine: Machine) -> Self {
        Self::new(System::alone(machine), Vec::new())
    }

    /// Several, with the links between them: (board above, board below, link).
    pub(super) fn new(system: System, links: Vec<(String, String, Link)>) -> Self {
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

    /// The board that the host knows.
    pub fn master(&self) -> &Machine {
        self.system.master()
    }

    /// Names of all boards, if there are several.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.system.boards().iter().map(|board| &board.name[..])
    }

    /// How many outputs the kernels of each board have had.
    pub fn outputs(&self) -> Vec<usize> {
        let boards = self.system.boards().iter();
        boards
            .map(|board| fabric::of(&board.machine.bus.borrow()).map_or(0, |pl| pl.sources.len()))
            .collect()
    }

    /// Where the outputs of kernels come from; of each board from this number on.
    pub fn sources(&self, from: &[usize]) -> Report {
        let mut report = Report::default();
        for (number, board) in self.system.boards().iter().enumerate() {
            if let Some(pl) = fabric::of(&board.machine.bus.borrow()) {
                let from = from.get(number).copied().unwrap_or(0);
                report.add(&pl.sources, pl.origin_ns().unwrap_or(0), from);
            }
        }
        report
    }

    /// The board with this name, without one the first. The error is a line for the user.
    pub fn board(&self, name: Option<&str>) -> Result<&Machine, String> {
        let Some(name) = name else { return Ok(self.master()) };
        let found = self.system.boards().iter().find(|board| board.name == name);
        found
            .map(|board| &board.machine)
            .ok_or_else(|| format!("there is no board {name}"))
    }

    /// Why cores crashed since this was last asked.
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

    /// When the next thing is due that waits for its time on any board and wakes no core.
    pub fn queued(&self) -> Option<Cycles> {
        let boards = self.system.boards().iter();
        boards.filter_map(|board| board.machine.bus.borrow().queued()).min()
    }

    /// Whether clock generators run on any board.
    pub fn runs_on(&self) -> bool {
        let mut boards = self.system.boards().iter();
        boards.any(|board| fabric::of(&board.machine.bus.borrow()).is_some_and(Pl::runs_on))
    }

    /// What the UARTs have sent since this was last asked. Of several boards, whole lines, each
    /// with the board's name before it; `all`: what is no whole line yet, too.
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

    /// Whether the counters are moved over quiet times.
    pub fn set_skip(&mut self, skip: bool) {
        for board in self.system.boards() {
            if let Some(pl) = fabric::of_mut(&mut board.machine.bus.borrow_mut()) {
                pl.skip = skip;
            }
        }
    }

    /// Drives an input pad. The error is a line for the user.
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

    /// The links: (board above, board below, link).
    pub(super) fn links(&self) -> &[(String, String, Link)] {
        &self.links
    }

    /// The same, for the control socket.
    pub fn links_shown(&self) -> Vec<Value> {
        // A link that has just been pulled out is that for the board that has been run furthest
        let now = self.reached().max().unwrap_or(0).max(time::to_pl(self.master().now()));
        let shown = self.links.iter().map(|(from, to, link)| {
            let directions = link
                .counts()
                .map(|(sent, wrong, lost)| json!({"sent": sent, "wrong": wrong, "lost": lost}));
            json!({
                "from": from,
                "to": to,
                "plugged": link.is_plugged(now),
                "delay_ns": link.delay_ns(),
                "down": directions[0],
                "up": directions[1],
            })
        });
        shown.collect()
    }

    /// Plugs in, or pulls out, the link to the board `to`: as soon as no board's logic has gone
    /// beyond, which is some microseconds at most. The error is a line for the user.
    pub fn plug(&mut self, to: &str, plugged: bool) -> Result<(), String> {
        let found = self.links.iter().find(|(_, below, _)| below == to);
        let (_, _, link) = found.ok_or_else(|| format!("there is no link to a board {to}"))?;
        let now = self.master().now();
        let cycles: Vec<u64> = self.reached().collect();
        let past = cycles.iter().copied().min().unwrap_or(0);
        let at = cycles.into_iter().max().unwrap_or(0).max(time::to_pl(now));
        link.plug(plugged, past, at);
        for board in self.system.boards() {
            if let Some(pl) = fabric::of_mut(&mut board.machine.bus.borrow_mut()) {
                pl.look_at_plugs();
            }
        }
        Ok(())
    }

    /// The first cycle of each board's logic of which nothing is known.
    fn reached(&self) -> impl Iterator<Item = u64> + '_ {
        let boards = self.system.boards().iter();
        boards.map(|board| fabric::of(&board.machine.bus.borrow()).map_or(0, Pl::reached))
    }
}
