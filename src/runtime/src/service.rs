//! What the services on TCP have in common: buffers, accepting, greeting, closing.
//!
//! The stack looks at each of its sockets several times for each packet. So a socket exists only while it listens or is
//! connected, and one of a service's tasks listens at a time. When it has a client the next task takes its turn, before
//! another frame is received (`ethernet::hold`): so no client is refused while there is a place for it.

use core::future::{poll_fn, Future};
use core::pin::pin;
use core::task::Poll;

use embassy_futures::poll_once;
use embassy_net::tcp::{Error, State, TcpSocket};
use embassy_net::Stack;
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::semaphore::{FairSemaphore, Semaphore};
use embassy_time::{with_timeout, Duration};
use embedded_io_async::Read;
use static_cell::ConstStaticCell;

/// A client must send its greeting within this time.
pub const GREETING_TIMEOUT: Duration = Duration::from_secs(3);
/// A vanished host is noticed after this time at the latest.
const USER_TIMEOUT: Duration = Duration::from_secs(5);
const KEEP_ALIVE: Duration = Duration::from_secs(1);
/// Time for the last bytes to reach the host when a connection is closed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Receive and transmit buffer of a socket.
pub type Pair<const BYTES: usize> = [[u8; BYTES]; 2];
/// Those of `N` sockets.
pub type Buffers<const N: usize, const BYTES: usize> = [ConstStaticCell<Pair<BYTES>>; N];

pub const fn buffers<const N: usize, const BYTES: usize>() -> Buffers<N, BYTES> {
    [const { ConstStaticCell::new([[0; BYTES]; 2]) }; N]
}

/// Buffers that no other task has.
pub fn take<const N: usize, const BYTES: usize>(buffers: &'static Buffers<N, BYTES>) -> &'static mut Pair<BYTES> {
    buffers
        .iter()
        .find_map(ConstStaticCell::try_take)
        .expect("buffers for each task")
}

/// A port that `N` tasks serve, each one client at a time.
pub struct Listener<const N: usize> {
    port: u16,
    /// Whoever has it listens.
    turn: FairSemaphore<CriticalSectionRawMutex, N>,
}

impl<const N: usize> Listener<N> {
    pub const fn new(port: u16) -> Self {
        Self {
            port,
            turn: FairSemaphore::new(1),
        }
    }

    /// Waits for this task's turn, then for a client. `None` if the client has gone before it was connected.
    pub async fn accept<'a, const BYTES: usize>(
        &self,
        stack: Stack<'static>,
        [receive, transmit]: &'a mut Pair<BYTES>,
    ) -> Option<TcpSocket<'a>> {
        let turn = self.turn.acquire(1).await.expect("room in the queue for each task");
        let mut socket = TcpSocket::new(stack, receive, transmit);
        socket.set_timeout(Some(USER_TIMEOUT));
        socket.set_keep_alive(Some(KEEP_ALIVE));
        socket.set_nagle_enabled(false);
        // Only begins to listen: `accept` would end when the connection stands, too late for the next turn.
        let _ = poll_once(socket.accept(self.port));
        changed(&socket, State::Listen).await;
        drop(turn);
        changed(&socket, State::SynReceived).await;
        (socket.state() != State::Listen).then_some(socket)
    }
}

/// Waits until the socket is no longer in this state.
async fn changed(socket: &TcpSocket<'_>, state: State) {
    poll_fn(|cx| {
        // The stack wakes who waits to write, too, when the state changes.
        let _ = pin!(socket.wait_write_ready()).poll(cx);
        match socket.state() == state {
            true => Poll::Pending,
            false => Poll::Ready(()),
        }
    })
    .await;
}

/// Whether the client sends this greeting. Nothing is answered.
pub async fn greet<const N: usize>(socket: &mut TcpSocket<'_>, expected: &[u8; N]) -> bool {
    let mut greeting = [0; N];
    let reason = match with_timeout(GREETING_TIMEOUT, socket.read_exact(&mut greeting)).await {
        Ok(Ok(())) if greeting == *expected => return true,
        Ok(Ok(())) => "its greeting is not of this service",
        Ok(Err(_)) => "it left before its greeting was complete",
        Err(_) => "it sent no greeting within 3 s",
    };
    log::warn!("client refused: {reason}");
    false
}

/// Time that a client has to send, or to take, so many bytes: 10 s, and as long as they take at 64 KiB/s.
pub fn patience(bytes: usize) -> Duration {
    Duration::from_secs(10 + bytes as u64 / (64 * 1024))
}

/// Sends `bytes` bytes to a client that must not keep a place, or other clients, waiting for ever.
pub async fn in_time(
    service: &str,
    bytes: usize,
    sending: impl Future<Output = Result<(), Error>>,
) -> Result<(), Error> {
    with_timeout(patience(bytes), sending).await.unwrap_or_else(|_| {
        log::warn!("{service}: a client does not take what is sent to it");
        Err(Error::ConnectionReset)
    })
}

/// Closes the connection: orderly if the client reads; it is given some time, then the connection is reset.
pub async fn close(socket: &mut TcpSocket<'_>) {
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
