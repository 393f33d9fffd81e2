//! Network: GEM0, its PHY, and the TCP/IP stack, which is run between the turns of the tasks ([`crate::executor`]).

use core::cell::RefCell;
use core::future::poll_fn;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Poll, Waker};

use arbitrary_int::u5;
use critical_section::Mutex;
use embassy_executor::Spawner;
use embassy_time::{Duration, Instant, Timer};
use kairos_chip::phy::{self, Mdio, Phy};
use kairos_config::{keys, settings};
use kairos_net::{Config, Ipv4, Ipv4Cidr, Ipv6Cidr, Place, SocketStorage, Stack};
use static_cell::StaticCell;
use zynq7000_hal::clocks::Clocks;
use zynq7000_hal::eth::ll::{ClockDivSet, ClockDivisors};
use zynq7000_hal::eth::{
    calculate_mdc_clk_div, ClockConfig, Duplex, Ethernet, EthernetConfig, EthernetLowLevel, Speed,
};
use zynq7000_hal::time::Hertz;

use crate::ethernet::{self, Receive, Transmit};
use crate::{chip, executor, watchdog};

/// Address if the configuration says nothing.
const ADDRESS: Ipv4Cidr = Ipv4Cidr::new(keys::DEFAULT_ADDRESS, keys::DEFAULT_PREFIX);
const LINK_INTERVAL: Duration = Duration::from_secs(1);

/// What the configuration says about the network: keys `mac`, `ip`, `ipv4_default_route`, `ip6`, `ipv6_default_route`.
pub fn settings(config: &crate::config::Config) -> Config {
    let mac = config.setting(&keys::MAC).unwrap_or(keys::DEFAULT_MAC);
    let route = config.setting(&keys::IPV4_DEFAULT_ROUTE);
    let ipv4 = match config.setting(&keys::IP) {
        Some(settings::Address::Dhcp) => Ipv4::Dhcp,
        Some(settings::Address::Static(address, prefix)) => Ipv4::Static(Ipv4Cidr::new(address, prefix), route),
        None => Ipv4::Static(ADDRESS, Some(route.unwrap_or(keys::DEFAULT_ROUTE))),
    };
    let (address, prefix) = config.setting(&keys::IP6).unwrap_or((settings::link_local(mac), 10));
    Config {
        mac,
        ipv4,
        ipv6: Ipv6Cidr::new(address, prefix),
        route6: config.setting(&keys::IPV6_DEFAULT_ROUTE),
        // The time since power-up is all there is.
        seed: Instant::now().as_ticks(),
        short_way: true,
    }
}

/// Sets up the controller. Pins are as the boot loader left them.
pub fn controller(registers: zynq7000::eth::MmioRegisters<'static>, clocks: &Clocks, mac: [u8; 6]) -> Ethernet {
    let (gigabit, _) = ClockDivisors::calculate_for_rgmii(clocks.io_clocks().ref_clk(), Speed::Mbps1000);
    let mdc = calculate_mdc_clk_div(clocks.arm_clocks()).expect("CPU clock too high for MDIO");
    let low_level = EthernetLowLevel::new(registers).expect("GEM0");
    Ethernet::new(low_level, EthernetConfig::new(ClockConfig::new(gigabit), mdc, mac))
}

/// The stack and its device.
pub struct Network {
    stack: &'static Stack,
    receive: Receive,
    transmit: Transmit,
    /// When [`alarm`] wakes the core, if it does.
    alarm: Option<Instant>,
    clock: Clock,
}

/// The time, as exact as the stack needs it: it counts in milliseconds. To read the timer and divide by its frequency takes as
/// long as a good part of a packet. (After a silence of just a multiple of the counter's period it is wrong once: deadlines have
/// passed then, so that the alarm comes at once, and with it the exact time.)
struct Clock {
    /// The lower word of the timer at the newest reading.
    read_at: u32,
    read: Instant,
}

impl Clock {
    /// Counts of the global timer, a tenth of a millisecond at the slowest clock.
    const FRESH: u32 = 33_000;

