//! The gateway of the user-mode network: a TCP/IP stack at 10.0.2.2, fe80::2 and fd00::2 on the
//! other end of the guest's Ethernet cable. It answers ARP, neighbour discovery and ICMP echo,
//! assigns the guest's address by DHCP ([`crate::host::dhcp`]), and opens TCP connections to the
//! guest for [`crate::host::forward`]. It runs on virtual time, loses nothing, acknowledges at
//! once, and is deterministic.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use smoltcp::iface::{Config, Interface, PollResult, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::{tcp, Socket};
use smoltcp::time::Instant;
use smoltcp::wire::{EthernetAddress, HardwareAddress, IpAddress, IpCidr, Ipv4Address, Ipv6Address};

use crate::host::dhcp::{self, Network};
use crate::machine::time::{self, Cycles};
use crate::peripherals::Cable;

/// Address of the guest.
pub const GUEST: Ipv4Address = Ipv4Address::new(10, 0, 2, 15);
/// Address of the gateway.
pub const GATEWAY: Ipv4Address = Ipv4Address::new(10, 0, 2, 2);
/// IPv6 addresses of the gateway: link-local, and in a private network.
const GATEWAY6: [Ipv6Address; 2] = [
    Ipv6Address::new(0xfe80, 0, 0, 0, 0, 0, 0, 2),
    Ipv6Address::new(0xfd00, 0, 0, 0, 0, 0, 0, 2),
];
const NETWORK: Network = Network {
    guest: GUEST,
    gateway: GATEWAY,
    prefix: 24,
};
const GATEWAY_MAC: EthernetAddress = EthernetAddress([0x52, 0x55, 0x0a, 0x00, 0x02, 0x02]);
const BUFFER: usize = 64 * 1024;
const MTU: usize = 1514;

/// The two directions of the cable, at the gateway's end.
#[derive(Default)]
struct Ends {
    from_guest: VecDeque<Vec<u8>>,
    to_guest: VecDeque<Vec<u8>>,
}

struct Received(Vec<u8>);
struct Sending<'a>(&'a mut VecDeque<Vec<u8>>);

impl RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(&self.0)
    }
}

impl TxToken for Sending<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, f: F) -> R {
        let mut frame = vec![0; length];
        let result = f(&mut frame);
        self.0.push_back(frame);
        result
    }
}

impl Device for Ends {
    type RxToken<'a> = Received;
    type TxToken<'a> = Sending<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Received, Sending<'_>)> {
        Some((Received(self.from_guest.pop_front()?), Sending(&mut self.to_guest)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Sending<'_>> {
        Some(Sending(&mut self.to_guest))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut c = DeviceCapabilities::default();
        c.medium = Medium::Ethernet;
        c.max_transmission_unit = MTU;
        c
    }
}

/// State of a connection.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum State {
    /// The guest has not answered yet.
    Opening,
    /// Established; the guest's end of stream has not arrived.
    Open,
    /// The guest has ended its stream, and all of it has been read.
    Ended,
    /// Refused or reset by the guest.
    Reset,
    /// Both streams have ended.
    Closed,
}

/// Handle of a connection to the guest.
pub type Connection = SocketHandle;

/// The gateway.
pub struct Net {
    cable: Ends,
    interface: Interface,
    sockets: SocketSet<'static>,
    dhcp: SocketHandle,
    next_port: u16,
    opened: std::collections::HashSet<SocketHandle>,
    /// Frames in flight to the guest, with their arrival times.
    in_flight: VecDeque<(Cycles, Vec<u8>)>,
    latency: Cycles,
    /// When the last frame arrived at the guest.
    pub delivered: Cycles,
    /// The guest has answered an address request.
    pub guest_up: bool,
}

fn instant(now: Cycles) -> Instant {
    Instant::from_micros((time::to_ns(now) / 1000) as i64)
}

impl Net {
    /// Creates the gateway. `latency`: delay of frames to the guest.
    pub fn new(latency: Cycles) -> Self {
        let mut cable = Ends::default();
        let mut config = Config::new(HardwareAddress::Ethernet(GATEWAY_MAC));
        config.random_seed = 0x6b61_6972_6f73;
        let mut interface = Interface::new(config, &mut cable, Instant::ZERO);
        interface.update_ip_addrs(|a| {
            let _ = a.push(IpCidr::new(IpAddress::Ipv4(GATEWAY), NETWORK.prefix));
            for address in GATEWAY6 {
                let _ = a.push(IpCidr::new(IpAddress::Ipv6(address), 64));
            }
        });
        let mut sockets = SocketSet::new(Vec::new());
        let dhcp = sockets.add(dhcp::socket());
        Self {
            cable,
            interface,
            sockets,
            dhcp,
            next_port: 49152,
            opened: Default::default(),
            in_flight: VecDeque::new(),
            latency,
            delivered: 0,
            guest_up: false,
        }
    }

