//! The links of this board: mailboxes of the gateware ([`Mailbox`]), each with an end of
//! `src/firmware/links` that is run by a task of its own.
//!
//! Cards with their maker's gateware have other tasks ([`card`]), and no streams.
//!
//! Mailboxes are numbered; on a satellite the first belongs to the upstream link. The boards behind
//! a link have consecutive destinations, so a link's own destination identifies them. Streams to
//! them cross each link on the way, relayed by the boards between.

use core::cell::RefCell;
use core::fmt::{self, Write};
use core::future::poll_fn;

use embassy_executor::Spawner;
use embassy_futures::select::select;
use embassy_sync::blocking_mutex::raw::CriticalSectionRawMutex;
use embassy_sync::signal::Signal;
use embassy_time::{Duration, Instant, Timer};
use kairos_config::keys::Key;
use kairos_config::store::Error;
use kairos_contracts::registers::{satellite, uplink};
pub use kairos_contracts::rtio::BOARDS;
use kairos_links::end::{End, Event, Role, Streams};
pub use kairos_links::routing::LINKS;
use kairos_links::routing::{self, Route, TABLE};
use kairos_pl::Register;
use kairos_proto::descriptor::Descriptor;
pub use kairos_proto::drtio::question::{Answer, Question};
use kairos_proto::link::{Service, DESTINATION_MASTER, PACKET_MAX};
use static_cell::{ConstStaticCell, StaticCell};

use crate::config::{BackgroundWork, Config};
use crate::gateware::Satellite;

mod stream;

pub use stream::LinkStream;

mod card;
mod counts;
mod cross;
mod json;
mod mailbox;

use card::Card;
use counts::Counts;
use cross::CrossLink;
use json::Json;
use mailbox::Mailbox;

/// Longest descriptor of a satellite, in bytes.
const DESCRIPTOR_MAX: usize = 64 * 1024;
/// Intervals between polls of a mailbox: normally; for a while after a packet, or while a stream of
/// kernels is open; and if both apply.
const PAUSE: Duration = Duration::from_millis(1);
const SHORT_PAUSE: Duration = Duration::from_micros(50);
const SHORTEST_PAUSE: Duration = Duration::from_micros(2);
const BUSY: Duration = Duration::from_millis(1);

/// The links of this board, in the order of their mailboxes.
#[derive(Clone, Copy, Default)]
pub struct Links {
    all: [Option<&'static Link>; LINKS],
    /// Cards that speak DRTIO ([`Card::all`]).
    cards: Option<&'static Card>,
    /// Number of boards behind this one.
    behind: u8,
}

/// A link of this board.
pub struct Link {
    mailbox: Mailbox,
    counts: Counts,
    /// The RTIO side of a link to a satellite.
    rtio: Option<Satellite>,
    /// Destination of the other board; `None` if it is the upstream one.
    downstream: Option<Destination>,
    end: RefCell<End>,
    wake: Signal<CriticalSectionRawMutex, ()>,
}

/// The destination of a downstream board. On a satellite the logic derives it from the satellite's
/// own, which has to be assigned first.
#[derive(Clone, Copy)]
enum Destination {
    /// On the board with the network.
    Fixed(u8),
    /// The logic's register with it, and that of this board's own destination, 0 until known.
    Assigned { downstream: Register, own: Register },
}

impl Destination {
    fn get(self) -> u8 {
        match self {
            Destination::Fixed(destination) => destination,
            Destination::Assigned { downstream, .. } => downstream.read() as u8,
        }
    }

