//! The loader's network: the stack of `src/firmware/net` on the device of `src/firmware/chip`, and one task, which
//! waits for it with interrupts masked.

use core::future::{poll_fn, Future};
use core::pin::pin;
use core::sync::atomic::{AtomicU64, Ordering};
use core::task::{Context, Poll, Waker};

use embassy_time::{Duration, Instant};
use kairos_chip::ethernet::{self, Port, Receive, Transmit};
use kairos_chip::{gem, gic, private_timer};
use kairos_config::keys;
use kairos_intercore::memory::{ETHERNET_BUFFERS, ETHERNET_DESCRIPTORS};
use kairos_net::{Config, Keys, Socket, SocketMemory, SocketStorage, Stack};
use kairos_proto::netboot::PORT;
use static_cell::{ConstStaticCell, StaticCell};
use zynq7000_hal::clocks::Clocks;

const LONGEST_SLEEP: Duration = Duration::from_millis(500);
const RECEIVE_BUFFER: usize = 256 * 1024;
const SEND_BUFFER: usize = 4096;
/// Seconds until a vanished client is noticed at the latest, and until a silent one is probed.
const USER_TIMEOUT: u64 = 10;
const KEEP_ALIVE: u64 = 3;

/// The controller, which is not accessed until the network is used.
pub struct Hardware {
    registers: Option<zynq7000::eth::MmioRegisters<'static>>,
    clocks: Clocks,
    network: Option<Network>,
}

impl Hardware {
    pub fn new(registers: zynq7000::eth::MmioRegisters<'static>, clocks: Clocks) -> Self {
        Self {
            registers: Some(registers),
            clocks,
            network: None,
        }
    }

    /// Returns the network, after starting it with the configured settings if necessary.
    pub fn start(&mut self, config: &mut crate::config::Config) -> &mut Network {
        if let Some(registers) = self.registers.take() {
            self.network = Some(Network::start(registers, &self.clocks, settings(config)));
        }
        self.network.as_mut().expect("started above")
    }

    /// Stops the controller's memory accesses.
    pub fn stop(&mut self) {
        if let Some(network) = &mut self.network {
            network.runner.port.stop();
            private_timer::stop();
            gic::deafen();
        }
    }
}

/// The network settings from the configuration.
fn settings(config: &mut crate::config::Config) -> Config {
    let keys = Keys {
        mac: config.setting(&keys::MAC),
        ip: config.setting(&keys::IP),
        ipv4_default_route: config.setting(&keys::IPV4_DEFAULT_ROUTE),
        // The loader has no IPv6, as it has to fit into on-chip memory.
        ip6: None,
        ipv6_default_route: None,
    };
    // The time since power-up is the only entropy.
    keys.config(Instant::now().as_micros())
}

/// The client's socket, and the runner of the stack.
pub struct Network {
    pub socket: Socket,
    pub runner: Runner,
}

/// Runs the stack for one task.
pub struct Runner {
    stack: &'static Stack,
    receive: Receive,
    transmit: Transmit,
    port: Port,
    /// When to check the link next.
    next_link_check: Instant,
    /// Clock of the private timer in Hz.
    clock: u32,
}

/// When to poll the task at the latest, in ticks of the time base.
static WAKE: AtomicU64 = AtomicU64::new(u64::MAX);

/// Waits for the future until `end`.
pub async fn before<F: Future>(end: Option<Instant>, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|cx| {
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return Poll::Ready(Some(output));
        }
        let Some(end) = end else {
            return Poll::Pending;
        };
        WAKE.fetch_min(end.as_ticks(), Ordering::Relaxed);
        match Instant::now() >= end {
            true => Poll::Ready(None),
            false => Poll::Pending,
        }
    })
    .await
}

fn stack_time(now: Instant) -> kairos_net::Instant {
    kairos_net::Instant::from_micros(now.as_micros() as i64)
}

impl Network {
    fn start(registers: zynq7000::eth::MmioRegisters<'static>, clocks: &Clocks, config: Config) -> Self {
        static STACK: StaticCell<Stack> = StaticCell::new();
        static DHCP: StaticCell<SocketMemory> = StaticCell::new();
        static PLACE: StaticCell<SocketMemory> = StaticCell::new();
        static RECEIVE: ConstStaticCell<[u8; RECEIVE_BUFFER]> = ConstStaticCell::new([0; RECEIVE_BUFFER]);
        static SEND: ConstStaticCell<[u8; SEND_BUFFER]> = ConstStaticCell::new([0; SEND_BUFFER]);
        config.announce();
        let mut port = Port::new(registers, clocks, config.mac);
        // SAFETY: the regions are reserved for this, and were mapped accordingly at the start.
        let (receive, transmit) = unsafe { port.start(ETHERNET_DESCRIPTORS, ETHERNET_BUFFERS) };
        gic::listen(0, &[private_timer::INTERRUPT, gem::INTERRUPT]);
        let now = Instant::now();
        let stack: &'static Stack = STACK.init(Stack::new(config, DHCP.init([SocketStorage::EMPTY]), stack_time(now)));
        let place = PLACE.init([SocketStorage::EMPTY]);
        let mut socket = Socket::new(stack, PORT, place, RECEIVE.take(), SEND.take());
        socket.set_times(USER_TIMEOUT, KEEP_ALIVE);
        Self {
            socket,
            runner: Runner {
                stack,
                receive,
                transmit,
                port,
                next_link_check: now,
                clock: clocks.arm_clocks().cpu_3x2x_clk().to_raw(),
            },
        }
    }
}

impl Runner {
    /// Runs the stack until the task is done.
    pub fn block_on<F: Future>(&mut self, task: F) -> F::Output {
        let mut task = pin!(task);
        let mut context = Context::from_waker(Waker::noop());
        loop {
            WAKE.store(u64::MAX, Ordering::Relaxed);
            if let Poll::Ready(output) = task.as_mut().poll(&mut context) {
                return output;
            }
            if !self.run() {
                self.sleep();
            }
        }
    }

    /// Lets the stack do pending work; returns whether there was any.
    fn run(&mut self) -> bool {
        ethernet::on_interrupt();
        let now = Instant::now();
        if now >= self.next_link_check {
            self.next_link_check = now + Port::LINK_INTERVAL;
            if self.port.watch_link() {
                self.stack.link_up();
            }
        }
        self.receive.wake(now);
        let now = stack_time(now);
        let is_late = self.stack.deadline().is_some_and(|deadline| deadline <= now);
        let is_free = self.transmit.is_free_again();
        if !is_late && !is_free && !self.stack.is_due() && !self.receive.is_ready() {
            return false;
        }
        self.stack.poll(now, &mut self.receive, &mut self.transmit);
        true
    }

    /// Sleeps until a frame arrives, or the stack or the task has to continue.
    fn sleep(&mut self) {
        let now = Instant::now();
        let deadline = self.stack.deadline();
        let ends = [
            Some(now + LONGEST_SLEEP),
            Some(Instant::from_ticks(WAKE.load(Ordering::Relaxed))),
            deadline.map(|at| Instant::from_micros(at.total_micros() as u64)),
            self.receive.gathering(),
        ];
        let end = ends.into_iter().flatten().min().unwrap_or(now);
        let limit = end.saturating_duration_since(now).as_micros();
        if limit > 0 && ethernet::may_sleep(&self.receive, &self.transmit) {
            private_timer::sleep(limit, self.clock);
        }
    }
}
