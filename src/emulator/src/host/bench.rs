//! The bench wired to the pins of all boards.

use serde_json::Value;

use super::boards::Boards;
use crate::machine::bus::Bus;
use crate::machine::time::{self, Cycles};
use crate::pl::bench::{Bench, Wiring};
use crate::pl::fabric;
use crate::pl::library::Info;
use crate::pl::lockstep::{lockstep, THROUGH_BENCH};

/// How far a core may run ahead of the cores of another board that the bench joins to its own: 1
/// us. The logic is exact; an access to logic that another board has already advanced is delayed by
/// this much at most.
const LOOKAHEAD: Cycles = time::CPU_HZ / 1_000_000;

impl Boards {
    /// Wires a bench to the pins of all boards. The error is a one-line message for the user.
    pub fn wire(&mut self, wiring: &Wiring) -> Result<(), String> {
        let boards = self.system.boards().iter();
        let infos: Option<Vec<Info>> = boards
            .map(|board| fabric::of(&board.machine.bus.borrow()).map(|pl| pl.info().clone()))
            .collect();
        let Some(infos) = infos else {
            return match wiring.file.is_some() || !wiring.wires.is_empty() {
                true => Err("--bench and --wire need the gateware with the pins (--pl)".into()),
                false => Ok(()),
            };
        };
        let infos: Vec<&Info> = infos.iter().collect();
        let (bench, pins) = Bench::load(wiring, &infos)?;
        for (board, pins) in self.system.boards().iter().zip(pins) {
            if let Some(pl) = fabric::of_mut(&mut board.machine.bus.borrow_mut()) {
                pl.set_bench(pins);
            }
        }
        if self.system.boards().len() > 1 {
            self.join_lockstep(&bench);
        }
        self.bench = Some(bench);
        Ok(())
    }

    /// Runs the logic of all boards in lockstep.
    fn join_lockstep(&mut self, bench: &Bench) {
        let count = self.system.boards().len();
        let pairs = (0..count).flat_map(|one| (0..one).map(move |other| (one, other)));
        let joined: Vec<(usize, usize)> = pairs.filter(|(one, other)| bench.joins(*one, *other)).collect();
        if !joined.is_empty() {
            self.system.bound(LOOKAHEAD);
        }
        let index_of = |name: &str| self.names().position(|other| other == name);
        let by_links = self.links().iter().filter_map(|joined| {
            let reached = joined.link.delay() + 1;
            Some((index_of(&joined.from)?, index_of(&joined.to)?, reached))
        });
        let by_bench = joined.iter().map(|(one, other)| (*one, *other, THROUGH_BENCH));
        let mut delays = vec![vec![u64::MAX; count]; count];
        for (one, other, cycles) in by_links.chain(by_bench) {
            for (from, to) in [(one, other), (other, one)] {
                delays[from][to] = delays[from][to].min(cycles);
            }
        }
        let buses: Vec<_> = self.system.boards().iter().map(|board| &board.machine.bus).collect();
        for (bus, lockstep) in buses.iter().zip(lockstep(&buses, delays)) {
            if let Some(pl) = fabric::of_mut(&mut bus.borrow_mut()) {
                pl.join_lockstep(lockstep);
            }
        }
    }

    /// Returns the bench. The error is a one-line message for the user.
    pub fn bench(&self) -> Result<&Bench, String> {
        self.bench.as_ref().ok_or_else(|| "nothing is wired to the pins".into())
    }

    /// Reports the state of the parts of the bench, and their warnings from number `from` on; see
    /// [`Bench::report`].
    pub fn report_bench(&mut self, from: usize) -> Result<Value, String> {
        let now = time::to_ns(self.master().now());
        let mut bench = self.bench.take().ok_or("nothing is wired to the pins")?;
        let report = bench.report(now, from, |at, channels| self.reached_from(at, channels));
        self.bench = Some(bench);
        Ok(report)
    }

    /// The kernel source location, on any board, of the last output up to time `at` to one of these
    /// channels.
    fn reached_from(&self, at: u64, channels: &[u32]) -> Value {
        let of_board = |bus: &Bus| {
            let pl = fabric::of(bus)?;
            pl.sources().before(at, pl.origin_ns().unwrap_or(0), channels)
        };
        let boards = self.system.boards().iter();
        let found = boards.filter_map(|board| of_board(&board.machine.bus.borrow()));
        found
            .max_by_key(|(time, _)| *time)
            .map_or(Value::Null, |(_, source)| source)
    }
}
