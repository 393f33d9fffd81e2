//! Both ends of the network, its effect on frames, and the time.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use kairos_net::{Config, Instant, Ipv4, Ipv4Cidr, Ipv6Cidr, Socket, SocketStorage, Stack};
use smoltcp::iface::{self, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{self, ChecksumCapabilities, DeviceCapabilities, Medium};
use smoltcp::socket::tcp;
use smoltcp::wire::{EthernetAddress, IpAddress, IpCidr, Ipv4Address, Ipv6Address};

pub const PORT: u16 = 1381;
const OURS: Ipv4Address = Ipv4Address::new(10, 0, 2, 15);
const OURS6: Ipv6Address = Ipv6Address::new(0xfd00, 0, 0, 0, 0, 0, 0, 15);
const THEIRS: Ipv4Address = Ipv4Address::new(10, 0, 2, 2);
const THEIRS6: Ipv6Address = Ipv6Address::new(0xfd00, 0, 0, 0, 0, 0, 0, 2);

/// A small generator (xorshift), so that a case is determined by its seed.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit.max(1)
    }
}

/// The network's effect on frames, and the buffers of both ends.
#[derive(Clone, Copy, Debug)]
pub struct Conditions {
    pub seed: u64,
    /// Frames out of 1000 that are lost, and that are duplicated.
    pub lost: u64,
    pub twice: u64,
    /// Minimum delay in microseconds, and its variation, which reorders frames.
    pub delay: u64,
    pub spread: u64,
    /// Frames that our controller sends per 100 microseconds.
    pub space: usize,
    /// Size of our sockets' buffers in bytes.
    pub buffer: usize,
    pub ipv6: bool,
}

pub const GOOD: Conditions = Conditions {
    seed: 1,
    lost: 0,
    twice: 0,
    delay: 20,
    spread: 0,
    space: 64,
    buffer: 64 * 1024,
    ipv6: false,
};

/// One direction of the cable.
#[derive(Default)]
struct Wire(Vec<(i64, Vec<u8>)>);

impl Wire {
    fn put(&mut self, now: i64, frame: Vec<u8>, random: &mut Random, conditions: &Conditions) {
        if random.below(1000) < conditions.lost {
            return;
        }
        let copies = if random.below(1000) < conditions.twice { 2 } else { 1 };
        for _ in 0..copies {
            let at = now + (conditions.delay + random.below(conditions.spread + 1)) as i64;
            self.0.push((at, frame.clone()));
        }
        self.0.sort_by_key(|(at, _)| *at);
    }

    fn arrived(&mut self, now: i64) -> Vec<Vec<u8>> {
        let count = self.0.iter().take_while(|(at, _)| *at <= now).count();
        self.0.drain(..count).map(|(_, frame)| frame).collect()
    }

    fn next(&self) -> Option<i64> {
        self.0.first().map(|(at, _)| *at)
    }
}

struct Received(VecDeque<Vec<u8>>);

impl kairos_net::Receive for Received {
    fn frame(&mut self) -> Option<&[u8]> {
        self.0.front().map(Vec::as_slice)
    }

    fn release(&mut self) {
        self.0.pop_front();
    }
}

/// Our controller's transmit half, with space for some frames.
struct Sending {
    frames: Vec<Vec<u8>>,
    space: usize,
    /// Whether the stack has to be notified when there is space again.
    full: bool,
}

impl kairos_net::Transmit for Sending {
    fn ready(&mut self) -> bool {
        self.full = self.frames.len() >= self.space;
        !self.full
    }

    fn send<R>(&mut self, length: usize, fill: impl FnOnce(&mut [u8]) -> R) -> R {
        assert!(length <= 1514 && self.frames.len() < self.space);
        let mut frame = vec![0; length];
        let result = fill(&mut frame);
        self.frames.push(frame);
        result
    }

    fn flush(&mut self) {}
}

/// The other end.
#[derive(Default)]
struct Theirs {
    received: VecDeque<Vec<u8>>,
    sent: Vec<Vec<u8>>,
}

struct Frame(Vec<u8>);
struct Out<'a>(&'a mut Vec<Vec<u8>>);

impl phy::RxToken for Frame {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(&self.0)
    }
}

