//! The analyzer service on TCP 1382 (wire protocols, section 4). There is no analyzer in the gateware yet: each client is sent
//! the head of an empty dump.

use embassy_executor::Spawner;
use embassy_net::Stack;
use embedded_io_async::Write;
use kairos_proto::analyzer::{Head, PORT};

use crate::service::{self, Buffers};

/// One client being served, one connection on its way out.
pub const SOCKETS: usize = 2;

/// Starts the service.
pub fn start(spawner: &Spawner, stack: Stack<'static>) {
    let log_channel = kairos_board::pl::descriptor().ok().and_then(|descriptor| {
        let log = descriptor
            .channels()
            .find(|channel| channel.kind == kairos_proto::descriptor::ChannelKind::LOG)?;
        u8::try_from(log.number).ok()
    });
    for _ in 0..SOCKETS {
        spawner.spawn(crate::task(serve(stack, log_channel.unwrap_or(0))));
    }
}

#[embassy_executor::task(pool_size = SOCKETS)]
async fn serve(stack: Stack<'static>, log_channel: u8) -> ! {
    static BUFFERS: Buffers<SOCKETS, 2048> = service::buffers();
    let mut socket = service::socket(stack, &BUFFERS);
    loop {
        if service::accept(&mut socket, PORT).await {
            let head = Head {
                log_channel,
                ..Head::default()
            };
            let _ = socket.write_all(&head.encode()).await;
            service::close(&mut socket).await;
        }
    }
}
