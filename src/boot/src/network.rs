//! The network as the loader uses it: GEM0, its PHY, the TCP/IP stack with the address of the configuration, and sleeping until
//! something comes.

use arbitrary_int::u5;
use embassy_time::{Duration, Instant};
use kairos_chip::gic;
use kairos_chip::phy::{self, Mdio, Phy};
use kairos_config::keys;
use kairos_config::settings::Address;
use smoltcp::iface::{Interface, SocketHandle, SocketSet, SocketStorage};
use smoltcp::socket::dhcpv4;
use smoltcp::wire::{EthernetAddress, IpCidr, Ipv4Address, Ipv4Cidr};
use zynq7000_hal::clocks::Clocks;
use zynq7000_hal::eth::ll::{ClockDivSet, ClockDivisors};
use zynq7000_hal::eth::{
    calculate_mdc_clk_div, ClockConfig, Duplex, Ethernet, EthernetConfig, EthernetLowLevel, MdcClockDivisor, Speed,
};
use zynq7000_hal::time::Hertz;

use crate::config::Config;
use crate::ethernet::Driver;

const LINK_INTERVAL: Duration = Duration::from_secs(1);
const LONGEST_SLEEP: Duration = Duration::from_millis(500);

/// The controller; it is touched only when the network is wanted.
pub struct Hardware {
    registers: Option<zynq7000::eth::MmioRegisters<'static>>,
    io_clock: Hertz,
    timer_clock: Hertz,
    mdc: MdcClockDivisor,
    network: Option<Network>,
}

impl Hardware {
    pub fn new(registers: zynq7000::eth::MmioRegisters<'static>, clocks: &Clocks) -> Self {
        Self {
            registers: Some(registers),
            io_clock: clocks.io_clocks().ref_clk(),
            timer_clock: clocks.arm_clocks().cpu_3x2x_clk(),
            mdc: calculate_mdc_clk_div(clocks.arm_clocks()).expect("CPU clock too high for MDIO"),
            network: None,
        }
    }

    /// The network, started with the settings of the configuration.
    pub fn start(&mut self, config: &mut Config) -> &mut Network {
        if let Some(registers) = self.registers.take() {
            let mac = config.setting(&keys::MAC).unwrap_or(keys::DEFAULT_MAC);
            let (gigabit, _) = ClockDivisors::calculate_for_rgmii(self.io_clock, Speed::Mbps1000);
            let low_level = EthernetLowLevel::new(registers).expect("GEM0");
            let mut ethernet = Ethernet::new(low_level, EthernetConfig::new(ClockConfig::new(gigabit), self.mdc, mac));
            let driver = Driver::start(&mut ethernet);
            sleep::init();
            self.network = Some(Network::new(
                driver,
                ethernet,
                self.io_clock,
                self.timer_clock,
                mac,
                config,
            ));
        }
        self.network.as_mut().expect("started above")
    }

    /// The controller reads and writes no memory any more.
    pub fn stop(&mut self) {
        if let Some(network) = &mut self.network {
            network.ethernet.ll().set_tx_rx_enable(false, false);
            network.ethernet.reset();
            sleep::stop();
        }
    }
}

/// The stack, and the link below it.
pub struct Network {
    driver: Driver,
    ethernet: Ethernet,
    io_clock: Hertz,
    timer_clock: Hertz,
    interface: Interface,
    pub sockets: SocketSet<'static>,
    dhcp: Option<SocketHandle>,
    phy: Option<Phy>,
    link: Option<phy::Link>,
    link_looked: Option<Instant>,
}

struct Bus<'a>(&'a mut Ethernet);

impl Mdio for Bus<'_> {
    fn read(&mut self, phy: u8, register: u8) -> u16 {
        self.0.mdio_mut().read_blocking(u5::new(phy), u5::new(register))
    }
}

fn now() -> smoltcp::time::Instant {
    smoltcp::time::Instant::from_micros(Instant::now().as_micros() as i64)
}

