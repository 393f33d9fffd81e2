//! Lockstep of several boards: none runs a cycle before all that reaches it in that cycle is known.
//!
//! An action of a board reaches another one through their link, through other boards between them,
//! or through a part of the bench that is wired to pins of both. A board that wants to advance
//! leads the others: as long as another board's next action may reach it in time, the board
//! furthest behind is advanced first. An action in one cycle reaches another board in the next
//! cycle at the earliest, so the board furthest behind can always advance, and nothing arrives in a
//! board's past.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use super::fabric::Fabric;
use super::running::Bounds;
use super::Pl;
use crate::machine::bus::Bus;
use crate::machine::memory::Memory;
use crate::machine::time;

/// Cycles after which an action of a board reaches another one through the bench.
pub const THROUGH_BENCH: u64 = 1;

/// A board's view of the boards in lockstep.
#[derive(Clone)]
pub struct Lockstep {
    boards: Rc<Vec<Weak<RefCell<Bus>>>>,
    /// For each pair of boards, the minimum number of cycles after which an action of the first
    /// reaches the second.
    delays: Rc<Vec<Vec<u64>>>,
    own: usize,
}

/// Next actions of a board's logic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Next {
    /// The first cycle in which it may be active if nothing arrives from other boards.
    pub first: u64,
    /// The first cycle in which one of its cores may act, or resumes after being woken.
    pub cores: u64,
}

impl Next {
    /// No action.
    const NEVER: Self = Self {
        first: u64::MAX,
        cores: u64::MAX,
    };
}

/// Puts all boards in lockstep. `delays`: cycles after which an action of one board reaches
/// another one directly, by a link or the bench; paths through other boards are found here.
pub fn lockstep(boards: &[&Rc<RefCell<Bus>>], delays: Vec<Vec<u64>>) -> Vec<Lockstep> {
    let all = Rc::new(boards.iter().map(|bus| Rc::downgrade(bus)).collect());
    let delays = Rc::new(shortest(delays));
    let board = |own| Lockstep {
        boards: Rc::clone(&all),
        delays: delays.clone(),
        own,
    };
    (0..boards.len()).map(board).collect()
}

/// Shortest delays, along paths through any number of other boards (Floyd-Warshall).
fn shortest(mut delays: Vec<Vec<u64>>) -> Vec<Vec<u64>> {
    for over in 0..delays.len() {
        for from in 0..delays.len() {
            for to in 0..delays.len() {
                let path = delays[from][over].saturating_add(delays[over][to]);
                delays[from][to] = delays[from][to].min(path);
            }
        }
    }
    delays
}

impl Lockstep {
    /// The cycle before which board `to` is not reached by any action that others have yet to take.
    fn reached(&self, next: &[Next], to: usize) -> u64 {
        let others = (0..next.len()).filter(|board| *board != to);
        let first = others.map(|board| next[board].first.saturating_add(self.delays[board][to]));
        first.min().unwrap_or(u64::MAX)
    }

    /// The next actions of each board; those of this one are `own`.
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
                pl.next_actions(time::to_pl(bus.acting), bus.awaiting_pl)
            })
        };
        self.boards.iter().enumerate().map(of).collect()
    }

    /// Advances another board's logic to a cycle.
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
    /// Puts the logic in lockstep with other boards.
    pub fn join_lockstep(&mut self, lockstep: Lockstep) {
        self.horizon.join(lockstep);
    }

    /// Its next actions, if its cores may act from cycle `acting` on, and `wakes` tells whether one
    /// waits for the logic.
    pub(super) fn next_actions(&self, acting: u64, wakes: bool) -> Next {
        let mut cores = acting;
        if wakes || self.events.interrupt().is_some() {
            cores = cores.min(self.waker().map_or(u64::MAX, |waker| waker + 1));
        }
        if self.buses.ask() {
            // Its bus performs the access when the board acts
            cores = self.cycle;
        }
        let first = if self.idle() {
            let logic = self
                .due()
                .min(self.bench_due())
                .min(self.ends.arrival().unwrap_or(u64::MAX));
            logic.min(cores).max(self.cycle)
        } else {
            self.cycle
        };
        Next { first, cores }
    }

    /// The cycle up to which nothing arrives from other boards, except a word in the next cycle; at
    /// most `target`. `None`: a core of another board has to act first.
    pub(super) fn safe_until(&mut self, target: u64, urgent: bool) -> Option<u64> {
        let until = match self.horizon.beyond(self.cycle) {
            Some(until) => until,
            None => {
                let until = match self.horizon.lockstep() {
                    Some(lockstep) => self.agree(&lockstep, target, urgent)?,
                    None => u64::MAX,
                };
                self.horizon.extend(until);
                until
            }
        };
        Some(self.undisturbed(target.min(until)))
    }

    /// The cycle up to which no word in flight arrives, except one in the next cycle; at most
    /// `target`.
    pub(super) fn undisturbed(&self, target: u64) -> u64 {
        let arrival = self
            .ends
            .arrival()
            .map_or(u64::MAX, |arrival| arrival.max(self.cycle + 1));
        target.min(arrival)
    }

    /// Finds the horizon, for which boards that are further behind are advanced.
    fn agree(&mut self, lockstep: &Lockstep, target: u64, urgent: bool) -> Option<u64> {
        loop {
            // Its own cores do not act before the target.
            let next = lockstep.next(self.next_actions(target, false));
            let reached = lockstep.reached(&next, lockstep.own);
            if reached > self.cycle {
                return Some(reached);
            }
            let behind = (0..next.len()).min_by_key(|board| (next[*board].first, *board))?;
            let Next { first, cores } = next[behind];
            if cores <= first && !urgent {
                return None;
            }
            let mut to = lockstep.reached(&next, behind).min(self.cycle);
            if !urgent {
                to = to.min(cores);
            }
            lockstep.lead(behind, to, urgent);
        }
    }

    /// Advances the logic to cycle `to` on behalf of another board, which knows that nothing
    /// arrives from any board before that cycle; unless `urgent`, not beyond an event that wakes a
    /// waiting core if `wakes`.
    pub(super) fn led(&mut self, to: u64, acting: u64, wakes: bool, urgent: bool, memory: &Memory) {
        let before = acting.max(self.cycle);
        let bounds = Bounds {
            to_event: wakes && !urgent,
            led: true,
            ..Bounds::default()
        };
        self.run(to, memory, bounds);
        self.horizon.ran_ahead(self.cycle.saturating_sub(before));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortest_delay_may_lead_over_other_boards() {
        const NONE: u64 = u64::MAX;
        let chain = vec![vec![NONE, 5, 1], vec![5, NONE, 7], vec![1, 7, NONE]];
        let delays = shortest(chain);
        assert_eq!((delays[0][1], delays[1][2], delays[2][0]), (5, 6, 1));
    }

    #[test]
    fn earlier_action_of_another_board_limits_the_run() {
        let delays = Rc::new(vec![vec![0, 10, 1], vec![10, 0, 20], vec![1, 20, 0]]);
        let boards = Rc::new(vec![Weak::new(), Weak::new(), Weak::new()]);
        let step = Lockstep { boards, delays, own: 0 };
        let next = [100, 50, 80].map(|first| Next { first, cores: u64::MAX });
        assert_eq!(step.reached(&next, 0), 60);
        assert_eq!(step.reached(&next, 1), 100);
        assert_eq!(step.next(next[0])[1..], [Next::NEVER; 2], "boards that are gone");
    }
}
