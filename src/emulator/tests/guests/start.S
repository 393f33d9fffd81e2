@ Start of the C test guests: vectors, stacks, an identity map with all of it normal memory where wanted, both cores.
@ Core 0 runs main(); core 1, once released at address 0, runs main1().
    .section .text.start, "ax"
    .arm
    .fpu vfpv3
    .global _start, _vectors
_vectors:
    ldr pc, =_start
    ldr pc, =undefined_entry
    ldr pc, =svc_entry
    ldr pc, =prefetch_entry
    ldr pc, =abort_entry
    nop
    ldr pc, =irq_entry
    nop
_start:
    mrc p15, 0, r4, c0, c0, 5
    and r4, r4, #3
    ldr r0, =_vectors
    mcr p15, 0, r0, c12, c0, 0
    ldr r1, =0x700000
    sub r1, r1, r4, lsl #20
    cps #0x1b
    sub sp, r1, #0x10000
    cps #0x17
    sub sp, r1, #0x20000
    cps #0x12
    sub sp, r1, #0x30000
    cps #0x13
    mov sp, r1
    mrc p15, 0, r0, c1, c0, 2
    orr r0, r0, #0xf00000
    mcr p15, 0, r0, c1, c0, 2
    isb
    mov r0, #0x40000000
    vmsr fpexc, r0
    cmp r4, #0
    bne 1f
    bl main
    b halt
1:  bl main1
halt:
    cpsid i
    wfi
    b halt

undefined_entry:
    push {r0-r3, r12, lr}
    mov r0, #1
    sub r1, lr, #4
    bl exception
    pop {r0-r3, r12, lr}
    movs pc, lr
svc_entry:
    push {r0-r3, r12, lr}
    mov r0, #2
    mov r1, lr
    bl exception
    pop {r0-r3, r12, lr}
    movs pc, lr
prefetch_entry:
    push {r0-r3, r12, lr}
    mov r0, #3
    sub r1, lr, #4
    bl exception
    pop {r0-r3, r12, lr}
    ldr lr, =resume
    ldr lr, [lr]
    movs pc, lr
abort_entry:
    push {r0-r3, r12, lr}
    mov r0, #4
    sub r1, lr, #8
    bl exception
    mrc p15, 0, r0, c5, c0, 0
    tst r0, #0x400        @ asynchronous: on with the instruction that was next
    pop {r0-r3, r12, lr}
    subnes pc, lr, #8
    subs pc, lr, #4
irq_entry:
    sub lr, lr, #4
    push {r0-r3, r12, lr}
    bl irq
    pop {r0-r3, r12, lr}
    movs pc, lr
    .ltorg

    .global release_core1
release_core1:            @ a branch to _start at address 0, then A9_CPU_RST_CTRL
    ldr r0, =0xe51ff004   @ ldr pc, [pc, #-4]
    mov r1, #0
    str r0, [r1]
    ldr r0, =_start
    str r0, [r1, #4]
    ldr r1, =0xf8000000
    ldr r0, =0xdf0d
    str r0, [r1, #8]
    mov r0, #0x22
    str r0, [r1, #0x244]
    mov r0, #0x20
    str r0, [r1, #0x244]
    mov r0, #0
    str r0, [r1, #0x244]
    bx lr

    .global atomic_add
atomic_add:
    ldrex r2, [r0]
    add r2, r2, r1
    strex r3, r2, [r0]
    cmp r3, #0
    bne atomic_add
    bx lr
