//! Several boards in one virtual time. The board that is furthest behind runs, ahead of the others
//! by at most the delay of the shortest link, within which they cannot affect it.

use super::idle::Move;
use super::{CoreState, Machine, Step};
use crate::machine::peripheral::{Due, NEVER};
use crate::machine::time::{self, Cycles};

/// PL cycles by which a board whose cores wait is advanced in one step.
const STRETCH: u64 = 1000;

/// One of several machines, and its name.
pub struct NamedMachine {
    /// Name in messages.
    pub name: String,
    /// The board.
    pub machine: Machine,
}

/// One board or several; the first is the master, which is connected to the host.
pub struct System {
    boards: Vec<NamedMachine>,
    lookahead: Cycles,
    /// The board of the last turn, if that turn changed nothing.
    stuck: Option<usize>,
}

impl System {
    /// Creates a system of one board.
    pub fn alone(machine: Machine) -> Self {
        let name = String::new();
        Self::new(vec![NamedMachine { name, machine }], 0)
    }

    /// Creates a system of one or more boards; `lookahead` is the delay of the shortest link.
    pub fn new(boards: Vec<NamedMachine>, lookahead: Cycles) -> Self {
        Self {
            boards,
            lookahead,
            stuck: None,
        }
    }

    /// Limits how far a core may run ahead of those of the other boards to `lookahead`, if that is
    /// less than before.
    pub fn bound(&mut self, lookahead: Cycles) {
        self.lookahead = self.lookahead.min(lookahead);
    }

    /// All boards.
    pub fn boards(&self) -> &[NamedMachine] {
        &self.boards
    }

    /// All boards, mutably.
    pub fn boards_mut(&mut self) -> &mut [NamedMachine] {
        &mut self.boards
    }

    /// The master.
    pub fn master(&self) -> &Machine {
        &self.boards[0].machine
    }

    /// The master, mutably.
    pub fn master_mut(&mut self) -> &mut Machine {
        &mut self.boards[0].machine
    }

    /// Advances time while no core runs.
    pub fn move_to(&mut self, t: Cycles) {
        self.machines().for_each(|machine| machine.move_to(t));
    }

    fn machines(&mut self) -> impl Iterator<Item = &mut Machine> {
        self.boards.iter_mut().map(|board| &mut board.machine)
    }

    /// Runs one turn of one core, or advances time once.
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

    /// Runs a turn of the board that is furthest behind.
    fn turn(&mut self) {
        let due: Vec<Due> = self.boards.iter().map(|board| board.machine.dues()).collect();
        let next = |n: usize| {
            let machine = &self.boards[n].machine;
            match machine.behind() {
                // The logic is halted until a core woken by it resumes, and so may be that of other
                // boards.
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
            machine.log_acting(due, n == 0);
        }
        let mut limit = others.saturating_add(self.lookahead);
        let machine = &mut self.boards[first].machine;
        let (due, stuck) = (&due[first], self.stuck.take());
        if let Some(core) = machine.behind() {
            // Outputs of the logic may cause a response one round trip later
            let acts = due.queued.min(due.plug);
            limit = limit.min(acts.saturating_add(self.lookahead).saturating_add(self.lookahead));
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
                self.run_next_board(&order[1..]);
            }
        }
    }

    /// Lets the next board with a running core take a turn. Called when the logic of the board
    /// furthest behind, like that of its neighbours, waits for a core of another board that is
    /// slightly ahead of it but has a timer due earlier.
    fn run_next_board(&mut self, others: &[(Cycles, usize)]) {
        let running = |&(time, board): &(Cycles, usize)| Some((time, board, self.boards[board].machine.behind()?));
        if let Some((time, board, core)) = others.iter().find_map(running) {
            let limit = time.saturating_add(self.lookahead);
            self.boards[board].machine.turn(core, limit);
        }
    }

    /// Advances time while no core of any board runs.
    fn idle(&mut self) -> Step {
        if self.machines().fold(false, |woke, machine| machine.serve() | woke) {
            return Step::Worked;
        }
        let mut all = Due::default();
        for (n, board) in self.boards.iter_mut().enumerate() {
            let due = board.machine.dues();
            board.machine.log_acting(&due, n == 0);
            all = sooner_of(all, due);
        }
        if all.answer != NEVER {
            // The answer may come from any board
            all.answer = all.queued.min(all.bench).min(all.plug);
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
    /// Whether a core waits for the logic.
    fn awaits_pl(&self) -> bool {
        let waits = |state: &CoreState| matches!(state, CoreState::WaitEvent | CoreState::WaitAccess);
        self.state.iter().any(waits)
    }

    /// Publishes the earliest time at which a core of this board may act, for its neighbours.
    /// `host`: input from the host may wake a core.
    fn log_acting(&mut self, due: &Due, host: bool) {
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

/// The earliest due time.
fn earliest(due: &Due) -> Cycles {
    let logic = due.answer.min(due.work).min(due.queued).min(due.plug);
    logic.min(due.timer[0]).min(due.timer[1]).min(due.arrival)
}

/// The earlier due times of two boards.
fn sooner_of(a: Due, b: Due) -> Due {
    Due {
        timer: [a.timer[0].min(b.timer[0]), a.timer[1].min(b.timer[1])],
        arrival: a.arrival.min(b.arrival),
        answer: a.answer.min(b.answer),
        work: a.work.min(b.work),
        woken: a.woken.min(b.woken),
        queued: a.queued.min(b.queued),
        bench: a.bench.min(b.bench),
        plug: a.plug.min(b.plug),
    }
}
