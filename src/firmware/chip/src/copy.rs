//! `memcpy` and related functions for both images and for kernels, with 64 bytes per iteration for
//! any alignment of source and destination.
//!
//! They replace those of the compiler's run-time library, which copy word by word and shift when
//! source and destination have different alignments, as a packet's payload and a list always have.
//! Addresses need no alignment: normal memory allows unaligned accesses on the Cortex-A9. So these
//! functions are not for device memory, except for aligned pieces below 64 bytes.
//!
//! The NEON registers are preserved, so that an interrupt handler may copy, too.

core::arch::global_asm!(
    r#"
    .syntax unified
    .arm
    .fpu neon
    .section .text.kairos_copy, "ax"

    .macro entry name
    .global \name
    .type \name, %function
\name:
    .endm

entry __aeabi_memmove
entry __aeabi_memmove4
entry __aeabi_memmove8
entry memmove
    sub     r3, r0, r1
    cmp     r3, r2                          @ unsigned: destination within the source, behind its start?
    bhs     memcpy
    add     r12, r0, r2
    add     r1, r1, r2
    subs    r2, r2, #64
    blo     3f
    vpush   {{d0-d7}}
2:  sub     r1, r1, #64
    sub     r12, r12, #64
    vld1.8  {{d0-d3}}, [r1]!
    vld1.8  {{d4-d7}}, [r1]
    sub     r1, r1, #32
    subs    r2, r2, #64
    vst1.8  {{d0-d3}}, [r12]!
    vst1.8  {{d4-d7}}, [r12]
    sub     r12, r12, #32
    bhs     2b
    vpop    {{d0-d7}}
3:  adds    r2, r2, #64
    bxeq    lr
4:  ldrb    r3, [r1, #-1]!
    subs    r2, r2, #1
    strb    r3, [r12, #-1]!
    bne     4b
    bx      lr
    .size memmove, . - memmove

entry __aeabi_memcpy
entry __aeabi_memcpy4
entry __aeabi_memcpy8
entry memcpy
    mov     r12, r0
    subs    r2, r2, #64
    blo     2f
    vpush   {{d0-d7}}
1:  pld     [r1, #192]
    vld1.8  {{d0-d3}}, [r1]!
    vld1.8  {{d4-d7}}, [r1]!
    subs    r2, r2, #64
    vst1.8  {{d0-d3}}, [r12]!
    vst1.8  {{d4-d7}}, [r12]!
    bhs     1b
    vpop    {{d0-d7}}
2:  adds    r2, r2, #60                     @ 64 - 4: what is left, less the first word
    blt     4f
3:  ldr     r3, [r1], #4
    subs    r2, r2, #4
    str     r3, [r12], #4
    bge     3b
4:  lsls    r2, r2, #31                     @ the low two bits: C and N
    ldrhcs  r3, [r1], #2
    strhcs  r3, [r12], #2
    ldrbmi  r3, [r1]
    strbmi  r3, [r12]
    bx      lr
    .size memcpy, . - memcpy

entry __aeabi_memclr
entry __aeabi_memclr4
entry __aeabi_memclr8
    mov     r2, r1
    mov     r1, #0
    b       memset

entry __aeabi_memset
entry __aeabi_memset4
entry __aeabi_memset8
    mov     r3, r1
    mov     r1, r2
    mov     r2, r3

entry memset
    and     r1, r1, #0xff
    orr     r1, r1, r1, lsl #8
    orr     r1, r1, r1, lsl #16
    mov     r12, r0
    subs    r2, r2, #64
    blo     2f
    vpush   {{d0-d3}}
    vdup.32 q0, r1
    vdup.32 q1, r1
1:  subs    r2, r2, #64
    vst1.8  {{d0-d3}}, [r12]!
    vst1.8  {{d0-d3}}, [r12]!
    bhs     1b
    vpop    {{d0-d3}}
2:  adds    r2, r2, #60
    blt     4f
3:  str     r1, [r12], #4
    subs    r2, r2, #4
    bge     3b
4:  lsls    r2, r2, #31
    strhcs  r1, [r12], #2
    strbmi  r1, [r12]
    bx      lr
    .size memset, . - memset
"#
);
