//! Header prediction (V. Jacobson, 1990; RFC 1323 appendix "Header prediction"): a short way for the segments that an
//! established connection mostly consists of.
//!
//! A segment is *plain* if it has no flags but ACK and PSH, and no options. [`Socket::process_plain`] takes such a
//! segment if it is the next one in order and asks for nothing unusual; [`Socket::dispatch_plain`] makes one if nothing
//! unusual is to be sent. Both refuse everything else, and then have changed nothing that matters to the general way,
//! which the caller takes instead: [`Interface::poll_ingress_single`] and [`Interface::poll_egress`]. What they do
//! accept they do as the general way does it.
//!
//! The layers below are the caller's: who has received a frame must know that it belongs to this socket and is
//! intact, and who sends one must have a route and the neighbor's address, for instance from the header of a
//! frame of the same connection that went the general way.
//!
//! [`Interface::poll_ingress_single`]: crate::iface::Interface::poll_ingress_single
//! [`Interface::poll_egress`]: crate::iface::Interface::poll_egress

use super::{AckDelayTimer, Socket, State, Timer};
use crate::time::Instant;
use crate::wire::TcpSeqNumber;

/// What differs between the plain segments of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PlainSegment<'a> {
    /// Sequence number of the payload's first octet.
    pub seq_number: TcpSeqNumber,
    /// Sequence number of the octet that is expected next. Plain segments always have one.
    pub ack_number: TcpSeqNumber,
    /// Window as in the header: not scaled.
    pub window_len: u16,
    /// The PSH flag.
    pub push: bool,
    /// What is behind the header.
    pub payload: &'a [u8],
}

/// What came of [`Socket::dispatch_plain`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum PlainDispatch<R> {
    /// There is nothing to be sent now.
    Nothing,
    /// A segment was emitted.
    Sent(R),
    /// What is to be done takes the general way.
    Refused,
}

/// How far `to` is behind `from`, negative if it is before.
fn distance(from: TcpSeqNumber, to: TcpSeqNumber) -> i32 {
    to.0.wrapping_sub(from.0)
}