    fn is_known(self) -> bool {
        match self {
            Destination::Fixed(_) => true,
            Destination::Assigned { own, .. } => own.read() != 0,
        }
    }
}

/// A session number that is unlikely to equal that of the previous start.
fn session() -> u16 {
    let ticks = Instant::now().as_ticks();
    (ticks ^ ticks >> 16 ^ u64::from(kairos_chip::setup::timer_count())) as u16
}

/// Carries packets while the processor is busy for longer than the other ends wait.
impl BackgroundWork for Links {
    fn run(&self) {
        let mut packet = [0; PACKET_MAX];
        let now = Instant::now().as_micros();
        for link in self.all.iter().flatten() {
            let known = link.downstream.is_none_or(Destination::is_known);
            if known && link.end.try_borrow_mut().is_ok() {
                link.carry(&mut packet, now);
            }
        }
        for card in Card::all(self.cards) {
            card.carry(&mut packet, now);
        }
    }
}

impl Links {
    /// Starts the links to satellites, the mailboxes from `first` on. The logic assigns their
    /// destinations: the first is 1, each next one follows the boards behind the previous one.
    pub fn start_down(&mut self, spawner: &Spawner, first: usize) {
        static BUFFERS: [ConstStaticCell<[u8; DESCRIPTOR_MAX]>; LINKS] =
            [const { ConstStaticCell::new([0; DESCRIPTOR_MAX]) }; LINKS];
        let Ok(descriptor) = kairos_pl::descriptor() else {
            return;
        };
        for (number, buffer) in BUFFERS.iter().enumerate().skip(first) {
            if let Some(card) = Card::start(spawner, &descriptor, number, number - first, self.cards) {
                self.cards = Some(card);
                continue;
            }
            let mailbox = Mailbox::find(&descriptor, number);
            let Some((mailbox, buffer)) = mailbox.zip(buffer.try_take()) else {
                return;
            };
            let satellite = number - first;
            let register = Register::find_numbered(&descriptor, satellite::DESTINATION, satellite);
            let name = match (register, own_destination()) {
                (Some(downstream), Some(own)) => Destination::Assigned { downstream, own },
                (Some(downstream), None) => Destination::Fixed(downstream.read() as u8),
                (None, _) => Destination::Fixed(satellite as u8 + 1),
            };
            let rtio = Satellite::find(&descriptor, satellite);
            let destination = name.get();
            let role = Role::Upstream { destination, buffer };
            self.all[number] = Some(start(spawner, number, mailbox, rtio, Some(name), role));
            // The descriptor also lists the channels of the boards behind this one.
            self.behind = descriptor
                .channels()
                .map(|channel| (channel.number >> 16) as u8)
                .max()
                .unwrap_or(0);
        }
    }

    /// Starts the link to the upstream board, if there is one. `text` describes this board. Streams
    /// to other boards are for [`Link::relay`].
    pub fn start_up(
        &mut self,
        spawner: &Spawner,
        text: &'static str,
        services: &'static [u8],
    ) -> Option<&'static Link> {
        let mailbox = Mailbox::find(&kairos_pl::descriptor().ok()?, 0)?;
        let descriptor = kairos_pl::descriptor_bytes();
        let role = Role::Downstream {
            text,
            descriptor,
            services,
            relays: true,
        };
        self.all[0] = Some(start(spawner, 0, mailbox, None, None, role));
        self.all[0]
    }

    /// Writes all links as JSON: `docs/interfaces.md`, section 12.
    pub fn describe(&self, out: &mut dyn Write) -> fmt::Result {
        let mut separator = "[";
        for link in self.all.iter().flatten() {
            out.write_str(core::mem::replace(&mut separator, ", "))?;
            link.write_to(out)?;
        }
        for card in Card::all(self.cards) {
            out.write_str(core::mem::replace(&mut separator, ", "))?;
            card.write_to(out)?;
        }
        for link in CrossLink::all().iter().flatten() {
            out.write_str(core::mem::replace(&mut separator, ", "))?;
            link.write_to(out)?;
        }
        out.write_str(if separator == "[" { "[]" } else { "]" })
    }

    /// Whether there is any link.
    pub fn any(&self) -> bool {
        self.all.iter().flatten().next().is_some()
    }

    /// Whether a downstream link leads to a board.
    pub fn has_route(&self, destination: u8) -> bool {
        self.to(destination).is_some()
    }

    /// Whether the firmware at the far end of the link that leads to a board answers.
    pub fn is_up(&self, destination: u8) -> bool {
        self.to(destination).is_some_and(|link| link.end.borrow().is_up())
    }

    /// The boards behind this one, in the order of their destinations.
    pub fn boards(self) -> impl Iterator<Item = u8> {
        (1..BOARDS as u8).filter(move |board| self.has_route(*board))
    }

