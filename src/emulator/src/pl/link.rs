//! Links between boards: a word sent by one board's logic arrives at the other's a number of cycles
//! later.
//!
//! A fibre's delay is not a whole number of cycles. A satellite runs on the clock recovered from
//! what it receives, late by the fractional cycle of the way there, and what it sends returns late
//! by both fractions: where these add up to a cycle, the way back takes one cycle more. The
//! remainder is the phase measured by the upstream board. The satellite's clock is then shifted to
//! that of the upstream board (docs/gateware/link-time.md); only this is not modelled: all boards have
//! one clock.
//!
//! The logic of each board has its own clock (`Pl::cycle`), and none runs a cycle before all words
//! that arrive in it are known ([`super::lockstep`]).

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use crate::machine::time::NS_PER_PL_CYCLE;

/// A library's name of its link to the upstream board.
pub const UP: &str = "up";
/// A library's names of its links beside the tree begin like this, and end with their numbers, from 1 on.
pub const CROSS: &str = "cross";
/// The same of its links to downstream boards.
pub const DOWN: &str = "down";
/// Units of the phase input of a library per cycle.
const PHASES: u64 = 4096;

/// Propagation delay of a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Delay {
    ns: u64,
}

impl Delay {
    /// One-way delay.
    pub fn from_ns(ns: u64) -> Self {
        Self { ns }
    }

    /// Delay in whole cycles, from the upstream board and back to it.
    fn cycles(self) -> [u64; 2] {
        let there = self.ns / NS_PER_PL_CYCLE;
        [there, 2 * self.ns / NS_PER_PL_CYCLE - there]
    }

    /// Fraction of a cycle, in 1/[`PHASES`], by which returning words lag the clock of the upstream
    /// board.
    fn phase(self) -> u16 {
        (2 * self.ns % NS_PER_PL_CYCLE * PHASES / NS_PER_PL_CYCLE) as u16
    }
}

/// Errors on the way.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Quality {
    /// Bit error probability.
    pub bit_errors: f64,
    /// Word loss probability.
    pub losses: f64,
}

/// One direction of a link.
struct Fibre {
    /// (cycle of arrival, word), in order of time.
    words: RefCell<VecDeque<(u64, u64)>>,
    /// Delay in cycles.
    delay: u64,
    quality: Quality,
    random: Cell<u64>,
    /// Number of words sent, with wrong bits, and lost.
    counts: Cell<(u64, u64, u64)>,
}

impl Fibre {
    fn new(delay: u64, quality: Quality, seed: u64) -> Self {
        Self {
            delay,
            words: RefCell::default(),
            quality,
            random: Cell::new(seed),
            counts: Cell::default(),
        }
    }

