//! The state of the chip, for reports of the bench.

use serde_json::{json, Value};

use super::{Ad9910, TURN};
use crate::chips::dds::Dds;
use crate::signal::Ns;

impl Ad9910 {
    /// Its output, settings and registers at a time.
    pub(super) fn state(&self, at: Ns) -> Value {
        let (wave, cycle) = (self.output.waves.latest(), self.clock.cycle(at));
        let address = self.player.as_ref().map(|player| player.address(cycle));
        json!({
            "chip": "AD9910",
            "profile": self.profile,
            "frequency_hz": f64::from(wave.ftw.value(cycle)) / TURN * self.clock.hz as f64,
            "phase_turns": f64::from(wave.pow.value(cycle)) / 65_536.0,
            "amplitude": self.asked(at),
            "ram_word": address,
            "ramp_is_over": self.is_over(at),
            "clock_hz": self.clock.hz,
            "reference_hz": self.reference,
            "pll_locked": self.is_locked(at),
            "sync_in_hz": self.sync.map_or(0.0, |signal| signal.wave.hz),
            "out_of_step": self.out_of_step,
            "waits_for_update": self.registers.is_waiting(),
            "writes": self.counts[0],
            "updates": self.counts[1],
            "registers": self.registers.named(&self.ram[..]),
        })
    }
}
