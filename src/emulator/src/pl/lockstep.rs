//! Several boards: none runs a cycle before all that reaches it in that cycle is known.
//!
//! What a board does reaches another one through their link, over other boards between them, or
//! through a part of the bench that is wired to pins of both. The logic is led by whoever wants to
//! go on: as long as another board's next doings may reach it in time, the board that is furthest
//! behind of all is brought forward first. What a board does in a cycle reaches another one in the
//! next cycle at the earliest, so the one that is furthest behind can always go on, and nothing
//! comes into anybody's past.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use super::fabric::Fabric;
use super::running::Bounds;
use super::Pl;
use crate::machine::bus::Bus;
use crate::machine::memory::Memory;
use crate::machine::time;

/// In how many cycles what a board does reaches another one through the bench.
pub const THROUGH_BENCH: u64 = 1;

/// A board among those with which it goes.
#[derive(Clone)]
pub struct Lockstep {
    boards: Rc<Vec<Weak<RefCell<Bus>>>>,
    /// By two boards, in how many cycles at least what the first one does reaches the second.
    ways: Rc<Vec<Vec<u64>>>,
    own: usize,
}

/// What a board's logic does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Next {
    /// The first cycle in which something may go on in it, if nothing comes from other boards.
    pub first: u64,
    /// The first cycle in which a core of it may do something, or knows that it has been woken.
    pub cores: u64,
}

impl Next {
    /// Of nobody.
    const NEVER: Self = Self {
        first: u64::MAX,
        cores: u64::MAX,
    };
}

/// All boards in step. `ways`: in how many cycles what one board does reaches another one at once,
/// by a link or the bench; ways over others are found here.
pub fn lockstep(boards: &[&Rc<RefCell<Bus>>], ways: Vec<Vec<u64>>) -> Vec<Lockstep> {
    let all = Rc::new(boards.iter().map(|bus| Rc::downgrade(bus)).collect());
    let ways = Rc::new(shortest(ways));
    let board = |own| Lockstep {
        boards: Rc::clone(&all),
        ways: ways.clone(),
        own,
    };
    (0..boards.len()).map(board).collect()
}

/// The shortest ways over any others (Floyd and Warshall).
fn shortest(mut ways: Vec<Vec<u64>>) -> Vec<Vec<u64>> {
    for over in 0..ways.len() {
        for from in 0..ways.len() {
            for to in 0..ways.len() {
                let way = ways[from][over].saturating_add(ways[over][to]);
                ways[from][to] = ways[from][to].min(way);
            }
        }
    }
    ways
}

impl Lockstep {
    /// The cycle before which nothing reaches board `to` that others have not done yet.
    fn reached(&self, next: &[Next], to: usize) -> u64 {
        let others = (0..next.len()).filter(|board| *board != to);
        let first = others.map(|board| next[board].first.saturating_add(self.ways[board][to]));
        first.min().unwrap_or(u64::MAX)
    }

    /// What each board does next; of the own one it is `own`.
    fn next(&self, own: Next) -> Vec<Next> {
        let of = |(number, bus): (usize, &Weak<RefCell<Bus>>)| {
            if number == self.own {
                return own;
            }
            let Some(bus) = bus.upgrade() else { return Next::NEVER };
            let bus = bus.borrow();
            let fabric: Option<&Fabric> = bus.get();
            let pl = fabric.and_then(Fabric::pl);
            pl.map_or(Next::NEVER, |pl| {
                pl.next_doings(time::to_pl(bus.acting), bus.awaiting_pl)
            })
        };
        self.boards.iter().enumerate().map(of).collect()
    }

    /// Brings another board's logic to a cycle.
    fn lead(&self, board: usize, to: u64, urgent: bool) {
        let Some(bus) = self.boards[board].upgrade() else {
            return;
        };
        let mut bus = bus.borrow_mut();
        let (acting, wakes) = (time::to_pl(bus.acting), bus.awaiting_pl);
        bus.with(|fabric: &mut Fabric, context| fabric.lead(to, acting, wakes, urgent, context.memory));
    }
}