    /// Returns a number uniformly distributed in 0..1. SplitMix64, so that errors are reproducible.
    fn draw(&self) -> f64 {
        let state = self.random.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.random.set(state);
        let a = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let b = (a ^ a >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((b ^ b >> 31) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn send(&self, arrival: u64, mut word: u64) {
        let (sent, mut wrong, mut lost) = self.counts.get();
        if self.quality.losses > 0.0 && self.draw() < self.quality.losses {
            lost += 1;
        } else {
            if self.quality.bit_errors > 0.0 {
                let right = word;
                for bit in 0..64 {
                    word ^= u64::from(self.draw() < self.quality.bit_errors) << bit;
                }
                wrong += u64::from(word != right);
            }
            self.words.borrow_mut().push_back((arrival, word));
        }
        self.counts.set((sent + 1, wrong, lost));
    }
}

/// State common to both ends of a link.
struct Cable {
    delay: Delay,
    /// When it is unplugged according to its description: cycles from the first up to but not
    /// including the second, in order.
    out: Vec<[u64; 2]>,
    /// The same for manual changes; intervals that are past for all boards are removed.
    pulled: RefCell<Vec<[u64; 2]>>,
}

impl Cable {
    /// Whether any interval in which it is unplugged satisfies `when`.
    fn is_out(&self, mut when: impl FnMut(&[u64; 2]) -> bool) -> bool {
        self.out.iter().any(&mut when) || self.pulled.borrow().iter().any(when)
    }

    /// Whether a word sent in `cycle` arrives, in `arrival`.
    fn carries(&self, cycle: u64, arrival: u64) -> bool {
        !self.is_out(|&[from, to]| from <= arrival && cycle < to)
    }

    /// Whether it is plugged in.
    fn is_in(&self, cycle: u64) -> bool {
        !self.is_out(|&[from, to]| (from..to).contains(&cycle))
    }

    /// The next known change of that.
    fn change(&self, cycle: u64) -> u64 {
        let pulled = self.pulled.borrow();
        let changes = self.out.iter().chain(pulled.iter()).flatten().copied();
        changes.filter(|&change| change > cycle).min().unwrap_or(u64::MAX)
    }

    /// Unplugs it, or plugs it in, from cycle `at` on, which no board has passed; all have reached
    /// `past`.
    fn plug(&self, plugged: bool, past: u64, at: u64) {
        let mut pulled = self.pulled.borrow_mut();
        match pulled.last_mut() {
            Some([_, to]) if *to == u64::MAX && plugged => *to = at,
            Some([_, to]) if *to == u64::MAX => {}
            _ if plugged => {}
            _ => pulled.push([at, u64::MAX]),
        }
        pulled.retain(|[_, to]| *to > past);
    }
}

/// One end of a link, at a board.
pub struct End {
    out: Rc<Fibre>,
    into: Rc<Fibre>,
    cable: Rc<Cable>,
}

/// Creates a link between two boards, and its ends, that of the upstream board first. `seed`: for the
/// random errors. `out`: when it is unplugged, cycles from the first up to but not including the
/// second.
pub fn link(delay: Delay, quality: Quality, seed: u64, out: Vec<[u64; 2]>) -> (Link, [End; 2]) {
    let cycles = delay.cycles();
    // From the upstream board, and back to it
    let fibres = [0, 1].map(|n| {
        let seed = seed.wrapping_mul(2).wrapping_add(n as u64);
        Rc::new(Fibre::new(cycles[n], quality, seed))
    });
    let cable = Rc::new(Cable {
        delay,
        out,
        pulled: RefCell::default(),
    });
    let ends = [0, 1].map(|n| End {
        out: fibres[n].clone(),
        into: fibres[1 - n].clone(),
        cable: cable.clone(),
    });
    (Link { cable, fibres }, ends)
}

/// A link, as seen by the host.
pub struct Link {
    cable: Rc<Cable>,
    fibres: [Rc<Fibre>; 2],
}

impl Link {
    /// Unplugs it, or plugs it in, in cycle `at`, which no board's logic has passed; all have been
    /// run up to `past`. Words in flight at that cycle are lost. This way nothing reaches a board
    /// that is ahead of its neighbour in its past.
    pub fn plug(&self, plugged: bool, past: u64, at: u64) {
        self.cable.plug(plugged, past, at);
        let cable = &self.cable;
        for fibre in &self.fibres {
            let mut words = fibre.words.borrow_mut();
            words.retain(|&(arrival, _)| arrival < at || cable.carries(at, arrival));
        }
    }

    /// Whether it is plugged in.
    pub fn is_plugged(&self, cycle: u64) -> bool {
        self.cable.is_in(cycle)
    }

    /// Number of words sent, with wrong bits, and lost, in each direction.
    pub fn counts(&self) -> [(u64, u64, u64); 2] {
        self.fibres.each_ref().map(|fibre| fibre.counts.get())
    }

    /// One-way delay in ns.
    pub fn delay_ns(&self) -> u64 {
        self.cable.delay.ns
    }

    /// Delay in cycles of the shorter direction.
    pub fn delay(&self) -> u64 {
        self.cable.delay.cycles()[0]
    }
}

impl End {
    /// Whether the line carries words.
    pub fn is_up(&self, cycle: u64) -> bool {
        self.cable.is_in(cycle)
    }

    /// Phase of received words relative to the clock of the upstream board, in the library's units.
    pub fn phase(&self) -> u16 {
        self.cable.delay.phase()
    }

    /// The next known change of [`Self::is_up`].
    pub fn change(&self, cycle: u64) -> u64 {
        self.cable.change(cycle)
    }

    /// Sends a word in `cycle`.
    pub fn send(&self, cycle: u64, word: u64) {
        let arrival = cycle + self.out.delay;
        if !self.cable.carries(cycle, arrival) {
            return;
        }
        self.out.send(arrival, word);
    }

    /// When the next word arrives.
    pub fn arrival(&self) -> Option<u64> {
        self.into.words.borrow().front().map(|word| word.0)
    }

    /// Takes the next word that has arrived by `cycle`, with its cycle of arrival.
    pub fn receive(&self, cycle: u64) -> Option<(u64, u64)> {
        self.into.words.borrow_mut().pop_front_if(|word| word.0 <= cycle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unplugging_loses_words_in_flight() {
        let cable = Cable {
            delay: Delay::from_ns(80),
            out: vec![[100, 120], [130, 131]],
            pulled: RefCell::default(),
        };
        let arrives: Vec<u64> = (80..150).filter(|&cycle| cable.carries(cycle, cycle + 10)).collect();
        assert_eq!(arrives, (80..90).chain(131..150).collect::<Vec<_>>());
        let is_in: Vec<u64> = (95..135).filter(|&cycle| cable.is_in(cycle)).collect();
        assert_eq!(is_in, (95..100).chain(120..130).chain(131..135).collect::<Vec<_>>());
        let changes = [0, 99, 100, 120, 130, 131].map(|cycle| cable.change(cycle));
        assert_eq!(changes, [100, 100, 120, 130, 131, u64::MAX]);
    }

    /// One board's logic is at cycle 70 and the other's at 100 when the cable is unplugged, and at
    /// 110 and 140 when it is plugged in.
    #[test]
    fn cable_is_unplugged_only_after_the_cycles_of_both_boards() {
        let cable = Cable {
            delay: Delay::from_ns(80),
            out: Vec::new(),
            pulled: RefCell::default(),
        };
        cable.plug(true, 70, 100);
        assert_eq!(cable.change(0), u64::MAX);
        cable.plug(false, 70, 100);
        cable.plug(false, 80, 110);
        assert_eq!(
            [70, 99, 100, u64::MAX - 1].map(|cycle| cable.is_in(cycle)),
            [true, true, false, false]
        );
        assert_eq!(
            [70, 89, 90].map(|cycle| cable.carries(cycle, cycle + 10)),
            [true, true, false]
        );
        cable.plug(true, 110, 140);
        cable.plug(true, 110, 150);
        assert_eq!([110, 139, 140].map(|cycle| cable.is_in(cycle)), [false, false, true]);
        assert_eq!([139, 140].map(|cycle| cable.carries(cycle, cycle + 10)), [false, true]);
        assert_eq!((cable.change(110), cable.change(140)), (140, u64::MAX));
        cable.plug(false, 200, 210);
        assert_eq!(cable.pulled.take(), [[210, u64::MAX]]);
    }

    #[test]
    fn fraction_of_a_cycle_is_a_phase_or_one_cycle() {
        let delays = [1000, 1001, 1003, 1004, 1007].map(Delay::from_ns);
        let found = delays.map(|delay| (delay.cycles(), delay.phase()));
        assert_eq!(
            found,
            [
                ([125, 125], 0),
                ([125, 125], 1024),
                ([125, 125], 3072),
                ([125, 126], 0),
                ([125, 126], 3072)
            ]
        );
    }

    #[test]
    fn bit_errors_have_the_stated_rate_and_repeat_for_a_seed() {
        let quality = Quality {
            bit_errors: 1e-3,
            losses: 0.05,
        };
        let run = |seed| {
            let fibre = Fibre::new(0, quality, seed);
            (0..20_000).for_each(|cycle| fibre.send(cycle, 0));
            (fibre.counts.get(), fibre.words.take())
        };
        let ((sent, wrong, lost), words) = run(1);
        assert_eq!(sent, 20_000);
        assert!((900..1100).contains(&lost), "{lost}");
        let bits: u32 = words.iter().map(|word| word.1.count_ones()).sum();
        assert!((1100..1350).contains(&bits), "{bits} of 19000 * 64");
        assert!(u64::from(bits) >= wrong && wrong > 1000, "{wrong}");
        assert_eq!(run(1), ((sent, wrong, lost), words));
        assert_ne!(run(1).1, run(2).1);
        let clean = Fibre::new(0, Quality::default(), 1);
        clean.send(7, u64::MAX);
        assert_eq!(
            (clean.counts.get(), clean.words.take()),
            ((1, 0, 0), [(7, u64::MAX)].into())
        );
    }
}
