//! The network stack's device and the link below it: GEM0's rings ([`crate::gem`]), with received
//! frames in cached memory, frames to send in memory that is not cached, and interrupts that are on
//! only while the core sleeps. Checksums of IPv4, TCP and UDP are made and checked by the
//! controller.
//!
//! After long frames, which come in a row, the next look is a little later: the stack then works on
//! several at once. Short frames, such as a reply that a kernel waits for, are taken at once.

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

/// Frames from this length on, in bytes, are expected to be followed by others.
const LONG: usize = 1000;
/// How long they are left to gather. At 1 Gbit/s up to 8 arrive.
const GATHER: Duration = Duration::from_micros(100);

/// Events that raise an interrupt.
static ASKED_FOR: AtomicU32 = AtomicU32::new(0);

/// Interrupt handler of GEM0. Nothing more is needed than that the core wakes; it looks for itself.
pub fn on_interrupt() {
    let events = gem::take_events();
    ASKED_FOR.store(ASKED_FOR.load(Ordering::Relaxed) & !events, Ordering::Relaxed);
}

/// The controller, and the PHY at its other end.
pub struct Port {
    ethernet: Ethernet,
    io_clock: Hertz,
    phy: Option<Phy>,
    link: Option<Link>,
}

impl Port {
    /// How often the link is to be looked at.
    pub const LINK_INTERVAL: Duration = Duration::from_secs(1);

    /// Sets up the controller. Pins are as the boot loader left them.
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

    /// Gives the controller its rings, in the memory that is set apart for them and for frames to
    /// be sent, and starts it. Called once.
    ///
    /// # Safety
    /// Nothing else uses these regions; the first is mapped as device memory, the second is not cached.
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

    /// Follows the PHY: tells the controller how fast the link is. True if the link has come up
    /// since the last look.
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
        // Searching the divisors takes some milliseconds: only for a speed that is not set yet.
        if (speed, duplex) != (self.ethernet.speed(), self.ethernet.duplex()) {
            let (divisors, _) = ClockDivSet::calculate_for_rgmii(self.io_clock);
            self.ethernet.configure_clock_and_speed_duplex(speed, duplex, &divisors);
        }
        log::info!("Ethernet link up, {link}");
        true
    }

    /// The controller reads and writes no memory any more.
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
    /// Frames are left to gather until then.
    gathering: Option<Instant>,
    /// The newest frame was long.
    long: bool,
}

impl Receive {
    /// Until when there is no need to look, if not now.
    pub fn gathering(&self) -> Option<Instant> {
        self.gathering
    }

    /// Looks again, if it is time to.
    pub fn wake(&mut self, now: Instant) {
        self.gathering = self.gathering.filter(|end| *end > now);
    }

    /// Whether there is a frame to be taken.
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
    /// The controller knows of all frames.
    started: bool,
}

impl Transmit {
    /// Whether there is room again, where there was none.
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

/// Before the core sleeps, with interrupts masked: has the controller wake it when there is
/// something. False if there is something already.
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
    // It may have happened just before.
    match transmit.full {
        true => !transmit.ring.ready(),
        false => !receive.is_ready(),
    }
}

/// Drops what both caches hold of a received frame; nothing in it has been written by a core, so
/// nothing is lost.
fn invalidate(start: usize, length: usize) {
    const LINE: usize = 32;
    /// Level 2 cache: invalidate line by physical address; cache sync (PL310 manual, section 3.3.10).
    const INVALIDATE: *mut u32 = 0xF8F0_2770 as *mut u32;
    const SYNC: *mut u32 = 0xF8F0_2730 as *mut u32;
    let write = |register: *mut u32, value: usize| {
        // SAFETY: these registers drop lines of the buffer, which hold nothing that is not in memory.
        unsafe { register.write_volatile(value as u32) }
    };
    // Four at a time: buffers are multiples of that, and nothing else lies in them. Written out, as
    // the compiler would not do it where it is told to care for size, and this runs for each line
    // of each frame.
    let end = start + length;
    barrier();
    // Outer cache first: the inner one could be filled from it again.
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
        // SAFETY: lines of the buffer, which hold nothing that is not in memory.
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
