//! Monitor and injector on TCP 1383 (wire protocols, section 3), for the channels of all boards.
//! Channels that do not exist or do not answer read as 0.

use core::cell::Cell;
use core::convert::Infallible;

use embassy_executor::Spawner;
use embassy_futures::select::{select, Either};
use embassy_time::{with_deadline, Duration, Instant, Timer};
use heapless::Vec;
use kairos_comms::close_reason::CloseReason;
use kairos_comms::fair_mutex::FairMutex;
use kairos_comms::link::{Answer, Links, Question};
use kairos_comms::moninj::Pins;
use kairos_comms::wire::{Lost, Wire};
use kairos_net::{Error, Socket, Stack};
use kairos_proto::link::{Service, DESTINATION_MASTER};
use kairos_proto::moninj::{Decoder, Message, Report, Request, GREETING, PORT};
use kairos_proto::ProtocolError;
use static_cell::StaticCell;

use crate::clients::ClientSlots;
use crate::service::{self, lost, Buffers, SocketMemories, Unread};

/// Number of concurrent connections.
pub const SOCKETS: usize = 3;
/// Most probes, and most overrides, that a client may watch.
const WATCHES: usize = 256;
const INTERVAL: Duration = Duration::from_millis(200);
/// Time limit for a board's answer.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(200);

/// The pins of all boards.
struct Boards {
    pins: Pins,
    links: Links,
    /// One client at a time asks other boards, so that each link needs only one stream.
    turn: FairMutex<(), SOCKETS>,
    /// A bit for each board that did not answer last time.
    silent: Cell<u32>,
}

/// A watched probe or override, and the value last sent.
struct Watch {
    channel: u32,
    number: u8,
    sent: Option<u64>,
}

/// The probes and overrides watched by one client.
#[derive(Default)]
struct Watches {
    probes: Vec<Watch, WATCHES>,
    overrides: Vec<Watch, WATCHES>,
}

/// Starts the service.
pub fn start(spawner: &Spawner, stack: &'static Stack, links: Links) {
    static BOARDS: StaticCell<Boards> = StaticCell::new();
    let boards: &'static Boards = BOARDS.init(Boards {
        pins: Pins::find(),
        links,
        turn: FairMutex::new(()),
        silent: Cell::new(0),
    });
    for _ in 0..SOCKETS {
        spawner.spawn(kairos_comms::task(serve(stack, boards)));
    }
}

#[embassy_executor::task(pool_size = SOCKETS)]
async fn serve(stack: &'static Stack, boards: &'static Boards) -> ! {
    static CLIENTS: ClientSlots = ClientSlots::new(SOCKETS);
    static SOCKET_MEMORIES: SocketMemories<SOCKETS> = service::socket_memories();
    static BUFFERS: Buffers<SOCKETS, 2048> = service::buffers();
    let mut socket = service::socket(stack, PORT, &SOCKET_MEMORIES, &BUFFERS);
    loop {
        socket.accept().await;
        let client = CLIENTS.occupy();
        if client.greet(&mut socket, GREETING).await {
            let Err(reason) = serve_client(&mut socket, boards).await;
            reason.log("monitor");
        }
        service::close(&mut socket, Unread::Drain).await;
    }
}

async fn serve_client(socket: &mut Socket, boards: &Boards) -> Result<Infallible, CloseReason> {
    let mut watches = Watches::default();
    let mut decoder = Decoder::default();
    let mut buffer = [0; 256];
    let mut poll = Instant::now();
    loop {
        let idle = watches.is_empty();
        let due = async {
            if idle {
                core::future::pending::<()>().await;
            }
            Timer::at(poll).await;
        };
        match select(socket.read(&mut buffer), due).await {
            Either::First(length) => {
                let mut input = match length.map_err(lost)? {
                    0 if decoder.in_message() => return Err(CloseReason::CutOff),
                    0 => return Err(CloseReason::Closed),
                    length => &buffer[..length],
                };
                while let Some(request) = decoder.next::<Request>(&mut input).map_err(ProtocolError::from)? {
                    execute(&request, &mut watches, boards, socket).await.map_err(lost)?;
                }
            }
            Either::Second(()) => {
                let mut last = None;
                while let Some(destination) = watches.next_destination(last) {
                    watches.poll(destination, boards, socket).await.map_err(lost)?;
                    last = Some(destination);
                }
                poll = Instant::now() + INTERVAL;
            }
        }
    }
}

/// Executes a client's request.
async fn execute(
    request: &Message<Request>,
    watches: &mut Watches,
    boards: &Boards,
    socket: &mut Socket,
) -> Result<(), Error> {
    let destination = request.destination();
    if !boards.exists(destination) {
        log::error!("monitor: there is no DRTIO destination {destination} on this system");
    }
    let Message {
        channel,
        number,
        enable,
        ..
    } = *request;
    match request.kind {
        Request::WatchProbe => watch(&mut watches.probes, enable, channel, number),
        Request::WatchOverride => watch(&mut watches.overrides, enable, channel, number),
        Request::GetOverride | Request::Inject => {
            let mut level = 0;
            boards
                .query(destination, core::iter::once(*request), |value| level = value as u8)
                .await;
            if request.kind == Request::GetOverride {
                let about = Message::about(Report::Override, channel, number);
                send(socket, Message { level, ..about }).await?;
            }
        }
    }
    Ok(())
}