    /// The link that leads to a downstream board: the last whose own destination does not exceed
    /// it.
    #[inline(never)]
    fn to(&self, destination: u8) -> Option<&'static Link> {
        if self.card(destination).is_some() {
            return None;
        }
        let own = own_destination().map_or(DESTINATION_MASTER, |register| register.read() as u8);
        let mut links = self.all.iter().flatten();
        let before = |link: &&&'static Link| link.downstream.is_some_and(|name| name.get() <= destination);
        let last = links.rfind(before).copied();
        last.filter(|_| own < destination && destination - own <= self.behind)
    }

    /// Logs whether the key `routing_table` agrees with the existing boards. Called once, on the
    /// board with the network.
    pub fn compare_routes(&self, config: &Config) {
        static TABLE_BUFFER: ConstStaticCell<[u8; TABLE]> = ConstStaticCell::new([0; TABLE]);
        let buffer = TABLE_BUFFER.take();
        let length = match config.read(Key::RoutingTable.name(), buffer) {
            Ok(Some(length)) => length,
            // A missing card has been logged at boot.
            Ok(None) | Err(Error::Card(_)) => return,
            Err(error) => return log::warn!("configuration: routing_table is ignored: {error}"),
        };
        match routing::check(&buffer[..length], |destination| self.route(destination)) {
            Ok(()) => log::info!("configuration: routing_table matches the boards found"),
            Err(wrong) => log::error!("configuration: routing_table is ignored: {wrong}"),
        }
    }

    #[inline(never)]
    fn card(&self, destination: u8) -> Option<&'static Card> {
        Card::all(self.cards).find(|card| card.destination == destination)
    }

    /// Whether a board is a card that speaks DRTIO, which has no streams but answers [`Links::ask`].
    pub fn is_card(&self, destination: u8) -> bool {
        self.card(destination).is_some()
    }

    /// Asks such a card something.
    pub async fn ask(&self, question: Question) -> Answer {
        self.card(question.destination())?.ask(question).await
    }

    fn route(&self, destination: u8) -> Option<Route> {
        if let Some(card) = self.card(destination) {
            let (link, is_near) = (card.place + 1, true);
            return Some(Route { link, is_near });
        }
        if destination == DESTINATION_MASTER {
            let (link, is_near) = (0, true);
            return Some(Route { link, is_near });
        }
        let link = self.to(destination)?;
        let mut links = self.all.iter().flatten();
        let number = links.position(|other| core::ptr::eq(*other, link))?;
        Some(Route {
            link: number as u8 + 1,
            is_near: link.downstream.is_some_and(|name| name.get() == destination),
        })
    }

    /// Opens a stream to a service of another board.
    pub fn open(&self, destination: u8, service: Service) -> Result<LinkStream, OpenError> {
        self.open_any(destination, service as u8)
    }

    fn open_any(&self, destination: u8, service: u8) -> Result<LinkStream, OpenError> {
        let link = self.to(destination).ok_or(OpenError::NoRoute)?;
        let number = link.end.borrow_mut().open(service, destination);
        let number = number.ok_or(OpenError::NoAnswer)?;
        link.wake.signal(());
        Ok(LinkStream { link, number })
    }
}

fn start(
    spawner: &Spawner,
    number: usize,
    mailbox: Mailbox,
    rtio: Option<Satellite>,
    downstream: Option<Destination>,
    role: Role,
) -> &'static Link {
    static STORAGE: [StaticCell<Link>; LINKS] = [const { StaticCell::new() }; LINKS];
    static STREAMS: [ConstStaticCell<Streams>; LINKS] = [const { ConstStaticCell::new(Streams::new()) }; LINKS];
    let streams = STREAMS[number].take();
    let descriptor = kairos_pl::descriptor().ok();
    let link: &'static Link = STORAGE[number].init_with(|| Link {
        mailbox,
        counts: descriptor.map_or_else(Counts::default, |descriptor| Counts::find(&descriptor, number)),
        rtio,
        downstream,
        end: RefCell::new(End::new(role, session(), streams)),
        wake: Signal::new(),
    });
    spawner.spawn(crate::task(run(link)));
    link
}

/// Carries packets, for ever.
#[embassy_executor::task(pool_size = LINKS)]
async fn run(link: &'static Link) -> ! {
    let mut packet = [0; PACKET_MAX];
    while link.downstream.is_some_and(|name| !name.is_known()) {
        Timer::after(PAUSE).await;
    }
    let mut busy = Instant::now();
    loop {
        let now = Instant::now();
        if link.carry(&mut packet, now.as_micros()) {
            busy = now + BUSY;
        }
        if let Some(name) = link.downstream.filter(|_| now >= busy) {
            link.end.borrow_mut().set_destination(name.get());
        }
        let event = link.end.borrow_mut().take_event();
        if let Some(event) = event {
            link.log(event);
        }
        // Kernels that wait for each other depend on this link's latency.
        let kernels_open = link.end.borrow().has_stream(Service::Kernels as u8);
        let pause = match (now < busy, kernels_open) {
            (true, true) => SHORTEST_PAUSE,
            (false, false) => PAUSE,
            _ => SHORT_PAUSE,
        };
        select(Timer::after(pause), link.wake.wait()).await;
    }
}

impl Link {
    /// Receives and sends pending packets; returns whether there were any.
    fn carry(&self, packet: &mut [u8; PACKET_MAX], now: u64) -> bool {
        let mut end = self.end.borrow_mut();
        let mut moved = false;
        while let Some(length) = self.mailbox.take(packet) {
            end.receive(&packet[..length], now);
            moved = true;
        }
        if !self.mailbox.is_busy() {
            if let Some(length) = end.poll(now, packet) {
                self.mailbox.send(&packet[..length]);
                moved = true;
            }
        }
        moved
    }

