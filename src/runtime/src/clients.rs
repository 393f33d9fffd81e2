//! The clients of a TCP service. Each occupies a slot, that of the task which serves it, from its
//! connection until its closing, and has to send a greeting first.

use core::future::{poll_fn, Future};
use core::pin::pin;
use core::sync::atomic::{AtomicU32, Ordering};
use core::task::Poll;

use embassy_futures::select::{select, Either};
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::watch::Watch;
use embassy_time::{with_timeout, Duration, Timer};
use kairos_net::Socket;

/// A client must send its greeting within this time.
pub const GREETING_TIMEOUT: Duration = Duration::from_secs(3);
/// Time for which a client that has not sent a greeting is never evicted.
const GRACE: Duration = Duration::from_millis(250);
/// Most slots of a service.
const SLOTS: usize = 8;
/// Tasks that may wait for a change: one for each slot, and the idle kernel.
const WAITERS: usize = SLOTS + 1;

type Changes = Watch<CriticalSectionRawMutex, State, WAITERS>;

/// The slots of a service.
pub struct ClientSlots {
    state: Changes,
    /// Number of changes so far. The state needs to be polled only after a change.
    changes: AtomicU32,
}

/// State of the slots.
#[derive(Clone, Copy)]
pub struct State {
    /// Number of slots, and of those that are occupied.
    slots: usize,
    occupied: usize,
    /// Number of the newest client, in the order of connections.
    newest: u32,
    /// Numbers of the clients without a greeting; 0 for unused entries.
    silent: [u32; SLOTS],
    /// Number of clients that are being served, and the number of the newest of them, in the order
    /// in which their service began.
    pub served: u32,
    pub newest_served: u32,
    /// Whether clients are served; see [`ClientSlots::closed`].
    pub is_open: bool,
    /// What the clients are served with is reserved for another user, or about to be.
    pub is_reserved: bool,
}

impl State {
    /// Whether this client must be evicted: no slot is free, and it is the oldest of several
    /// clients without a greeting.
    fn evicts(&self, number: u32) -> bool {
        let silent = || self.silent.iter().filter(|&&other| other != 0);
        self.occupied == self.slots && silent().count() > 1 && silent().min() == Some(&number)
    }

    /// Replaces entry `old` by `new`.
    fn replace_silent(&mut self, old: u32, new: u32) {
        if let Some(entry) = self.silent.iter_mut().find(|entry| **entry == old) {
            *entry = new;
        }
    }

    /// Whether no client is served or may be, and what they are served with is not reserved.
    pub fn is_unused(&self) -> bool {
        self.is_open && self.served == 0 && !self.is_reserved
    }
}

impl ClientSlots {
    /// Creates the slots of a service with this number of tasks, 8 at most.
    pub const fn new(slots: usize) -> Self {
        Self::with(slots, true)
    }

    /// Like [`Self::new`], for a service whose clients wait until [`State::is_open`] is set.
    pub const fn closed(slots: usize) -> Self {
        Self::with(slots, false)
    }

    const fn with(slots: usize, is_open: bool) -> Self {
        assert!(slots <= SLOTS);
        Self {
            state: Watch::new_with(State {
                slots,
                occupied: 0,
                newest: 0,
                silent: [0; SLOTS],
                served: 0,
                newest_served: 0,
                is_open,
                is_reserved: false,
            }),
            changes: AtomicU32::new(0),
        }
    }

    /// Registers a client that has connected.
    pub fn occupy(&self) -> Client<'_> {
        let mut number = 0;
        self.change(|state| {
            state.newest += 1;
            state.occupied += 1;
            number = state.newest;
            state.replace_silent(0, number);
        });
        Client {
            slots: self,
            number,
            served: None,
        }
    }

    pub fn state(&self) -> Option<State> {
        self.state.try_get()
    }

    pub fn change(&self, how: impl FnOnce(&mut State)) {
        self.changes.fetch_add(1, Ordering::Relaxed);
        if let Some(mut state) = self.state.try_get() {
            how(&mut state);
            self.state.sender().send(state);
        }
    }

    /// Waits until the state satisfies `condition`. Cheap to poll while it does not change.
    pub async fn wait(&self, condition: impl Fn(&State) -> bool) {
        let mut receiver = self.state.receiver().expect("a receiver for each task");
        let mut satisfied = pin!(receiver.get_and(|state| condition(state)));
        let mut polled_at = None;
        poll_fn(|cx| {
            let changes = self.changes.load(Ordering::Relaxed);
            match polled_at.replace(changes) == Some(changes) {
                // This task's waker is registered already.
                true => Poll::Pending,
                false => satisfied.as_mut().poll(cx).map(|_| ()),
            }
        })
        .await;
    }
}

/// A client, from its connection until its closing.
pub struct Client<'a> {
    slots: &'a ClientSlots,
    number: u32,
    /// Its number among the clients that have been served, while it is.
    served: Option<u32>,
}

impl Client<'_> {
    /// Receives and checks the client's greeting, of 32 bytes at most. Nothing is answered. A
    /// client that sends none in time may be evicted by later ones.
    pub async fn greet(&self, socket: &mut Socket, expected: &'static [u8]) -> bool {
        let mut buffer = [0; 32];
        let greeting = &mut buffer[..expected.len()];
        let evicted = async {
            Timer::after(GRACE).await;
            self.slots.wait(|state| state.evicts(self.number)).await;
        };
        let sent = select(with_timeout(GREETING_TIMEOUT, socket.read_exact(greeting)), evicted);
        let reason = match sent.await {
            Either::First(Ok(Ok(true))) if greeting == expected => {
                self.slots.change(|state| state.replace_silent(self.number, 0));
                return true;
            }
            Either::First(Ok(Ok(true))) => "its greeting is not for this service",
            Either::First(Ok(Ok(false) | Err(_))) => "it disconnected before its greeting was complete",
            Either::First(Err(_)) => "it sent no greeting within 3 s",
            Either::Second(()) => {
                socket.abort();
                "it sent no greeting while others wait"
            }
        };
        log::warn!("client refused: {reason}");
        false
    }

    /// Records that the client is being served, as the newest one.
    pub fn begin(&mut self) {
        self.end();
        self.slots.change(|state| {
            state.newest_served = state.newest_served.wrapping_add(1);
            state.served += 1;
            self.served = Some(state.newest_served);
        });
    }

    /// Records that the client is no longer served. It occupies its slot until it is dropped.
    pub fn end(&mut self) {
        if self.served.take().is_some() {
            self.slots.change(|state| state.served -= 1);
        }
    }

    /// Waits until a newer client is served.
    pub async fn superseded(&self) {
        self.slots.wait(|state| Some(state.newest_served) != self.served).await;
    }
}

impl Drop for Client<'_> {
    fn drop(&mut self) {
        self.end();
        self.slots.change(|state| {
            state.replace_silent(self.number, 0);
            state.occupied -= 1;
        });
    }
}
