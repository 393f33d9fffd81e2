//! Monitor and injector on TCP 1383 (wire protocols, section 3). What does not exist reads as 0, and cannot be changed.

use embassy_executor::Spawner;
use embassy_futures::select::{select, Either};
use embassy_time::{Duration, Instant, Timer};
use heapless::Vec;
use kairos_contracts::registers::moninj;
use kairos_net::{Error, Socket, Stack};
use kairos_pl::{Register, Register64};
use kairos_proto::descriptor::Descriptor;
use kairos_proto::moninj::{Decoder, Message, Report, Request, GREETING, PORT};

use crate::service::{self, Buffers, Lobby, Places};

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
            channel: find(moninj::CHANNEL)?,
            probe: find(moninj::PROBE)?,
            update: find(moninj::UPDATE)?,
            value: Register64::find(descriptor, moninj::VALUE)?,
            inject_channel: find(moninj::INJECT_CHANNEL)?,
            inject_override: find(moninj::INJECT_OVERRIDE)?,
            inject_value: find(moninj::INJECT_VALUE)?,
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

    /// What is to be said of an override.
    fn override_report(self, channel: u32, number: u8) -> Message<Report> {
        let level = self.of(channel).map_or(0, |registers| {
            registers.inject_channel.write(channel);
            registers.inject_override.write(number.into());
            registers.inject_value.read() as u8
        });
        Message {
            level,
            ..Message::about(Report::Override, channel, number)
        }
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
        spawner.spawn(kairos_comms::task(serve(stack, pins)));
    }
}

#[embassy_executor::task(pool_size = SOCKETS)]
async fn serve(stack: &'static Stack, pins: Pins) -> ! {
    static LOBBY: Lobby = Lobby::new(SOCKETS);
    static PLACES: Places<SOCKETS> = service::places();
    static BUFFERS: Buffers<SOCKETS, 2048> = service::buffers();
    let mut socket = service::socket(stack, PORT, &PLACES, &BUFFERS);
    loop {
        socket.accept().await;
        let guest = LOBBY.enter();
        if guest.greet(&mut socket, GREETING).await {
            // A lost connection is the client's matter.
            let _ = serve_client(&mut socket, pins).await;
        }
        service::close(&mut socket).await;
    }
}

async fn serve_client(socket: &mut Socket, pins: Pins) -> Result<(), Error> {
    let mut probes = Vec::<Watch, WATCHES>::new();
    let mut overrides = Vec::<Watch, WATCHES>::new();
    let mut decoder = Decoder::default();
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
                        if decoder.in_message() {
                            log::warn!("monitor: malformed input, it ends in the middle of a request");
                        }
                        return Ok(());
                    }
                    length => &buffer[..length],
                };
                loop {
                    let request = match decoder.next::<Request>(&mut input) {
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
                    let Message { channel, number, .. } = request;
                    match request.kind {
                        Request::WatchProbe => watch(&mut probes, request.enable, channel, number),
                        Request::WatchOverride => watch(&mut overrides, request.enable, channel, number),
                        Request::GetOverride => send(socket, pins.override_report(channel, number)).await?,
                        Request::Inject => pins.inject(channel, number, request.level),
                    }
                }
            }
            Either::Second(()) => {
                for watch in &mut probes {
                    let value = pins.probe(watch.channel, watch.number);
                    if watch.sent.replace(value) != Some(value) {
                        let about = Message::about(Report::Probe, watch.channel, watch.number);
                        send(
                            socket,
                            Message {
                                reading: value,
                                ..about
                            },
                        )
                        .await?;
                    }
                }
                for watch in &mut overrides {
                    let report = pins.override_report(watch.channel, watch.number);
                    if watch.sent.replace(report.level.into()) != Some(report.level.into()) {
                        send(socket, report).await?;
                    }
                }
                poll = Instant::now() + INTERVAL;
            }
        }
    }
}

async fn send(socket: &mut Socket, report: Message<Report>) -> Result<(), Error> {
    let (bytes, length) = report.encode();
    service::in_time("monitor", length, socket.write_all(&bytes[..length])).await
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
