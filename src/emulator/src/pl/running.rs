//! Running the logic: up to which cycle, and which cycles are run or skipped.
//!
//! A cycle is run alone, together with the buses; or as one of many with constant inputs; or skipped
//! by a load of the counter.

use super::bench_pins::BenchPins;
use super::Pl;
use crate::machine::memory::Memory;
use crate::machine::time::{self, Cycles};

/// Maximum number of cycles run at once.
const LONGEST_RUN: u64 = 4096;
/// Shorter jumps are not worthwhile.
const SHORTEST_JUMP: u64 = 2;

/// Conditions that end a run of the logic before its target, and its mode.
#[derive(Default)]
pub(super) struct Bounds {
    /// Stop when the logic has woken a core.
    pub(super) to_event: bool,
    /// Stop when the logic is quiescent until the target, so that the remaining cycles need not be
    /// run or skipped now.
    pub(super) to_rest: bool,
    /// Do not stop before the target: other boards are advanced regardless of what their cores may
    /// still do.
    pub(super) urgent: bool,
    /// Run on behalf of another board, and stop as soon as anything here may affect others.
    pub(super) led: bool,
}

impl Pl {
    /// Skips cycles that are known to change nothing, so that the trace includes the waves in them.
    pub fn catch_up(&mut self, memory: &Memory) {
        self.run(self.skipping.unchanged_until(), memory, Bounds::default());
    }

    /// Runs the logic up to (not including) the cycle that contains `now`, or until it wakes a core
    /// if `to_event`; with other boards, only as far as their effects are known. Returns the next
    /// cycle.
    pub fn advance(&mut self, now: Cycles, memory: &Memory, to_event: bool) -> u64 {
        let target = time::to_pl(now);
        if self.rests(target) {
            self.skipping.unchanged(target);
        } else {
            let bounds = Bounds {
                to_event,
                to_rest: true,
                ..Bounds::default()
            };
            self.run(target, memory, bounds);
        }
        self.reached()
    }

    /// The first cycle that has neither been run nor is known to change nothing.
    pub fn reached(&self) -> u64 {
        self.cycle.max(self.skipping.unchanged_until())
    }

    /// Runs the logic up to `now` unconditionally: a core of this board acts at that time.
    pub(super) fn come_to(&mut self, now: Cycles, memory: &Memory) {
        let bounds = Bounds {
            urgent: true,
            ..Bounds::default()
        };
        self.run(time::to_pl(now).max(self.skipping.read_until()), memory, bounds);
    }

    /// Runs one cycle as part of an access.
    pub(super) fn clock_now(&mut self, memory: &Memory) {
        self.safe_until(self.cycle + 1, true);
        self.clock(memory);
    }

    /// Runs the logic up to cycle `target`, or until a condition in `bounds` is met.
    pub(super) fn run(&mut self, target: u64, memory: &Memory, bounds: Bounds) {
        self.update_plugs();
        self.horizon.begin();
        while self.cycle < target && !(bounds.to_event && self.waker().is_some()) {
            if bounds.to_rest && self.rests(target) {
                self.skipping.unchanged(target);
                break;
            }
            if self.cycle >= self.ends.next_change() {
                self.update_plugs();
            }
            if bounds.led && self.horizon.affects_others() || self.buses.ask() && !bounds.urgent {
                break;
            }
            let target = target.min(self.ends.next_change());
            let known = match bounds.led {
                true => Some(self.undisturbed(target)),
                false => self.safe_until(target, bounds.urgent),
            };
            let Some(target) = known else { break };
            if !self.skip_to(target) && !self.run_stretch(target, memory) {
                self.clock(memory);
            }
        }
        self.buses.commit(self.cycle, memory);
        if let Some(address) = self.buses.latest_read() {
            self.sources.reads(address, memory);
        }
    }

    /// Skips to `target`, or to the first cycle before it that has to be run. Returns whether this
    /// was possible.
    fn skip_to(&mut self, target: u64) -> bool {
        if !self.skipping.is_enabled() || !self.waits() || !self.counter.is_known() || self.ends.arrives(self.cycle) {
            return false;
        }
        let to = target
            .min(self.due())
            .min(self.bench_due())
            .min(self.buses.next_response());
        let worthwhile = to >= self.cycle + SHORTEST_JUMP;
        if worthwhile {
            self.jump(to);
        }
        worthwhile
    }

    /// Runs cycles with constant inputs, up to `target` at most. Returns whether this was possible.
    fn run_stretch(&mut self, target: u64, memory: &Memory) -> bool {
        let bench_due = self.bench_due();
        let constant = self.buses.are_idle()
            && self.counter.is_known()
            && !self.logic.is_pulsing()
            && !self.logic.requests_memory()
            && !self.ends.arrives(self.cycle)
            && bench_due > self.cycle;
        if !constant {
            return false;
        }
        self.buses.drive_memory(self.cycle, self.logic.inputs_mut(), memory);
        // A cycle with a request on the ACP must be run together with the port: run single cycles
        // whenever the logic may start a transaction, i.e. while an answer is awaited.
        if self.submissions.are_awaiting() {
            return false;
        }
        let stretch = self.bench.as_ref().map_or(u64::MAX, BenchPins::stretch);
        let n = (target.min(bench_due) - self.cycle).min(LONGEST_RUN).min(stretch);
        let before = self.logic.signals();
        let ran = self.logic.run(self.skipping.bound(n));
        // The handshakes of the last cycle must be performed.
        let last = self.cycle + ran - 1;
        self.buses
            .sample_memory(last, self.logic.inputs(), self.logic.outputs());
        self.after(ran, before);
        true
    }

    /// Loads the counter so that the next cycle is `to`.
    fn jump(&mut self, to: u64) {
        let Some(value) = self.counter.value(to) else { return };
        let (before, forecast) = (self.logic.signals(), self.logic.forecast());
        self.logic.load_counter(value);
        self.after(1, before);
        // It is not valid in the cycle of the jump, but known
        self.logic.restore(forecast);
        let cycles = to - self.cycle;
        self.trace.skip(self.logic.waves(), self.cycle - 1, cycles);
        self.skipping.skipped(cycles);
        self.cycle = to;
    }

    /// Whether the logic is quiescent, except perhaps for responses in progress at the ports to
    /// memory.
    fn waits(&self) -> bool {
        self.logic.is_quiet() && self.skipping.is_allowed() && self.buses.cores_are_idle()
    }

    /// Whether no cycle before `target` changes anything, so that they may be skipped later.
    fn rests(&self, target: u64) -> bool {
        self.skipping.is_enabled() && self.ends.is_empty() && self.is_quiescent_until(target)
    }

    /// Whether the logic is quiescent and no known event ends that before `target`.
    pub(super) fn is_quiescent_until(&self, target: u64) -> bool {
        let due = self.due().min(self.bench_due());
        target <= due && self.counter.is_known() && !self.submissions.are_awaiting() && self.idle()
    }
}
