//! The stack: an interface, connections, and which of them are due to send.

use core::cell::RefCell;
use core::net::Ipv4Addr;
#[cfg(feature = "ipv6")]
use core::net::Ipv6Addr;

use heapless::Vec;
use smoltcp::iface::{self, Interface, SocketHandle, SocketSet, SocketStorage};
use smoltcp::socket::tcp::PlainDispatch;
use smoltcp::socket::{dhcpv4, tcp};
use smoltcp::time::{Duration, Instant};
#[cfg(feature = "ipv6")]
use smoltcp::wire::Ipv6Cidr;
use smoltcp::wire::{EthernetAddress, IpCidr, Ipv4Cidr};

use crate::device::{Receive, Transmit};
use crate::frame::{self, Flow, Segment};
use crate::once::{Capabilities, Once, Sent};
use crate::plain::Plain;

/// Most sockets of a stack.
pub const SOCKETS: usize = 16;
/// Frames received per call, before the tasks run.
const BURST: usize = 16;
/// The earliest time after a frame at which a connection acts by itself: smoltcp's acknowledgement
/// delay, the shortest of its timers.
const SHORTEST: Duration = Duration::from_millis(10);
/// More received bytes than this are acknowledged at once, fewer with the next data or after the
/// delay.
const SEGMENT: usize = 1460;

/// The bit for all traffic without a connection, after those of all slots.
const REST: u32 = 1 << SOCKETS;

/// IPv4 address.
#[derive(Clone, Copy, Debug)]
pub enum Ipv4 {
    Dhcp,
    Static(Ipv4Cidr, Option<Ipv4Addr>),
}

/// The network configuration.
pub struct Config {
    pub mac: [u8; 6],
    pub ipv4: Ipv4,
    #[cfg(feature = "ipv6")]
    pub ipv6: Ipv6Cidr,
    #[cfg(feature = "ipv6")]
    pub route6: Option<Ipv6Addr>,
    /// Varies sequence numbers.
    pub seed: u64,
    /// Whether plain segments take the fast path ([`crate::plain`]), which affects only
    /// performance.
    pub fast_path: bool,
}

/// Storage of one smoltcp socket.
pub type SocketMemory = [SocketStorage<'static>; 1];

/// Owner of a socket.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A task, which is busy with a client, or has not asked for one yet.
    Task,
    /// A task is waiting: the next client may have the socket.
    Waiting,
}

pub(crate) struct Slot {
    /// A set with only this socket.
    set: SocketSet<'static>,
    handle: SocketHandle,
    port: u16,
    pub owner: Owner,
    flow: Flow,
    /// Headers for the fast path, once smoltcp has sent a frame.
    plain: Option<Plain>,
    /// Bytes received since a frame was sent.
    unacknowledged: usize,
    /// Number of frames that took the fast path.
    #[cfg(test)]
    pub fast: usize,
}

impl Slot {
    pub fn socket(&mut self) -> &mut tcp::Socket<'static> {
        self.set.get_mut(self.handle)
    }

    /// Sends the next segment on the fast path, if possible; returns whether more is waiting.
    #[inline(always)]
    fn send_plain(&mut self, now: Instant, device: &mut impl Transmit) -> PlainDispatch<bool> {
        let Some(plain) = &self.plain else {
            return PlainDispatch::Refused;
        };
        let sent = plain.dispatch(self.set.get_mut(self.handle), now, device);
        if let PlainDispatch::Sent(_) = sent {
            self.unacknowledged = 0;
            #[cfg(test)]
            {
                self.fast += 1;
            }
        }
        sent
    }

    /// Records a frame sent by smoltcp, and its headers if `keep`. True if nothing more is waiting.
    fn note(&mut self, sent: Sent, now: Instant, keep: bool) -> bool {
        self.unacknowledged = 0;
        let headers = sent.headers.filter(|_| keep);
        let plain = headers.and_then(|headers| Plain::from_sent(&headers, &self.flow, now));
        self.plain = plain.or_else(|| self.plain.take());
        sent.is_last()
    }
}

