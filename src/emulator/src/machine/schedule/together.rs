//! Several boards in one virtual time. The one that is furthest behind has its turn, and goes at
//! most so far beyond the others as nothing that they do can reach it: the delay of the shortest
//! link.

use super::idle::Move;
use super::{CoreState, Machine, Step};
use crate::machine::peripheral::{Due, NEVER};
use crate::machine::time::{self, Cycles};

/// PL cycles that a board whose cores wait is brought forward at once.
const STRETCH: u64 = 1000;

/// A machine of several, and its name.
pub struct NamedMachine {
    /// In messages.
    pub name: String,
    /// The board.
    pub machine: Machine,
}

/// One board, or several; the first is the one that the host knows.
pub struct System {
    boards: Vec<NamedMachine>,
    lookahead: Cycles,
    /// The board whose turn it was last, if that has changed nothing.
    stuck: Option<usize>,
}

impl System {
    /// One board.
    pub fn alone(machine: Machine) -> Self {
        let name = String::new();
        Self::new(vec![NamedMachine { name, machine }], 0)
    }

    /// Several boards, one at least, whose shortest link has the delay `lookahead`.
    pub fn new(boards: Vec<NamedMachine>, lookahead: Cycles) -> Self {
        Self {
            boards,
            lookahead,
            stuck: None,
        }
    }

    /// A core goes at most `lookahead` beyond those of the other boards, if that is less than before.
    pub fn bound(&mut self, lookahead: Cycles) {
        self.lookahead = self.lookahead.min(lookahead);
    }

    /// All boards.
    pub fn boards(&self) -> &[NamedMachine] {
        &self.boards
    }

    /// All boards, to be changed.
    pub fn boards_mut(&mut self) -> &mut [NamedMachine] {
        &mut self.boards
    }

    /// The board that the host knows.
    pub fn master(&self) -> &Machine {
        &self.boards[0].machine
    }

    /// The same, to be changed.
    pub fn master_mut(&mut self) -> &mut Machine {
        &mut self.boards[0].machine
    }

    /// Moves time forward while no core runs.
    pub fn move_to(&mut self, t: Cycles) {
        self.machines().for_each(|machine| machine.move_to(t));
    }

    fn machines(&mut self) -> impl Iterator<Item = &mut Machine> {
        self.boards.iter_mut().map(|board| &mut board.machine)
    }

    /// One turn of one core, or one move of time.
    pub fn step(&mut self) -> Step {
        if let [only] = &mut self.boards[..] {
            return only.machine.step();
        }
        self.machines().for_each(Machine::serve_requests);
        if self.boards.iter().any(|board| board.machine.behind().is_some()) {
            self.turn();
            return Step::Worked;
        }
        self.idle()
    }

    /// A turn of the board that is furthest behind.
    fn turn(&mut self) {
        let due: Vec<Due> = self.boards.iter().map(|board| board.machine.dues()).collect();
        let next = |n: usize| {
            let machine = &self.boards[n].machine;
            match machine.behind() {
                // Its logic stands still until a core that waits for it knows that it is woken, and
                // so may that of others.
                Some(core) if machine.awaits_pl() => machine.local[core].min(due[n].woken),
                Some(core) => machine.local[core],
                None => earliest(&due[n]),
            }
        };
        let mut order: Vec<(Cycles, usize)> = (0..self.boards.len()).map(|n| (next(n), n)).collect();
        order.sort_unstable();
        let ((now, first), others) = (order[0], order[1].0);
        for (n, due) in due.iter().enumerate() {
            let machine = &mut self.boards[n].machine;
            if machine.behind().is_none() {
                machine.move_to(now);
            }
            machine.tell_acting(due, n == 0);
        }
        let mut limit = others.saturating_add(self.lookahead);
        let machine = &mut self.boards[first].machine;
        let (due, stuck) = (&due[first], self.stuck.take());
        if let Some(core) = machine.behind() {
            // What the logic sends now may come back
            limit = limit.min(due.queued.saturating_add(self.lookahead).saturating_add(self.lookahead));
            machine.turn(core, limit);
        } else if !machine.serve() {
            let stretch = now.saturating_add(time::from_pl(STRETCH));
            let target = stretch.min(due.timer[0]).min(due.timer[1]).min(due.arrival);
            let before = (machine.now(), machine.reached);
            machine.idle_to(target.min(limit).max(now));
            if before == (machine.now(), machine.reached) && machine.dues() == *due {
                self.stuck = Some(first);
            }
            let again = stuck.is_some() && stuck == self.stuck;
            if again || self.boards[first].machine.now() <= now {
                self.give_way(&order[1..]);
            }
        }
    }

    /// The logic of the board that is furthest behind waits, as that of its neighbours does, for a
    /// core of another one, which is a little ahead of it but has a timer that was due before: the
    /// next of the others that runs one has its turn.
    fn give_way(&mut self, others: &[(Cycles, usize)]) {
        let running = |&(time, board): &(Cycles, usize)| Some((time, board, self.boards[board].machine.behind()?));
        if let Some((time, board, core)) = others.iter().find_map(running) {
            let limit = time.saturating_add(self.lookahead);
            self.boards[board].machine.turn(core, limit);
        }
    }

    /// No core of any board runs.
    fn idle(&mut self) -> Step {
        if self.machines().fold(false, |woke, machine| machine.serve() | woke) {
            return Step::Worked;
        }
        let mut all = Due::default();
        for (n, board) in self.boards.iter_mut().enumerate() {
            let due = board.machine.dues();
            board.machine.tell_acting(&due, n == 0);
            all = sooner_of(all, due);
        }
        if all.answer != NEVER {
            // It may come from any board
            all.answer = all.queued.min(all.outside);
        }
        match self.boards[0].machine.rests(all) {
            Move::To(mut target) => {
                for machine in self.machines() {
                    machine.idle_to(target);
                    target = target.min(machine.now());
                }
                Step::Worked
            }
            Move::Wait => Step::Worked,
            Move::HostOnly(next) => Step::HostOnly(next),
        }
    }
}

impl Machine {
    /// A core waits for the logic.
    fn awaits_pl(&self) -> bool {
        let waits = |state: &CoreState| matches!(state, CoreState::WaitEvent | CoreState::WaitAccess);
        self.state.iter().any(waits)
    }

    /// Tells the neighbours when a core of this board may do something. `host`: what comes from it
    /// may wake one.
    fn tell_acting(&mut self, due: &Due, host: bool) {
        let acting = match self.behind() {
            Some(core) => self.local[core],
            None if host => self.now.saturating_add(time::from_ns(self.params.net_latency_ns)),
            None => NEVER,
        };
        let mut bus = self.bus.borrow_mut();
        bus.acting = acting.min(due.timer[0]).min(due.timer[1]).min(due.arrival);
        bus.awaiting_pl = self.awaits_pl();
    }
}

/// The earliest of all that is due.
fn earliest(due: &Due) -> Cycles {
    let logic = due.answer.min(due.work).min(due.queued);
    logic.min(due.timer[0]).min(due.timer[1]).min(due.arrival)
}

/// What is due on either.
fn sooner_of(a: Due, b: Due) -> Due {
    Due {
        timer: [a.timer[0].min(b.timer[0]), a.timer[1].min(b.timer[1])],
        arrival: a.arrival.min(b.arrival),
        answer: a.answer.min(b.answer),
        work: a.work.min(b.work),
        woken: a.woken.min(b.woken),
        queued: a.queued.min(b.queued),
        outside: a.outside.min(b.outside),
    }
}
