//! The stack: an interface, connections, and who of them has something to say.

use core::cell::RefCell;
use core::net::{Ipv4Addr, Ipv6Addr};
use core::num::NonZeroUsize;

use heapless::Vec;
use smoltcp::iface::{self, Interface, SocketHandle, SocketSet, SocketStorage};
use smoltcp::phy::{self, Checksum, DeviceCapabilities, Medium, PacketMeta};
use smoltcp::socket::{dhcpv4, tcp};
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{EthernetAddress, IpCidr, Ipv4Cidr, Ipv6Cidr};

use crate::device::{Receive, Transmit};
use crate::frame::{self, Flow, Segment, ACK, FIN, PSH, RST, SYN};
use crate::segments::{Sender, LONGEST};

/// Sockets that a stack can have.
pub const SOCKETS: usize = 16;
/// Longest frame in bytes, with Ethernet header, without check sequence.
pub const MTU: usize = 1514;
/// Frames received at a time, before the tasks have their turns.
const BURST: usize = 16;
/// A connection does nothing by itself earlier than this after a frame: smoltcp's delay of acknowledgements, which is the
/// shortest of its times.
const SHORTEST: Duration = Duration::from_millis(10);
/// More received bytes than these are acknowledged at once, fewer with the next data or after the delay.
const SEGMENT: usize = 1460;

/// Bit of what is of no connection, behind those of all slots.
const REST: u32 = 1 << SOCKETS;

/// IPv4 address.
#[derive(Clone, Copy, Debug)]
pub enum Ipv4 {
    Dhcp,
    Static(Ipv4Cidr, Option<Ipv4Addr>),
}

/// What the network is.
pub struct Config {
    pub mac: [u8; 6],
    pub ipv4: Ipv4,
    pub ipv6: Ipv6Cidr,
    pub route6: Option<Ipv6Addr>,
    /// Spreads sequence numbers.
    pub seed: u64,
}

/// Room for one socket of smoltcp.
pub type Place = [SocketStorage<'static>; 1];

/// Whose a socket is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A task, which is busy with a client, or has not asked for one yet.
    Task,
    /// A task waits: the next client may have it.
    Nobody,
}

pub(crate) struct Slot {
    /// The socket, and nothing else.
    set: SocketSet<'static>,
    handle: SocketHandle,
    port: u16,
    pub owner: Owner,
    flow: Flow,
    /// Bytes received since a frame was sent.
    unacknowledged: usize,
}

impl Slot {
    pub fn socket(&mut self) -> &mut tcp::Socket<'static> {
        self.set.get_mut(self.handle)
    }
}

/// The stack.
pub struct Stack(pub(crate) RefCell<Inner>);

pub(crate) struct Inner {
    interface: Interface,
    pub slots: Vec<Slot, SOCKETS>,
    /// The DHCP client, if there is one; sees all that is of no connection.
    rest: SocketSet<'static>,
    dhcp: Option<SocketHandle>,
    /// Who may have something to say: a bit for each slot, and [`REST`].
    pub due: u32,
    /// Slot of the newest frame.
    newest: usize,
    /// Nothing is due by itself earlier than this.
    deadline: Option<Instant>,
}

/// Gives the interface one frame, or none, and sends its answer.
struct Once<'a, T> {
    frame: Option<&'a [u8]>,
    sender: &'a mut Sender<T>,
    /// Flags of the TCP segment sent, or 0 for anything else.
    sent: Option<u8>,
}

struct RxToken<'a>(&'a [u8]);
struct TxToken<'a, T> {
    sender: &'a mut Sender<T>,
    sent: &'a mut Option<u8>,
    size: Option<usize>,
}

impl<T: Transmit> phy::Device for Once<'_, T> {
    type RxToken<'a>
        = RxToken<'a>
    where
        Self: 'a;
    type TxToken<'a>
        = TxToken<'a, T>
    where
        Self: 'a;

    fn receive(&mut self, now: Instant) -> Option<(RxToken<'_>, TxToken<'_, T>)> {
        let frame = self.frame.take()?;
        Some((RxToken(frame), self.transmit(now)?))
    }

    fn transmit(&mut self, _: Instant) -> Option<TxToken<'_, T>> {
        self.sender.ready().then_some(TxToken {
            sender: self.sender,
            sent: &mut self.sent,
            size: None,
        })
    }

    fn capabilities(&self) -> DeviceCapabilities {
        capabilities()
    }
}