/// The stack.
pub struct Stack(pub(crate) RefCell<Inner>);

pub(crate) struct Inner {
    interface: Interface,
    pub slots: Vec<Slot, SOCKETS>,
    /// The DHCP client, if there is one; receives all traffic without a connection.
    rest: SocketSet<'static>,
    dhcp: Option<SocketHandle>,
    fast_path: bool,
    /// Sockets that may be due to send: a bit for each slot, and [`REST`].
    pub due: u32,
    /// Slot of the newest frame.
    newest: usize,
    /// No timer expires earlier than this.
    deadline: Option<Instant>,
}

impl Stack {
    /// Creates a stack without sockets. `dhcp`: storage of the DHCP client.
    pub fn new(config: Config, dhcp: &'static mut SocketMemory, now: Instant) -> Self {
        let mut settings = iface::Config::new(EthernetAddress(config.mac).into());
        settings.random_seed = config.seed;
        let mut interface = Interface::new(settings, &mut Capabilities, now);
        let mut rest = SocketSet::new(&mut dhcp[..]);
        #[cfg(feature = "ipv6")]
        interface.update_ip_addrs(|addresses| {
            // Cannot fail: there is space for two.
            let _ = addresses.push(IpCidr::Ipv6(config.ipv6));
        });
        #[cfg(feature = "ipv6")]
        if let Some(route) = config.route6 {
            // Cannot fail: there is space for two.
            let _ = interface.routes_mut().add_default_ipv6_route(route);
        }
        let dhcp = match config.ipv4 {
            Ipv4::Dhcp => Some(rest.add(dhcpv4::Socket::new())),
            Ipv4::Static(address, route) => {
                set_ipv4(&mut interface, Some(address), route);
                None
            }
        };
        Self(RefCell::new(Inner {
            interface,
            slots: Vec::new(),
            rest,
            dhcp,
            fast_path: config.fast_path,
            due: REST,
            newest: 0,
            deadline: Some(now),
        }))
    }

    /// Adds a socket; returns its slot number.
    pub(crate) fn add(
        &self,
        port: u16,
        memory: &'static mut SocketMemory,
        receive: &'static mut [u8],
        transmit: &'static mut [u8],
    ) -> usize {
        let mut inner = self.0.borrow_mut();
        let (receive, transmit) = (tcp::SocketBuffer::new(receive), tcp::SocketBuffer::new(transmit));
        let mut socket = tcp::Socket::new(receive, transmit);
        socket.set_nagle_enabled(false);
        let mut set = SocketSet::new(&mut memory[..]);
        let handle = set.add(socket);
        let slot = Slot {
            set,
            handle,
            port,
            owner: Owner::Task,
            flow: Flow::NONE,
            plain: None,
            unacknowledged: 0,
            #[cfg(test)]
            fast: 0,
        };
        let index = inner.slots.len();
        assert!(inner.slots.push(slot).is_ok(), "a stack has {SOCKETS} sockets at most");
        index
    }

    /// Restarts DHCP when the cable is connected again, as the old lease may be invalid.
    pub fn link_up(&self) {
        let inner = &mut *self.0.borrow_mut();
        if let Some(handle) = inner.dhcp {
            inner.rest.get_mut::<dhcpv4::Socket>(handle).reset();
            inner.due |= REST;
        }
    }

    /// Whether a socket is due to send.
    pub fn is_due(&self) -> bool {
        self.0.borrow().due != 0
    }

    /// When [`poll`](Self::poll) must be called at the latest.
    pub fn deadline(&self) -> Option<Instant> {
        self.0.borrow().deadline
    }

    /// Sends for sockets that are due, then receives frames. True if it is to be called again after
    /// the tasks that it has woken; otherwise when a frame arrives, when there is space to send
    /// again, or at the [`deadline`](Self::deadline).
    pub fn poll(&self, now: Instant, receive: &mut impl Receive, device: &mut impl Transmit) -> bool {
        let inner = &mut *self.0.borrow_mut();
        if inner.deadline.is_some_and(|deadline| deadline <= now) {
            inner.check_timers(now);
        }
        let blocked = !inner.send(now, device);
        let more = inner.receive(now, receive, device);
        device.flush();
        !blocked && (more || inner.due != 0)
    }
}

