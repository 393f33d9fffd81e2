//! What the services on TCP have in common: sockets and their memory, greeting, closing.

use core::future::Future;

use embassy_time::{with_timeout, Duration};
use kairos_comms::management::patience;
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

/// A task's socket for clients of `port`. The tasks of a service have one each, and take clients in turns: as many can be
/// connected, or connect at the same time, as there are free tasks.
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

/// Whether the client sends this greeting. Nothing is answered.
pub async fn greet<const N: usize>(socket: &mut Socket, expected: &[u8; N]) -> bool {
    let mut greeting = [0; N];
    let reason = match with_timeout(GREETING_TIMEOUT, socket.read_exact(&mut greeting)).await {
        Ok(Ok(true)) if greeting == *expected => return true,
        Ok(Ok(true)) => "its greeting is not of this service",
        Ok(Ok(false) | Err(_)) => "it left before its greeting was complete",
        Err(_) => "it sent no greeting within 3 s",
    };
    log::warn!("client refused: {reason}");
    false
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
