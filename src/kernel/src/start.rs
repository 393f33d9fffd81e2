//! From reset to Rust: processor set-up, the exception vectors, the interrupt handler.
//!
//! Written for the state of a released Cortex-A9: secure supervisor mode, MMU and caches off and
//! their contents undefined. The page table is the comms core's.

use core::arch::global_asm;

use kairos_chip::{start_clear_bss, start_copy_data, start_floating_point, start_invalidate};
use kairos_intercore::memory::INTERCORE;

// Cortex-A9 TRM chapter 4 (system control), ARM ARM B1.8 (exceptions); GIC and private timer:
// Zynq-7000 manual, UG585.
global_asm!(
    r#"
    .syntax unified
    .arm
    .fpu neon

    .section .text.start, "ax"
    .global kairos_start
kairos_start:
    cpsid   aif, #0x13
    "#,
    start_invalidate!(),
    r#"
    @ Data cache: invalidate all 256 sets of 4 ways (32 KiB, lines of 32 bytes).
    mcr     p15, 2, r0, c0, c0, 0           @ select level 1 data
    isb
    mov     r1, #0                          @ way
2:  mov     r2, #0                          @ set
3:  lsl     r3, r1, #30
    orr     r3, r3, r2, lsl #5
    mcr     p15, 0, r3, c7, c6, 2
    add     r2, r2, #1
    cmp     r2, #256
    blo     3b
    add     r1, r1, #1
    cmp     r1, #4
    blo     2b
    dsb

    @ The snoop control unit's tags of this core.
    movw    r1, #0x000c
    movt    r1, #0xf8f0
    mov     r2, #0xf0
    str     r2, [r1]

    @ Page table and domains as the comms core has them.
    movw    r1, #:lower16:{channel}
    movt    r1, #:upper16:{channel}
    ldr     r2, [r1]
    ldr     r3, [r1, #4]
    mcr     p15, 0, r0, c2, c0, 2           @ TTBCR
    mcr     p15, 0, r2, c2, c0, 0           @ TTBR0
    mcr     p15, 0, r3, c3, c0, 0           @ DACR

    @ Coherent with the other core; maintenance operations are broadcast.
    mrc     p15, 0, r1, c1, c0, 1
    orr     r1, r1, #0x41
    mcr     p15, 0, r1, c1, c0, 1
    dsb
    isb

    @ MMU, caches, branch prediction on; low vectors, ARM state, no alignment checks, no TEX remap, no access flag.
    mrc     p15, 0, r1, c1, c0, 0
    bic     r1, r1, #0x72000000
    bic     r1, r1, #0x2000
    bic     r1, r1, #0x2
    orr     r1, r1, #0x1800
    orr     r1, r1, #0x5
    mcr     p15, 0, r1, c1, c0, 0
    isb

    adr     r1, vectors
    mcr     p15, 0, r1, c12, c0, 0          @ VBAR
    isb

    "#,
    start_floating_point!(),
    start_copy_data!(),
    start_clear_bss!(),
    r#"

    @ Stacks of the exception modes. Faults change to a stack of their own at once and need none; that of aborts is
    @ where their context is kept.
    movw    r1, #:lower16:__irq_stack
    movt    r1, #:upper16:__irq_stack
    cps     #0x12
    mov     sp, r1
    movw    r1, #:lower16:{context}
    movt    r1, #:upper16:{context}
    cps     #0x17
    mov     sp, r1

    cps     #0x1f
    movw    sp, #:lower16:__kernel_stack
    movt    sp, #:upper16:__kernel_stack
    bl      {boot}
    b       fresh

    .section .text.vectors, "ax"
    .align 5
vectors:
    b       .
    b       undefined
    b       supervisor_call
    b       prefetch_abort
    b       data_abort
    b       .
    b       interrupt
    b       .

undefined:
    mov     r0, #0
    sub     r1, lr, #4
    b       5f
supervisor_call:
    mov     r0, #3
    sub     r1, lr, #4
    b       5f
prefetch_abort:
    mov     r0, #1
    sub     r1, lr, #4
    b       5f
data_abort:                                 @ everything is kept: it may come between any two instructions
    sub     lr, lr, #8
    stm     sp, {{r0-r12}}                  @ fault::Context
    str     lr, [sp, #52]
    mrs     r0, spsr
    vmrs    r1, fpscr
    add     r2, sp, #56
    stm     r2!, {{r0, r1}}
    vstmia  r2!, {{d0-d7}}
    vstmia  r2!, {{d16-d31}}
    mov     r0, #2
    mov     r1, lr
5:  cps     #0x1f
    mov     r3, sp
    movw    sp, #:lower16:__fault_stack
    movt    sp, #:upper16:__fault_stack
    sub     sp, sp, #128                    @ unwind::Registers; r0-r3 and r12 matter to no caller
    add     r12, sp, #16
    stm     r12, {{r4-r11}}
    str     r3, [sp, #52]
    str     lr, [sp, #56]
    str     r1, [sp, #60]
    add     r12, sp, #64
    vstmia  r12, {{d8-d15}}
    mov     r1, sp
    b       {fault}

interrupt:
    sub     lr, lr, #4
    push    {{r0-r3, r12, lr}}
    movw    r0, #0x0100
    movt    r0, #0xf8f0
    ldr     r1, [r0, #0x0c]                 @ acknowledge
    ubfx    r2, r1, #0, #10
    cmp     r2, #0                          @ SGI 0: restart
    beq     6f
    cmp     r2, #29                         @ private timer: clear its event
    moveq   r12, #1
    streq   r12, [r0, #0x50c]
    movw    r3, #1023
    cmp     r2, r3
    strne   r1, [r0, #0x10]                 @ end of interrupt
    ldm     sp!, {{r0-r3, r12, pc}}^

6:  str     r1, [r0, #0x10]
    clrex
    add     sp, sp, #24
    cps     #0x1f
fresh:
    @ Interrupts are masked here, whichever way it was reached.
    mov     r0, #0
    vmsr    fpscr, r0
    movw    sp, #:lower16:__kernel_stack
    movt    sp, #:upper16:__kernel_stack
    b       {restart}
"#,
    channel = const INTERCORE.start,
    boot = sym crate::session::boot,
    restart = sym crate::session::restart,
    fault = sym crate::fault::fault,
    context = sym crate::fault::CONTEXT,
);