impl Inner {
    /// Determines the sockets whose timers have expired, and the next deadline.
    fn check_timers(&mut self, now: Instant) {
        let interface = &mut self.interface;
        let mut poll_at = |set: &SocketSet| interface.poll_at(now, set);
        let mut deadline: Option<Instant> = None;
        let mut note = |mask: u32, at: Option<Instant>| match at {
            Some(at) if at <= now => self.due |= mask,
            Some(at) => deadline = Some(deadline.map_or(at, |deadline| deadline.min(at))),
            None => {}
        };
        note(REST, poll_at(&self.rest));
        for (index, slot) in self.slots.iter().enumerate() {
            note(1 << index, poll_at(&slot.set));
        }
        self.deadline = deadline;
    }

    /// Makes sure that a timer that may have been started is seen.
    fn touch(&mut self, now: Instant) {
        let soon = now + SHORTEST;
        if self.deadline.is_none_or(|deadline| deadline > soon) {
            self.deadline = Some(soon);
        }
    }

    /// Sends for sockets that are due. False if there is no space.
    fn send(&mut self, now: Instant, device: &mut impl Transmit) -> bool {
        while self.due & !REST != 0 {
            let index = self.due.trailing_zeros() as usize;
            self.touch(now);
            let slot = &mut self.slots[index];
            loop {
                if !device.ready() {
                    return false;
                }
                match slot.send_plain(now, device) {
                    PlainDispatch::Nothing | PlainDispatch::Sent(false) => break,
                    PlainDispatch::Sent(true) => continue,
                    PlainDispatch::Refused => {}
                }
                let mut once = Once {
                    frame: None,
                    device,
                    sent: None,
                };
                self.interface.poll_egress(now, &mut once, &mut slot.set);
                let Some(sent) = once.sent else { break };
                if slot.note(sent, now, self.fast_path) {
                    break;
                }
            }
            self.due &= !(1 << index);
        }
        if self.due & REST != 0 {
            if !device.ready() {
                return false;
            }
            self.due = 0;
            self.touch(now);
            let mut once = Once {
                frame: None,
                device,
                sent: None,
            };
            self.interface.poll_egress(now, &mut once, &mut self.rest);
            self.follow_dhcp();
            self.clear_headers();
        }
        true
    }

    /// Receives frames. True if there may be more.
    fn receive(&mut self, now: Instant, receive: &mut impl Receive, device: &mut impl Transmit) -> bool {
        for _ in 0..BURST {
            // Every frame may need an answer.
            if !device.ready() {
                return false;
            }
            let Some(frame) = receive.frame() else {
                return false;
            };
            self.take(now, frame, device);
            receive.release();
        }
        true
    }

    fn take(&mut self, now: Instant, frame: &[u8], device: &mut impl Transmit) {
        self.touch(now);
        // Usually a frame belongs to the same connection as the previous one.
        if self.take_plain(self.newest, now, frame) {
            return;
        }
        let segment = frame::segment(frame);
        let mut once = Once {
            frame: Some(frame),
            device,
            sent: None,
        };
        let Some((segment, index)) = segment.and_then(|segment| Some((segment, self.find(&segment)?))) else {
            self.interface.poll_ingress_single(now, &mut once, &mut self.rest);
            self.follow_dhcp();
            self.clear_headers();
            // A pending address resolution may have completed.
            self.due |= (1 << self.slots.len()) - 1;
            if self.dhcp.is_some() {
                self.due |= REST;
            }
            return;
        };
        if self.take_plain(index, now, frame) {
            return;
        }
        let slot = &mut self.slots[index];
        self.interface.poll_ingress_single(now, &mut once, &mut slot.set);
        if let Some(plain) = &mut slot.plain {
            plain.prove(now);
        }
        if let Some(sent) = once.sent {
            slot.note(sent, now, self.fast_path);
        }
        slot.unacknowledged += segment.payload;
        if segment.is_plain() {
            self.follow(index);
        } else {
            self.due |= 1 << index;
            if slot.socket().state() == tcp::State::Listen {
                // It was not a client.
                slot.socket().abort();
                slot.owner = Owner::Waiting;
            }
        }
    }

