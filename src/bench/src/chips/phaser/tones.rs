//! The tones of a Phaser's channels: from words, upconverters, mixers and attenuators to the connectors.

use kairos_contracts::chips::phaser::{duc_cfg, tone};

use super::oscillators::{self, Word, Words};
use super::{Phaser, CHANNELS, GEOMETRY, OSCILLATORS};
use crate::model::Outbox;
use crate::signal::{Ns, Signal, Tone};

impl Phaser {
    /// Handles new words for a channel's oscillators.
    pub(super) fn tune(&mut self, n: usize, words: Words, out: &mut Outbox) {
        let off = self.is_off();
        let silent = self.has_upconverters() && self.local(n) == 0.0;
        let channel = &mut self.channels[n];
        let before = std::mem::replace(&mut channel.words, words);
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
        if off {
            out.warn(format!(
                "channel {n}: it has a tone, but the DAC is in reset, asleep or off (set_cfg)"
            ));
        } else if silent {
            out.warn(format!(
                "channel {n}: it has a tone, but its upconverter is off or has not locked (init)"
            ));
        }
    }

    /// Frequency of a channel's local oscillator; 0 if it is off, or does not lock.
    pub(super) fn local(&self, n: usize) -> f64 {
        if self.is_locked(n) {
            self.bus.upconverters[n].hz().1
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
            for m in 0..OSCILLATORS {
                let amplitude = f64::from(tone::ASF.get(self.channels[n].words[m].output)) / 32767.0;
                let turns = self.turns(at, n, m);
                let channel = &mut self.channels[n];
                let now = match silent || amplitude == 0.0 {
                    true => Tone::OFF,
                    false => Tone {
                        hz: channel.upconverter.hz + channel.oscillators[m].hz + channel.carrier.hz,
                        dbm: 20.0 * amplitude.log10() - attenuation,
                        turns: (turns + channel.carrier.at(at) + mixed_turns).rem_euclid(1.0),
                    },
                };
                let (before, since) = channel.tones[m];
                if !before.goes_on(at - since, &now) {
                    channel.tones[m] = (now, at);
                    out.send(n * OSCILLATORS + m, Signal::Tone(now));
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
