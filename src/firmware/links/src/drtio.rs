//! Bring-up and supervision of a card that speaks DRTIO, by the board to which it is connected: what is
//! sent, and when (`docs/gateware/drtio.md`).
//!
//! It depends on no hardware, tasks or clocks: packets and times are passed in, these in microseconds.

use kairos_proto::drtio::question::{answer_in, Answer, Question};
use kairos_proto::drtio::Packet;

/// Within which the card answers, pause until a new attempt, and interval of questions about its state.
const ANSWER: u64 = 200_000;
/// Within which its counter is set.
const TIME_ANSWER: u64 = 10_000_000;
/// Echo requests before a pause.
const ECHOES: u8 = 100;
/// Questions without an answer after which the card is lost.
const MISSES: u8 = 3;
const HOPS: usize = 32;
/// In place of a link: there is no path.
const NO_HOP: u8 = 0xff;

/// Errors of a card's channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelError {
    Sequence,
    Collision,
    Busy,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Send this packet.
    Send(Packet<'static>),
    /// Send the packet of a question.
    Ask(Question),
    /// Let the gateware set the card's counter.
    SetTime,
    /// Tell the gateware whether the card's channels can be reached.
    Reachable(bool),
    /// The card's channels have been reset.
    Cleared,
    /// An error of a channel, to be reported.
    Report(ChannelError, u16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The line is down, or a new attempt is due.
    Down,
    Echo(u8),
    Drain,
    Time,
    Path(u8),
    Rank,
    /// Until the next question.
    Up,
    Status,
    /// A question of a service has been sent.
    Service,
    Reset(u8),
}

/// A link to a card.
#[derive(Debug)]
pub struct CardLink {
    destination: u8,
    link: u8,
    state: State,
    /// Whether the packet of this state has been sent, and until when it waits.
    is_sent: bool,
    due: u64,
    misses: u8,
    reset_wanted: bool,
    /// When the card's state is to be asked for.
    status_due: u64,
    /// A question of a service, until it is answered.
    question: Option<Question>,
    answer: Option<Answer>,
    /// Whether the card can be reached, and what the gateware knows of this.
    reachable: bool,
    signalled: bool,
}

impl CardLink {
    /// `destination`: of the card. `link`: number of the link to it, from 1 on.
    pub fn new(destination: u8, link: u8) -> Self {
        Self {
            destination,
            link,
            state: State::Down,
            is_sent: true,
            due: 0,
            misses: 0,
            reset_wanted: false,
            status_due: 0,
            question: None,
            answer: None,
            reachable: false,
            signalled: false,
        }
    }

    /// Whether the card can be reached.
    pub fn is_reachable(&self) -> bool {
        self.reachable
    }

    /// The card's channels are to be reset, as soon as it is up.
    pub fn reset(&mut self) {
        self.reset_wanted = true;
    }

    /// Takes the question of a service, whose answer is [`CardLink::take_answer`]'s; returns whether it could be taken: not
    /// while there is another one, or while the card is not reachable.
    pub fn ask(&mut self, question: Question) -> bool {
        let can = self.reachable && self.question.is_none();
        if can {
            (self.question, self.answer) = (Some(question), None);
        }
        can
    }

    /// The answer to the last question, once.
    pub fn take_answer(&mut self) -> Option<Answer> {
        self.answer.take()
    }

    /// Ends the question of a service, if there is one.
    #[inline(never)]
    fn answer(&mut self, answer: Answer) {
        if self.question.take().is_some() {
            self.answer = Some(answer);
        }
    }

    fn enter(&mut self, state: State) {
        (self.state, self.is_sent) = (state, false);
    }

    /// Waits in a state that sends nothing.
    fn wait(&mut self, state: State, until: u64) {
        (self.state, self.is_sent, self.due) = (state, true, until);
    }

    /// Waits for the next question.
    fn rest(&mut self) {
        self.wait(State::Up, self.status_due);
    }

    fn fail(&mut self, now: u64) {
        self.answer(None);
        self.reachable = false;
        self.misses = 0;
        self.wait(State::Down, now + ANSWER);
    }

    /// The next thing to do, to be asked for until there is none. `line`: whether it is up.
    pub fn poll(&mut self, now: u64, line: bool) -> Option<Action> {
        if !line {
            self.fail(now);
            self.due = now;
        } else if self.is_sent && (now >= self.due || (self.is_wanted() && self.state == State::Up)) {
            self.time_out(now);
        }
        if self.reachable != self.signalled {
            self.signalled = self.reachable;
            return Some(Action::Reachable(self.signalled));
        }
        if line && !self.is_sent {
            return Some(self.send(now));
        }
        None
    }

    /// Whether something is to be sent before the card's state is asked for.
    fn is_wanted(&self) -> bool {
        self.reset_wanted || self.question.is_some()
    }

    fn send(&mut self, now: u64) -> Action {
        let wait = if self.state == State::Time { TIME_ANSWER } else { ANSWER };
        (self.is_sent, self.due) = (true, now + wait);
        let destination = self.destination;
        Action::Send(match self.state {
            State::Time => return Action::SetTime,
            State::Path(destination) => Packet::RoutingSetPath {
                destination,
                hops: self.hops(destination),
            },
            State::Rank => Packet::RoutingSetRank { rank: 1 },
            State::Status => Packet::DestinationStatusRequest { destination },
            State::Reset(_) => Packet::ResetRequest {},
            State::Service => return self.send_question(),
            // The others send nothing
            State::Echo(_) | State::Down | State::Drain | State::Up => Packet::EchoRequest {},
        })
    }

    fn send_question(&mut self) -> Action {
        let Some(question) = self.question else {
            return Action::Send(Packet::EchoRequest {});
        };
        if question.is_order() {
            self.answer(Some(0));
            self.rest();
        }
        Action::Ask(question)
    }

    /// The path to a destination: the links on the way, 0 at its end.
    fn hops(&self, destination: u8) -> [u8; HOPS] {
        let mut hops = [NO_HOP; HOPS];
        if destination == 0 {
            hops[0] = 0;
        } else if destination == self.destination {
            hops[..2].copy_from_slice(&[self.link, 0]);
        }
        hops
    }

    /// The time of a state is over.
    fn time_out(&mut self, now: u64) {
        match self.state {
            State::Down => self.enter(State::Echo(1)),
            State::Echo(tries) if tries < ECHOES => self.enter(State::Echo(tries + 1)),
            State::Drain => self.enter(State::Time),
            State::Up if self.reset_wanted => self.enter(State::Reset(1)),
            State::Up if now >= self.due => self.enter(State::Status),
            State::Up => self.enter(State::Service),
            // An answer that comes yet is passed over while the card is asked for its state
            State::Service => {
                self.answer(None);
                self.enter(State::Status);
            }
            State::Status if self.misses + 1 < MISSES => {
                self.misses += 1;
                self.enter(State::Status);
            }
            State::Reset(tries) if tries < MISSES => self.enter(State::Reset(tries + 1)),
            State::Echo(_) | State::Time | State::Path(_) | State::Rank | State::Status | State::Reset(_) => {
                self.fail(now);
            }
        }
    }

    /// Takes a packet from the card. One that nobody waits for is dropped.
    pub fn receive(&mut self, now: u64, packet: &Packet) -> Option<Action> {
        if !self.is_sent {
            return None;
        }
        match (self.state, packet) {
            (State::Echo(_), Packet::EchoReply {}) => self.wait(State::Drain, now + ANSWER),
            (State::Time, Packet::TimeAck {}) => self.enter(State::Path(0)),
            (State::Path(destination), Packet::RoutingAck {}) => {
                self.enter(destination.checked_add(1).map_or(State::Rank, State::Path));
            }
            (State::Rank, Packet::RoutingAck {}) => self.ask_for_status(now),
            (State::Status, packet) => return self.status(now, packet),
            (State::Reset(_), Packet::ResetAck {}) => {
                self.reset_wanted = false;
                self.ask_for_status(now);
                return Some(Action::Cleared);
            }
            _ => {}
        }
        None
    }

    /// Takes a packet's content if it is an answer to a service; returns whether it is one. An answer that nobody waits for
    /// is dropped.
    pub fn receive_answer(&mut self, content: &[u8]) -> bool {
        let Some(answer) = answer_in(content) else {
            return false;
        };
        if self.state == State::Service && self.is_sent {
            self.answer(answer);
            self.rest();
        }
        true
    }

    fn ask_for_status(&mut self, at: u64) {
        self.status_due = at;
        self.rest();
    }

    /// Takes the answer to the question about the card's state.
    fn status(&mut self, now: u64, packet: &Packet) -> Option<Action> {
        let error = match *packet {
            Packet::DestinationOk {} | Packet::DestinationDown {} => None,
            Packet::DestinationSequenceError { channel } => Some((ChannelError::Sequence, channel)),
            Packet::DestinationCollision { channel } => Some((ChannelError::Collision, channel)),
            Packet::DestinationBusy { channel } => Some((ChannelError::Busy, channel)),
            _ => return None,
        };
        self.reachable = !matches!(packet, Packet::DestinationDown {});
        self.misses = 0;
        self.ask_for_status(now + ANSWER);
        error.map(|(error, channel)| Action::Report(error, channel))
    }
}

#[cfg(test)]
#[path = "drtio_tests.rs"]
mod tests;