    /// Processes a frame on the fast path, if it belongs to this slot and is plain.
    #[inline(always)]
    fn take_plain(&mut self, index: usize, now: Instant, frame: &[u8]) -> bool {
        let Some(slot) = self.slots.get_mut(index) else {
            return false;
        };
        let Some(segment) = slot.plain.as_ref().and_then(|plain| plain.segment(frame, now)) else {
            return false;
        };
        let socket = slot.set.get_mut::<tcp::Socket>(slot.handle);
        if !socket.process_plain(now, &segment) {
            return false;
        }
        slot.unacknowledged += segment.payload.len();
        #[cfg(test)]
        {
            slot.fast += 1;
        }
        // As in [`Self::follow`].
        if slot.unacknowledged > SEGMENT || socket.send_queue() > 0 {
            self.due |= 1 << index;
        }
        true
    }

    /// Marks the slot as due if a segment that changed only numbers requires it.
    fn follow(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        // The segment may have made space at the client for pending data.
        if slot.unacknowledged > SEGMENT || slot.socket().send_queue() > 0 {
            self.due |= 1 << index;
        }
    }

    /// Drops the saved headers, as addresses may have changed: smoltcp composes the next frame of
    /// each connection.
    fn clear_headers(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.plain = None);
    }

    /// The slot of a segment. One that requests a connection is assigned a free slot.
    fn find(&mut self, segment: &Segment) -> Option<usize> {
        let belongs = |slot: &Slot| slot.flow == segment.flow;
        let index = match self.slots.get(self.newest) {
            Some(slot) if belongs(slot) => Some(self.newest),
            _ => self.slots.iter().position(belongs),
        };
        let index = match index {
            Some(index) if !segment.opens() || self.slots[index].socket().is_open() => index,
            _ if segment.opens() => self.open(segment)?,
            _ => return None,
        };
        self.newest = index;
        Some(index)
    }

    /// Makes a free slot of the port listen.
    fn open(&mut self, segment: &Segment) -> Option<usize> {
        let port = segment.flow.local_port();
        let free = |slot: &Slot| slot.owner == Owner::Waiting && slot.port == port;
        let index = self.slots.iter().position(free)?;
        let slot = &mut self.slots[index];
        slot.socket().listen(port).ok()?;
        slot.flow = segment.flow;
        slot.plain = None;
        slot.owner = Owner::Task;
        slot.unacknowledged = 0;
        Some(index)
    }

    /// Applies the DHCP client's results.
    fn follow_dhcp(&mut self) {
        let Some(handle) = self.dhcp else { return };
        match self.rest.get_mut::<dhcpv4::Socket>(handle).poll() {
            Some(dhcpv4::Event::Configured(lease)) => {
                log::info!("network: {} by DHCP", lease.address);
                set_ipv4(&mut self.interface, Some(lease.address), lease.router);
            }
            Some(dhcpv4::Event::Deconfigured) => set_ipv4(&mut self.interface, None, None),
            None => {}
        }
    }
}

fn set_ipv4(interface: &mut Interface, address: Option<Ipv4Cidr>, route: Option<Ipv4Addr>) {
    interface.update_ip_addrs(|addresses| {
        addresses.retain(|address| !matches!(address, IpCidr::Ipv4(_)));
        if let Some(address) = address {
            // Cannot fail: there is space for two.
            let _ = addresses.insert(0, IpCidr::Ipv4(address));
        }
    });
    let routes = interface.routes_mut();
    routes.remove_default_ipv4_route();
    if let Some(route) = route {
        // Cannot fail: there is space for two.
        let _ = routes.add_default_ipv4_route(route);
    }
}
