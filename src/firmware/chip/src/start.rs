//! The first steps of each image's start-up code, as text for `global_asm!` (Cortex-A9 TRM chapter
//! 4, ARM ARM B1.8).
//!
//! Clobbers r0 to r3, and leaves zero in r0.

/// Invalidates address translations, cached instructions and branch predictions, which are
/// undefined after reset.
#[macro_export]
macro_rules! start_invalidate {
    () => {
        "
    mov     r0, #0
    mcr     p15, 0, r0, c8, c7, 0           @ TLBs
    mcr     p15, 0, r0, c7, c5, 0           @ instruction cache
    mcr     p15, 0, r0, c7, c5, 6           @ branch predictor
    dsb
    isb
"
    };
}

/// Enables VFP and NEON.
#[macro_export]
macro_rules! start_floating_point {
    () => {
        "
    mrc     p15, 0, r1, c1, c0, 2
    orr     r1, r1, #0xf00000
    bic     r1, r1, #0xc0000000
    mcr     p15, 0, r1, c1, c0, 2
    isb
    mov     r1, #0x40000000
    vmsr    fpexc, r1
"
    };
}

/// Clears `.bss`, from `__bss_start` to `__bss_end` of the linker script, in words.
#[macro_export]
macro_rules! start_clear_bss {
    () => {
        "
    mov     r0, #0
    movw    r1, #:lower16:__bss_start
    movt    r1, #:upper16:__bss_start
    movw    r2, #:lower16:__bss_end
    movt    r2, #:upper16:__bss_end
2:  cmp     r1, r2
    strlo   r0, [r1], #4
    blo     2b
"
    };
}

/// Copies `.data` from its load address to its run address, `__data_start` to `__data_end` of the
/// linker script, in words.
#[macro_export]
macro_rules! start_copy_data {
    () => {
        "
    movw    r0, #:lower16:__data_load
    movt    r0, #:upper16:__data_load
    movw    r1, #:lower16:__data_start
    movt    r1, #:upper16:__data_start
    movw    r2, #:lower16:__data_end
    movt    r2, #:upper16:__data_end
2:  cmp     r1, r2
    ldrlo   r3, [r0], #4
    strlo   r3, [r1], #4
    blo     2b
    mov     r0, #0
"
    };
}
