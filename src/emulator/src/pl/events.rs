//! Signals of the logic to the cores that have not been delivered yet.

use super::logic::Signals;

/// For each signal, the cycle in which it occurred first since it was last delivered.
#[derive(Default)]
pub(super) struct Events {
    /// EVENTEVENTI has toggled.
    event: Option<u64>,
    /// An interrupt has been raised.
    interrupt: Option<u64>,
}

impl Events {
    /// Compares the signals after a cycle with those before it.
    pub(super) fn observe(&mut self, cycle: u64, before: Signals, after: Signals) {
        if after.event != before.event {
            self.event.get_or_insert(cycle);
        }
        if after.interrupts & !before.interrupts != 0 {
            self.interrupt.get_or_insert(cycle);
        }
    }

    /// Delivers both. Returns the cycle of the event.
    pub(super) fn deliver(&mut self) -> Option<u64> {
        self.interrupt = None;
        self.event.take()
    }

    /// The cycle of an interrupt that has not been delivered.
    pub(super) fn interrupt(&self) -> Option<u64> {
        self.interrupt
    }

    /// The cycle of the first signal that has not been delivered.
    pub(super) fn first(&self) -> Option<u64> {
        self.event.into_iter().chain(self.interrupt).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signals(event: u8, interrupts: u16) -> Signals {
        Signals { event, interrupts }
    }

    #[test]
    fn first_of_several_events_counts() {
        let mut events = Events::default();
        events.observe(3, signals(0, 0), signals(0, 0));
        assert_eq!(events.first(), None);
        events.observe(5, signals(0, 0), signals(1, 0));
        events.observe(9, signals(1, 0), signals(0, 0));
        assert_eq!(
            (events.first(), events.deliver(), events.first()),
            (Some(5), Some(5), None)
        );
    }

    #[test]
    fn interrupt_counts_only_when_it_rises() {
        let mut events = Events::default();
        events.observe(1, signals(0, 0b11), signals(0, 0b01));
        assert_eq!(events.interrupt(), None);
        events.observe(2, signals(0, 0b01), signals(0, 0b101));
        assert_eq!((events.interrupt(), events.first()), (Some(2), Some(2)));
        assert_eq!((events.deliver(), events.interrupt()), (None, None));
    }
}
