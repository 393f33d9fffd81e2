//! A board's ends of its links: words received and sent.

use super::link::End;
use super::{Pl, SETTLE, SETTLE_WORD};

impl Pl {
    /// The cycle in which the next word arrives.
    pub(super) fn arrival(&self) -> Option<u64> {
        self.ends.iter().filter_map(End::arrival).min()
    }

    /// Puts the words that arrive in the next cycle on the link inputs.
    pub(super) fn deliver(&mut self) {
        for end in &self.ends {
            if let Some((arrival, word)) = end.receive(self.cycle) {
                let cycle = self.cycle;
                if arrival < cycle {
                    log::error!(
                        "pl: a word of a link that arrives in cycle {arrival} was sent when {cycle} had been reached"
                    );
                }
                self.inputs.link_rx_valid |= 1 << end.place;
                self.inputs.link_rx_word[end.place] = word;
                // The input changes for one cycle only; the logic reports activity one cycle later
                self.settle = self.settle.max(SETTLE_WORD);
            }
        }
    }

    /// Sends the words that leave in the next cycle.
    pub(super) fn send(&mut self) {
        let valid = self.outputs.link_tx_valid;
        let mut sends = false;
        for end in &self.ends {
            if valid >> end.place & 1 != 0 {
                end.send(self.cycle, self.outputs.link_tx_word[end.place]);
                sends = true;
            }
        }
        if sends {
            self.touch();
        }
    }

    /// Whether a word arrives in the next cycle.
    pub(super) fn arrives(&self) -> bool {
        self.arrival().is_some_and(|cycle| cycle <= self.cycle)
    }

    /// Updates the inputs that tell the logic which links are plugged in.
    pub fn look_at_plugs(&mut self) {
        let cycle = self.cycle;
        self.replug = self.ends.iter().map(|end| end.change(cycle)).min().unwrap_or(u64::MAX);
        for end in &self.ends {
            let up = u8::from(end.is_up(cycle)) << end.place;
            if up != self.inputs.link_rx_up & 1 << end.place {
                self.inputs.link_rx_up ^= 1 << end.place;
                self.settle = SETTLE;
            }
        }
    }

    /// Connects an end to the link of this name.
    pub(super) fn connect(&mut self, mut end: End, name: &str) -> Result<(), String> {
        let variant = &self.library.info.variant;
        let place = self.library.info.links.iter().position(|link| link == name);
        end.place = place.ok_or_else(|| format!("its gateware {variant} has no link {name}"))?;
        if self.ends.iter().any(|other| other.place == end.place) {
            return Err(format!("its link {name} is connected already"));
        }
        self.inputs.link_rx_phase[end.place] = end.phase();
        self.ends.push(end);
        self.look_at_plugs();
        Ok(())
    }
}
