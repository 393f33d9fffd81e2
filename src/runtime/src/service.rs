//! Common parts of the TCP services: sockets and their memory, sending, closing. Their clients are
//! in [`crate::clients`].

use core::future::Future;

use embassy_time::{with_timeout, Duration};
use kairos_comms::close_reason::CloseReason;
use kairos_comms::wire::{patience, Lost, Wire};
use kairos_net::{Error, Socket, SocketMemory, SocketStorage, Stack};
use static_cell::{ConstStaticCell, StaticCell};

/// Seconds until a vanished host is noticed at the latest, and until a silent one is probed.
const USER_TIMEOUT: u64 = 5;
const KEEP_ALIVE: u64 = 1;
/// Time for the last bytes to reach the host when a connection is closed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Storage of the sockets of `N` tasks.
pub type SocketMemories<const N: usize> = [StaticCell<SocketMemory>; N];
/// Their receive and transmit buffers, of `BYTES` each.
pub type Buffers<const N: usize, const BYTES: usize> = [ConstStaticCell<[[u8; BYTES]; 2]>; N];

pub const fn socket_memories<const N: usize>() -> SocketMemories<N> {
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
    memories: &'static SocketMemories<N>,
    buffers: &'static Buffers<N, BYTES>,
) -> Socket {
    let memory = memories
        .iter()
        .find_map(|memory| memory.try_init([SocketStorage::EMPTY]));
    let buffers = buffers.iter().find_map(ConstStaticCell::try_take);
    let (memory, [receive, transmit]) = memory.zip(buffers).expect("memory for each task");
    let mut socket = Socket::new(stack, port, memory, receive, transmit);
    socket.set_times(USER_TIMEOUT, KEEP_ALIVE);
    socket
}

/// An error of a socket.
pub fn lost(Error: Error) -> CloseReason {
    CloseReason::Lost
}

/// Sends `bytes` bytes within a time limit, so that a client cannot block its slot, or other
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

/// What happens to bytes that a client has sent and that have not been read when its connection is
/// closed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    /// They are lost: the reset makes the client's system discard what it has not read, too.
    Discard,
    /// They are read until the client closes, for a second at most, so that it receives the last
    /// reply.
    Drain,
}

/// Closes the connection, in an orderly way if the client reads; after a timeout it is reset.
pub async fn close(socket: &mut Socket, unread: Unread) {
    socket.close();
    let _ = with_timeout(CLOSE_TIMEOUT, socket.flush()).await;
    if unread == Unread::Drain {
        let mut rest = [0; 64];
        let _ = with_timeout(CLOSE_TIMEOUT, async {
            while matches!(socket.read(&mut rest).await, Ok(1..)) {}
        })
        .await;
    }
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
