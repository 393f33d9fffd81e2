//! Monitor and injector on TCP 1383 (wire protocols, section 3). The gateware has no registers for them yet: every probe and
//! override reads as 0, and what is injected is dropped.

use embassy_executor::Spawner;
use embassy_futures::select::{select, Either};
use embassy_net::tcp::{Error, TcpSocket};
use embassy_net::Stack;
use embassy_time::{Duration, Instant, Timer};
use embedded_io_async::Write;
use heapless::Vec;
use kairos_proto::moninj::{override_value, probe_value, Request, RequestDecoder, GREETING, PORT};

use crate::service::{self, Buffers};

/// Connections at a time.
pub const SOCKETS: usize = 3;
/// Probes, and overrides, that a client may watch.
const WATCHES: usize = 256;
const INTERVAL: Duration = Duration::from_millis(200);

/// A watched (channel, number), and the value last sent.
struct Watch {
    channel: u32,
    number: u8,
    sent: Option<u64>,
}

/// Starts the service.
pub fn start(spawner: &Spawner, stack: Stack<'static>) {
    for _ in 0..SOCKETS {
        spawner.spawn(crate::task(serve(stack)));
    }
}

#[embassy_executor::task(pool_size = SOCKETS)]
async fn serve(stack: Stack<'static>) -> ! {
    static BUFFERS: Buffers<SOCKETS, 2048> = service::buffers();
    let mut socket = service::socket(stack, &BUFFERS);
    loop {
        if service::accept(&mut socket, PORT).await {
            if service::greet(&mut socket, GREETING).await {
                // A lost connection is the client's matter.
                let _ = serve_client(&mut socket).await;
            }
            service::close(&mut socket).await;
        }
    }
}

async fn serve_client(socket: &mut TcpSocket<'static>) -> Result<(), Error> {
    let mut probes = Vec::<Watch, WATCHES>::new();
    let mut overrides = Vec::<Watch, WATCHES>::new();
    let mut decoder = RequestDecoder::default();
    let mut buffer = [0; 256];
    let mut poll = Instant::now();
    loop {
        let idle = probes.is_empty() && overrides.is_empty();
        let due = async {
            if idle {
                core::future::pending::<()>().await;
            }
            Timer::at(poll).await;
        };
        match select(socket.read(&mut buffer), due).await {
            Either::First(length) => {
                let mut input = match length? {
                    0 => return Ok(()),
                    length => &buffer[..length],
                };
                loop {
                    match decoder.next(&mut input) {
                        Ok(None) => break,
                        Ok(Some(Request::WatchProbe { enable, channel, probe })) => {
                            watch(&mut probes, enable, channel, probe)
                        }
                        Ok(Some(Request::WatchOverride {
                            enable,
                            channel,
                            number,
                        })) => {
                            watch(&mut overrides, enable, channel, number);
                        }
                        Ok(Some(Request::GetOverride { channel, number })) => {
                            socket.write_all(&override_value(channel, number, 0)).await?;
                        }
                        Ok(Some(Request::Inject { channel, .. })) => {
                            log::warn!("injector: the gateware has none, channel {channel:#x} is not changed");
                        }
                        Err(error) => {
                            log::warn!("monitor: malformed input, {error}");
                            return Ok(());
                        }
                    }
                }
            }
            Either::Second(()) => {
                for watch in probes.iter_mut().filter(|watch| watch.sent != Some(0)) {
                    socket.write_all(&probe_value(watch.channel, watch.number, 0)).await?;
                    watch.sent = Some(0);
                }
                for watch in overrides.iter_mut().filter(|watch| watch.sent != Some(0)) {
                    socket
                        .write_all(&override_value(watch.channel, watch.number, 0))
                        .await?;
                    watch.sent = Some(0);
                }
                poll = Instant::now() + INTERVAL;
            }
        }
    }
}

/// Begins or ends a watch. One that exists already goes on as it is.
fn watch(watches: &mut Vec<Watch, WATCHES>, enable: bool, channel: u32, number: u8) {
    let known = watches
        .iter()
        .position(|watch| (watch.channel, watch.number) == (channel, number));
    match (enable, known) {
        (false, Some(index)) => {
            watches.remove(index);
        }
        (true, None) => {
            let watch = Watch {
                channel,
                number,
                sent: None,
            };
            if watches.push(watch).is_err() {
                log::warn!("monitor: a client watches more than {WATCHES} probes; the rest is ignored");
            }
        }
        _ => {}
    }
}
