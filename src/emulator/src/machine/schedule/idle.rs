//! Where time goes when no core runs.

use super::{CoreState, Machine, Step};
use crate::machine::peripheral::{Standing, NEVER};
use crate::machine::time::{self, Cycles};

/// While the network comes up, core 0's timers move time at once; but not beyond this.
const BOOT_LIMIT: Cycles = 10 * time::CPU_HZ;

impl Machine {
    /// No core runs.
    pub(super) fn idle(&mut self) -> Step {
        if self.serve() {
            return Step::Worked;
        }
        let mut bus = self.bus.borrow_mut();
        let due = bus.due();
        let [core0, core1] = due.timer;
        // A core in `wfe` waits for the logic, also when something has been written that was not its answer.
        let waits = self.state[bus.sev_core] == CoreState::WaitEvent;
        let answer = if waits { due.queued } else { due.answer };
        // Outputs that wait for their time wake no core. While a host may be about to answer the device they must not
        // make time pass, or a remote call would last as long as the outputs submitted before it.
        let played = if self.ready && self.host_listens {
            NEVER
        } else {
            due.queued
        };
        let device = core1.min(due.work).min(answer).min(played).min(due.arrival);
        if device == NEVER && !self.ready {
            match bus.standing(self.now) {
                Standing::Up => self.ready = true,
                Standing::Asking => return Step::Worked,
                Standing::Unknown => {}
            }
        }
        let booting = !self.ready && self.now < BOOT_LIMIT;
        if device == NEVER && !(booting && core0 != NEVER) {
            let next = core0.min(due.queued);
            return Step::HostOnly((next != NEVER).then_some(next));
        }
        let target = device.min(core0).max(self.now);
        self.now = bus.idle(target).max(self.now);
        Step::Worked
    }
}