    fn now(&mut self, exact: bool) -> Instant {
        let at = chip::timer_count();
        if exact || at.wrapping_sub(self.read_at) > Self::FRESH {
            *self = Self {
                read_at: at,
                read: Instant::now(),
            };
        }
        self.read
    }
}

/// [`alarm`] has woken the core.
static ALARM: AtomicBool = AtomicBool::new(false);
static ALARM_WAKER: Mutex<RefCell<Option<Waker>>> = Mutex::new(RefCell::new(None));

fn stack_time(now: Instant) -> kairos_net::Instant {
    kairos_net::Instant::from_micros(now.as_micros() as i64)
}

/// Starts the controller and the stack.
pub fn start(spawner: &Spawner, mut ethernet: Ethernet, io_clock: Hertz, config: Config) -> Network {
    static DHCP: StaticCell<Place> = StaticCell::new();
    static STACK: StaticCell<Stack> = StaticCell::new();
    match config.ipv4 {
        Ipv4::Static(address, Some(gateway)) => log::info!("network: {address}, gateway {gateway}, {}", config.ipv6),
        Ipv4::Static(address, None) => log::info!("network: {address}, {}", config.ipv6),
        Ipv4::Dhcp => log::info!("network: address by DHCP, {}", config.ipv6),
    }
    let (receive, transmit) = ethernet::start(&mut ethernet);
    let stack: &'static Stack = STACK.init(Stack::new(
        config,
        DHCP.init([SocketStorage::EMPTY]),
        stack_time(Instant::now()),
    ));
    spawner.spawn(crate::task(alarm()));
    spawner.spawn(crate::task(watch_link(stack, ethernet, io_clock)));
    Network {
        stack,
        receive,
        transmit,
        alarm: None,
        clock: Clock {
            read_at: chip::timer_count(),
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
        let alarm = ALARM.swap(false, Ordering::Relaxed);
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
        let deadline = self
            .stack
            .deadline()
            .map(|at| Instant::from_micros(at.total_micros() as u64));
        let next = [deadline, self.receive.gathering()].into_iter().flatten().min();
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

/// Is woken when the stack or its device want to go on.
#[embassy_executor::task]
async fn alarm() -> ! {
    poll_fn(|cx| {
        critical_section::with(|section| *ALARM_WAKER.borrow_ref_mut(section) = Some(cx.waker().clone()));
        ALARM.store(true, Ordering::Relaxed);
        Poll::Pending
    })
    .await
}

impl Mdio for Bus<'_> {
    fn read(&mut self, phy: u8, register: u8) -> u16 {
        self.0.mdio_mut().read_blocking(u5::new(phy), u5::new(register))
    }
}
struct Bus<'a>(&'a mut Ethernet);

/// Follows the PHY: tells the stack whether there is a link, and the controller how fast it is.
#[embassy_executor::task]
async fn watch_link(stack: &'static Stack, mut ethernet: Ethernet, io_clock: Hertz) {
    let mut phy: Option<Phy> = None;
    let mut known = None;
    loop {
        phy = phy.or_else(|| Phy::find(&mut Bus(&mut ethernet)));
        let link = phy.and_then(|phy| phy.link(&mut Bus(&mut ethernet)));
        if link != known {
            match link {
                Some(link) => {
                    let speed = match link.speed {
                        phy::Speed::Mbps10 => Speed::Mbps10,
                        phy::Speed::Mbps100 => Speed::Mbps100,
                        phy::Speed::Mbps1000 => Speed::Mbps1000,
                    };
                    let duplex = if link.full_duplex { Duplex::Full } else { Duplex::Half };
                    // Searching the divisors takes some milliseconds: only for a speed that is not set yet.
                    if (speed, duplex) != (ethernet.speed(), ethernet.duplex()) {
                        let (divisors, _) = ClockDivSet::calculate_for_rgmii(io_clock);
                        ethernet.configure_clock_and_speed_duplex(speed, duplex, &divisors);
                    }
                    log::info!("Ethernet link up, {link}");
                }
                None => log::warn!("Ethernet link down"),
            }
            if link.is_some() {
                stack.link_up();
            }
            known = link;
        }
        Timer::after(LINK_INTERVAL).await;
    }
}
