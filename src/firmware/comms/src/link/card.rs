//! Cards with their maker's gateware, which speak DRTIO: brought up and supervised by a task for
//! each ([`CardLink`]), beside the links to boards of this project.

use core::cell::{Cell, RefCell};
use core::fmt::{self, Write};

use embassy_executor::Spawner;
use embassy_time::{Instant, Timer};
use kairos_contracts::drtio::AuxiliaryPacket;
use kairos_contracts::registers::card;
use kairos_contracts::session::{ASYNC_ERROR_BUSY, ASYNC_ERROR_COLLISION, ASYNC_ERROR_SEQUENCE_ERROR};
use kairos_links::drtio::{Action, CardLink, ChannelError};
use kairos_pl::Register;
use kairos_proto::descriptor::Descriptor;
use kairos_proto::drtio::question::{Answer, Question};
use kairos_proto::drtio::{Packet, CONTENT_MAX};
use kairos_proto::link::PACKET_MAX;
use static_cell::StaticCell;

use super::mailbox::Mailbox;
use super::{BUSY, LINKS, PAUSE, SHORT_PAUSE};
use crate::gateware::{report, Satellite};

/// Polls of the round trip, of some microseconds.
const ECHO_POLLS: u32 = 1000;
/// Last type of packets for bring-up and supervision.
const LAST: u8 = AuxiliaryPacket::RoutingAck as u8;

/// Registers of the logic at this end.
struct Registers {
    state: Register,
    reachable: Register,
    correction: Register,
    set_time: Register,
    echo: Register,
    round_trip: Register,
    cleared: Register,
    /// Damaged packets, and answers that have not come.
    wrong: [Register; 3],
}

impl Registers {
    fn find(descriptor: &Descriptor, number: usize) -> Option<Self> {
        let find = |name| Register::find_numbered(descriptor, name, number);
        Some(Self {
            state: find(card::STATE)?,
            reachable: find(card::REACHABLE)?,
            correction: find(card::CORRECTION)?,
            set_time: find(card::SET_TIME)?,
            echo: find(card::ECHO)?,
            round_trip: find(card::ROUND_TRIP)?,
            cleared: find(card::CLEARED)?,
            wrong: [
                find(card::MALFORMED)?,
                find(card::NO_SPACE_REPLY)?,
                find(card::NO_READ_REPLY)?,
            ],
        })
    }

    /// Sets the card's counter, ahead by half of the round trip, so that it agrees with this board's but for
    /// what the card itself takes.
    fn set_time(&self) {
        self.echo.write(1);
        let waits = || self.state.read() & card::STATE_ECHO_DUE_BIT != 0;
        if (0..ECHO_POLLS).any(|_| !waits()) {
            self.correction.write(self.round_trip.read() / 2);
        }
        self.set_time.write(1);
    }
}

/// A card.
pub(super) struct Card {
    pub(super) destination: u8,
    /// Number of its mailbox.
    pub(super) place: u8,
    mailbox: Mailbox,
    registers: Registers,
    rtio: Satellite,
    link: RefCell<CardLink>,
    /// Whether somebody has a [`Turn`].
    is_asked: Cell<bool>,
    /// Packets of an unknown type, or too long for it.
    malformed: Cell<u32>,
    /// The card found before this one.
    before: Option<&'static Self>,
}

