//! The management service on TCP 1380 (wire protocols, section 2): greeting and destination. The
//! requests are handled by [`kairos_comms::management`].

use embassy_executor::Spawner;
use embassy_futures::select::{select, Either};
use embassy_time::with_timeout;
use kairos_chip::reset;
use kairos_comms::link::{Links, OpenError};
use kairos_comms::management::{Management, CLIENTS};
use kairos_comms::wire::Wire;
use kairos_net::{Socket, Stack};
use kairos_proto::link::Service;
use kairos_proto::management::{ANSWER, DESTINATION_LOCAL, GREETING, PORT};
use static_cell::StaticCell;

use crate::clients::{ClientSlots, GREETING_TIMEOUT};
use crate::paths::Instrument;
use crate::service::{self, Buffers, SocketMemories, Tcp, Unread};

/// Number of concurrent connections.
pub const SOCKETS: usize = CLIENTS;

/// Starts the tasks that serve clients.
pub fn start(
    spawner: &Spawner,
    stack: &'static Stack,
    management: &'static Management,
    instrument: Instrument,
    links: Links,
) {
    static INSTRUMENT: StaticCell<Instrument> = StaticCell::new();
    let instrument: &'static Instrument = INSTRUMENT.init(instrument);
    for _ in 0..SOCKETS {
        spawner.spawn(kairos_comms::task(serve(stack, management, instrument, links)));
    }
}

#[embassy_executor::task(pool_size = SOCKETS)]
async fn serve(
    stack: &'static Stack,
    management: &'static Management,
    instrument: &'static Instrument,
    links: Links,
) -> ! {
    static CLIENTS: ClientSlots = ClientSlots::new(SOCKETS);
    static SOCKET_MEMORIES: SocketMemories<SOCKETS> = service::socket_memories();
    static BUFFERS: Buffers<SOCKETS, { 64 * 1024 }> = service::buffers();
    let mut socket = service::socket(stack, PORT, &SOCKET_MEMORIES, &BUFFERS);
    loop {
        socket.accept().await;
        let client = CLIENTS.occupy();
        let mut after = None;
        if client.greet(&mut socket, GREETING).await {
            match destination(&mut socket).await {
                Some(DESTINATION_LOCAL) if socket.write_all(&[ANSWER]).await.is_ok() => {
                    after = management.serve(&mut Tcp(&mut socket), instrument).await;
                }
                Some(DESTINATION_LOCAL) | None => {}
                Some(other) => relay(&mut socket, links, other).await,
            }
        }
        service::close(&mut socket, Unread::Drain).await;
        if let Some(mark) = after {
            reset::reset(mark);
        }
    }
}

/// Reads the destination that a client selects.
async fn destination(socket: &mut Socket) -> Option<u8> {
    let mut destination = [0];
    match with_timeout(GREETING_TIMEOUT, socket.read(&mut destination)).await {
        Ok(Ok(1)) => Some(destination[0]),
        Ok(_) => None,
        Err(_) => {
            log::warn!("management: client refused: it sent no destination within 3 s");
            None
        }
    }
}

/// Relays between a client and another board, until either ends the connection.
async fn relay(socket: &mut Socket, links: Links, destination: u8) {
    let mut stream = match links.open(destination, Service::Management) {
        Ok(stream) => stream,
        Err(OpenError::NoRoute) => {
            return log::warn!("management: there is no DRTIO destination {destination} on this system");
        }
        Err(OpenError::NoAnswer) => return log::warn!("management: DRTIO destination {destination} does not answer"),
    };
    if socket.write_all(&[ANSWER]).await.is_err() {
        return;
    }
    let (mut there, mut back) = ([0; 1024], [0; 1024]);
    loop {
        let passed = match select(socket.read(&mut there), stream.read(&mut back)).await {
            Either::First(Ok(count @ 1..)) => stream.write_all(&there[..count]).await.is_ok(),
            Either::Second(Ok(count @ 1..)) => {
                let sending = socket.write_all(&back[..count]);
                service::in_time("management", count, sending).await.is_ok()
            }
            Either::First(_) | Either::Second(_) => false,
        };
        if !passed {
            return;
        }
    }
}