impl phy::TxToken for Out<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, f: F) -> R {
        let mut frame = vec![0; length];
        let result = f(&mut frame);
        self.0.push(frame);
        result
    }
}

impl phy::Device for Theirs {
    type RxToken<'a> = Frame;
    type TxToken<'a> = Out<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Frame, Out<'_>)> {
        Some((Frame(self.received.pop_front()?), Out(&mut self.sent)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Out<'_>> {
        Some(Out(&mut self.sent))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = 1514;
        // Like our controller; only what the other stack is responsible for is checked.
        let checked = ChecksumCapabilities::default();
        capabilities.checksum = ChecksumCapabilities::ignored();
        capabilities.checksum.icmpv4 = checked.icmpv4;
        capabilities.checksum.icmpv6 = checked.icmpv6;
        capabilities
    }
}

/// A task's flag that is set when it is woken.
pub struct Woken(pub AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

pub struct Task {
    future: Pin<Box<dyn Future<Output = ()>>>,
    pub woken: Arc<Woken>,
    done: bool,
}

pub struct World {
    pub conditions: Conditions,
    random: Random,
    pub now: i64,
    stack: &'static Stack,
    received: Received,
    sending: Sending,
    again: bool,
    pub tasks: Vec<Task>,
    to_us: Wire,
    to_them: Wire,
    theirs: Theirs,
    interface: Interface,
    pub sockets: SocketSet<'static>,
    next_port: u16,
    /// When our controller has space for more frames.
    refill: i64,
    /// Longest time between steps.
    pub tick: i64,
}

impl World {
    pub fn new(conditions: Conditions) -> Self {
        let config = Config {
            mac: [2, 0, 0, 0, 0, 1],
            ipv4: Ipv4::Static(Ipv4Cidr::new(OURS, 24), None),
            ipv6: Ipv6Cidr::new(OURS6, 64),
            route6: None,
            seed: conditions.seed,
            fast_path: true,
        };
        let place = Box::leak(Box::new([SocketStorage::EMPTY]));
        let stack = Box::leak(Box::new(Stack::new(config, place, Instant::ZERO)));
        let mut theirs = Theirs::default();
        let mut config = iface::Config::new(EthernetAddress([2, 0, 0, 0, 0, 2]).into());
        config.random_seed = conditions.seed;
        let mut interface = Interface::new(config, &mut theirs, Instant::ZERO);
        interface.update_ip_addrs(|addresses| {
            addresses.push(IpCidr::new(THEIRS.into(), 24)).unwrap();
            addresses.push(IpCidr::new(THEIRS6.into(), 64)).unwrap();
        });
        let sending = Sending {
            frames: vec![],
            space: conditions.space,
            full: false,
        };
        Self {
            conditions,
            random: Random(conditions.seed | 1),
            now: 0,
            stack,
            received: Received(VecDeque::new()),
            sending,
            again: true,
            tasks: vec![],
            to_us: Wire::default(),
            to_them: Wire::default(),
            theirs,
            interface,
            sockets: SocketSet::new(vec![]),
            next_port: 49152,
            refill: 0,
            // The caller must notice if nothing at all is in flight.
            tick: 3_600_000_000,
        }
    }

    fn instant(&self) -> Instant {
        Instant::from_micros(self.now)
    }

    /// Creates one of our sockets.
    pub fn socket(&self) -> Socket {
        let buffer = || Box::leak(vec![0; self.conditions.buffer].into_boxed_slice());
        let place = Box::leak(Box::new([SocketStorage::EMPTY]));
        Socket::new(self.stack, PORT, place, buffer(), buffer())
    }

    pub fn spawn(&mut self, future: impl Future<Output = ()> + 'static) {
        self.tasks.push(Task {
            future: Box::pin(future),
            woken: Arc::new(Woken(AtomicBool::new(true))),
            done: false,
        });
    }

    /// Creates a client's socket and connects it.
    pub fn connect(&mut self) -> SocketHandle {
        let buffer = || tcp::SocketBuffer::new(vec![0; 32 * 1024]);
        let mut socket = tcp::Socket::new(buffer(), buffer());
        socket.set_nagle_enabled(false);
        self.next_port += 1;
        let address: IpAddress = if self.conditions.ipv6 {
            OURS6.into()
        } else {
            OURS.into()
        };
        socket
            .connect(self.interface.context(), (address, PORT), self.next_port)
            .unwrap();
        self.sockets.add(socket)
    }

    pub fn client(&mut self, handle: SocketHandle) -> &mut tcp::Socket<'static> {
        self.sockets.get_mut(handle)
    }

    /// Runs our side as the firmware does: tasks that were woken, then the stack.
    fn run_ours(&mut self, mut called: bool) {
        loop {
            for task in self.tasks.iter_mut().filter(|task| !task.done) {
                if task.woken.0.swap(false, Ordering::Relaxed) {
                    let waker = Waker::from(task.woken.clone());
                    task.done = task.future.as_mut().poll(&mut Context::from_waker(&waker)) == Poll::Ready(());
                }
            }
            if !called && !self.stack.is_due() {
                break;
            }
            let now = Instant::from_micros(self.now);
            called = self.stack.poll(now, &mut self.received, &mut self.sending);
            if self.sending.full && !called {
                break;
            }
        }
        self.again = called;
    }

    /// Executes one step: everything that is due on both sides; then advances the time to the next
    /// deadline.
    pub fn step(&mut self) {
        let (now, instant) = (self.now, self.instant());
        let mut called = self.stack.deadline().is_some_and(|deadline| deadline <= instant) || self.again;
        for frame in self.to_us.arrived(now) {
            self.received.0.push_back(frame);
            called = true;
        }
        called |= self.sending.full;
        self.run_ours(called);
        for frame in self.to_them.arrived(now) {
            self.theirs.received.push_back(frame);
        }
        self.interface.poll(instant, &mut self.theirs, &mut self.sockets);
        for frame in std::mem::take(&mut self.theirs.sent) {
            self.to_us.put(now, frame, &mut self.random, &self.conditions);
        }
        if now >= self.refill {
            self.refill = now + 100;
            for frame in self.sending.frames.drain(..) {
                self.to_them.put(now, frame, &mut self.random, &self.conditions);
            }
        }
        let unsent = (!self.sending.frames.is_empty() || self.sending.full).then_some(self.refill);
        let theirs = self.interface.poll_at(instant, &self.sockets);
        let ours = self.stack.deadline();
        let next = [ours, theirs].into_iter().flatten().map(|at| at.total_micros());
        let next = next.chain([self.to_us.next(), self.to_them.next(), unsent].into_iter().flatten());
        self.now = next.min().unwrap_or(i64::MAX).clamp(now + 1, now + self.tick);
    }

    /// Steps until `done`, which is checked after each step, for at most `seconds`.
    pub fn until(&mut self, seconds: i64, mut done: impl FnMut(&mut Self) -> bool) {
        let end = self.now + seconds * 1_000_000;
        while !done(self) {
            assert!(self.now < end, "stands still, {:?}", self.conditions);
            self.step();
        }
    }

    /// Connects a client that is served. It may have to retry: sockets stay in use until the ends
    /// of their connections are known.
    /// their connections are known.
    fn served(&mut self) -> SocketHandle {
        for _ in 0..20 {
            let handle = self.connect();
            self.until(600, |world| world.client(handle).state() != tcp::State::SynSent);
            if self.client(handle).may_send() {
                return handle;
            }
            let later = self.now + 2_000_000;
            while self.now < later {
                self.step();
            }
        }
        panic!("refused, {:?}", self.conditions);
    }

    /// A client sends `data`, and must receive it back; then both close.
    pub fn echo(&mut self, data: &[u8]) {
        let handle = self.served();
        let (mut sent, mut received) = (0, vec![]);
        self.until(600, |world| {
            let client = world.client(handle);
            if client.can_send() && sent < data.len() {
                sent += client.send_slice(&data[sent..]).unwrap();
            }
            while client.can_recv() {
                client
                    .recv(|bytes| (bytes.len(), received.extend_from_slice(bytes)))
                    .unwrap();
            }
            // Not earlier: smoltcp's client would not retransmit an end of stream that was
            // overtaken by acknowledgements of data.
            if received.len() >= data.len() && client.may_send() {
                client.close();
            }
            assert!(client.state() != tcp::State::Closed, "reset");
            received.len() >= data.len() && !client.may_recv()
        });
        assert!(received == data, "{} bytes of {} came back", received.len(), data.len());
    }
}
