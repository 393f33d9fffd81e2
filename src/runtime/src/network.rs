//! Network: GEM0 through the HAL's driver, its PHY, and the TCP/IP stack.

use arbitrary_int::u5;
use embassy_executor::Spawner;
use embassy_net::{Config, Ipv4Address, Ipv4Cidr, Runner, Stack, StackResources, StaticConfigV4};
use embassy_time::{Duration, Instant, Timer};
use kairos_board::phy::{self, Mdio, Phy};
use static_cell::ConstStaticCell;
use zynq7000_hal::clocks::Clocks;
use zynq7000_hal::eth::ll::{ClockDivSet, ClockDivisors};
use zynq7000_hal::eth::{
    calculate_mdc_clk_div, ClockConfig, Duplex, Ethernet, EthernetConfig, EthernetLowLevel, Speed,
};
use zynq7000_hal::time::Hertz;

use crate::ethernet::{self as ethernet_driver, Driver};

/// Address until a configuration says otherwise.
const ADDRESS: Ipv4Cidr = Ipv4Cidr::new(Ipv4Address::new(10, 0, 2, 15), 24);
const GATEWAY: Ipv4Address = Ipv4Address::new(10, 0, 2, 2);
/// Locally administered: `02`, "KAIR", 1.
const MAC: [u8; 6] = [0x02, b'K', b'A', b'I', b'R', 1];

const SOCKETS: usize = crate::session::SOCKETS + 2;
const LINK_INTERVAL: Duration = Duration::from_secs(1);

/// The controller, ready to be started.
pub struct Hardware {
    ethernet: Ethernet,
    driver: Driver,
    io_clock: Hertz,
}

impl Hardware {
    /// Sets up the controller. Pins are as the boot loader left them.
    pub fn new(registers: zynq7000::eth::MmioRegisters<'static>, clocks: &Clocks) -> Self {
        let io_clock = clocks.io_clocks().ref_clk();
        let (gigabit, _) = ClockDivisors::calculate_for_rgmii(io_clock, Speed::Mbps1000);
        let mdc = calculate_mdc_clk_div(clocks.arm_clocks()).expect("CPU clock too high for MDIO");
        let config = EthernetConfig::new(ClockConfig::new(gigabit), mdc, MAC);
        let low_level = EthernetLowLevel::new(registers).expect("GEM0");
        let mut ethernet = Ethernet::new(low_level, config);

        let driver = Driver::start(&mut ethernet, MAC);
        Self {
            ethernet,
            driver,
            io_clock,
        }
    }
}

/// Starts the stack and the tasks that serve it.
pub fn start(spawner: &Spawner, hardware: Hardware) -> Stack<'static> {
    static RESOURCES: ConstStaticCell<StackResources<SOCKETS>> = ConstStaticCell::new(StackResources::new());
    let config = Config::ipv4_static(StaticConfigV4 {
        address: ADDRESS,
        gateway: Some(GATEWAY),
        dns_servers: Default::default(),
    });
    // Spreads port and sequence numbers; the time since power-up is all there is.
    let seed = Instant::now().as_ticks();
    let (stack, runner) = embassy_net::new(hardware.driver, config, RESOURCES.take(), seed);
    log::info!("network: {ADDRESS}, gateway {GATEWAY}");
    spawner.spawn(crate::task(run(runner)));
    spawner.spawn(crate::task(ethernet_driver::gather()));
    spawner.spawn(crate::task(watch_link(hardware.ethernet, hardware.io_clock)));
    stack
}

#[embassy_executor::task]
async fn run(mut runner: Runner<'static, Driver>) -> ! {
    runner.run().await
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
