//! Interrupt controller: the doorbells between the cores, and the small part of it that the kernel
//! core needs.
//!
//! Registers as in the Zynq-7000 manual (UG585), appendix "Application Processing Unit": CPU
//! interface at `0xF8F00100` (each core sees its own), distributor at `0xF8F01000`. The runtime
//! sets up the distributor through the HAL.

use core::ptr::{read_volatile, write_volatile};

/// Acknowledged number when no interrupt is pending.
pub const SPURIOUS: u16 = 1023;

const ICC_CTRL: *mut u32 = 0xF8F0_0100 as *mut u32;
const ICC_PRIORITY_MASK: *mut u32 = 0xF8F0_0104 as *mut u32;
const ICC_ACKNOWLEDGE: *const u32 = 0xF8F0_010C as *const u32;
const ICC_END: *mut u32 = 0xF8F0_0110 as *mut u32;
const ICD_CONTROL: *mut u32 = 0xF8F0_1000 as *mut u32;
const ICD_ENABLE_SET0: *mut u32 = 0xF8F0_1100 as *mut u32;
const ICD_ENABLE_CLEAR0: *mut u32 = 0xF8F0_1180 as *mut u32;
const ICD_PRIORITY0: *mut u32 = 0xF8F0_1400 as *mut u32;
const ICD_TARGETS0: *mut u32 = 0xF8F0_1800 as *mut u32;
const ICD_CONFIGURATION0: *mut u32 = 0xF8F0_1C00 as *mut u32;
const ICD_SGI: *mut u32 = 0xF8F0_1F00 as *mut u32;

/// Makes all earlier writes visible to the other core, then raises software-generated interrupt
/// `id` (0 to 15) on `core` (0 or 1).
pub fn send_sgi(core: u8, id: u8) {
    barrier();
    // SAFETY: a write to the SGI register does not affect the memory safety of this core.
    unsafe { write_volatile(ICD_SGI, 1 << (16 + core as u32) | (id as u32 & 15)) };
}

/// Enables all sixteen SGIs, and no private peripheral interrupt, for the calling core.
///
/// For a core that does not run the HAL's interrupt set-up (the kernel core). The distributor must
/// be enabled already.
pub fn enable_sgis_only() {
    // SAFETY: registers banked for the calling core; interrupts that it did not request are
    // disabled.
    unsafe {
        write_volatile(ICD_ENABLE_CLEAR0, 0xffff_0000);
        for word in 0..4 {
            write_volatile(ICD_PRIORITY0.add(word), 0x8080_8080);
        }
        write_volatile(ICD_ENABLE_SET0, 0x0000_ffff);
        write_volatile(ICC_PRIORITY_MASK, 0xff);
        // Enable secure and non-secure interrupts, acknowledged as IRQ from the secure state.
        write_volatile(ICC_CTRL, 0b0_0111);
    }
}

/// Enables these interrupts (numbers up to 63), and routes them to core `cpu`.
pub fn enable(cpu: u8, interrupts: &[u16]) {
    for id in interrupts.iter().map(|id| usize::from(*id)) {
        // SAFETY: only core 0 changes the targets, before the other core starts.
        unsafe {
            let target = ICD_TARGETS0.add(id / 4);
            write_volatile(target, read_volatile(target) | 1 << (8 * (id % 4) + usize::from(cpu)));
            write_volatile(ICD_ENABLE_SET0.add(id / 32), 1 << (id % 32));
        }
    }
}

/// Makes these interrupts (numbers up to 63) end [`wait_for_interrupt`] on the calling core `cpu`,
/// which has them masked, and enables the controller.
pub fn listen(cpu: u8, interrupts: &[u16]) {
    enable(cpu, interrupts);
    // SAFETY: the interrupts are masked in the core, so they only end its waiting.
    unsafe {
        write_volatile(ICC_PRIORITY_MASK, 0xff);
        write_volatile(ICC_CTRL, 0b0_0111);
        write_volatile(ICD_CONTROL, 1);
    }
}

/// Routes a shared interrupt (32 or above) to core `cpu` alone, on each rising edge of its line.
/// The distributor must be enabled already.
pub fn route_rising(cpu: u8, id: u16) {
    let id = usize::from(id);
    // SAFETY: the bytes and the bit belong to this interrupt alone; its two configuration bits
    // share a word with those of others, which are set together with the controller, before this.
    unsafe {
        let configuration = ICD_CONFIGURATION0.add(id / 16);
        write_volatile(configuration, read_volatile(configuration) | 2 << (2 * (id % 16)));
        write_volatile(ICD_PRIORITY0.cast::<u8>().add(id), 0x80);
        write_volatile(ICD_TARGETS0.cast::<u8>().add(id), 1 << cpu);
        write_volatile(ICD_ENABLE_SET0.add(id / 32), 1 << (id % 32));
    }
}

/// Restores the controller's state after reset, for the next program.
pub fn deafen() {
    // SAFETY: no interrupt is needed any more.
    unsafe {
        for word in 0..2 {
            write_volatile(ICD_ENABLE_CLEAR0.add(word), !0);
        }
        write_volatile(ICD_CONTROL, 0);
        write_volatile(ICC_CTRL, 0);
    }
}

/// A pending interrupt that has been acknowledged; pass it to [`end`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledged(u32);

impl Acknowledged {
    /// Interrupt number; [`SPURIOUS`] if there was none.
    pub fn id(self) -> u16 {
        (self.0 & 0x3ff) as u16
    }
}

/// Acknowledges the most urgent pending interrupt of the calling core.
pub fn acknowledge() -> Acknowledged {
    // SAFETY: register of the calling core's own interface.
    Acknowledged(unsafe { read_volatile(ICC_ACKNOWLEDGE) })
}

/// Ends the handling of an acknowledged interrupt, so that the next one can occur.
pub fn end(interrupt: Acknowledged) {
    if interrupt.id() != SPURIOUS {
        // SAFETY: ends an interrupt that this core's own interface has delivered.
        unsafe { write_volatile(ICC_END, interrupt.0) };
    }
}

/// `dsb`: all earlier memory accesses of this core are complete.
#[inline(always)]
pub fn barrier() {
    #[cfg(target_arch = "arm")]
    // SAFETY: a barrier instruction.
    unsafe {
        core::arch::asm!("dsb", options(nostack, preserves_flags))
    };
    #[cfg(not(target_arch = "arm"))]
    core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
}

/// `wfi`: sleeps until an interrupt is pending for this core, masked or not.
#[inline(always)]
pub fn wait_for_interrupt() {
    #[cfg(target_arch = "arm")]
    // SAFETY: a hint instruction.
    unsafe {
        core::arch::asm!("dsb", "wfi", options(nostack, preserves_flags))
    };
    #[cfg(not(target_arch = "arm"))]
    core::hint::spin_loop();
}
