//! Network: GEM0 through the HAL's driver, its PHY, and the TCP/IP stack.

use arbitrary_int::u5;
use embassy_executor::Spawner;
use embassy_net::{Config, Ipv4Address, Ipv4Cidr, Runner, Stack, StackResources, StaticConfigV4};
use embassy_time::{Duration, Instant, Timer};
use kairos_board::memory::ETHERNET_DESCRIPTORS;
use kairos_board::phy::{self, Mdio, Phy};
use static_cell::ConstStaticCell;
use zynq7000_hal::clocks::Clocks;
use zynq7000_hal::eth::embassy_net::{on_interrupt, update_link_state, DescriptorsAndBuffers, Driver};
use zynq7000_hal::eth::ll::{ClockDivSet, ClockDivisors};
use zynq7000_hal::eth::{
    calculate_mdc_clk_div, rx_descr, tx_descr, AlignedBuffer, ClockConfig, Duplex, Ethernet, EthernetConfig,
    EthernetId, EthernetLowLevel, Speed, MTU,
};
use zynq7000_hal::gic::{Interrupt, SpiInterrupt};
use zynq7000_hal::time::Hertz;

/// Address until a configuration says otherwise.
const ADDRESS: Ipv4Cidr = Ipv4Cidr::new(Ipv4Address::new(10, 0, 2, 15), 24);
const GATEWAY: Ipv4Address = Ipv4Address::new(10, 0, 2, 2);
/// Locally administered: `02`, "KAIR", 1.
const MAC: [u8; 6] = [0x02, b'K', b'A', b'I', b'R', 1];

/// Descriptors and buffers in each direction.
const SLOTS: usize = 32;
const SOCKETS: usize = crate::session::SOCKETS + 2;
const LINK_INTERVAL: Duration = Duration::from_secs(1);

/// Lists that the Ethernet controller reads and writes, in the device memory set apart for them.
#[repr(C)]
struct Lists {
    rx: rx_descr::DescriptorList<SLOTS>,
    tx: tx_descr::DescriptorList<SLOTS>,
}
const _: () = assert!(core::mem::size_of::<Lists>() <= ETHERNET_DESCRIPTORS.end - ETHERNET_DESCRIPTORS.start);

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

        // SAFETY: the region is set apart for this, mapped as device memory, and taken once.
        let lists = unsafe { &*(ETHERNET_DESCRIPTORS.start as *const Lists) };
        // SAFETY: taken once.
        let (rx_list, tx_list) = unsafe { (lists.rx.take(), lists.tx.take()) };
        static RX: ConstStaticCell<[AlignedBuffer; SLOTS]> =
            ConstStaticCell::new([const { AlignedBuffer([0; MTU]) }; SLOTS]);
        static TX: ConstStaticCell<[AlignedBuffer; SLOTS]> =
            ConstStaticCell::new([const { AlignedBuffer([0; MTU]) }; SLOTS]);
        let (rx_buffers, tx_buffers) = (RX.take(), TX.take());
        let mut rx = rx_descr::DescriptorListWrapper::new(rx_list);
        let mut tx = tx_descr::DescriptorListWrapper::new(tx_list);
        rx.init_with_aligned_bufs(rx_buffers);
        tx.init_or_reset();
        ethernet.set_rx_buf_descriptor_base_address(rx.base_addr());
        ethernet.set_tx_buf_descriptor_base_address(tx.base_addr());
        let buffers = DescriptorsAndBuffers::new(rx, rx_buffers, tx, tx_buffers).expect("lists of equal length");
        let driver = Driver::new(&ethernet, MAC, buffers);

        zynq7000_hal::register_interrupt(Interrupt::Spi(SpiInterrupt::Eth0), || {
            on_interrupt(EthernetId::Eth0);
        });
        ethernet.start();
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
            update_link_state(match link {
                Some(_) => embassy_net::driver::LinkState::Up,
                None => embassy_net::driver::LinkState::Down,
            });
            known = link;
        }
        Timer::after(LINK_INTERVAL).await;
    }
}
