//! What the services on TCP have in common: sockets and their memory, greeting, closing.

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
/// Seconds after which a vanished host is noticed at the latest, and after which a silent one is asked.
const USER_TIMEOUT: u64 = 5;
const KEEP_ALIVE: u64 = 1;
/// Time for the last bytes to reach the host when a connection is closed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Room for the sockets of `N` tasks.
pub type Places<const N: usize> = [StaticCell<Place>; N];
/// Their buffers, receiving and sending, of `BYTES` each.
pub type Buffers<const N: usize, const BYTES: usize> = [ConstStaticCell<[[u8; BYTES]; 2]>; N];

pub const fn places<const N: usize>() -> Places<N> {
    [const { StaticCell::new() }; N]
}

pub const fn buffers<const N: usize, const BYTES: usize>() -> Buffers<N, BYTES> {
    [const { ConstStaticCell::new([[0; BYTES]; 2]) }; N]
}

/// A task's socket for clients of `port`. The tasks of a service have one each, and take clients in
/// turns: as many can be connected, or connect at the same time, as there are free tasks.
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

/// A client without a greeting has a place for so long, whoever comes.
const GRACE: Duration = Duration::from_millis(250);
/// Tasks of a service at most.
const TASKS: usize = 8;

/// The clients of a service: how many there are, and who has not sent a greeting yet.
pub struct Lobby(Watch<CriticalSectionRawMutex, Clients, TASKS>);

#[derive(Clone, Copy)]
struct Clients {
    /// As many can be served at a time.
    tasks: usize,
    present: usize,
    /// The newest one's number.
    newest: u32,
    /// Numbers of those without a greeting; 0: nobody.
    silent: [u32; TASKS],
}

impl Clients {
    /// Whether this client keeps others out: no task is free, and of several without a greeting it
    /// is the oldest.
    fn is_in_the_way(&self, number: u32) -> bool {
        let silent = || self.silent.iter().filter(|&&other| other != 0);
        self.present == self.tasks && silent().count() > 1 && silent().min() == Some(&number)
    }

    /// Puts `new` in the place of `old`.
    fn replace(&mut self, old: u32, new: u32) {
        if let Some(place) = self.silent.iter_mut().find(|place| **place == old) {
            *place = new;
        }
    }
}

impl Lobby {
    /// Of a service with so many tasks, 8 at most.
    pub const fn new(tasks: usize) -> Self {
        assert!(tasks <= TASKS);
        Self(Watch::new_with(Clients {
            tasks,
            present: 0,
            newest: 0,
            silent: [0; TASKS],
        }))
    }

    /// A client has come.
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

/// A client, from its arrival until its connection is closed.
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

    /// Whether the client sends this greeting, of 32 bytes at most. Nothing is answered. One that
    /// sends none soon makes way for those who come after it.
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
            Either::First(Ok(Ok(true))) => "its greeting is not of this service",
            Either::First(Ok(Ok(false) | Err(_))) => "it left before its greeting was complete",
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

/// Sends `bytes` bytes to a client that must not keep a place, or other clients, waiting for ever.
pub async fn in_time(
    service: &str,
    bytes: usize,
    sending: impl Future<Output = Result<(), Error>>,
) -> Result<(), Error> {
    with_timeout(patience(bytes), sending).await.unwrap_or_else(|_| {
        log::warn!("{service}: a client does not take what is sent to it");
        Err(Error)
    })
}

/// Closes the connection: orderly if the client reads; it is given some time, then the connection is reset.
pub async fn close(socket: &mut Socket) {
    socket.close();
    let _ = with_timeout(CLOSE_TIMEOUT, socket.flush()).await;
    // A reset would make the client's system throw away what the client has not read yet: let it close first.
    let mut rest = [0; 64];
    let _ = with_timeout(CLOSE_TIMEOUT, async {
        while matches!(socket.read(&mut rest).await, Ok(1..)) {}
    })
    .await;
    socket.abort();
    let _ = with_timeout(CLOSE_TIMEOUT, socket.flush()).await;
}

/// A connection as what management and dumps of the analyzer go over.
pub struct Tcp<'a>(pub &'a mut Socket);

impl Wire for Tcp<'_> {
    async fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Lost> {
        self.0.read(buffer).await.map_err(|_| Lost)
    }

    async fn write_all(&mut self, bytes: &[u8]) -> Result<(), Lost> {
        self.0.write_all(bytes).await.map_err(|_| Lost)
    }
}
