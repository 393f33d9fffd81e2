//! The network stack's device and the link below it: GEM0's rings ([`crate::gem`]), with received
//! frames in cached memory, transmitted frames in uncached memory, and interrupts that are enabled
//! only while the core sleeps. The controller generates and checks the checksums of IPv4, TCP and
//! UDP.
//!
//! After a long frame, which usually has others following it, the next poll is slightly delayed, so
//! that the stack processes several at once. Short frames, such as a reply that a kernel waits for,
//! are processed immediately.

use core::mem::size_of;
use core::ops::Range;
use core::sync::atomic::{AtomicU32, Ordering};

use arbitrary_int::u5;
use embassy_time::{Duration, Instant};
use static_cell::ConstStaticCell;
use zynq7000_hal::clocks::Clocks;
use zynq7000_hal::eth::ll::{ClockDivSet, ClockDivisors};
use zynq7000_hal::eth::{
    calculate_mdc_clk_div, ClockConfig, Duplex, Ethernet, EthernetConfig, EthernetLowLevel, Speed,
};
use zynq7000_hal::time::Hertz;

use crate::gem::{self, Buffer, Buffers, Rings, BUFFER, SLOTS};
use crate::gic::barrier;
use crate::phy::{self, Link, Mdio, Phy};

/// Length in bytes from which a frame is expected to be followed by others.
const LONG: usize = 1000;
/// Time to let long frames gather. At 1 Gbit/s up to 8 arrive.
const GATHER: Duration = Duration::from_micros(100);

/// Events enabled as interrupts.
static ASKED_FOR: AtomicU32 = AtomicU32::new(0);

/// Interrupt handler of GEM0. Waking the core suffices; it polls the controller itself.
pub fn on_interrupt() {
    let events = gem::take_events();
    ASKED_FOR.store(ASKED_FOR.load(Ordering::Relaxed) & !events, Ordering::Relaxed);
}

/// The controller, and the PHY attached to it.
pub struct Port {
    ethernet: Ethernet,
    io_clock: Hertz,
    phy: Option<Phy>,
    link: Option<Link>,
}

impl Port {
    /// Interval between checks of the link.
    pub const LINK_INTERVAL: Duration = Duration::from_secs(1);

    /// Sets up the controller. The pins are as configured by the boot loader.
    pub fn new(registers: zynq7000::eth::MmioRegisters<'static>, clocks: &Clocks, mac: [u8; 6]) -> Self {
        let io_clock = clocks.io_clocks().ref_clk();
        let (gigabit, _) = ClockDivisors::calculate_for_rgmii(io_clock, Speed::Mbps1000);
        let mdc = calculate_mdc_clk_div(clocks.arm_clocks()).expect("CPU clock too high for MDIO");
        let low_level = EthernetLowLevel::new(registers).expect("GEM0");
        Self {
            ethernet: Ethernet::new(low_level, EthernetConfig::new(ClockConfig::new(gigabit), mdc, mac)),
            io_clock,
            phy: None,
            link: None,
        }
    }

    /// Sets up the controller's rings, in the memory reserved for them and for transmitted frames,
    /// and starts it. Called once.
    ///
    /// # Safety
    /// Nothing else may use these regions; the first must be mapped as device memory, the second as
    /// uncached.
    pub unsafe fn start(&mut self, descriptors: Range<usize>, frames: Range<usize>) -> (Receive, Transmit) {
        static BUFFERS: ConstStaticCell<Buffers> = ConstStaticCell::new([const { Buffer([0; BUFFER]) }; SLOTS]);
        assert!(size_of::<Rings>() <= descriptors.len() && size_of::<Buffers>() <= frames.len());
        let received = core::ptr::from_mut(BUFFERS.take());
        // SAFETY: promised by the caller; the buffers of received frames are taken once.
        let (receiver, transmitter, [receive, send]) =
            unsafe { gem::prepare(descriptors.start as *mut Rings, received, frames.start as *mut Buffers) };
        invalidate(received as usize, size_of::<Buffers>());
        self.ethernet.set_rx_buf_descriptor_base_address(receive);
        self.ethernet.set_tx_buf_descriptor_base_address(send);
        self.ethernet.start();
        let receive = Receive {
            ring: receiver,
            gathering: None,
            long: false,
        };
        let transmit = Transmit {
            ring: transmitter,
            full: false,
            started: true,
        };
        (receive, transmit)
    }

    /// Tracks the PHY: configures the controller for the link's speed. True if the link has come up
    /// since the last call.
    pub fn watch_link(&mut self) -> bool {
        self.phy = self.phy.or_else(|| Phy::find(&mut Bus(&mut self.ethernet)));
        let link = self.phy.and_then(|phy| phy.link(&mut Bus(&mut self.ethernet)));
        if link == self.link {
            return false;
        }
        self.link = link;
        let Some(link) = link else {
            log::warn!("Ethernet link down");
            return false;
        };
        let speed = match link.speed {
            phy::Speed::Mbps10 => Speed::Mbps10,
            phy::Speed::Mbps100 => Speed::Mbps100,
            phy::Speed::Mbps1000 => Speed::Mbps1000,
        };
        let duplex = if link.full_duplex { Duplex::Full } else { Duplex::Half };
        // Searching the divisors takes some milliseconds, so only for a new speed.
        if (speed, duplex) != (self.ethernet.speed(), self.ethernet.duplex()) {
            let (divisors, _) = ClockDivSet::calculate_for_rgmii(self.io_clock);
            self.ethernet.configure_clock_and_speed_duplex(speed, duplex, &divisors);
        }
        log::info!("Ethernet link up, {link}");
        true
    }