    fn log(&self, event: Event) {
        let end = self.end.borrow();
        match (event, self.downstream.map(Destination::get)) {
            (Event::Up, Some(destination)) => {
                let peer = end.peer();
                let text = peer.map_or("", |peer| &peer.text);
                let board = Descriptor::new(end.descriptor().unwrap_or(&[]));
                let (name, channels) = match &board {
                    Ok(board) => (board.identification(), own_channels(board)),
                    Err(_) => ("no gateware", 0),
                };
                log::info!("destination {destination}: {text}, {name}, {channels} channels");
            }
            (Event::Up, None) => {
                let name = end.destination().unwrap_or(0);
                if let Some(register) = own_destination() {
                    register.write(u32::from(name));
                }
                log::info!("the upstream board has assigned destination {name}");
            }
            (Event::Down, Some(destination)) => log::error!("destination {destination}: its firmware does not answer"),
            (Event::Down, None) => log::warn!("the upstream board does not answer"),
            (Event::Version(version), _) => {
                log::error!("the firmware behind a link speaks another protocol version, {version}: update it");
            }
        }
    }

    /// The destination that the upstream board has assigned to this one, 0 until then.
    pub fn destination(&self) -> u8 {
        self.end.borrow().destination().unwrap_or(DESTINATION_MASTER)
    }

    /// Waits for the next stream that the upstream board opens to a service.
    pub async fn accept(&'static self, service: Service) -> LinkStream {
        let number = poll_fn(|cx| self.end.borrow_mut().poll_accept(service as u8, cx)).await;
        LinkStream { link: self, number }
    }

    /// Accepts the next stream that the upstream board opens to another board, and relays it both
    /// ways.
    pub async fn relay(&'static self, links: Links) {
        let accepted = poll_fn(|cx| self.end.borrow_mut().poll_accept_for_others(cx)).await;
        let number = accepted.number;
        let upstream = LinkStream { link: self, number };
        let downstream = match links.open_any(accepted.destination, accepted.service) {
            Ok(downstream) => downstream,
            Err(OpenError::NoRoute) => {
                return log::warn!("destination {} is not behind this board", accepted.destination)
            }
            Err(OpenError::NoAnswer) => return log::warn!("destination {} does not answer", accepted.destination),
        };
        select(upstream.copy_to(&downstream), downstream.copy_to(&upstream)).await;
    }

    fn write_to(&self, out: &mut dyn Write) -> fmt::Result {
        let end = self.end.borrow();
        let (line, up) = (self.mailbox.has_line(), end.is_up());
        write!(
            out,
            "{{\"destination\": {}, ",
            self.downstream.map_or(0, Destination::get)
        )?;
        write!(
            out,
            "\"upstream\": {}, \"line\": {line}, \"up\": {up}, ",
            self.downstream.is_none()
        )?;
        let text = end.peer().map_or("", |peer| &peer.text);
        write!(out, "\"firmware\": {}, ", Json(text))?;
        if let Ok(board) = Descriptor::new(end.descriptor().unwrap_or(&[])) {
            write!(out, "\"board\": {}, ", Json(board.identification()))?;
            write!(out, "\"channels\": {}, ", own_channels(&board))?;
        }
        if let Some(rtio) = &self.rtio {
            let (reached, delay, lost_outputs) = (rtio.is_up(), rtio.delay(), rtio.lost_outputs());
            write!(
                out,
                "\"rtio\": {reached}, \"delay_cycles\": {delay}, \"lost_outputs\": {lost_outputs}, "
            )?;
            if let Some(phase) = rtio.phase_ps() {
                write!(out, "\"phase_ps\": {phase}, ")?;
            }
        }
        self.counts.write_to(out)?;
        let transport = end.transport();
        write!(out, "\"round_trip_us\": {}, ", transport.round_trip)?;
        write!(
            out,
            "\"resent\": {}, \"malformed\": {}, ",
            transport.resent, transport.malformed
        )?;
        write!(out, "\"dropped\": {}}}", self.mailbox.dropped.read())
    }
}

/// The number of channels of a board, without those of the boards behind it, which its descriptor
/// lists as well.
fn own_channels(board: &Descriptor) -> usize {
    board.channels().filter(|channel| channel.number >> 16 == 0).count()
}

/// The register in which a satellite's gateware receives its own destination.
fn own_destination() -> Option<Register> {
    Register::find(&kairos_pl::descriptor().ok()?, uplink::DESTINATION)
}

/// Why there is no stream to a board.
pub enum OpenError {
    /// No link leads to it.
    NoRoute,
    /// It does not answer, or cannot accept another client.
    NoAnswer,
}
