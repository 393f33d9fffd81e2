//! Accesses that take time: their cores wait while everything else continues.

use super::{CoreState, Machine};
use crate::machine::cpu::access::Access;
use crate::machine::peripheral::Fault;

impl Machine {
    /// Continues the accesses of waiting cores. Returns whether a core resumed.
    pub(super) fn serve_accesses(&mut self) -> bool {
        let mut woke = false;
        for core in 0..2 {
            if self.accesses[core].as_ref().is_some_and(|access| access.under_way) {
                woke |= self.end_access(core);
            }
        }
        for core in 0..2 {
            if self.accesses[core].as_ref().is_some_and(|access| !access.under_way) {
                woke |= self.begin_access(core);
            }
        }
        woke
    }

    /// Takes the result of a core's part, if complete. Returns whether the core resumes.
    fn end_access(&mut self, core: usize) -> bool {
        let Some(mut access) = self.accesses[core].take() else {
            return false;
        };
        let address = self.cores[core].step(&access).address;
        let ended = self.bus.borrow_mut().end(address);
        let goes_on = ended.is_some_and(|ended| {
            access.under_way = false;
            self.local[core] = self.local[core].max(ended.at);
            self.cores[core].answered(&mut access, ended.value, ended.fault)
        });
        self.go_on(core, goes_on, access)
    }

    /// Begins a core's next part, if the bus is free. Returns whether the core resumes because
    /// nothing responds at the address.
    pub(super) fn begin_access(&mut self, core: usize) -> bool {
        let Some(mut access) = self.accesses[core].take() else {
            return false;
        };
        let others = self.accesses.iter().flatten().any(|other| other.under_way);
        let step = self.cores[core].step(&access);
        let begun = {
            let mut bus = self.bus.borrow_mut();
            if !others {
                bus.end(step.address); // left over from a core that was reset
            }
            bus.begin(core, step.address, step.size, step.store, self.local[core])
        };
        let goes_on = match begun {
            Some(begun) => {
                access.under_way = begun;
                false
            }
            None => loop {
                if self.cores[core].answered(&mut access, 0, Some(Fault::Decode)) {
                    break true;
                }
            },
        };
        self.go_on(core, goes_on, access)
    }

    fn go_on(&mut self, core: usize, goes_on: bool, access: Access) -> bool {
        if goes_on {
            self.state[core] = CoreState::Running;
        } else {
            self.accesses[core] = Some(access);
        }
        goes_on
    }
}
