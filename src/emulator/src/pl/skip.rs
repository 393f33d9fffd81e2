//! Skipping of cycles that need not be run.

use super::Pl;

impl Pl {
    /// Whether the logic is quiescent, except perhaps for responses in progress at the ports to
    /// memory.
    pub(super) fn waits(&self) -> bool {
        self.outputs.sim_quiet != 0 && self.settle == 0 && self.gp.idle() && self.window.idle()
    }

    /// The cycle in which the next such response arrives.
    pub(super) fn next_answer(&self) -> u64 {
        let ports = [self.acp.next_answer(), self.hp.next_answer()];
        ports.into_iter().flatten().min().unwrap_or(u64::MAX)
    }

    /// Loads the counter so that the next cycle is `to`.
    pub(super) fn jump(&mut self, to: u64) {
        let Some(offset) = self.offset else { return };
        self.inputs.sim_tsc_load = 1;
        self.inputs.sim_tsc_value = to.wrapping_sub(offset);
        let (before, known) = (self.signals(), (self.outputs.sim_quiet, self.outputs.sim_next_due));
        self.library.cycle(&self.inputs, &mut self.outputs);
        self.inputs.sim_tsc_load = 0;
        self.after(1, before);
        // These outputs are not valid in the cycle of the jump, but their values are known
        (self.outputs.sim_quiet, self.outputs.sim_next_due) = known;
        let cycles = to - self.cycle;
        let waves = self.library.waves(&self.outputs);
        self.trace.skip(waves, self.cycle - 1, cycles);
        self.skipped += cycles;
        self.cycle = to;
    }

    /// Whether no cycle before `target` changes anything, so that they may be skipped later.
    pub(super) fn rests(&self, target: u64) -> bool {
        self.skip && self.ends.is_empty() && self.nothing_comes_before(target)
    }

    /// Whether the logic is quiescent and no known event ends that before `target`.
    pub(super) fn nothing_comes_before(&self, target: u64) -> bool {
        let due = self.due().min(self.outside_due());
        target <= due && self.offset.is_some() && !self.awaiting && self.idle()
    }
}
