//! Running the logic: up to which cycle, and which cycles are run or skipped.

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
        self.run(self.rested, memory, Bounds::default());
    }

    /// Whether a pad changes within the current cycle, so that repeating the cycle would repeat the
    /// change.
    pub(super) fn pulsing(&self) -> bool {
        let pads = self.library.info.pads.len();
        self.outputs.pads_o[..pads].iter().any(|s| *s != 0 && *s != 0xff)
    }

    /// Runs the logic up to (not including) the cycle that contains `now`, or until it wakes a core
    /// if `to_event`; with other boards, only as far as their effects are known. Returns the next
    /// cycle.
    pub fn advance(&mut self, now: Cycles, memory: &Memory, to_event: bool) -> u64 {
        let target = time::to_pl(now);
        if self.rests(target) {
            self.rested = self.rested.max(target);
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
        self.cycle.max(self.rested)
    }

    /// Runs the logic up to `now` unconditionally: a core of this board acts at that time.
    pub(super) fn come_to(&mut self, now: Cycles, memory: &Memory) {
        let bounds = Bounds {
            urgent: true,
            ..Bounds::default()
        };
        self.run(time::to_pl(now).max(self.read), memory, bounds);
    }

    /// Runs one cycle as part of an access.
    pub(super) fn clock_now(&mut self, memory: &Memory) {
        self.agreed(self.cycle + 1, true);
        self.clock(memory);
    }

    /// Runs the logic up to cycle `target`, or until a condition in `bounds` is met.
    pub(super) fn run(&mut self, target: u64, memory: &Memory, bounds: Bounds) {
        let Bounds {
            to_event,
            to_rest,
            urgent,
            led,
        } = bounds;
        self.look_at_plugs();
        (self.agreed, self.touched) = (0, false);
        while self.cycle < target && !(to_event && self.waker().is_some()) {
            if to_rest && self.rests(target) {
                self.rested = self.rested.max(target);
                break;
            }
            if self.cycle >= self.replug {
                self.look_at_plugs();
            }
            if led && self.touched {
                break;
            }
            let known = match led {
                true => Some(self.undisturbed(target.min(self.replug))),
                false => self.agreed(target.min(self.replug), urgent),
            };
            let Some(target) = known else { break };
            let outside = self.outside_due();
            if self.skip && self.waits() && self.offset.is_some() && !self.arrives() {
                let to = target.min(self.due()).min(outside).min(self.next_answer());
                if to >= self.cycle + SHORTEST_JUMP {
                    self.jump(to);
                    continue;
                }
            }
            if self.ports_idle()
                && self.offset.is_some()
                && !self.pulsing()
                && self.ports_rest()
                && !self.arrives()
                && outside > self.cycle
            {
                self.acp.drive(self.cycle, &mut self.inputs, memory);
                self.hp.drive(self.cycle, &mut self.inputs, memory);
                // A cycle with a request on the ACP must be run together with the port: run single
                // cycles whenever the logic may start a transaction, i.e. while an answer is
                // awaited.
                if !self.awaiting {
                    let n = (target.min(outside) - self.cycle)
                        .min(LONGEST_RUN)
                        .min(self.outside_stretch());
                    // After an input change, run only the cycles to settle: the rest is skipped.
                    let n = if self.settle > 0 && self.skip {
                        n.min(self.settle)
                    } else {
                        n
                    };
                    let before = self.signals();
                    let ran = self.library.run(&self.inputs, &mut self.outputs, n);
                    // The handshakes of the last cycle must be performed.
                    let last = self.cycle + ran.max(1) - 1;
                    self.acp.sample(last, &self.inputs, &self.outputs);
                    self.hp.sample(last, &self.inputs, &self.outputs);
                    self.after(ran.max(1), before);
                    continue;
                }
            }
            self.clock(memory);
        }
        self.acp.commit(self.cycle, memory);
        self.hp.commit(self.cycle, memory);
    }

    /// Whether no port output is valid, so that a run with constant inputs performs no handshake
    /// before its last cycle.
    fn ports_rest(&self) -> bool {
        let o = &self.outputs;
        let hp = o.hp0_arvalid | o.hp0_awvalid | o.hp0_wvalid;
        o.acp_arvalid | o.acp_awvalid | o.acp_wvalid | hp == 0
    }
}
