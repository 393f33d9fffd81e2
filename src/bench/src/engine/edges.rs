//! Changes of input pins of the device that the boards have not fetched.

use std::collections::VecDeque;

use crate::signal::Ns;

/// A change of an input pin of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// Time of the change.
    pub at: Ns,
    /// Index of the pad.
    pub pad: u16,
    /// The level from then on.
    pub level: bool,
}

/// By board, its changes in the order of time.
#[derive(Default)]
pub(super) struct Edges(Vec<VecDeque<Edge>>);

impl Edges {
    /// Adds a change, which is later than those before it.
    pub(super) fn push(&mut self, board: usize, edge: Edge) {
        if self.0.len() <= board {
            self.0.resize_with(board + 1, VecDeque::new);
        }
        self.0[board].push_back(edge);
    }

    /// Takes the next change of a board if it is before `end`.
    pub(super) fn take(&mut self, board: usize, end: Ns) -> Option<Edge> {
        self.0.get_mut(board)?.pop_front_if(|edge| edge.at < end)
    }

    /// The time of the next change of a board.
    pub(super) fn due(&self, board: usize) -> Option<Ns> {
        self.0.get(board)?.front().map(|edge| edge.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn board_takes_its_own_edges_before_the_end() {
        let mut edges = Edges::default();
        assert_eq!((edges.due(1), edges.take(1, Ns::MAX)), (None, None));
        let edge = |at, pad| Edge { at, pad, level: true };
        edges.push(1, edge(10, 3));
        edges.push(0, edge(11, 1));
        edges.push(1, edge(12, 4));
        assert_eq!((edges.due(0), edges.due(1)), (Some(11), Some(10)));
        assert_eq!(edges.take(1, 10), None);
        assert_eq!(edges.take(1, 11), Some(edge(10, 3)));
        assert_eq!((edges.take(1, 11), edges.due(1)), (None, Some(12)));
    }
}
