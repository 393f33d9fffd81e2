//! Advances virtual time when no core runs.

use kairos_contracts::intercore;
use kairos_contracts::memory::INTERCORE;

use super::{CoreState, Machine, Step};
use crate::machine::peripheral::{Due, Readiness, NEVER};
use crate::machine::time::{self, Cycles};

/// While the network comes up, core 0's timers advance time at once, but not beyond this.
const BOOT_LIMIT: Cycles = 10 * time::CPU_HZ;

/// Where the firmware says whether its kernel core waits for other boards.
const AWAITS_BOARDS: u32 = (INTERCORE.start + intercore::AWAITS_BOARDS) as u32;

/// How time advances.
pub(super) enum Move {
    To(Cycles),
    /// A probe has just been sent.
    Wait,
    HostOnly(Option<Cycles>),
}

impl Machine {
    /// Whether the network has not come up in the time that it has for this.
    pub fn is_offline(&self) -> bool {
        !self.ready && self.now >= BOOT_LIMIT
    }

    /// Advances the machine while no core runs.
    pub(super) fn idle(&mut self) -> Step {
        if self.serve() {
            return Step::Worked;
        }
        let mut due = self.dues();
        if due.work != NEVER && self.state[self.bus.borrow().sev_core] == CoreState::WaitEvent {
            // The logic runs until it wakes the core
            due.answer = NEVER;
        }
        match self.rests(due) {
            Move::To(target) => {
                self.idle_to(target);
                Step::Worked
            }
            Move::Wait => Step::Worked,
            Move::HostOnly(next) => Step::HostOnly(next),
        }
    }

    /// Due times of all events. A core in `wfe` waits for the logic even if what was written last
    /// needs no answer.
    pub(super) fn dues(&self) -> Due {
        let bus = self.bus.borrow();
        let mut due = bus.due();
        if self.state[bus.sev_core] == CoreState::WaitEvent {
            due.answer = due.queued.min(due.bench).min(due.plug);
        }
        due
    }

    /// How time advances given these due times, which are those of all boards if there are several.
    pub(super) fn rests(&mut self, due: Due) -> Move {
        let [core0, core1] = due.timer;
        // Queued outputs wake no core. While the host may be about to answer the device they must
        // not advance time, or a remote call would last as long as the outputs submitted before it.
        let played = if self.ready && self.host_listens {
            NEVER
        } else {
            due.queued
        };
        let device = core1.min(due.work).min(due.answer).min(played).min(due.arrival);
        if device == NEVER && !self.ready {
            match self.bus.borrow_mut().readiness(self.now) {
                Readiness::Up => self.ready = true,
                Readiness::Probing => return Move::Wait,
                Readiness::Unknown => {}
            }
        }
        let booting = !self.ready && self.now < BOOT_LIMIT;
        let moves = core0 != NEVER && (booting || self.awaits_boards());
        if device == NEVER && !moves {
            let next = core0.min(due.queued).min(due.plug);
            return Move::HostOnly((next != NEVER).then_some(next));
        }
        Move::To(device.min(core0).max(self.now))
    }

    /// Whether the kernel core waits for other boards, as the firmware says: whatever the host does, the
    /// comms core's timers come first.
    fn awaits_boards(&self) -> bool {
        let asleep = self.state[1] == CoreState::WaitInterrupt;
        asleep && self.bus.borrow().memory.word(AWAITS_BOARDS) == intercore::AWAITING
    }

    /// Lets peripherals act up to `target`, or until one has an event for a core.
    pub(super) fn idle_to(&mut self, target: Cycles) {
        self.reached = self.bus.borrow_mut().idle(target);
        self.now = self.reached.max(self.now);
    }
}
