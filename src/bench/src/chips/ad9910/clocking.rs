//! The AD9910's clock control: the PLL starts and locks, SYNC_CLK follows SYNC_IN, whose edges are
//! validated.

use std::sync::Arc;

use kairos_contracts::chips::ad9910::{self as chip, cfr2, sync};

use super::super::dds::SyncSignal;
use super::clock::Clock;
use super::course::Course;
use super::generators::Ramp;
use super::output::Output;
use super::{Ad9910, LOCK};
use crate::signal::Ns;

impl Ad9910 {
    /// Applies the clock settings: starts the PLL or bypasses it; warns if it cannot lock.
    pub(super) fn start_clock(&mut self, at: Ns) -> Option<String> {
        self.lock = None;
        if !self.registers.has_pll() {
            let hz = self.registers.direct(self.reference);
            self.run(at, hz);
            return None;
        }
        self.run(at, 0.0);
        match self.registers.multiplied(self.reference) {
            Ok(hz) => {
                self.lock = hz.map(|hz| (at + LOCK, hz));
                None
            }
            Err(text) => Some(text),
        }
    }

    /// Sets the system clock; if it changes, all generators restart.
    pub(super) fn run(&mut self, at: Ns, hz: f64) {
        let hz = hz.round() as u64;
        if hz == self.clock.hz {
            return;
        }
        self.clock = Clock::new(hz, at, self.edge);
        self.output = Output::new();
        self.ramp = Ramp::new();
        self.key = Arc::new(Course::still(0));
        self.player = None;
        self.follow();
        self.start(0, false);
        self.output.waves.flush();
        self.output.levels.flush();
    }

    /// Aligns SYNC_CLK to SYNC_IN, if the receiver is enabled.
    pub(super) fn follow(&mut self) {
        let word = self.registers.word(chip::SYNC);
        let Some(sync_in) = self.sync.filter(|_| sync::RECEIVER_ENABLE.get(word) != 0) else {
            return;
        };
        if let Some(text) = self.clock.refuses(&sync_in) {
            self.warnings.push(text);
        }
        let (delay, preset) = (sync::IN_DELAY.get(word), sync::PRESET.get(word));
        if self.clock.hz != 0 {
            self.clock.follow(&sync_in, delay, preset);
        }
    }

    /// Validates the edges of SYNC_IN.
    pub(super) fn validate(&mut self) {
        let word = self.registers.word(chip::SYNC);
        let watched = cfr2::SYNC_VALIDATION_DISABLE.get(self.registers.word(chip::CFR2)) == 0;
        let receives = sync::RECEIVER_ENABLE.get(word) != 0;
        let (delay, window) = (sync::IN_DELAY.get(word), sync::WINDOW.get(word));
        let near = |sync_in: SyncSignal| receives && self.clock.is_in_window(&sync_in, delay, window);
        self.out_of_step = watched && (self.out_of_step || self.sync.is_some_and(near));
    }

    /// Whether the receiver is enabled but SYNC_IN is absent.
    pub(super) fn is_left_alone(&self) -> bool {
        let receives = sync::RECEIVER_ENABLE.get(self.registers.word(chip::SYNC)) != 0;
        receives && self.clock.hz != 0 && self.sync.is_none()
    }

    /// The generator's clock at SYNC_OUT, if enabled.
    pub(super) fn generated(&self) -> Option<SyncSignal> {
        let word = self.registers.word(chip::SYNC);
        let (delay, falling) = (sync::OUT_DELAY.get(word), sync::GENERATOR_POLARITY.get(word) != 0);
        let signal = self.clock.sync_out(delay, falling);
        signal.filter(|_| sync::GENERATOR_ENABLE.get(word) != 0)
    }

    /// The system clock in Hz; 0 if there is none.
    pub fn clock(&self, _at: Ns) -> f64 {
        self.clock.hz as f64
    }
}
