//! Common parts of the TCP services: sockets and their memory, greeting, closing.

use core::future::Future;

use embassy_futures::select::{select, Either};
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::watch::Watch;
use embassy_time::{with_timeout, Duration, Timer};
use kairos_comms::wire::{patience, Lost, Wire};
use kairos_net::{Error, Place, Socket, SocketStorage, Stack};
use static_cell::{ConstStaticCell, StaticCell};

/// A client must send its greeting within this time.
pub const GREETING_TIMEOUT: Duration = Duration::from_secs(3);
/// Seconds until a vanished host is noticed at the latest, and until a silent one is probed.
const USER_TIMEOUT: u64 = 5;
const KEEP_ALIVE: u64 = 1;
/// Time for the last bytes to reach the host when a connection is closed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Storage of the sockets of `N` tasks.
pub type Places<const N: usize> = [StaticCell<Place>; N];
/// Their receive and transmit buffers, of `BYTES` each.
pub type Buffers<const N: usize, const BYTES: usize> = [ConstStaticCell<[[u8; BYTES]; 2]>; N];

pub const fn places<const N: usize>() -> Places<N> {
    [const { StaticCell::new() }; N]
}

pub const fn buffers<const N: usize, const BYTES: usize>() -> Buffers<N, BYTES> {
    [const { ConstStaticCell::new([[0; BYTES]; 2]) }; N]
}

/// Creates a task's socket for clients of `port`. Each task of a service has one and serves clients
/// in turn: as many clients as there are free tasks can be connected or connect at the same time.
pub fn socket<const N: usize, const BYTES: usize>(
    stack: &'static Stack,
    port: u16,
    places: &'static Places<N>,
    buffers: &'static Buffers<N, BYTES>,
) -> Socket {
    let place = places.iter().find_map(|place| place.try_init([SocketStorage::EMPTY]));
    let buffers = buffers.iter().find_map(ConstStaticCell::try_take);
    let (place, [receive, transmit]) = place.zip(buffers).expect("memory for each task");
    let mut socket = Socket::new(stack, port, place, receive, transmit);
    socket.set_times(USER_TIMEOUT, KEEP_ALIVE);
    socket
}

/// Time for which a client that has not sent a greeting is never evicted.
const GRACE: Duration = Duration::from_millis(250);
/// Most tasks of a service.
const TASKS: usize = 8;

/// The clients of a service: their number, and which have not sent a greeting yet.
pub struct Lobby(Watch<CriticalSectionRawMutex, Clients, TASKS>);

#[derive(Clone, Copy)]
struct Clients {
    /// Number of clients that can be served at a time.
    tasks: usize,
    present: usize,
    /// Number of the newest client.
    newest: u32,
    /// Numbers of the clients without a greeting; 0 for unused entries.
    silent: [u32; TASKS],
}

impl Clients {
    /// Whether this client must make way: no task is free, and it is the oldest of several clients
    /// without a greeting.
    fn is_in_the_way(&self, number: u32) -> bool {
        let silent = || self.silent.iter().filter(|&&other| other != 0);
        self.present == self.tasks && silent().count() > 1 && silent().min() == Some(&number)
    }

    /// Replaces entry `old` by `new`.
    fn replace(&mut self, old: u32, new: u32) {
        if let Some(place) = self.silent.iter_mut().find(|place| **place == old) {
            *place = new;
        }
    }
}

impl Lobby {
    /// Creates the lobby of a service with `tasks` tasks, 8 at most.
    pub const fn new(tasks: usize) -> Self {
        assert!(tasks <= TASKS);
        Self(Watch::new_with(Clients {
            tasks,
            present: 0,
            newest: 0,
            silent: [0; TASKS],
        }))
    }

    /// Registers a new client.
    pub fn enter(&self) -> Guest<'_> {
        let mut number = 0;
        self.change(|clients| {
            clients.newest += 1;
            clients.present += 1;
            number = clients.newest;
            clients.replace(0, number);
        });
        Guest { lobby: self, number }
    }

    fn change(&self, how: impl FnOnce(&mut Clients)) {
        if let Some(mut clients) = self.0.try_get() {
            how(&mut clients);
            self.0.sender().send(clients);
        }
    }
}

/// A client, from its connection until its closing.
pub struct Guest<'a> {
    lobby: &'a Lobby,
    number: u32,
}

impl Guest<'_> {
    async fn in_the_way(&self) {
        Timer::after(GRACE).await;
        match self.lobby.0.receiver() {
            Some(mut receiver) => drop(receiver.get_and(|clients| clients.is_in_the_way(self.number)).await),
            None => core::future::pending().await,
        }
    }

    /// Receives and checks the client's greeting, of 32 bytes at most. Nothing is answered. A
    /// client that sends none in time may be evicted by later ones.
    pub async fn greet(&self, socket: &mut Socket, expected: &'static [u8]) -> bool {
        let mut buffer = [0; 32];
        let greeting = &mut buffer[..expected.len()];
        let sent = select(
            with_timeout(GREETING_TIMEOUT, socket.read_exact(greeting)),
            self.in_the_way(),
        );
        let reason = match sent.await {
            Either::First(Ok(Ok(true))) if greeting == expected => {
                self.lobby.change(|clients| clients.replace(self.number, 0));
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
}

impl Drop for Guest<'_> {
    fn drop(&mut self) {
        self.lobby.change(|clients| {
            clients.replace(self.number, 0);
            clients.present -= 1;
        });
    }
}

/// Sends `bytes` bytes within a time limit, so that a client cannot block its place, or other
/// clients, for ever.
pub async fn in_time(
    service: &str,
    bytes: usize,
    sending: impl Future<Output = Result<(), Error>>,
) -> Result<(), Error> {
    with_timeout(patience(bytes), sending).await.unwrap_or_else(|_| {
        log::warn!("{service}: a client is not reading its data");
        Err(Error)
    })
}

/// Closes the connection, in an orderly way if the client reads; after a timeout it is reset.
pub async fn close(socket: &mut Socket) {
    socket.close();
    let _ = with_timeout(CLOSE_TIMEOUT, socket.flush()).await;
    // A reset would make the client's system discard unread data: let it close first.
    let mut rest = [0; 64];
    let _ = with_timeout(CLOSE_TIMEOUT, async {
        while matches!(socket.read(&mut rest).await, Ok(1..)) {}
    })
    .await;
    socket.abort();
    let _ = with_timeout(CLOSE_TIMEOUT, socket.flush()).await;
}

/// A TCP connection as the [`Wire`] of management and analyzer dumps.
pub struct Tcp<'a>(pub &'a mut Socket);

impl Wire for Tcp<'_> {
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Lost> {
        self.0.read(buffer).await.map_err(|_| Lost)
    }

    async fn write_all(&mut self, bytes: &[u8]) -> Result<(), Lost> {
        self.0.write_all(bytes).await.map_err(|_| Lost)
    }
}
