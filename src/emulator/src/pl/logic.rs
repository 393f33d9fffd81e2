//! The simulated logic with the state of its ports.

use super::library::{Info, Inputs, Library, Outputs, Shown};
use super::wave::Wave;

/// Signals to the cores, to be compared across cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Signals {
    /// EVENTEVENTI.
    pub(super) event: u8,
    /// Levels of the interrupts.
    pub(super) interrupts: u16,
}

/// What the logic reports of its future: only a cycle in which the counter runs reports it.
pub(super) struct Forecast {
    quiet: u8,
    next_due: u64,
}

/// The gateware library, its inputs in the next cycle, and its outputs in the latest one.
///
/// Inputs hold their levels from cycle to cycle. The exceptions last for one cycle and are cleared
/// when it has been run: received words of links, and a load of the counter.
pub(super) struct Logic {
    library: Library,
    inputs: Inputs,
    outputs: Outputs,
}

impl Logic {
    /// The logic after power-up, with all inputs low.
    pub(super) fn new(library: Library) -> Self {
        Self {
            library,
            inputs: Inputs::zero(),
            outputs: Outputs::zero(),
        }
    }

    /// Puts the logic into the state after power-up; the inputs keep their levels.
    pub(super) fn reset(&mut self) -> Result<(), String> {
        self.library.reset()?;
        self.outputs = Outputs::zero();
        Ok(())
    }

    /// The library's description of itself.
    pub(super) fn info(&self) -> &Info {
        &self.library.info
    }

    /// The recording of the outputs of pulse cores, Shuttlers and Songbirds.
    pub(super) fn shown(&self) -> Shown<'_> {
        self.library.shown()
    }

    /// Inputs in the next cycle.
    pub(super) fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// The same, to be changed.
    pub(super) fn inputs_mut(&mut self) -> &mut Inputs {
        &mut self.inputs
    }

    /// Outputs in the latest cycle.
    pub(super) fn outputs(&self) -> &Outputs {
        &self.outputs
    }

    /// Runs one cycle.
    pub(super) fn cycle(&mut self) {
        self.library.cycle(&self.inputs, &mut self.outputs);
        self.inputs.link_rx_valid = 0;
    }

    /// Runs up to `cycles` cycles with constant inputs; see [`Library::run`]. Returns the number of
    /// cycles run.
    pub(super) fn run(&mut self, cycles: u64) -> u64 {
        self.library.run(&self.inputs, &mut self.outputs, cycles).max(1)
    }

    /// Runs one cycle at whose end the counter is loaded with `value`.
    pub(super) fn load_counter(&mut self, value: u64) {
        self.inputs.sim_tsc_load = 1;
        self.inputs.sim_tsc_value = value;
        self.library.cycle(&self.inputs, &mut self.outputs);
        self.inputs.sim_tsc_load = 0;
    }

    /// Reads a register by clocking the register bus alone; see [`Library::read`].
    pub(super) fn read(&mut self, address: u32, size: u32) -> Option<(u32, u64)> {
        self.library.read(address, size)
    }

    /// Signals to the cores.
    pub(super) fn signals(&self) -> Signals {
        Signals {
            event: self.outputs.event_i,
            interrupts: self.outputs.irq_f2p,
        }
    }

    /// Whether nothing changes in the logic but its counter, until an input changes or an event is
    /// due.
    pub(super) fn is_quiet(&self) -> bool {
        self.outputs.sim_quiet != 0
    }

    /// What it reports of its future.
    pub(super) fn forecast(&self) -> Forecast {
        Forecast {
            quiet: self.outputs.sim_quiet,
            next_due: self.outputs.sim_next_due,
        }
    }

    /// Replaces what it reports, in a cycle in which that is not valid.
    pub(super) fn restore(&mut self, forecast: Forecast) {
        (self.outputs.sim_quiet, self.outputs.sim_next_due) = (forecast.quiet, forecast.next_due);
    }

    /// Whether a pad changes within the latest cycle, so that repeating the cycle would repeat the
    /// change.
    pub(super) fn is_pulsing(&self) -> bool {
        let pads = self.library.info.pads.len();
        self.outputs.pads_o[..pads].iter().any(|s| *s != 0 && *s != 0xff)
    }

    /// Whether it requests a transfer to or from memory or peripherals.
    pub(super) fn requests_memory(&self) -> bool {
        let o = &self.outputs;
        let hp = o.hp0_arvalid | o.hp0_awvalid | o.hp0_wvalid;
        let gp = o.sgp0_arvalid | o.sgp0_awvalid | o.sgp0_wvalid;
        o.acp_arvalid | o.acp_awvalid | o.acp_wvalid | hp | gp != 0
    }

    /// Waves of running clock generators, if the latest cycle was quiet.
    pub(super) fn waves(&self) -> impl Iterator<Item = Wave> + '_ {
        self.library.waves(&self.outputs)
    }
}
