// Two cores: exclusive access, software-generated interrupts both ways, timers, exceptions.
#include "guest.h"
static volatile uint32_t counter, up, sgi[2], ppi[2], kinds[8], pcs[8];
volatile uint32_t resume;
void exception(uint32_t kind, uint32_t pc) { kinds[kind]++; pcs[kind] = pc; }
void irq(void) {
    uint32_t core = mpidr() & 3, id = REG(GICC + 0xc), n = id & 0x3ff;
    if (n < 16) sgi[core] += 1 + ((id >> 10 & 7) << 8);
    if (n == 29) { ppi[core]++; REG(0xf8f0060c) = 1; }
    if (n == 27) { REG(0xf8f00208) &= ~6u; REG(0xf8f0020c) = 1; RESULT[10] = REG(0xf8f00200); }
    REG(GICC + 0x10) = id;
}
void main1(void) {
    REG(GICC + 4) = 0xff; REG(GICC) = 3; REG(GICD + 0x100) = 0xffffffff;
    RESULT[0] = mpidr();
    irq_on();
    up = 1;
    for (int i = 0; i < 20000; i++) atomic_add(&counter, 1);
    REG(GICD + 0xf00) = 1 << 16 | 3; // to core 0
    while (sgi[1] == 0) wfi();
    atomic_add(&up, 1);
    for (;;) wfi();
}
int main(void) {
    put("cores\n");
    gic_on();
    release_core1();
    while (!up) ;
    for (int i = 0; i < 20000; i++) atomic_add(&counter, 1);
    irq_on();
    while (sgi[0] == 0) wfi();
    REG(GICD + 0xf00) = 2 << 16 | 5; // to core 1
    while (up != 2) ;
    RESULT[1] = counter; RESULT[2] = sgi[0]; RESULT[3] = sgi[1];
    // Private timer: 1 ms, three times.
    REG(0xf8f00600) = 400000 - 1; REG(0xf8f00608) = 7;
    uint32_t from = cycles();
    while (ppi[0] < 3) wfi();
    RESULT[4] = cycles() - from; REG(0xf8f00608) = 0;
    // Global timer: comparator 1000 ticks ahead.
    REG(0xf8f00208) = 1;
    uint32_t at = REG(0xf8f00200) + 1000;
    REG(0xf8f00210) = at; REG(0xf8f00214) = 0; REG(0xf8f00208) = 7;
    wfi();
    RESULT[5] = RESULT[10] - at;
    // Exceptions.
    __asm__ volatile("svc #1");
    __asm__ volatile(".word 0xe7f000f0");
    __asm__ volatile("ldr r0, =0x30000000; ldr r0, [r0]" ::: "r0");
    __asm__ volatile("mrc p15,0,%0,c6,c0,0" : "=r"(RESULT[6]));
    __asm__ volatile("mrc p15,0,%0,c5,c0,0" : "=r"(RESULT[7]));
    __asm__ volatile("ldr r0, =1f; str r0, [%0]; ldr r0, =0x30000000; bx r0; 1:" :: "r"(&resume) : "r0", "memory");
    RESULT[8] = kinds[1] | kinds[2] << 4 | kinds[3] << 8 | kinds[4] << 12;
    RESULT[9] = pcs[3];
    RESULT[15] = 0x600d;
    return 0;
}
