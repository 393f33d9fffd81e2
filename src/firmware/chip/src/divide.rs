//! Unsigned division for both images and for kernels: the Cortex-A9 has no instruction for it.
//!
//! These functions replace those of the compiler's run-time library. Most divisions are index
//! calculations of ring buffers, so a dividend less than the divisor, or less than twice the
//! divisor, takes only a few instructions.

core::arch::global_asm!(
    r#"
    .syntax unified
    .arm
    .section .text.kairos_divide, "ax"
    .global __aeabi_uidiv
    .type __aeabi_uidiv, %function
    .global __aeabi_uidivmod
    .type __aeabi_uidivmod, %function
__aeabi_uidiv:
__aeabi_uidivmod:
    cmp     r0, r1
    bhs     1f
    mov     r1, r0
    mov     r0, #0
    bx      lr
1:  sub     r2, r0, r1
    cmp     r2, r1
    bhs     2f
    mov     r1, r2
    mov     r0, #1
    bx      lr
2:  cmp     r1, #0
    moveq   r0, #0                          @ as __aeabi_idiv0 does by default
    bxeq    lr
    clz     r2, r0
    clz     r3, r1
    sub     r3, r3, r2
    lsl     r1, r1, r3
    mov     r2, #0
3:  cmp     r0, r1
    adc     r2, r2, r2
    subcs   r0, r0, r1
    lsr     r1, r1, #1
    subs    r3, r3, #1
    bpl     3b
    mov     r1, r0
    mov     r0, r2
    bx      lr
    .size __aeabi_uidivmod, . - __aeabi_uidivmod
"#
);
