//! A board's ends of its links: words received and sent, and whether the links are plugged in.

use super::library::{Inputs, Outputs};
use super::link::End;

/// An end at the logic's link of this index.
struct Port {
    index: usize,
    end: End,
}

impl Port {
    /// Its bit in the logic's signals.
    fn bit(&self) -> u8 {
        1 << self.index
    }
}

/// The ends of links that are connected to the logic, each to a link of its own.
///
/// The logic's inputs say which are plugged in as of the cycle of the latest [`Self::update_plugs`];
/// this holds up to the cycle [`Self::next_change`].
pub(super) struct Ends {
    ports: Vec<Port>,
    next_change: u64,
}

impl Default for Ends {
    fn default() -> Self {
        Self {
            ports: Vec::new(),
            next_change: u64::MAX,
        }
    }
}

impl Ends {
    /// Connects an end to the link of this index. Returns false if one is connected already.
    pub(super) fn connect(&mut self, index: usize, end: End, inputs: &mut Inputs) -> bool {
        let free = self.ports.iter().all(|port| port.index != index);
        if free {
            inputs.link_rx_phase[index] = end.phase();
            self.ports.push(Port { index, end });
        }
        free
    }

    /// Whether none is connected.
    pub(super) fn is_empty(&self) -> bool {
        self.ports.is_empty()
    }

    /// The cycle in which the next word arrives.
    pub(super) fn arrival(&self) -> Option<u64> {
        self.ports.iter().filter_map(|port| port.end.arrival()).min()
    }

    /// Whether a word arrives in `cycle`.
    pub(super) fn arrives(&self, cycle: u64) -> bool {
        self.arrival().is_some_and(|arrival| arrival <= cycle)
    }

    /// Puts the words that arrive in `cycle` on the inputs. Returns whether there are any.
    pub(super) fn receive(&self, cycle: u64, inputs: &mut Inputs) -> bool {
        let mut received = false;
        for port in &self.ports {
            if let Some((arrival, word)) = port.end.receive(cycle) {
                if arrival < cycle {
                    log::error!(
                        "pl: a word of a link that arrives in cycle {arrival} was sent when {cycle} had been reached"
                    );
                }
                inputs.link_rx_valid |= port.bit();
                inputs.link_rx_word[port.index] = word;
                received = true;
            }
        }
        received
    }

    /// Sends the words on the outputs, which leave in `cycle`. Returns whether there are any.
    pub(super) fn send(&self, cycle: u64, outputs: &Outputs) -> bool {
        let mut sends = false;
        for port in &self.ports {
            if outputs.link_tx_valid & port.bit() != 0 {
                port.end.send(cycle, outputs.link_tx_word[port.index]);
                sends = true;
            }
        }
        sends
    }

    /// Updates the inputs that show which links are plugged in. Returns whether any has changed.
    pub(super) fn update_plugs(&mut self, cycle: u64, inputs: &mut Inputs) -> bool {
        let changes = self.ports.iter().map(|port| port.end.change(cycle));
        self.next_change = changes.min().unwrap_or(u64::MAX);
        let mut changed = false;
        for port in &self.ports {
            let up = if port.end.is_up(cycle) { port.bit() } else { 0 };
            if up != inputs.link_rx_up & port.bit() {
                inputs.link_rx_up ^= port.bit();
                changed = true;
            }
        }
        changed
    }

    /// Next cycle in which a link is plugged in or unplugged; `u64::MAX` if none is known.
    pub(super) fn next_change(&self) -> u64 {
        self.next_change
    }
}

#[cfg(test)]
mod tests {
    use super::super::link::{link, Delay, Quality};
    use super::*;

    /// The two ends of a link of ten cycles, unplugged from cycle 100 to 119, at indices 2 and 0.
    fn joined() -> [(Ends, Inputs); 2] {
        let (_, ends) = link(Delay::from_ns(80), Quality::default(), 1, vec![[100, 120]]);
        let mut index = [2, 0].into_iter();
        ends.map(|end| {
            let (mut all, mut inputs) = (Ends::default(), Inputs::zero());
            assert!(all.connect(index.next().expect("two"), end, &mut inputs));
            (all, inputs)
        })
    }

    fn word(index: usize, word: u64) -> Outputs {
        let mut outputs = Outputs::zero();
        outputs.link_tx_valid = 1 << index;
        outputs.link_tx_word[index] = word;
        outputs
    }

    #[test]
    fn word_arrives_at_the_other_end_after_the_delay() {
        let [(upstream, _), (downstream, mut inputs)] = joined();
        assert!(!upstream.send(5, &word(0, 1)), "it is another link's");
        assert!(upstream.send(5, &word(2, 0x123)));
        assert_eq!(downstream.arrival(), Some(15));
        assert!(!downstream.arrives(14) && downstream.arrives(15));
        assert!(!downstream.receive(14, &mut inputs));
        assert!(downstream.receive(15, &mut inputs));
        assert_eq!((inputs.link_rx_valid, inputs.link_rx_word[0]), (1, 0x123));
        assert_eq!(downstream.arrival(), None);
    }

    #[test]
    fn inputs_show_the_links_plugged_in() {
        let [(mut ends, mut inputs), _] = joined();
        assert!(ends.update_plugs(0, &mut inputs));
        assert_eq!((inputs.link_rx_up, ends.next_change()), (0b100, 100));
        assert!(!ends.update_plugs(50, &mut inputs), "no change");
        assert!(ends.update_plugs(100, &mut inputs));
        assert_eq!((inputs.link_rx_up, ends.next_change()), (0, 120));
        assert!(ends.update_plugs(120, &mut inputs));
        assert_eq!((inputs.link_rx_up, ends.next_change()), (0b100, u64::MAX));
    }

    #[test]
    fn link_has_at_most_one_end() {
        let (_, [one, other]) = link(Delay::from_ns(81), Quality::default(), 1, Vec::new());
        let (mut ends, mut inputs) = (Ends::default(), Inputs::zero());
        assert!(ends.is_empty());
        assert!(ends.connect(1, one, &mut inputs) && !ends.connect(1, other, &mut inputs));
        assert_eq!(inputs.link_rx_phase[1], 1024);
    }
}
