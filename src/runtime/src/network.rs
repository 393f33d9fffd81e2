//! Network: GEM0, its PHY, and the TCP/IP stack, which runs between polls of the tasks
//! ([`kairos_comms::executor`]).

use core::cell::RefCell;
use core::future::poll_fn;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Poll, Waker};

use critical_section::Mutex;
use embassy_executor::Spawner;
use embassy_time::{Instant, Timer};
use kairos_chip::ethernet::{self, Port, Receive, Transmit};
use kairos_chip::setup;
use kairos_config::keys;
use kairos_intercore::memory::{ETHERNET_BUFFERS, ETHERNET_DESCRIPTORS};
use kairos_net::{Config, Keys, SocketMemory, SocketStorage, Stack};
use static_cell::StaticCell;

use kairos_comms::{executor, watchdog};

/// The network settings from the configuration.
pub fn settings(config: &kairos_comms::config::Config) -> Config {
    let keys = Keys {
        mac: config.setting(&keys::MAC),
        ip: config.setting(&keys::IP),
        ipv4_default_route: config.setting(&keys::IPV4_DEFAULT_ROUTE),
        ip6: config.setting(&keys::IP6),
        ipv6_default_route: config.setting(&keys::IPV6_DEFAULT_ROUTE),
    };
    // The time since power-up is the only entropy.
    keys.config(Instant::now().as_ticks())
}

/// The stack and its device.
pub struct Network {
    stack: &'static Stack,
    receive: Receive,
    transmit: Transmit,
    /// When [`alarm`] is set to wake the core.
    alarm: Option<Instant>,
    /// What the alarm was set for: the stack's deadline, and the end of a gathering.
    wanted: (Option<kairos_net::Instant>, Option<Instant>),
    clock: Clock,
}

/// The time, at the stack's resolution of a millisecond. Reading the timer and dividing by its
/// frequency would take as long as a good part of a packet. After an idle time of exactly a
/// multiple of the counter's period the time is wrong once; deadlines have then passed, so the
/// alarm fires at once and corrects it.
struct Clock {
    /// The lower word of the timer at the last exact reading.
    read_at: u32,
    read: Instant,
}

impl Clock {
    /// Ticks of the global timer, half a millisecond at the slowest clock.
    const FRESH: u32 = 165_000;

    fn now(&mut self, exact: bool) -> Instant {
        let at = setup::timer_count();
        if exact || at.wrapping_sub(self.read_at) > Self::FRESH {
            *self = Self {
                read_at: at,
                read: Instant::now(),
            };
        }
        self.read
    }
}

/// Set when [`alarm`] has woken the core.
static ALARM: AtomicBool = AtomicBool::new(false);
static ALARM_WAKER: Mutex<RefCell<Option<Waker>>> = Mutex::new(RefCell::new(None));

fn stack_time(now: Instant) -> kairos_net::Instant {
    kairos_net::Instant::from_micros(now.as_micros() as i64)
}

/// Starts the controller and the stack.
pub fn start(spawner: &Spawner, mut port: Port, config: Config) -> Network {
    static DHCP: StaticCell<SocketMemory> = StaticCell::new();
    static STACK: StaticCell<Stack> = StaticCell::new();
    config.announce();
    // SAFETY: the regions are reserved for this, and were mapped accordingly at the start.
    let (receive, transmit) = unsafe { port.start(ETHERNET_DESCRIPTORS, ETHERNET_BUFFERS) };
    let stack: &'static Stack = STACK.init(Stack::new(
        config,
        DHCP.init([SocketStorage::EMPTY]),
        stack_time(Instant::now()),
    ));
    spawner.spawn(kairos_comms::task(alarm()));
    spawner.spawn(kairos_comms::task(watch_link(stack, port)));
    Network {
        stack,
        receive,
        transmit,
        alarm: None,
        wanted: (None, None),
        clock: Clock {
            read_at: setup::timer_count(),
            read: Instant::now(),
        },
    }
}

impl Network {
    pub fn stack(&self) -> &'static Stack {
        self.stack
    }
}

impl executor::Background for Network {
    #[inline(never)]
    fn run(&mut self) -> bool {
        watchdog::NETWORK.beat();
        let alarm = ALARM.load(Ordering::Relaxed) && ALARM.swap(false, Ordering::Relaxed);
        let free = self.transmit.is_free_again();
        if !alarm && !free && !self.stack.is_due() && !self.receive.is_ready() {
            return true;
        }
        let now = self.clock.now(alarm);
        if alarm {
            self.alarm = None;
            self.receive.wake(now);
        }
        let more = self.stack.poll(stack_time(now), &mut self.receive, &mut self.transmit);
        let wanted = (self.stack.deadline(), self.receive.gathering());
        if self.alarm.is_some() && wanted == self.wanted {
            return !more;
        }
        self.wanted = wanted;
        let deadline = wanted.0.map(|at| Instant::from_micros(at.total_micros() as u64));
        let next = [deadline, wanted.1].into_iter().flatten().min();
        if let Some(next) = next.filter(|next| self.alarm.is_none_or(|alarm| *next < alarm)) {
            self.alarm = Some(next);
            critical_section::with(|section| {
                if let Some(waker) = &*ALARM_WAKER.borrow_ref(section) {
                    embassy_time_driver::schedule_wake(next.as_ticks(), waker);
                }
            });
        }
        !more
    }

    fn may_sleep(&mut self) -> bool {
        ethernet::may_sleep(&self.receive, &self.transmit)
    }
}

/// Wakes the core when the stack or its device has work to do.
#[embassy_executor::task]
async fn alarm() -> ! {
    poll_fn(|cx| {
        critical_section::with(|section| *ALARM_WAKER.borrow_ref_mut(section) = Some(cx.waker().clone()));
        ALARM.store(true, Ordering::Relaxed);
        Poll::Pending
    })
    .await
}

/// Informs the stack when the link comes up again.
#[embassy_executor::task]
async fn watch_link(stack: &'static Stack, mut port: Port) {
    loop {
        if port.watch_link() {
            stack.link_up();
        }
        Timer::after(Port::LINK_INTERVAL).await;
    }
}