    /// Queues a frame sent by the guest.
    pub fn push(&mut self, frame: Vec<u8>) {
        // An ARP packet from the guest's address shows that its stack is up.
        self.guest_up |= frame.len() >= 42 && frame[12..14] == [8, 6] && frame[28..32] == GUEST.octets();
        self.cable.from_guest.push_back(frame);
    }

    /// Sends an ARP request for the guest's hardware address.
    pub fn probe(&mut self, now: Cycles) {
        let mut f = vec![0xff; 6];
        f.extend(GATEWAY_MAC.0);
        f.extend([8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
        f.extend(GATEWAY_MAC.0);
        f.extend(GATEWAY.octets());
        f.extend([0; 6]);
        f.extend(GUEST.octets());
        self.cable.to_guest.push_back(f);
        self.launch(now);
    }

    fn launch(&mut self, now: Cycles) {
        for frame in self.cable.to_guest.drain(..) {
            // 1 Gb/s: 8 ns per byte, including preamble and gap, after the previous frame.
            let length = time::from_ns(8 * (frame.len() as u64 + 24));
            let before = self.in_flight.back().map_or(0, |f| f.0);
            self.in_flight
                .push_back(((now + self.latency).max(before + length), frame));
        }
    }

    /// Runs the stack on received frames and on pending data of the sockets.
    pub fn poll(&mut self, now: Cycles) {
        // Each call sends at most one segment per connection, so repeat until nothing remains.
        loop {
            let result = self.interface.poll(instant(now), &mut self.cable, &mut self.sockets);
            if !dhcp::serve(self.sockets.get_mut(self.dhcp), &NETWORK) && result == PollResult::None {
                break;
            }
        }
        self.launch(now);
    }

    /// Arrival time of the next frame at the guest.
    pub fn next(&self) -> Option<Cycles> {
        self.in_flight.front().map(|f| f.0)
    }

    /// Takes the next frame that has arrived at the guest by `now`.
    pub fn arrived(&mut self, now: Cycles) -> Option<Vec<u8>> {
        if self.next()? > now {
            return None;
        }
        let (at, frame) = self.in_flight.pop_front()?;
        self.delivered = at;
        Some(frame)
    }

    /// When the stack's next timer expires (retransmission, end of a connection's life).
    fn next_timer(&mut self, now: Cycles) -> Option<Cycles> {
        let at = self.interface.poll_at(instant(now), &self.sockets)?;
        Some(time::from_ns((at.total_micros().max(0) as u64 + 1) * 1000))
    }

    /// Retransmits connection requests that the guest has not answered, when due: it may have been
    /// starting. Nothing else is ever lost.
    pub fn ask_again(&mut self, now: Cycles) {
        let asks = |socket: &Socket| matches!(socket, Socket::Tcp(tcp) if tcp.state() == tcp::State::SynSent);
        if self.sockets.iter().any(|(_, socket)| asks(socket)) && self.next_timer(now).is_some_and(|at| at <= now) {
            self.poll(now);
        }
    }

    /// Opens a connection to a port of the guest at `address`.
    pub fn connect(&mut self, address: IpAddress, port: u16) -> Connection {
        let buffer = || tcp::SocketBuffer::new(vec![0; BUFFER]);
        let mut socket = tcp::Socket::new(buffer(), buffer());
        socket.set_nagle_enabled(false);
        socket.set_ack_delay(None);
        let local = self.next_port;
        self.next_port = if local == u16::MAX { 49152 } else { local + 1 };
        if let Err(e) = socket.connect(self.interface.context(), (address, port), local) {
            log::error!("network: cannot connect to port {port} of {address}: {e}");
        }
        self.sockets.add(socket)
    }

    fn socket(&mut self, c: Connection) -> &mut tcp::Socket<'static> {
        self.sockets.get_mut(c)
    }

    /// State of a connection.
    pub fn state(&mut self, c: Connection) -> State {
        let socket = self.sockets.get_mut::<tcp::Socket>(c);
        let (state, receives) = (socket.state(), socket.can_recv());
        if !matches!(state, tcp::State::SynSent | tcp::State::Closed) {
            self.opened.insert(c);
        }
        match state {
            tcp::State::SynSent | tcp::State::SynReceived | tcp::State::Listen => State::Opening,
            _ if receives => State::Open,
            tcp::State::Established | tcp::State::FinWait1 | tcp::State::FinWait2 => State::Open,
            tcp::State::CloseWait => State::Ended,
            tcp::State::LastAck | tcp::State::Closing => State::Ended,
            tcp::State::TimeWait => State::Closed,
            tcp::State::Closed => State::Reset,
        }
    }

    /// Free space for data to the guest.
    pub fn space(&mut self, c: Connection) -> usize {
        let s = self.socket(c);
        if s.can_send() {
            s.send_capacity() - s.send_queue()
        } else {
            0
        }
    }

    /// Queues data for the guest, at most [`Self::space`] bytes. Returns the number queued.
    pub fn send(&mut self, c: Connection, data: &[u8]) -> usize {
        self.socket(c).send_slice(data).unwrap_or(0)
    }

    /// Passes data of the guest to `sink`, which returns the number of bytes consumed.
    pub fn receive(&mut self, c: Connection, sink: impl FnOnce(&[u8]) -> usize) -> usize {
        self.socket(c)
            .recv(|data| {
                let n = sink(data);
                (n, n)
            })
            .unwrap_or(0)
    }

    /// Whether data of the guest are available.
    pub fn has_data(&mut self, c: Connection) -> bool {
        self.socket(c).can_recv()
    }

    /// Ends the stream to the guest.
    pub fn close(&mut self, c: Connection) {
        self.socket(c).close();
    }

    /// Resets the connection.
    pub fn abort(&mut self, c: Connection) {
        self.socket(c).abort();
    }

    /// Whether all data passed to [`Self::send`] have been acknowledged.
    pub fn flushed(&mut self, c: Connection) -> bool {
        self.socket(c).send_queue() == 0
    }

    /// Removes a connection.
    pub fn remove(&mut self, c: Connection) {
        self.opened.remove(&c);
        self.sockets.remove(c);
    }
}

/// The gateway as the other end of a machine's cable, shared with the host.
pub struct Line(pub Rc<RefCell<Net>>);

impl Cable for Line {
    fn send(&mut self, frames: Vec<Vec<u8>>, now: Cycles) {
        let mut net = self.0.borrow_mut();
        for frame in frames {
            net.push(frame);
        }
        net.poll(now);
    }

