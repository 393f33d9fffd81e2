//! Monitor and injector on TCP 1383 (wire protocols, section 3). What does not exist reads as 0, and cannot be changed.

use embassy_executor::Spawner;
use embassy_futures::select::{select, Either};
use embassy_time::{Duration, Instant, Timer};
use heapless::Vec;
use kairos_net::{Error, Socket, Stack};
use kairos_pl::{Register, Register64};
use kairos_proto::descriptor::Descriptor;
use kairos_proto::moninj::{override_value, probe_value, Request, RequestDecoder, GREETING, PORT};

use crate::service::{self, Buffers, Places};

/// Connections at a time.
pub const SOCKETS: usize = 3;
/// The only DRTIO destination there is: this board.
const DESTINATION_LOCAL: u32 = 0;
/// Probes, and overrides, that a client may watch.
const WATCHES: usize = 256;
const INTERVAL: Duration = Duration::from_millis(200);

/// Registers of the gateware.
#[derive(Clone, Copy)]
struct Registers {
    channel: Register,
    probe: Register,
    update: Register,
    value: Register64,
    inject_channel: Register,
    inject_override: Register,
    inject_value: Register,
}

/// The gateware's monitor and injector, if it has them.
#[derive(Clone, Copy)]
struct Pins(Option<Registers>);

impl Pins {
    fn find(descriptor: &Descriptor) -> Option<Registers> {
        let find = |name| Register::find(descriptor, name);
        Some(Registers {
            channel: find("moninj_channel")?,
            probe: find("moninj_probe")?,
            update: find("moninj_update")?,
            value: Register64::find(descriptor, "moninj_value")?,
            inject_channel: find("moninj_inject_channel")?,
            inject_override: find("moninj_inject_override")?,
            inject_value: find("moninj_inject_value")?,
        })
    }

    /// The registers, for a channel of this board.
    fn of(self, channel: u32) -> Option<Registers> {
        self.0.filter(|_| channel >> 16 == DESTINATION_LOCAL)
    }

    fn probe(self, channel: u32, probe: u8) -> u64 {
        self.of(channel).map_or(0, |registers| {
            registers.channel.write(channel);
            registers.probe.write(probe.into());
            registers.update.write(1);
            registers.value.read()
        })
    }

    fn override_value(self, channel: u32, number: u8) -> u8 {
        self.of(channel).map_or(0, |registers| {
            registers.inject_channel.write(channel);
            registers.inject_override.write(number.into());
            registers.inject_value.read() as u8
        })
    }

    fn inject(self, channel: u32, number: u8, value: u8) {
        if let Some(registers) = self.of(channel) {
            registers.inject_channel.write(channel);
            registers.inject_override.write(number.into());
            registers.inject_value.write(value.into());
        }
    }
}

/// A watched (channel, number), and the value last sent.
struct Watch {
    channel: u32,
    number: u8,
    sent: Option<u64>,
}

/// Starts the service.
pub fn start(spawner: &Spawner, stack: &'static Stack) {
    let descriptor = kairos_pl::descriptor().ok();
    let pins = Pins(descriptor.as_ref().and_then(Pins::find));
    for _ in 0..SOCKETS {
        spawner.spawn(crate::task(serve(stack, pins)));
    }
}

#[embassy_executor::task(pool_size = SOCKETS)]
async fn serve(stack: &'static Stack, pins: Pins) -> ! {
    static PLACES: Places<SOCKETS> = service::places();
    static BUFFERS: Buffers<SOCKETS, 2048> = service::buffers();
    let mut socket = service::socket(stack, PORT, &PLACES, &BUFFERS);
    loop {
        socket.accept().await;
        if service::greet(&mut socket, GREETING).await {
            // A lost connection is the client's matter.
            let _ = serve_client(&mut socket, pins).await;
        }
        service::close(&mut socket).await;
    }
}

async fn serve_client(socket: &mut Socket, pins: Pins) -> Result<(), Error> {
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
                    0 => {
                        if decoder.in_request() {
                            log::warn!("monitor: malformed input, it ends in the middle of a request");
                        }
                        return Ok(());
                    }
                    length => &buffer[..length],
                };
                loop {
                    let request = match decoder.next(&mut input) {
                        Ok(None) => break,
                        Ok(Some(request)) => request,
                        Err(error) => {
                            log::warn!("monitor: malformed input, {error}");
                            return Ok(());
                        }
                    };
                    if request.destination() != DESTINATION_LOCAL {
                        log::error!(
                            "monitor: there is no DRTIO destination {} on this system",
                            request.destination()
                        );
                    }
                    match request {
                        Request::WatchProbe { enable, channel, probe } => watch(&mut probes, enable, channel, probe),
                        Request::WatchOverride {
                            enable,
                            channel,
                            number,
                        } => watch(&mut overrides, enable, channel, number),
                        Request::GetOverride { channel, number } => {
                            let value = pins.override_value(channel, number);
                            send(socket, &override_value(channel, number, value)).await?;
                        }
                        Request::Inject { channel, number, value } => pins.inject(channel, number, value),
                    }
                }
            }
            Either::Second(()) => {
                for watch in &mut probes {
                    let value = pins.probe(watch.channel, watch.number);
                    if watch.sent.replace(value) != Some(value) {
                        let message = probe_value(watch.channel, watch.number, value);
                        send(socket, &message).await?;
                    }
                }
                for watch in &mut overrides {
                    let value = pins.override_value(watch.channel, watch.number);
                    if watch.sent.replace(value.into()) != Some(value.into()) {
                        let message = override_value(watch.channel, watch.number, value);
                        send(socket, &message).await?;
                    }
                }
                poll = Instant::now() + INTERVAL;
            }
        }
    }
}

async fn send(socket: &mut Socket, message: &[u8]) -> Result<(), Error> {
    service::in_time("monitor", message.len(), socket.write_all(message)).await
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
