//! Interrupt controller: the door bells between the cores, and the little of it that the kernel core needs.
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

/// Makes everything written before visible to the other core, then raises software-generated
/// interrupt `id` (0 to 15) on `core` (0 or 1).
pub fn send_sgi(core: u8, id: u8) {
    barrier();
    // SAFETY: a write to the SGI register has no effect on memory safety of this core.
    unsafe { write_volatile(ICD_SGI, 1 << (16 + core as u32) | (id as u32 & 15)) };
}

/// Lets all sixteen SGIs, and no private peripheral interrupt, reach the calling core.
///
/// For a core that does not run the HAL's interrupt set-up (the kernel core). The distributor must
/// be on already.
pub fn enable_sgis_only() {
    // SAFETY: registers banked for the calling core; interrupts it did not ask for go off.
    unsafe {
        write_volatile(ICD_ENABLE_CLEAR0, 0xffff_0000);
        for word in 0..4 {
            write_volatile(ICD_PRIORITY0.add(word), 0x8080_8080);
        }
        write_volatile(ICD_ENABLE_SET0, 0x0000_ffff);
        write_volatile(ICC_PRIORITY_MASK, 0xff);
        // Secure and non-secure interrupts on, acknowledged as IRQ from the secure state.
        write_volatile(ICC_CTRL, 0b0_0111);
    }
}

/// Has these interrupts (numbers up to 63) end [`wait_for_interrupt`] on the calling core, which
/// has them masked, and the controller run. `cpu`: that core.
pub fn listen(cpu: u8, interrupts: &[u16]) {
    for id in interrupts.iter().map(|id| usize::from(*id)) {
        // SAFETY: the controller is this core's, which takes no interrupt.
        unsafe {
            write_volatile(ICD_ENABLE_SET0.add(id / 32), 1 << (id % 32));
            let target = ICD_TARGETS0.add(id / 4);
            write_volatile(target, read_volatile(target) | 1 << (8 * (id % 4) + usize::from(cpu)));
        }
    }
    // SAFETY: lets interrupts reach a core that has them masked: they end its waiting and nothing else.
    unsafe {
        write_volatile(ICC_PRIORITY_MASK, 0xff);
        write_volatile(ICC_CTRL, 0b0_0111);
        write_volatile(ICD_CONTROL, 1);
    }
}

/// Has a shared interrupt (32 or above) come to core `cpu` alone, at each rise of its line. The
/// distributor must be on already.
pub fn route_rising(cpu: u8, id: u16) {
    let id = usize::from(id);
    // SAFETY: the bytes and the bit are this interrupt's alone; its two bits of the configuration
    // share a word with those of others, which are set when the controller is, before this.
    unsafe {
        let configuration = ICD_CONFIGURATION0.add(id / 16);
        write_volatile(configuration, read_volatile(configuration) | 2 << (2 * (id % 16)));
        write_volatile(ICD_PRIORITY0.cast::<u8>().add(id), 0x80);
        write_volatile(ICD_TARGETS0.cast::<u8>().add(id), 1 << cpu);
        write_volatile(ICD_ENABLE_SET0.add(id / 32), 1 << (id % 32));
    }
}

/// The controller as after reset, for the next program.
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

/// A pending interrupt, taken; hand it back to [`end`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledged(u32);

impl Acknowledged {
    /// Interrupt number, [`SPURIOUS`] when there was none.
    pub fn id(self) -> u16 {
        (self.0 & 0x3ff) as u16
    }
}

/// Takes the most urgent pending interrupt of the calling core.
pub fn acknowledge() -> Acknowledged {
    // SAFETY: register of the calling core's own interface.
    Acknowledged(unsafe { read_volatile(ICC_ACKNOWLEDGE) })
}

/// Ends the handling of an acknowledged interrupt, so that the next one can come.
pub fn end(interrupt: Acknowledged) {
    if interrupt.id() != SPURIOUS {
        // SAFETY: ends what this core's own interface has given it.
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