impl Boards {
    /// Whether a board with this destination exists.
    fn exists(&self, destination: u32) -> bool {
        let mut boards = core::iter::once(DESTINATION_MASTER).chain(self.links.boards());
        boards.any(|board| u32::from(board) == destination)
            || u8::try_from(destination).is_ok_and(|card| self.links.is_card(card))
    }

    /// Executes requests on a board, and passes each result to `take`, 0 if the board does not
    /// answer.
    async fn query(
        &self,
        destination: u32,
        requests: impl Iterator<Item = Message<Request>> + Clone,
        mut take: impl FnMut(u64),
    ) {
        let value = |report: Message<Report>| match report.kind {
            Report::Probe => report.reading,
            Report::Override => report.level.into(),
        };
        if destination == u32::from(DESTINATION_MASTER) {
            return requests.for_each(|request| take(value(self.pins.answer(&request))));
        }
        if !self.exists(destination) {
            return requests.for_each(|_| take(0));
        }
        let destination = destination as u8;
        let _turn = self.turn.lock().await;
        let mut missing = requests.clone().count();
        let answers = if self.links.is_card(destination) {
            let mut answers = true;
            for request in requests {
                let answer = if answers { self.ask_card(&request).await } else { None };
                answers = answer.is_some();
                take(answer.unwrap_or(0));
            }
            answers
        } else {
            let asked = self.query_board(destination, requests, |report| {
                missing -= 1;
                take(value(report));
            });
            let answers = matches!(with_deadline(Instant::now() + ANSWER_TIMEOUT, asked).await, Ok(Ok(())));
            (0..missing).for_each(|_| take(0));
            answers
        };
        let (silent, bit) = (self.silent.get(), 1 << destination);
        self.silent.set(if answers { silent & !bit } else { silent | bit });
        if !answers && silent & bit == 0 {
            log::error!("monitor: DRTIO destination {destination} does not answer, its channels read as 0");
        }
    }

    /// Asks a card that speaks DRTIO.
    async fn ask_card(&self, request: &Message<Request>) -> Answer {
        let (destination, channel, place) = (request.destination() as u8, request.channel as u16, request.number);
        let question = match request.kind {
            Request::WatchProbe => Question::probe(destination, channel, place),
            Request::Inject => Question::inject(destination, channel, place, request.level),
            Request::GetOverride | Request::WatchOverride => Question::injected(destination, channel, place),
        };
        self.links.ask(question).await
    }

    /// Sends all requests at once; the answers arrive in the same order. Together the requests are
    /// shorter than a stream's buffer.
    async fn query_board(
        &self,
        destination: u8,
        requests: impl Iterator<Item = Message<Request>> + Clone,
        mut take: impl FnMut(Message<Report>),
    ) -> Result<(), Lost> {
        let mut stream = self.links.open(destination, Service::Monitor).map_err(|_| Lost)?;
        let mut left = 0_usize;
        for request in requests {
            let (bytes, length) = request.encode();
            stream.write_all(&bytes[..length]).await?;
            left += 1;
        }
        let mut decoder = Decoder::default();
        let mut buffer = [0; 256];
        while left > 0 {
            let mut input = match stream.read(&mut buffer).await? {
                0 => return Err(Lost),
                length => &buffer[..length],
            };
            while let Some(report) = decoder.next::<Report>(&mut input).map_err(|_| Lost)? {
                left = left.checked_sub(1).ok_or(Lost)?;
                take(report);
            }
        }
        Ok(())
    }
}

impl Watches {
    fn is_empty(&self) -> bool {
        self.probes.is_empty() && self.overrides.is_empty()
    }

    /// The next board after `last` of which something is watched.
    fn next_destination(&self, last: Option<u32>) -> Option<u32> {
        let all = self
            .probes
            .iter()
            .chain(&self.overrides)
            .map(|watch| watch.channel >> 16);
        all.filter(|destination| last.is_none_or(|last| last < *destination))
            .min()
    }

    /// Polls everything that is watched on a board, probes first, and sends what has changed.
    async fn poll(&mut self, destination: u32, boards: &Boards, socket: &mut Socket) -> Result<(), Error> {
        let on_board = |watch: &&Watch| watch.channel >> 16 == destination;
        let about = |kind| move |watch: &Watch| Message::about(kind, watch.channel, watch.number);
        let probes = self.probes.iter().filter(on_board).map(about(Request::WatchProbe));
        let overrides = self.overrides.iter().filter(on_board).map(about(Request::GetOverride));
        let mut values = Vec::<u64, { 2 * WATCHES }>::new();
        // Cannot fail: there is space for one value of each watch.
        let keep = |value| _ = values.push(value);
        boards.query(destination, probes.chain(overrides), keep).await;
        let mut values = values.iter();
        for (kind, watches) in [
            (Report::Probe, &mut self.probes),
            (Report::Override, &mut self.overrides),
        ] {
            for (watch, value) in watches.iter_mut().filter(|watch| on_board(&&**watch)).zip(&mut values) {
                if watch.sent.replace(*value) != Some(*value) {
                    let report = Message::about(kind, watch.channel, watch.number);
                    let (reading, level) = (*value, *value as u8);
                    send(
                        socket,
                        Message {
                            reading,
                            level,
                            ..report
                        },
                    )
                    .await?;
                }
            }
        }
        Ok(())
    }
}

async fn send(socket: &mut Socket, report: Message<Report>) -> Result<(), Error> {
    let (bytes, length) = report.encode();
    service::in_time("monitor", length, socket.write_all(&bytes[..length])).await
}

/// Starts or stops a watch. An existing watch is left unchanged when started again.
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