impl Pl {
    /// It goes with others from now on.
    pub fn go_in_step(&mut self, step: Lockstep) {
        self.step = Some(step);
    }

    /// What it does next, where its cores may do something from cycle `acting` on, and one waits
    /// for the logic if `wakes`.
    pub(super) fn next_doings(&self, acting: u64, wakes: bool) -> Next {
        let mut cores = acting;
        if wakes || self.raised.is_some() {
            cores = cores.min(self.waker().map_or(u64::MAX, |waker| waker + 1));
        }
        let first = if self.idle() {
            let logic = self
                .due()
                .min(self.outside_due())
                .min(self.arrival().unwrap_or(u64::MAX));
            logic.min(cores).max(self.cycle)
        } else {
            self.cycle
        };
        Next { first, cores }
    }

    /// The cycle up to which nothing comes from other boards, but for a word in the next cycle;
    /// `target` at most. `None`: a core of another board has to do something first.
    pub(super) fn agreed(&mut self, target: u64, urgent: bool) -> Option<u64> {
        if self.agreed <= self.cycle {
            self.agreed = match &self.step {
                Some(step) => self.agree(&step.clone(), target, urgent)?,
                None => u64::MAX,
            };
        }
        Some(self.undisturbed(target.min(self.agreed)))
    }

    /// The cycle up to which no word comes that is under way, but for one in the next cycle;
    /// `target` at most.
    pub(super) fn undisturbed(&self, target: u64) -> u64 {
        let arrival = self.arrival().map_or(u64::MAX, |arrival| arrival.max(self.cycle + 1));
        target.min(arrival)
    }

    fn agree(&mut self, step: &Lockstep, target: u64, urgent: bool) -> Option<u64> {
        loop {
            // Its own cores do nothing before the target.
            let next = step.next(self.next_doings(target, false));
            let reached = step.reached(&next, step.own);
            if reached > self.cycle {
                return Some(reached);
            }
            let behind = (0..next.len()).min_by_key(|board| (next[*board].first, *board))?;
            let Next { first, cores } = next[behind];
            if cores <= first && !urgent {
                return None;
            }
            let mut to = step.reached(&next, behind).min(self.cycle);
            if !urgent {
                to = to.min(cores);
            }
            step.lead(behind, to, urgent);
        }
    }

    /// Is brought to cycle `to` by another board, which knows that nothing comes from any before;
    /// not beyond what wakes a core that waits if `wakes`, but if it is urgent.
    pub(super) fn led(&mut self, to: u64, acting: u64, wakes: bool, urgent: bool, memory: &Memory) {
        let before = acting.max(self.cycle);
        let bounds = Bounds {
            to_event: wakes && !urgent,
            led: true,
            ..Bounds::default()
        };
        self.run(to, memory, bounds);
        self.ahead += self.cycle.saturating_sub(before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_way_may_lead_over_others() {
        const NONE: u64 = u64::MAX;
        let chain = vec![vec![NONE, 5, 1], vec![5, NONE, 7], vec![1, 7, NONE]];
        let ways = shortest(chain);
        assert_eq!((ways[0][1], ways[1][2], ways[2][0]), (5, 6, 1));
    }

    #[test]
    fn a_board_is_reached_by_what_others_do_first() {
        let ways = Rc::new(vec![vec![0, 10, 1], vec![10, 0, 20], vec![1, 20, 0]]);
        let boards = Rc::new(vec![Weak::new(), Weak::new(), Weak::new()]);
        let step = Lockstep { boards, ways, own: 0 };
        let next = [100, 50, 80].map(|first| Next { first, cores: u64::MAX });
        assert_eq!(step.reached(&next, 0), 60);
        assert_eq!(step.reached(&next, 1), 100);
        assert_eq!(step.next(next[0])[1..], [Next::NEVER; 2], "boards that are gone");
    }
}