    fn next(&self) -> Option<Cycles> {
        self.0.borrow().next()
    }

    fn arrived(&mut self, now: Cycles) -> Option<Vec<u8>> {
        self.0.borrow_mut().arrived(now)
    }

    fn guest_up(&self) -> bool {
        self.0.borrow().guest_up
    }

    fn probe(&mut self, now: Cycles) {
        self.0.borrow_mut().probe(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ARP request of the guest for the gateway's address.
    fn address_request() -> Vec<u8> {
        let mut frame = vec![0xff; 6];
        frame.extend([2, 0, 0, 0, 0, 1, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 1]);
        frame.extend(GUEST.octets());
        frame.extend([0; 6]);
        frame.extend(GATEWAY.octets());
        frame
    }

    #[test]
    fn address_request_is_answered_after_the_latency() {
        let mut n = Net::new(16_000);
        assert!(!n.guest_up);
        n.push(address_request());
        n.poll(1000);
        assert!(n.guest_up);
        assert_eq!(n.next(), Some(17_000));
        assert!(n.arrived(16_999).is_none());
        let reply = n.arrived(17_000).unwrap();
        assert_eq!(reply[20..22], [0, 2]);
        assert_eq!(reply[28..32], GATEWAY.octets());
    }

    /// A starting guest has received nothing.
    #[test]
    fn unanswered_connection_request_is_repeated() {
        let mut n = Net::new(0);
        // Teaches the gateway the guest's hardware address
        n.push(address_request());
        n.poll(0);
        n.connect(GUEST.into(), 1381);
        n.poll(0);
        let ms = time::CPU_HZ / 1000;
        let mut asked = 0;
        for now in (0..8000 * ms).step_by(ms as usize) {
            n.ask_again(now);
            while let Some(frame) = n.arrived(now) {
                // TCP over IPv4, with only SYN set
                asked += usize::from(frame[12..14] == [8, 0] && frame[23] == 6 && frame[47] == 2);
            }
        }
        assert!((3..10).contains(&asked), "{asked}");
    }
}
