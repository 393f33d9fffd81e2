//! The tones of a Phaser's channels: from words, servos, upconverters, mixers and attenuators to the connectors.

use kairos_contracts::chips::phaser::{duc_cfg, tone};

use super::oscillators::{self, Word, Words};
use super::{Phaser, CHANNELS, GEOMETRY};
use crate::model::Outbox;
use crate::signal::{Ns, Signal, Tone};

/// What an oscillator plays: frequency in Hz, amplitude of full scale, phase in turns.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    pub hz: f64,
    pub amplitude: f64,
    pub turns: f64,
}

impl Phaser {
    /// Handles new words for a channel's oscillators.
    pub(super) fn tune(&mut self, n: usize, words: Words, out: &mut Outbox) {
        let before = std::mem::replace(&mut self.channels[n].words, words);
        let sum = |words: &Words| words.iter().map(|word| tone::ASF.get(word.output)).sum::<u32>();
        if sum(&words) > 0x7fff && sum(&before) <= 0x7fff {
            let part = f64::from(sum(&words)) / 32767.0;
            out.warn(format!(
                "channel {n}: its oscillators add up to {part:.2} of full scale: it clips"
            ));
        }
        // Held phases are no tones: they test the path to the DAC
        let sounds = |words: &Words| {
            let sounding = |word: &Word| tone::ASF.get(word.output) > 0 && tone::CLR.get(word.output) == 0;
            words.iter().any(sounding)
        };
        if !sounds(&words) || sounds(&before) {
            return;
        }
        self.check_path(n, out);
    }

    /// Warns of what keeps a channel's tones from the connector.
    fn check_path(&self, n: usize, out: &mut Outbox) {
        if self.is_off() {
            out.warn(format!(
                "channel {n}: it has a tone, but the DAC is in reset, asleep or off (set_cfg)"
            ));
        } else if self.has_upconverters() && self.local(n) == 0.0 {
            out.warn(format!(
                "channel {n}: it has a tone, but its upconverter is off or has not locked (init)"
            ));
        }
    }

    /// Goes on with the pulse of a channel.
    pub(super) fn play(&mut self, at: Ns, n: usize, out: &mut Outbox) {
        let before = self.generators[n].is_loud();
        let warning = self.generators[n].act(at);
        out.warnings.extend(warning.map(|text| format!("channel {n}: {text}")));
        if self.generators[n].is_loud() && !before {
            self.check_path(n, out);
        }
        self.sound(at, out);
    }

    /// What the oscillators of a channel play.
    fn parts(&self, at: Ns, n: usize) -> Vec<Part> {
        if self.is_miqro() {
            return self.generators[n].parts(at).collect();
        }
        let channel = &self.channels[n];
        let each = channel
            .words
            .iter()
            .zip(&channel.oscillators)
            .map(|(word, oscillator)| Part {
                hz: oscillator.hz,
                amplitude: f64::from(tone::ASF.get(word.output)) / 32767.0,
                turns: oscillator.at(at) + f64::from(tone::POW.get(word.output)) / 65536.0,
            });
        each.collect()
    }

    /// Frequency of a channel's local oscillator; 0 if it is off, or does not lock.
    pub(super) fn local(&self, n: usize) -> f64 {
        if self.is_locked(n) {
            self.bus.upconverters[n].chip.hz().1
        } else {
            0.0
        }
    }

    /// Sends the tones that have changed.
    pub(super) fn sound(&mut self, at: Ns, out: &mut Outbox) {
        let off = self.is_off();
        for n in 0..CHANNELS {
            let (mixed, mixed_turns) = self.bus.dac.mixing(n);
            let local = self.local(n);
            let without = self.has_upconverters() && local == 0.0;
            let silent = off || without || duc_cfg::SOURCE.get(self.channels[n].configuration) != 0;
            let attenuation = self.bus.attenuation(n);
            if self.channels[n].carrier.hz != mixed + local {
                self.channels[n].carrier.set(at, mixed + local, false);
            }
            let factor = self.servos.factor(n, &self.registers);
            for (m, part) in self.parts(at, n).into_iter().enumerate() {
                let channel = &mut self.channels[n];
                let amplitude = part.amplitude * factor;
                let turns = channel.upconverter.at(at) + channel.phase + part.turns;
                let now = match silent || amplitude == 0.0 {
                    true => Tone::OFF,
                    false => Tone {
                        hz: channel.upconverter.hz + part.hz + channel.carrier.hz,
                        dbm: 20.0 * amplitude.log10() - attenuation,
                        turns: (turns + channel.carrier.at(at) + mixed_turns).rem_euclid(1.0),
                    },
                };
                let (before, since) = channel.tones[m];
                if !before.goes_on(at - since, &now) {
                    channel.tones[m] = (now, at);
                    out.send(n * self.outputs + m, Signal::Tone(now));
                }
            }
        }
    }

    /// Compares samples with the oscillators that have been announced.
    pub(super) fn compare(&mut self, at: Ns, bits: &[bool], first: usize, out: &mut Outbox) {
        for n in 0..CHANNELS {
            let Some((since, words)) = self.channels[n].announced else {
                continue;
            };
            let (frames, rest) = ((at - since) / GEOMETRY.frame(), (at - since) % GEOMETRY.frame());
            if rest == 0 && (2..=3).contains(&frames) && !oscillators::agree(bits, first, n, &words, frames as u32) {
                out.warn(format!("channel {n}: its samples are not those of its oscillators"));
            }
        }
    }
}
