//! The links of a board's logic, from its own side: words that come and leave, and how far it may run.

use super::link::{End, Question};
use super::running::Bounds;
use super::{Pl, SETTLE};
use crate::machine::memory::Memory;

impl Pl {
    /// The cycle in which the next word arrives.
    pub(super) fn arrival(&self) -> Option<u64> {
        self.ends.iter().filter_map(End::arrival).min()
    }

    /// Puts the words that arrive in the next cycle on the links' inputs.
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
            }
        }
    }

    /// Sends off the words that leave in the next cycle.
    pub(super) fn send(&mut self) {
        let valid = self.outputs.link_tx_valid;
        let mut sends = false;
        for (n, end) in self.ends.iter_mut().enumerate() {
            if valid >> end.place & 1 != 0 {
                end.send(self.cycle, self.outputs.link_tx_word[end.place]);
                self.sent |= 1 << n;
                sends = true;
            }
        }
        if sends {
            self.touch();
        }
    }

    /// A word arrives in the next cycle.
    pub(super) fn arrives(&self) -> bool {
        self.arrival().is_some_and(|cycle| cycle <= self.cycle)
    }

    /// Begins to look at the links anew, since everything may have changed. `asker`: whose link
    /// tells by itself.
    pub(super) fn look_again(&mut self, asker: Option<usize>) {
        for (n, end) in self.ends.iter_mut().enumerate() {
            end.known = 0;
            if asker == Some(n) {
                end.told();
            }
        }
        self.look_at_plugs();
        (self.agreed, self.touched) = (0, false);
    }

    /// Tells the logic which links are plugged in, which may have changed.
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

    /// The cycle up to which the links are known to bring nothing, but for a word in the next
    /// cycle; `target` at most. `None`: nobody knows about the next cycle.
    pub(super) fn known(&mut self, target: u64, asker: Option<usize>, urgent: bool) -> Option<u64> {
        if self.in_step() {
            return self.agreed(target, urgent);
        }
        if self.ends.is_empty() {
            return Some(target);
        }
        let idle = self.idle();
        // What a word that is under way to here makes it do is not known yet
        let silent = if idle {
            let arrival = self.arrival().unwrap_or(u64::MAX);
            self.due().min(self.outside_due()).min(arrival).min(target)
        } else {
            self.cycle
        };
        let wanted = if idle { silent.max(self.cycle) } else { self.cycle };
        let mut end = target;
        for n in 0..self.ends.len() {
            let mine = &mut self.ends[n];
            if mine.known <= wanted && asker != Some(n) {
                mine.ask(wanted, silent, self.cycle, urgent);
            }
            if mine.known <= self.cycle {
                return None;
            }
            end = end.min(mine.known);
            if let Some(arrival) = mine.arrival() {
                end = end.min(arrival.max(self.cycle + 1));
            }
        }
        Some(end)
    }

    /// Answers a neighbour: the first cycle in which something may go on here, if no word comes from it.
    pub(super) fn asked(&mut self, question: Question, memory: &Memory) -> u64 {
        let Question {
            end, acting, urgent, ..
        } = question;
        let mut first = self.quiet_until(&question);
        if first < question.needed {
            let wanted = if urgent {
                question.wanted
            } else {
                question.wanted.min(acting)
            };
            self.ahead += wanted.saturating_sub(acting.max(self.cycle));
            let bounds = Bounds {
                to_event: question.wakes && !urgent,
                asker: Some(end),
                urgent,
                ..Bounds::default()
            };
            self.run(wanted, memory, bounds);
            first = self.quiet_until(&question);
        }
        first
    }

    /// The first cycle in which something may go on here, if no word comes by the link of the one who asks.
    fn quiet_until(&mut self, question: &Question) -> u64 {
        let mut first = self.next_doings(question.acting, question.wakes).first;
        if first <= self.cycle {
            return self.cycle;
        }
        for n in (0..self.ends.len()).filter(|&n| n != question.end) {
            self.ends[n].ask(self.cycle, first.max(self.cycle), self.cycle, question.urgent);
            first = first.min(self.ends[n].known);
        }
        // One may have been sent meanwhile
        first = first.min(self.arrival().unwrap_or(u64::MAX));
        first.max(self.cycle)
    }

    /// A link, from now on.
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

    /// How many links are connected.
    pub(super) fn ends(&self) -> usize {
        self.ends.len()
    }
}