    /// Stops the controller's memory accesses.
    pub fn stop(&mut self) {
        self.ethernet.ll().set_tx_rx_enable(false, false);
        self.ethernet.reset();
    }
}

struct Bus<'a>(&'a mut Ethernet);

impl Mdio for Bus<'_> {
    fn read(&mut self, phy: u8, register: u8) -> u16 {
        self.0.mdio_mut().read_blocking(u5::new(phy), u5::new(register))
    }
}

/// Received frames.
pub struct Receive {
    ring: gem::Receiver,
    /// Until when frames are left to gather.
    gathering: Option<Instant>,
    /// Whether the newest frame was long.
    long: bool,
}

impl Receive {
    /// The end of gathering, if in progress; no poll is needed before.
    pub fn gathering(&self) -> Option<Instant> {
        self.gathering
    }

    /// Ends gathering if it is time.
    pub fn wake(&mut self, now: Instant) {
        self.gathering = self.gathering.filter(|end| *end > now);
    }

    /// Whether a frame can be taken.
    pub fn is_ready(&self) -> bool {
        self.gathering.is_none() && self.ring.length().is_some()
    }
}

impl kairos_net::Receive for Receive {
    fn frame(&mut self) -> Option<&[u8]> {
        if self.gathering.is_some() {
            return None;
        }
        let Some(length) = self.ring.length() else {
            if core::mem::take(&mut self.long) {
                self.gathering = Some(Instant::now() + GATHER);
            }
            return None;
        };
        self.long = length >= LONG;
        invalidate(self.ring.buffer().as_ptr() as usize, length);
        Some(&self.ring.buffer()[..length])
    }

    fn release(&mut self) {
        self.ring.release();
    }
}

/// Frames to be sent.
pub struct Transmit {
    ring: gem::Transmitter,
    /// There was no room for a frame.
    full: bool,
    /// The controller has been started for all frames.
    started: bool,
}

impl Transmit {
    /// Whether there is room again after there was none.
    pub fn is_free_again(&self) -> bool {
        self.full && self.ring.ready()
    }
}

impl kairos_net::Transmit for Transmit {
    fn ready(&mut self) -> bool {
        self.full = !self.ring.ready();
        if self.full {
            self.flush();
        }
        !self.full
    }

    fn send<R>(&mut self, length: usize, fill: impl FnOnce(&mut [u8]) -> R) -> R {
        let result = fill(&mut self.ring.buffer()[..length]);
        self.ring.send(length);
        self.started = false;
        result
    }

    fn flush(&mut self) {
        if !core::mem::replace(&mut self.started, true) {
            self.ring.start();
        }
    }
}

/// Called with interrupts masked before the core sleeps: enables the interrupts for the events of
/// interest. False if one has occurred already.
pub fn may_sleep(receive: &Receive, transmit: &Transmit) -> bool {
    // Nothing is received while there is no room to answer.
    let events = match (transmit.full, receive.gathering) {
        (true, _) => gem::SENT,
        (false, None) => gem::RECEIVED,
        (false, Some(_)) => 0,
    };
    let asked_for = ASKED_FOR.load(Ordering::Relaxed);
    if events & !asked_for != 0 {
        gem::ask_for(events & !asked_for);
        ASKED_FOR.store(asked_for | events, Ordering::Relaxed);
    }
    // It may have occurred just before.
    match transmit.full {
        true => !transmit.ring.ready(),
        false => !receive.is_ready(),
    }
}

/// Invalidates a received frame in both caches; no core has written to it, so nothing is lost.
fn invalidate(start: usize, length: usize) {
    const LINE: usize = 32;
    /// Level 2 cache: invalidate line by physical address; cache sync (PL310 manual, section
    /// 3.3.10).
    const INVALIDATE: *mut u32 = 0xF8F0_2770 as *mut u32;
    const SYNC: *mut u32 = 0xF8F0_2730 as *mut u32;
    let write = |register: *mut u32, value: usize| {
        // SAFETY: these registers drop lines of the buffer, which are unmodified.
        unsafe { register.write_volatile(value as u32) }
    };
    // Four lines per iteration: buffers are multiples of that and contain nothing else. Unrolled by
    // hand, as the compiler does not when optimising for size, and this runs for each line of each
    // frame.
    let end = start + length;
    barrier();
    // Outer cache first: the inner one could be refilled from it.
    let mut line = start;
    while line < end {
        write(INVALIDATE, line);
        write(INVALIDATE, line + LINE);
        write(INVALIDATE, line + 2 * LINE);
        write(INVALIDATE, line + 3 * LINE);
        line += 4 * LINE;
    }
    write(SYNC, 0);
    barrier();
    let mut line = start;
    while line < end {
        // SAFETY: lines of the buffer, which are unmodified.
        unsafe {
            core::arch::asm!(
                "mcr p15, 0, {0}, c7, c6, 1",
                "mcr p15, 0, {1}, c7, c6, 1",
                "mcr p15, 0, {2}, c7, c6, 1",
                "mcr p15, 0, {3}, c7, c6, 1",
                in(reg) line,
                in(reg) line + LINE,
                in(reg) line + 2 * LINE,
                in(reg) line + 3 * LINE,
                options(nostack, preserves_flags)
            )
        };
        line += 4 * LINE;
    }
    barrier();
}

const _: () = assert!(BUFFER.is_multiple_of(128));
