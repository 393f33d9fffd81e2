//! Entry from the boot ROM, and the start of the second stage.

use core::arch::{asm, global_asm};
use core::ptr::{read_volatile, write_volatile};

use kairos_chip::gic::barrier;
use kairos_chip::{start_clear_bss, start_floating_point, start_invalidate};

// Cortex-A9 TRM chapter 4, ARM ARM B1.8.
global_asm!(
    r#"
    .syntax unified
    .arm
    .fpu neon

    .section .text.vectors, "ax"
    .global kairos_boot_start
    b       kairos_boot_start
    b       kairos_boot_fault
    b       kairos_boot_fault
    b       kairos_boot_fault
    b       kairos_boot_fault
    b       kairos_boot_fault
    b       kairos_boot_fault
    b       kairos_boot_fault

kairos_boot_start:
    cpsid   aif, #0x13
    mov     r0, #0
    mcr     p15, 0, r0, c12, c0, 0          @ VBAR: the table above
    mrc     p15, 0, r1, c1, c0, 0
    bic     r1, r1, #0x3000                 @ vectors at VBAR; instruction cache off
    bic     r1, r1, #0x0005                 @ MMU and data cache off
    mcr     p15, 0, r1, c1, c0, 0
    "#,
    start_invalidate!(),
    start_floating_point!(),
    start_clear_bss!(),
    r#"
    movw    sp, #:lower16:__stack
    movt    sp, #:upper16:__stack
    b       {main}

kairos_boot_fault:
    movw    sp, #:lower16:__stack
    movt    sp, #:upper16:__stack
    b       {fault}
    "#,
    main = sym crate::main,
    fault = sym fault,
);

extern "C" fn fault() -> ! {
    crate::fail("fault in the first stage")
}

/// Copies the second stage to its place and starts it there.
pub fn second_stage(image: &[u8], place: usize) -> ! {
    for (n, word) in image.chunks_exact(4).enumerate() {
        // SAFETY: the memory reserved for the second stage; the image is aligned, and its length a
        // multiple of 4.
        unsafe { write_volatile((place as *mut u32).add(n), read_volatile(word.as_ptr().cast())) };
    }
    barrier();
    // SAFETY: the second stage's entry is at its start (asserted by a test of the images), and it
    // expects the state left by this stage: supervisor mode, caches and MMU off.
    unsafe { asm!("isb", "bx {}", in(reg) place, options(noreturn)) }
}