impl Socket<'_> {
    /// Process a plain segment that belongs to this socket, if it is the next one in order and asks for nothing unusual:
    /// its payload fits the window, nothing is missing before it, what it acknowledges has been sent, and it is
    /// no duplicate acknowledgement.
    ///
    /// Returns whether it has been processed. If not, the socket is as before, and the segment must take the general way.
    pub fn process_plain(&mut self, now: Instant, segment: &PlainSegment) -> bool {
        let length = segment.payload.len();
        let Some(last_ack) = self.remote_last_ack else {
            return false;
        };
        let window_start = self.remote_seq_no + self.rx_buffer.len();
        let window_end = last_ack + ((self.remote_last_win as usize) << self.remote_win_shift);
        let ack_len = distance(self.local_seq_no, segment.ack_number);
        if self.state != State::Established
            || segment.seq_number != window_start
            || !self.assembler.is_empty()
            || distance(window_start, window_end) < length as i32
            || ack_len < 0
            || ack_len as usize > self.tx_buffer.len()
        {
            return false;
        }
        let ack_len = ack_len as usize;
        let ack_all = self.remote_last_seq <= segment.ack_number;
        let window_len =
            (segment.window_len as usize) << (self.remote_win_scale.unwrap_or(0) as usize);
        let duplicate = length == 0
            && self.local_rx_last_ack == Some(segment.ack_number)
            && !ack_all
            && window_len == self.remote_win_len;
        // A closed window is probed, which has a timer of its own.
        if window_len == 0 || duplicate {
            return false;
        }
        match self.timer {
            Timer::Idle { .. } | Timer::Retransmit { .. } => {}
            _ => return false,
        }

        // From here on the segment is accepted.
        self.local_rx_last_seq = Some(segment.seq_number);
        self.remote_last_ts = Some(now);
        self.remote_win_len = window_len;
        self.congestion_controller
            .inner_mut()
            .set_remote_window(window_len);
        if ack_len > 0 {
            self.tx_buffer.dequeue_allocated(ack_len);
            #[cfg(feature = "async")]
            self.tx_waker.wake();
        }
        self.local_rx_dup_acks = 0;
        self.local_rx_last_ack = Some(segment.ack_number);
        self.rtte.on_ack(now, segment.ack_number);
        let new_flight_size = self.flight_size().saturating_sub(ack_len);
        self.congestion_controller
            .inner_mut()
            .on_ack(now, ack_len, new_flight_size, &self.rtte);
        self.local_seq_no = segment.ack_number;
        if ack_all {
            self.remote_last_seq = segment.ack_number;
        }
        if ack_all || self.timer.is_idle() {
            self.timer.set_for_idle(now, self.keep_alive);
        } else if ack_len > 0 {
            let rto = self.rtte.retransmission_timeout();
            self.timer.set_for_retransmit(now, rto);
        }
        if length > 0 {
            self.receive_plain(now, segment.payload);
        }
        true
    }

    /// Takes payload that fits the window, behind which nothing has arrived yet.
    fn receive_plain(&mut self, now: Instant, payload: &[u8]) {
        let written = self.rx_buffer.write_unallocated(0, payload);
        debug_assert!(written == payload.len());
        self.rx_buffer.enqueue_unallocated(written);
        #[cfg(feature = "async")]
        self.rx_waker.wake();
        if let Some(ack_delay) = self.ack_delay
            && self.ack_to_transmit()
        {
            self.ack_delay_timer = match self.ack_delay_timer {
                AckDelayTimer::Idle => AckDelayTimer::Waiting(now + ack_delay),
                AckDelayTimer::Waiting(_) if self.immediate_ack_to_transmit() => {
                    AckDelayTimer::Immediate
                }
                timer => timer,
            };
        }
    }

    /// Send what is to be sent now, if that is a plain segment of new data or an acknowledgement, and the connection is
    /// established. `emit` sends the segment, which cannot fail. `local_mss`: the longest payload that the link takes
    /// in a segment without options. Devices that cut longer ones are not asked to.
    pub fn dispatch_plain<R>(
        &mut self,
        now: Instant,
        local_mss: usize,
        emit: impl FnOnce(PlainSegment) -> R,
    ) -> PlainDispatch<R> {
        if self.state != State::Established
            || self.tsval_generator.is_some()
            || self.pending_fast_retransmit
        {
            return PlainDispatch::Refused;
        }
        match self.timer {
            Timer::Idle {
                keep_alive_at: Some(at),
            } if now >= at => return PlainDispatch::Refused,
            Timer::Retransmit { expires_at } if now >= expires_at => return PlainDispatch::Refused,
            Timer::Idle { .. } | Timer::Retransmit { .. } => {}
            _ => return PlainDispatch::Refused,
        }
        if self.remote_last_ts.is_none() {
            // The socket has been quiet, and its timeout counts from now on.
            self.remote_last_ts = Some(now);
        }
        if self.timed_out(now) {
            return PlainDispatch::Refused;
        }
        self.congestion_controller.inner_mut().pre_transmit(now);

        let in_flight = self.flight_size();
        let sendable = self.remote_win_len.min(self.tx_buffer.len());
        let sendable = sendable
            .saturating_sub(in_flight)
            .min(self.cwnd_remaining());
        let mss = local_mss.min(self.remote_mss);
        if sendable > 0 {
            if self.nagle && in_flight > 0 && sendable < mss {
                return PlainDispatch::Refused;
            }
        } else if !(self.ack_to_transmit() && self.delayed_ack_expired(now))
            && !self.window_to_update()
        {
            return PlainDispatch::Nothing;
        }
        let payload = match sendable {
            0 => &[],
            _ => self.tx_buffer.get_allocated(in_flight, sendable.min(mss)),
        };
        let length = payload.len();
        let segment = PlainSegment {
            seq_number: self.remote_last_seq,
            ack_number: self.remote_seq_no + self.rx_buffer.len(),
            window_len: self.scaled_window(),
            push: length > 0 && in_flight + length == self.tx_buffer.len(),
            payload,
        };
        let (ack_number, window_len) = (segment.ack_number, segment.window_len);
        let result = emit(segment);

        self.timer.rewind_keep_alive(now, self.keep_alive);
        self.ack_delay_timer = AckDelayTimer::Idle;
        self.remote_last_ack = Some(ack_number);
        self.remote_last_win = window_len;
        if length > 0 {
            self.remote_last_seq += length;
            self.rtte.on_send(now, self.remote_last_seq);
            self.congestion_controller
                .inner_mut()
                .post_transmit(now, length);
            if !self.timer.is_retransmit() {
                let rto = self.rtte.retransmission_timeout();
                self.timer.set_for_retransmit(now, rto);
            }
        }
        PlainDispatch::Sent(result)
    }
}