impl Card {
    /// Starts the task for the card behind this mailbox, the downstream link with this number, if it is one. `before`:
    /// the card found before.
    pub(super) fn start(
        spawner: &Spawner,
        descriptor: &Descriptor,
        mailbox: usize,
        number: usize,
        before: Option<&'static Self>,
    ) -> Option<&'static Self> {
        static STORAGE: [StaticCell<Card>; LINKS] = [const { StaticCell::new() }; LINKS];
        let registers = Registers::find(descriptor, number)?;
        let rtio = Satellite::find(descriptor, number)?;
        let destination = rtio.destination();
        let card: &'static Self = STORAGE[number].init(Self {
            destination,
            place: mailbox as u8,
            before,
            mailbox: Mailbox::find(descriptor, mailbox)?,
            registers,
            rtio,
            link: RefCell::new(CardLink::new(destination, number as u8 + 1)),
            is_asked: Cell::new(false),
            malformed: Cell::new(0),
        });
        spawner.spawn(crate::task(run(card)));
        Some(card)
    }

    /// The cards from this one on, the last one found first.
    pub(super) fn all(last: Option<&'static Self>) -> impl Iterator<Item = &'static Self> {
        core::iter::successors(last, |card| card.before)
    }

    /// Whether its channels can be reached.
    pub(super) fn is_up(&self) -> bool {
        self.link.borrow().is_reachable()
    }

    /// Asks the card something, after the questions of others.
    pub(super) async fn ask(&self, question: Question) -> Answer {
        while self.is_asked.replace(true) {
            Timer::after(SHORT_PAUSE).await;
        }
        let _turn = Turn(&self.is_asked);
        let mut is_taken = false;
        while self.is_up() || is_taken {
            let answer = {
                let mut link = self.link.borrow_mut();
                if is_taken {
                    link.take_answer()
                } else {
                    // Not at once if somebody has given up
                    is_taken = link.ask(question);
                    None
                }
            };
            if let Some(answer) = answer {
                return answer;
            }
            Timer::after(SHORT_PAUSE).await;
        }
        None
    }

    /// Receives and sends what is pending; returns whether there was anything.
    pub(super) fn carry(&self, buffer: &mut [u8; PACKET_MAX], now: u64) -> bool {
        let mut link = self.link.borrow_mut();
        let mut moved = false;
        if self.registers.state.read() & card::STATE_RESET_DUE_BIT != 0 {
            link.reset();
            moved = true;
        }
        while let Some(length) = self.mailbox.take(buffer) {
            moved = true;
            if link.receive_answer(&buffer[..length]) {
                continue;
            }
            match Packet::decode_up_to::<LAST>(&buffer[..length]) {
                Ok(packet) => {
                    if let Some(action) = link.receive(now, &packet) {
                        self.perform(action, buffer);
                    }
                }
                Err(_) => self.malformed.set(self.malformed.get() + 1),
            }
        }
        while !self.mailbox.is_busy() {
            let Some(action) = link.poll(now, self.mailbox.has_line()) else {
                break;
            };
            self.perform(action, buffer);
            moved = true;
        }
        moved
    }

    fn perform(&self, action: Action, buffer: &mut [u8; PACKET_MAX]) {
        match action {
            Action::Send(packet) => {
                let content = buffer.first_chunk_mut::<CONTENT_MAX>();
                let length = content.and_then(|content| packet.encode_up_to::<LAST>(content).ok());
                self.mailbox.send(&buffer[..length.unwrap_or(0)]);
            }
            Action::Ask(question) => self.mailbox.send(question.content()),
            Action::SetTime => self.registers.set_time(),
            Action::Reachable(reachable) => self.registers.reachable.write(reachable.into()),
            Action::Cleared => self.registers.cleared.write(1),
            Action::Report(error, channel) => {
                let bit = match error {
                    ChannelError::Sequence => ASYNC_ERROR_SEQUENCE_ERROR,
                    ChannelError::Collision => ASYNC_ERROR_COLLISION,
                    ChannelError::Busy => ASYNC_ERROR_BUSY,
                };
                report(bit, u32::from(self.destination) << 16 | u32::from(channel));
            }
        }
    }

    /// Writes its state as JSON: `docs/interfaces.md`, section 12.
    pub(super) fn write_to(&self, out: &mut dyn Write) -> fmt::Result {
        let (line, up, delay) = (self.mailbox.has_line(), self.is_up(), self.rtio.delay());
        let read = |register: &Register| register.read();
        let malformed = self.malformed.get() + self.registers.wrong.iter().map(read).sum::<u32>();
        let (destination, dropped) = (self.destination, self.mailbox.dropped.read());
        write!(
            out,
            "{{\"destination\": {destination}, \"board\": \"card that speaks DRTIO\", \"upstream\": false, \
             \"line\": {line}, \"up\": {up}, \"rtio\": {up}, \"delay_cycles\": {delay}, \"round_trip_us\": 0, \
             \"resent\": 0, \"malformed\": {malformed}, \"dropped\": {dropped}}}"
        )
    }
}

/// The right to ask a card, until it is dropped.
struct Turn<'a>(&'a Cell<bool>);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

/// Carries packets, for ever.
#[embassy_executor::task(pool_size = LINKS)]
async fn run(card: &'static Card) -> ! {
    let mut buffer = [0; PACKET_MAX];
    let mut busy = Instant::now();
    loop {
        let now = Instant::now();
        if card.carry(&mut buffer, now.as_micros()) {
            busy = now + BUSY;
        }
        Timer::after(if now < busy { SHORT_PAUSE } else { PAUSE }).await;
    }
}
