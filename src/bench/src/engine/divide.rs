//! Division of a bench of several boards into as many engines as can run independently: boards that
//! are connected share an engine, and unconnected boards do not wait for each other.

use super::{End, Engine};

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

impl Engine {
    /// Divides a newly assembled bench. `starts` holds the number of each board's first pad, in
    /// order. A part that no wire connects to a board goes with the first one.
    pub fn divide(self, starts: &[u16]) -> Divided {
        let boards = starts.len();
        let board_of = |pad: u16| starts.partition_point(|start| *start <= pad) - 1;
        let mut sets = Sets((0..boards + self.parts.len()).collect());
        let node = |end: &End| match end {
            End::Input { model, .. } => boards + model,
            End::Pin(pad) => board_of(*pad),
        };
        for (pad, ends) in &self.pins {
            ends.iter().for_each(|end| sets.join(board_of(*pad), node(end)));
        }
        for (model, part) in self.parts.iter().enumerate() {
            part.wires
                .iter()
                .flatten()
                .for_each(|end| sets.join(boards + model, node(end)));
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
        let mut engines: Vec<Engine> = roots.iter().map(|_| Engine::default()).collect();
        for (engine, root) in engines.iter_mut().zip(&roots) {
            let own = (0..boards).filter(|board| sets.find(*board) == *root);
            engine.starts = own.map(|board| starts[board]).collect();
        }
        // Parts keep their order, which decides between simultaneous events.
        let mut places = Vec::new();
        for model in 0..self.parts.len() {
            let engine = engine_of(boards + model);
            let before = places.iter().filter(|(other, _)| *other == engine).count();
            places.push((engine, before));
        }
        let moved = |end: End| match end {
            End::Input { model, input } => End::Input {
                model: places[model].1,
                input,
            },
            pin => pin,
        };
        for (pad, ends) in self.pins {
            engines[of_board[board_of(pad)]]
                .pins
                .insert(pad, ends.into_iter().map(moved).collect());
        }
        for (mut part, (engine, _)) in self.parts.into_iter().zip(&places) {
            part.wires.iter_mut().flatten().for_each(|end| *end = moved(*end));
            engines[*engine].parts.push(part);
        }
        engines.iter_mut().for_each(Engine::look);
        Divided { engines, of_board }
    }
}
