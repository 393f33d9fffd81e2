//! What the services on TCP have in common: buffers, accepting, greeting, closing.

use embassy_net::tcp::TcpSocket;
use embassy_net::Stack;
use embassy_time::{with_timeout, Duration};
use embedded_io_async::Read;
use static_cell::ConstStaticCell;

/// A client must send its greeting within this time.
const GREETING_TIMEOUT: Duration = Duration::from_secs(3);
/// A vanished host is noticed after this time at the latest.
const USER_TIMEOUT: Duration = Duration::from_secs(5);
const KEEP_ALIVE: Duration = Duration::from_secs(1);
/// Time for the last bytes to reach the host when a connection is closed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Receive and transmit buffers of `N` sockets.
pub type Buffers<const N: usize, const BYTES: usize> = [ConstStaticCell<[[u8; BYTES]; 2]>; N];

pub const fn buffers<const N: usize, const BYTES: usize>() -> Buffers<N, BYTES> {
    [const { ConstStaticCell::new([[0; BYTES]; 2]) }; N]
}

/// A socket with buffers that no other has.
pub fn socket<const N: usize, const BYTES: usize>(
    stack: Stack<'static>,
    buffers: &'static Buffers<N, BYTES>,
) -> TcpSocket<'static> {
    let [receive, transmit] = buffers
        .iter()
        .find_map(ConstStaticCell::try_take)
        .expect("buffers for each task");
    TcpSocket::new(stack, receive, transmit)
}

/// Waits for a client.
pub async fn accept(socket: &mut TcpSocket<'static>, port: u16) -> bool {
    socket.set_timeout(Some(USER_TIMEOUT));
    socket.set_keep_alive(Some(KEEP_ALIVE));
    socket.set_nagle_enabled(false);
    socket.accept(port).await.is_ok()
}

/// Whether the client sends this greeting. Nothing is answered.
pub async fn greet<const N: usize>(socket: &mut TcpSocket<'static>, expected: &[u8; N]) -> bool {
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

/// Closes the connection: orderly if the client reads; it is given some time, then the connection is reset.
pub async fn close(socket: &mut TcpSocket<'static>) {
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
