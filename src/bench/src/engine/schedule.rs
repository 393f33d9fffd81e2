//! The order of events: changes in flight, and the times at which models act by themselves.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::wiring::{End, Origin};
use crate::model::Change;
use crate::signal::{Ns, Signal};

/// A change in flight: ordered by time, model, and order of sending.
struct InFlight {
    at: Ns,
    to: End,
    number: u64,
    signal: Signal,
}

impl InFlight {
    fn key(&self) -> (Ns, usize, u64) {
        let model = match self.to {
            End::Pin(_) => usize::MAX,
            End::Input { model, .. } => model,
        };
        (self.at, model, self.number)
    }
}

impl PartialEq for InFlight {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for InFlight {}
impl PartialOrd for InFlight {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for InFlight {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// An event that is due.
#[derive(Debug, PartialEq)]
pub(super) enum Event {
    /// Changes arrive at inputs of a model.
    Input { model: usize, changes: Vec<Change> },
    /// A change arrives at a pin.
    Pin { pad: u16, signal: Signal },
    /// A model acts by itself.
    Act { model: usize },
}

/// Events to come.
///
/// `first_act` is the earliest of `acts`, and of simultaneous ones that of the lowest model. Events
/// are taken in the order of time; of simultaneous ones, changes come before models that act by
/// themselves, models before pins, and lower models before higher ones.
#[derive(Default)]
pub(super) struct Schedule {
    queue: BinaryHeap<Reverse<InFlight>>,
    /// Number of changes sent.
    sent: u64,
    /// By model, the time at which it next acts by itself.
    acts: Vec<Option<Ns>>,
    first_act: Option<(Ns, usize)>,
}

impl Schedule {
    /// Adds a model, which next acts by itself at `next`.
    pub(super) fn add_model(&mut self, next: Option<Ns>) {
        self.acts.push(None);
        self.set_act(self.acts.len() - 1, next);
    }

    /// Sets the time at which a model next acts by itself.
    pub(super) fn set_act(&mut self, model: usize, next: Option<Ns>) {
        if self.acts[model] == next {
            return;
        }
        self.acts[model] = next;
        let acts = self.acts.iter().enumerate();
        self.first_act = acts.filter_map(|(model, next)| next.map(|next| (next, model))).min();
    }

    /// The time at which a model next acts by itself.
    pub(super) fn act(&self, model: usize) -> Option<Ns> {
        self.acts[model]
    }

    /// Sends a change, which arrives at `at`.
    pub(super) fn send(&mut self, at: Ns, to: End, signal: Signal, origin: Origin) {
        self.sent += 1;
        let number = origin.number(self.sent);
        self.queue.push(Reverse(InFlight { at, to, number, signal }));
    }

    /// The time of the next event.
    pub(super) fn next(&self) -> Option<Ns> {
        let act = self.first_act.map(|(at, _)| at);
        let arrival = self.queue.peek().map(|Reverse(first)| first.at);
        act.into_iter().chain(arrival).min()
    }

    /// Takes the next event if it is before `end`. All simultaneous changes at inputs of a model are
    /// one event; a model that acts must be given its next time.
    pub(super) fn take(&mut self, end: Ns) -> Option<(Ns, Event)> {
        let at = self.next().filter(|at| *at < end)?;
        let Some(first) = self.take_change(|change| change.at == at) else {
            let (_, model) = self.first_act?;
            return Some((at, Event::Act { model }));
        };
        let (model, input) = match first.to {
            End::Pin(pad) => {
                let signal = first.signal;
                return Some((at, Event::Pin { pad, signal }));
            }
            End::Input { model, input } => (model, input),
        };
        let mut changes = vec![(input, first.signal)];
        while let Some(next) = self.take_change(|next| next.at == at && next.to.is_input_of(model)) {
            if let End::Input { input, .. } = next.to {
                changes.push((input, next.signal));
            }
        }
        Some((at, Event::Input { model, changes }))
    }

    /// Takes the first change in flight if it is `wanted`.
    fn take_change(&mut self, wanted: impl Fn(&InFlight) -> bool) -> Option<InFlight> {
        if !self.queue.peek().is_some_and(|Reverse(first)| wanted(first)) {
            return None;
        }
        self.queue.pop().map(|Reverse(first)| first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HIGH: Signal = Signal::Level(true);

    fn input(model: usize, input: usize) -> End {
        End::Input { model, input }
    }

    fn all(schedule: &mut Schedule) -> Vec<(Ns, Event)> {
        std::iter::from_fn(|| {
            let (at, event) = schedule.take(Ns::MAX)?;
            if let Event::Act { model } = event {
                schedule.set_act(model, None);
            }
            Some((at, event))
        })
        .collect()
    }

    fn inputs(model: usize, inputs: &[usize]) -> Event {
        let changes = inputs.iter().map(|input| (*input, HIGH)).collect();
        Event::Input { model, changes }
    }

    #[test]
    fn simultaneous_events_come_in_a_fixed_order() {
        let mut schedule = Schedule::default();
        for next in [Some(50), Some(50), None] {
            schedule.add_model(next);
        }
        for to in [End::Pin(3), input(2, 0), input(0, 1), input(2, 1), input(0, 0)] {
            schedule.send(50, to, HIGH, Origin::default());
        }
        assert_eq!(schedule.next(), Some(50));
        let pad = Event::Pin { pad: 3, signal: HIGH };
        let expected = [
            inputs(0, &[1, 0]),
            inputs(2, &[0, 1]),
            pad,
            Event::Act { model: 0 },
            Event::Act { model: 1 },
        ];
        assert_eq!(all(&mut schedule), expected.map(|event| (50, event)));
        assert_eq!(schedule.next(), None);
    }

    #[test]
    fn events_are_taken_in_order_of_time_before_the_end() {
        let mut schedule = Schedule::default();
        schedule.add_model(Some(20));
        schedule.send(30, input(0, 0), HIGH, Origin::default());
        schedule.send(10, input(0, 0), HIGH, Origin::default());
        assert_eq!(schedule.take(10), None);
        assert_eq!(schedule.take(11), Some((10, inputs(0, &[0]))));
        assert_eq!(schedule.take(20), None);
        assert_eq!(schedule.take(100), Some((20, Event::Act { model: 0 })));
        schedule.set_act(0, Some(25));
        assert_eq!((schedule.next(), schedule.act(0)), (Some(25), Some(25)));
        schedule.set_act(0, None);
        assert_eq!(schedule.take(100), Some((30, inputs(0, &[0]))));
    }
}