impl Network {
    fn new(
        mut driver: Driver,
        ethernet: Ethernet,
        io_clock: Hertz,
        timer_clock: Hertz,
        mac: [u8; 6],
        config: &mut Config,
    ) -> Self {
        let mut interface_config = smoltcp::iface::Config::new(EthernetAddress(mac).into());
        // Spreads port and sequence numbers; the time since power-up is all there is.
        interface_config.random_seed = Instant::now().as_micros();
        let mut interface = Interface::new(interface_config, &mut driver, now());
        static STORAGE: static_cell::StaticCell<[SocketStorage<'static>; 2]> = static_cell::StaticCell::new();
        let mut sockets = SocketSet::new(&mut STORAGE.init([SocketStorage::EMPTY; 2])[..]);
        let route = config.setting(&keys::IPV4_DEFAULT_ROUTE);
        let mut dhcp = None;
        match config.setting(&keys::IP) {
            Some(Address::Dhcp) => dhcp = Some(sockets.add(dhcpv4::Socket::new())),
            Some(Address::Static(address, prefix)) => set_address(&mut interface, address, prefix, route),
            None => set_address(
                &mut interface,
                keys::DEFAULT_ADDRESS,
                keys::DEFAULT_PREFIX,
                Some(route.unwrap_or(keys::DEFAULT_ROUTE)),
            ),
        }
        Self {
            driver,
            ethernet,
            io_clock,
            timer_clock,
            interface,
            sockets,
            dhcp,
            phy: None,
            link: None,
            link_looked: None,
        }
    }

    /// Lets the stack work on what has come, and on what sockets want to send.
    pub fn poll(&mut self) {
        self.driver.clear_interrupt();
        self.watch_link();
        self.interface.poll(now(), &mut self.driver, &mut self.sockets);
        let Some(handle) = self.dhcp else { return };
        match self.sockets.get_mut::<dhcpv4::Socket>(handle).poll() {
            Some(dhcpv4::Event::Configured(lease)) => {
                let (address, prefix) = (lease.address.address(), lease.address.prefix_len());
                set_address(&mut self.interface, address, prefix, lease.router);
            }
            Some(dhcpv4::Event::Deconfigured) => self.interface.update_ip_addrs(|addresses| addresses.clear()),
            None => {}
        }
    }

    /// Sleeps until a frame comes, or the stack has something to do, or `until`.
    pub fn sleep(&mut self, until: Option<Instant>) {
        let stack = self.interface.poll_delay(now(), &self.sockets);
        let mut limit = LONGEST_SLEEP;
        if let Some(delay) = stack {
            limit = limit.min(Duration::from_micros(delay.total_micros()));
        }
        if let Some(until) = until {
            limit = limit.min(until.saturating_duration_since(Instant::now()));
        }
        if limit.as_ticks() > 0 {
            sleep::sleep(limit, self.timer_clock);
        }
    }

    /// Follows the PHY: tells the controller how fast the link is.
    fn watch_link(&mut self) {
        let at = Instant::now();
        if self.link_looked.is_some_and(|before| at < before + LINK_INTERVAL) {
            return;
        }
        self.link_looked = Some(at);
        self.phy = self.phy.or_else(|| Phy::find(&mut Bus(&mut self.ethernet)));
        let link = self.phy.and_then(|phy| phy.link(&mut Bus(&mut self.ethernet)));
        if link == self.link {
            return;
        }
        self.link = link;
        let Some(link) = link else {
            log::warn!("Ethernet link down");
            return;
        };
        let speed = match link.speed {
            phy::Speed::Mbps10 => Speed::Mbps10,
            phy::Speed::Mbps100 => Speed::Mbps100,
            phy::Speed::Mbps1000 => Speed::Mbps1000,
        };
        let duplex = if link.full_duplex { Duplex::Full } else { Duplex::Half };
        if (speed, duplex) != (self.ethernet.speed(), self.ethernet.duplex()) {
            let (divisors, _) = ClockDivSet::calculate_for_rgmii(self.io_clock);
            self.ethernet.configure_clock_and_speed_duplex(speed, duplex, &divisors);
        }
        log::info!("Ethernet link up, {link}");
    }
}

fn set_address(interface: &mut Interface, address: Ipv4Address, prefix: u8, route: Option<Ipv4Address>) {
    log::info!("network: {address}/{prefix}");
    interface.update_ip_addrs(|addresses| {
        addresses.clear();
        // There is room for one.
        let _ = addresses.push(IpCidr::Ipv4(Ipv4Cidr::new(address, prefix)));
    });
    let routes = interface.routes_mut();
    routes.remove_default_ipv4_route();
    if let Some(route) = route {
        // There is room for one.
        let _ = routes.add_default_ipv4_route(route);
    }
}

/// Sleeping: the private timer and the Ethernet controller end `wfi`; their interrupts are never taken.
mod sleep {
    use super::{gic, Duration, Hertz};
    use core::ptr::{read_volatile, write_volatile};

    const PRIVATE_TIMER: u16 = 29;
    const GEM0: u16 = 54;
    const TIMER: usize = 0xF8F0_0600;
    /// Enabled once, with interrupt, at a 256th of its clock.
    const TIMER_ON: u32 = 255 << 8 | 1 << 2 | 1;

    fn write(address: usize, value: u32) {
        // SAFETY: a register of the private timer or of the interrupt controller; interrupts are masked.
        unsafe { write_volatile(address as *mut u32, value) };
    }

    /// Lets the two interrupts reach this core, which has them masked.
    pub fn init() {
        const ICC: usize = 0xF8F0_0100;
        const ICD: usize = 0xF8F0_1000;
        for id in [PRIVATE_TIMER, GEM0].map(usize::from) {
            write(ICD + 0x100 + id / 32 * 4, 1 << (id % 32)); // enable
        }
        let word = ICD + 0x800 + usize::from(GEM0) / 4 * 4; // target
                                                            // SAFETY: as in `write`.
        let targets = unsafe { read_volatile(word as *const u32) };
        write(word, targets | 1 << (8 * (GEM0 % 4)));
        write(ICC + 0x4, 0xff);
        write(ICC, 0b111);
        write(ICD, 1);
    }

    /// As after reset.
    pub fn stop() {
        write(TIMER + 8, 0);
        write(TIMER + 0xc, 1);
        write(0xF8F0_1180, !0);
        write(0xF8F0_1184, !0);
        write(0xF8F0_1000, 0);
        write(0xF8F0_0100, 0);
    }

    /// Sleeps for `limit` at most.
    pub fn sleep(limit: Duration, clock: Hertz) {
        let ticks = limit.as_micros() * u64::from(clock.to_raw()) / 256 / 1_000_000;
        write(TIMER + 8, 0);
        write(TIMER + 0xc, 1);
        write(TIMER, ticks.clamp(1, u64::from(u32::MAX)) as u32);
        write(TIMER + 8, TIMER_ON);
        gic::wait_for_interrupt();
        write(TIMER + 8, 0);
        write(TIMER + 0xc, 1);
        // The controller remembers it until it is acknowledged.
        loop {
            let interrupt = gic::acknowledge();
            gic::end(interrupt);
            if interrupt.id() != PRIVATE_TIMER {
                return;
            }
        }
    }
}