fn capabilities() -> DeviceCapabilities {
    let mut capabilities = DeviceCapabilities::default();
    capabilities.medium = Medium::Ethernet;
    capabilities.max_transmission_unit = MTU;
    capabilities.checksum.ipv4 = Checksum::None;
    capabilities.checksum.udp = Checksum::None;
    capabilities.checksum.tcp = Checksum::None;
    // (smoltcp drops long packets of IPv6.)
    capabilities.segmentation.tcpv4 = NonZeroUsize::new(LONGEST);
    capabilities
}

impl phy::RxToken for RxToken<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(self.0)
    }
}

impl<T: Transmit> phy::TxToken for TxToken<'_, T> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, f: F) -> R {
        let sent = self.sent;
        self.sender.send(length, self.size, |frame| {
            let result = f(frame);
            *sent = Some(frame::segment(frame).map_or(0, |segment| match segment.payload {
                0 => segment.flags | PSH,
                _ => segment.flags,
            }));
            result
        })
    }

    fn set_meta(&mut self, meta: PacketMeta) {
        self.size = meta.segmentation_offload_size.map(|size| usize::from(size.get()));
    }
}

/// For the interface's construction.
struct Capabilities;

impl phy::Device for Capabilities {
    type RxToken<'a> = RxToken<'a>;
    type TxToken<'a> = NoToken;

    fn receive(&mut self, _: Instant) -> Option<(RxToken<'_>, NoToken)> {
        None
    }

    fn transmit(&mut self, _: Instant) -> Option<NoToken> {
        None
    }

    fn capabilities(&self) -> DeviceCapabilities {
        capabilities()
    }
}

enum NoToken {}

impl phy::TxToken for NoToken {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, _: usize, _: F) -> R {
        match self {}
    }
}

impl Stack {
    /// A stack without sockets. `dhcp`: room for the DHCP client.
    pub fn new(config: Config, dhcp: &'static mut Place, now: Instant) -> Self {
        let mut settings = iface::Config::new(EthernetAddress(config.mac).into());
        settings.random_seed = config.seed;
        let mut interface = Interface::new(settings, &mut Capabilities, now);
        let mut rest = SocketSet::new(&mut dhcp[..]);
        interface.update_ip_addrs(|addresses| {
            // There is room for two.
            let _ = addresses.push(IpCidr::Ipv6(config.ipv6));
        });
        if let Some(route) = config.route6 {
            // There is room for two.
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
            due: REST,
            newest: 0,
            deadline: Some(now),
        }))
    }

    /// Place for a socket: its number.
    pub(crate) fn add(
        &self,
        port: u16,
        place: &'static mut Place,
        receive: &'static mut [u8],
        transmit: &'static mut [u8],
    ) -> usize {
        let mut inner = self.0.borrow_mut();
        let (receive, transmit) = (tcp::SocketBuffer::new(receive), tcp::SocketBuffer::new(transmit));
        let mut socket = tcp::Socket::new(receive, transmit);
        socket.set_nagle_enabled(false);
        let mut set = SocketSet::new(&mut place[..]);
        let handle = set.add(socket);
        let slot = Slot {
            set,
            handle,
            port,
            owner: Owner::Task,
            flow: Flow::NONE,
            unacknowledged: 0,
        };
        let index = inner.slots.len();
        assert!(inner.slots.push(slot).is_ok(), "a stack has {SOCKETS} sockets at most");
        index
    }

    /// The cable is connected again: what DHCP has given may not be right any more.
    pub fn link_up(&self) {
        let inner = &mut *self.0.borrow_mut();
        if let Some(handle) = inner.dhcp {
            inner.rest.get_mut::<dhcpv4::Socket>(handle).reset();
            inner.due |= REST;
        }
    }

    /// Whether a socket has something to say.
    pub fn is_due(&self) -> bool {
        self.0.borrow().due != 0
    }

    /// When [`poll`](Self::poll) must be called at the latest.
    pub fn deadline(&self) -> Option<Instant> {
        self.0.borrow().deadline
    }

    /// Sends what sockets have to say, then takes frames. True if it is to be called again after the tasks that it has
    /// woken; otherwise when a frame has come, when there is room to send again, or at the [`deadline`](Self::deadline).
    pub fn poll(&self, now: Instant, receive: &mut impl Receive, sender: &mut Sender<impl Transmit>) -> bool {
        let inner = &mut *self.0.borrow_mut();
        if inner.deadline.is_some_and(|deadline| deadline <= now) {
            inner.look_at_timers(now);
        }
        let blocked = !inner.send(now, sender);
        let more = inner.receive(now, receive, sender);
        sender.device.flush();
        !blocked && (more || inner.due != 0)
    }
}

