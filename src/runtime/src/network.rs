//! Network: GEM0 through the HAL's driver, its PHY, and the TCP/IP stack.

use arbitrary_int::u5;
use embassy_executor::Spawner;
use embassy_net::{
    Config, ConfigV4, ConfigV6, Ipv4Address, Ipv4Cidr, Ipv6Address, Ipv6Cidr, Runner, Stack, StackResources,
    StaticConfigV4, StaticConfigV6,
};
use embassy_time::{Duration, Instant, Timer};
use kairos_board::phy::{self, Mdio, Phy};
use kairos_services::settings;
use static_cell::ConstStaticCell;
use zynq7000_hal::clocks::Clocks;
use zynq7000_hal::eth::ll::{ClockDivSet, ClockDivisors};
use zynq7000_hal::eth::{
    calculate_mdc_clk_div, ClockConfig, Duplex, Ethernet, EthernetConfig, EthernetLowLevel, Speed,
};
use zynq7000_hal::time::Hertz;

use crate::ethernet::{self as ethernet_driver, Driver};
use crate::watchdog;

/// Address if the configuration says nothing.
const ADDRESS: Ipv4Cidr = Ipv4Cidr::new(settings::DEFAULT_ADDRESS, settings::DEFAULT_PREFIX);
const GATEWAY: Ipv4Address = settings::DEFAULT_ROUTE;
const MAC: [u8; 6] = settings::DEFAULT_MAC;

const SOCKETS: usize =
    crate::session::SOCKETS + crate::management::SOCKETS + crate::analyzer::SOCKETS + crate::moninj::SOCKETS + 1;
const LINK_INTERVAL: Duration = Duration::from_secs(1);

/// What the configuration says about the network.
pub struct Settings {
    pub mac: [u8; 6],
    ipv4: ConfigV4,
    ipv6: StaticConfigV6,
}

impl Settings {
    /// Keys `mac`, `ip`, `ipv4_default_route`, `ip6`, `ipv6_default_route`.
    pub fn from_config(config: &crate::config::Config) -> Self {
        let mac = config.setting("mac", settings::mac).unwrap_or(MAC);
        let route = config.setting("ipv4_default_route", settings::ipv4);
        let fixed = |address, gateway| {
            ConfigV4::Static(StaticConfigV4 {
                address,
                gateway,
                dns_servers: Default::default(),
            })
        };
        let ipv4 = match config.setting("ip", settings::address) {
            Some(settings::Address::Dhcp) => ConfigV4::Dhcp(Default::default()),
            Some(settings::Address::Static(address, prefix)) => fixed(Ipv4Cidr::new(address, prefix), route),
            None => fixed(ADDRESS, Some(route.unwrap_or(GATEWAY))),
        };
        let (address, prefix) = config
            .setting("ip6", settings::address6)
            .unwrap_or((settings::link_local(mac), 10));
        let ipv6 = StaticConfigV6 {
            address: Ipv6Cidr::new(address as Ipv6Address, prefix),
            gateway: config.setting("ipv6_default_route", settings::ipv6),
            dns_servers: Default::default(),
        };
        Self { mac, ipv4, ipv6 }
    }
}

/// The controller, ready to be started.
pub struct Hardware {
    ethernet: Ethernet,
    driver: Driver,
    io_clock: Hertz,
}

impl Hardware {
    /// Sets up the controller. Pins are as the boot loader left them.
    pub fn new(registers: zynq7000::eth::MmioRegisters<'static>, clocks: &Clocks, mac: [u8; 6]) -> Self {
        let io_clock = clocks.io_clocks().ref_clk();
        let (gigabit, _) = ClockDivisors::calculate_for_rgmii(io_clock, Speed::Mbps1000);
        let mdc = calculate_mdc_clk_div(clocks.arm_clocks()).expect("CPU clock too high for MDIO");
        let config = EthernetConfig::new(ClockConfig::new(gigabit), mdc, mac);
        let low_level = EthernetLowLevel::new(registers).expect("GEM0");
        let mut ethernet = Ethernet::new(low_level, config);

        let driver = Driver::start(&mut ethernet, mac);
        Self {
            ethernet,
            driver,
            io_clock,
        }
    }
}

/// Starts the stack and the tasks that serve it.
pub fn start(spawner: &Spawner, hardware: Hardware, settings: Settings) -> Stack<'static> {
    static RESOURCES: ConstStaticCell<StackResources<SOCKETS>> = ConstStaticCell::new(StackResources::new());
    let ipv6 = settings.ipv6.address;
    match &settings.ipv4 {
        ConfigV4::Static(fixed) => match fixed.gateway {
            Some(gateway) => log::info!("network: {}, gateway {gateway}, {ipv6}", fixed.address),
            None => log::info!("network: {}, {ipv6}", fixed.address),
        },
        _ => log::info!("network: address by DHCP, {ipv6}"),
    }
    let mut config = Config::default();
    config.ipv4 = settings.ipv4;
    config.ipv6 = ConfigV6::Static(settings.ipv6);
    // Spreads port and sequence numbers; the time since power-up is all there is.
    let seed = Instant::now().as_ticks();
    let (stack, runner) = embassy_net::new(hardware.driver, config, RESOURCES.take(), seed);
    spawner.spawn(crate::task(run(runner)));
    spawner.spawn(crate::task(ethernet_driver::gather()));
    spawner.spawn(crate::task(ethernet_driver::hold()));
    spawner.spawn(crate::task(watch_link(hardware.ethernet, hardware.io_clock)));
    stack
}

#[embassy_executor::task]
async fn run(mut runner: Runner<'static, Driver>) -> ! {
    watchdog::watched(runner.run()).await
}

impl Mdio for Bus<'_> {
    fn read(&mut self, phy: u8, register: u8) -> u16 {
        self.0.mdio_mut().read_blocking(u5::new(phy), u5::new(register))
    }
}
struct Bus<'a>(&'a mut Ethernet);

/// Follows the PHY: tells the stack whether there is a link, and the controller how fast it is.
#[embassy_executor::task]
async fn watch_link(mut ethernet: Ethernet, io_clock: Hertz) {
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
            ethernet_driver::set_link(link.is_some());
            known = link;
        }
        Timer::after(LINK_INTERVAL).await;
    }
}
