//! Division of a bench of several boards into as many engines as can run independently: boards that
//! are connected share an engine, and unconnected boards do not wait for each other.

use super::wiring::{End, Wiring};
use super::Engine;

/// The engines of a bench.
pub struct Divided {
    /// One for each set of connected boards.
    pub engines: Vec<Engine>,
    /// By board, the number of its engine.
    pub of_board: Vec<usize>,
}

/// A union-find structure: each member points to another one of its set, and the root to itself.
struct Sets(Vec<usize>);

impl Sets {
    fn find(&self, mut member: usize) -> usize {
        while self.0[member] != member {
            member = self.0[member];
        }
        member
    }

    fn join(&mut self, a: usize, b: usize) {
        // The smallest member is the root: a board, if the set has one.
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b)] = a.min(b);
    }
}

/// How parts are divided: by board the number of its engine, and by model that of its engine and its
/// number there.
struct Division {
    of_board: Vec<usize>,
    of_model: Vec<(usize, usize)>,
    /// By engine, the numbers of the first pads of its boards.
    starts: Vec<Vec<u16>>,
}

impl Division {
    /// Divides `models` models with these wires. `starts` holds the number of each board's first
    /// pad, in order.
    fn of(wiring: &Wiring, models: usize, starts: &[u16]) -> Self {
        let boards = starts.len();
        let mut sets = Sets((0..boards + models).collect());
        let node = |end: End| match end {
            End::Input { model, .. } => boards + model,
            End::Pin(pad) => board_of(starts, pad),
        };
        for (pad, end) in wiring.pins() {
            sets.join(board_of(starts, pad), node(end));
        }
        for (model, _, end) in wiring.outputs() {
            sets.join(boards + model, node(end));
        }
        for part in boards..sets.0.len() {
            if sets.find(part) >= boards {
                sets.join(0, part);
            }
        }
        let roots: Vec<usize> = (0..boards).filter(|board| sets.find(*board) == *board).collect();
        let engine_of = |node: usize| {
            let root = sets.find(node);
            roots.iter().position(|other| *other == root).unwrap_or(0)
        };
        let of_board: Vec<usize> = (0..boards).map(engine_of).collect();
        // Parts keep their order, which decides between simultaneous events.
        let mut counts = vec![0; roots.len()];
        let of_model = (0..models).map(|model| {
            let engine = engine_of(boards + model);
            counts[engine] += 1;
            (engine, counts[engine] - 1)
        });
        let of_model = of_model.collect();
        let own = |engine: usize| {
            let boards = starts.iter().zip(&of_board);
            let own = boards.filter(|(_, other)| **other == engine);
            own.map(|(start, _)| *start).collect()
        };
        let starts = (0..roots.len()).map(own).collect();
        Self {
            of_board,
            of_model,
            starts,
        }
    }

    /// An end, with the number of its model in its engine.
    fn renumbered(&self, end: End) -> End {
        match end {
            End::Input { model, input } => End::Input {
                model: self.of_model[model].1,
                input,
            },
            pin => pin,
        }
    }
}

/// The board of a pad.
fn board_of(starts: &[u16], pad: u16) -> usize {
    starts.partition_point(|start| *start <= pad) - 1
}

impl Engine {
    /// Divides a newly assembled bench. `starts` holds the number of each board's first pad, in
    /// order. A part that no wire connects to a board goes with the first one.
    pub fn divide(self, starts: &[u16]) -> Divided {
        let division = Division::of(&self.wiring, self.parts.len(), starts);
        let engines = division.starts.iter().map(|starts| Engine {
            wiring: Wiring::of_boards(starts.clone()),
            ..Engine::default()
        });
        let mut engines: Vec<Engine> = engines.collect();
        for (model, part) in self.parts.into_iter().enumerate() {
            let engine = &mut engines[division.of_model[model].0];
            engine.wiring.add_model(self.wiring.count(model));
            engine.schedule.add_model(self.schedule.act(model));
            engine.parts.push(part);
        }
        for (pad, end) in self.wiring.pins() {
            let engine = division.of_board[board_of(starts, pad)];
            engines[engine].wiring.wire_pin(pad, division.renumbered(end));
        }
        for (model, output, end) in self.wiring.outputs() {
            let (engine, number) = division.of_model[model];
            engines[engine].wiring.wire(number, output, division.renumbered(end));
        }
        Divided {
            engines,
            of_board: division.of_board,
        }
    }
}