impl Inner {
    /// Finds out who is due by itself, and when the next is.
    fn look_at_timers(&mut self, now: Instant) {
        let interface = &mut self.interface;
        let mut look = |set: &SocketSet| interface.poll_at(now, set);
        let mut deadline: Option<Instant> = None;
        let mut note = |who: u32, at: Option<Instant>| match at {
            Some(at) if at <= now => self.due |= who,
            Some(at) => deadline = Some(deadline.map_or(at, |deadline| deadline.min(at))),
            None => {}
        };
        note(REST, look(&self.rest));
        for (index, slot) in self.slots.iter().enumerate() {
            note(1 << index, look(&slot.set));
        }
        self.deadline = deadline;
    }

    /// Something has changed that may have a consequence later.
    fn touch(&mut self, now: Instant) {
        let soon = now + SHORTEST;
        if self.deadline.is_none_or(|deadline| deadline > soon) {
            self.deadline = Some(soon);
        }
    }

    /// Sends what is due. False if there is no room for it.
    fn send(&mut self, now: Instant, sender: &mut Sender<impl Transmit>) -> bool {
        while self.due & !REST != 0 {
            let index = self.due.trailing_zeros() as usize;
            self.touch(now);
            let slot = &mut self.slots[index];
            loop {
                if !sender.ready() {
                    return false;
                }
                let mut device = Once {
                    frame: None,
                    sender,
                    sent: None,
                };
                self.interface.poll_egress(now, &mut device, &mut slot.set);
                match device.sent {
                    // More data are waiting behind these.
                    Some(flags) if flags & (ACK | PSH | FIN | SYN | RST) == ACK => slot.unacknowledged = 0,
                    Some(_) => {
                        slot.unacknowledged = 0;
                        break;
                    }
                    None => break,
                }
            }
            self.due &= !(1 << index);
        }
        if self.due & REST != 0 {
            if !sender.ready() {
                return false;
            }
            self.due = 0;
            self.touch(now);
            let mut device = Once {
                frame: None,
                sender,
                sent: None,
            };
            self.interface.poll_egress(now, &mut device, &mut self.rest);
            self.follow_dhcp();
        }
        true
    }

    /// Takes frames. True if there may be more.
    fn receive(&mut self, now: Instant, receive: &mut impl Receive, sender: &mut Sender<impl Transmit>) -> bool {
        for _ in 0..BURST {
            // Every frame may need an answer.
            if !sender.ready() {
                return false;
            }
            let Some(frame) = receive.frame() else {
                return false;
            };
            self.take(now, frame, sender);
            receive.release();
        }
        true
    }

    fn take(&mut self, now: Instant, frame: &[u8], sender: &mut Sender<impl Transmit>) {
        self.touch(now);
        let segment = frame::segment(frame);
        let mut device = Once {
            frame: Some(frame),
            sender,
            sent: None,
        };
        let Some((segment, index)) = segment.and_then(|segment| Some((segment, self.find(&segment)?))) else {
            self.interface.poll_ingress_single(now, &mut device, &mut self.rest);
            self.follow_dhcp();
            // An address that somebody waits for may be known now.
            self.due |= (1 << self.slots.len()) - 1;
            if self.dhcp.is_some() {
                self.due |= REST;
            }
            return;
        };
        let slot = &mut self.slots[index];
        self.interface.poll_ingress_single(now, &mut device, &mut slot.set);
        if device.sent.is_some() {
            slot.unacknowledged = 0;
        }
        slot.unacknowledged += segment.payload;
        if segment.is_plain() {
            // It may have made room at the client for what is still to be sent.
            if slot.unacknowledged > SEGMENT || slot.socket().send_queue() > 0 {
                self.due |= 1 << index;
            }
        } else {
            self.due |= 1 << index;
            if slot.socket().state() == tcp::State::Listen {
                // It was no client, after all.
                slot.socket().abort();
                slot.owner = Owner::Nobody;
            }
        }
    }

    /// The slot that a segment belongs to. One that opens a connection gets a slot, if one is free.
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

    /// A free slot of the port, which listens now.
    fn open(&mut self, segment: &Segment) -> Option<usize> {
        let port = segment.flow.local_port();
        let free = |slot: &Slot| slot.owner == Owner::Nobody && slot.port == port;
        let index = self.slots.iter().position(free)?;
        let slot = &mut self.slots[index];
        slot.socket().listen(port).ok()?;
        slot.flow = segment.flow;
        slot.owner = Owner::Task;
        slot.unacknowledged = 0;
        Some(index)
    }

    /// Takes over what DHCP says.
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
            // There is room for two.
            let _ = addresses.insert(0, IpCidr::Ipv4(address));
        }
    });
    let routes = interface.routes_mut();
    routes.remove_default_ipv4_route();
    if let Some(route) = route {
        // There is room for two.
        let _ = routes.add_default_ipv4_route(route);
    }
}
