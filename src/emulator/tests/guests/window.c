// Plain pointers into a window with slow accesses (port GP1 of test_pl.c), and the effects of its errors.
#include "guest.h"
#define WINDOW 0x80000000u
static volatile uint32_t counter, up, aborts, statuses[8], places[8], addresses[8];
volatile uint32_t resume;
static uint32_t cp15_dfsr(void) { uint32_t v; __asm__ volatile("mrc p15,0,%0,c5,c0,0" : "=r"(v)); return v; }
static uint32_t cp15_dfar(void) { uint32_t v; __asm__ volatile("mrc p15,0,%0,c6,c0,0" : "=r"(v)); return v; }
void exception(uint32_t kind, uint32_t pc) {
    (void)kind;
    statuses[aborts] = cp15_dfsr(); addresses[aborts] = cp15_dfar(); places[aborts++] = pc;
}
void irq(void) {}
void main1(void) {
    up = 1;
    for (;;) counter++;
}
int main(void) {
    uint32_t a, b, c, d, from;
    release_core1();
    while (!up) ;
    // Every width, and several registers at once
    for (int n = 0; n < 8; n++) REG(WINDOW + 4 * n) = 0x01010101 * (n + 0x80);
    *(volatile uint8_t *)(WINDOW + 1) = 0x11; *(volatile uint16_t *)(WINDOW + 6) = 0x2222;
    RESULT[0] = REG(WINDOW); RESULT[1] = REG(WINDOW + 4);
    RESULT[2] = *(volatile int8_t *)(WINDOW + 8); RESULT[3] = *(volatile uint16_t *)(WINDOW + 10);
    __asm__ volatile("ldmia %4, {r4-r7}; mov %0, r4; mov %1, r5; mov %2, r6; mov %3, r7"
        : "=&r"(a), "=&r"(b), "=&r"(c), "=&r"(d) : "r"(WINDOW + 8) : "r4", "r5", "r6", "r7");
    RESULT[4] = a == 0x82828282 && b == 0x83838383 && c == 0x84848484 && d == 0x85858585;
    __asm__ volatile(".fpu vfpv3; vldr d0, [%2]; vmov %0, %1, d0; vstr d0, [%2, #16]" : "=&r"(a), "=&r"(b) : "r"(WINDOW + 8) : "d0", "memory");
    RESULT[5] = a == 0x82828282 && b == 0x83838383 && REG(WINDOW + 24) == a && REG(WINDOW + 28) == b;
    // 2000 cycles of the logic, during which the other core continues
    from = counter; a = cycles();
    REG(WINDOW + (2000 << 16));
    RESULT[6] = cycles() - a; RESULT[7] = counter - from;
    // Loads: abort at the instruction, whose register is left unchanged
    d = 0x77;
    __asm__ volatile("ldr %0, [%1]" : "+r"(d) : "r"(WINDOW + (1 << 28)));
    RESULT[8] = d;
    __asm__ volatile("ldr %0, [%1]" : "+r"(d) : "r"(WINDOW + (1 << 29)));
    // Unaligned
    __asm__ volatile("ldr %0, [%1]" : "+r"(d) : "r"(WINDOW + 2));
    // Stores: a later, asynchronous abort, once it is unmasked
    __asm__ volatile("str %0, [%1]; nop; nop" :: "r"(d), "r"(WINDOW + (1 << 28)));
    RESULT[9] = aborts;
    __asm__ volatile("cpsie a; nop; nop");
    RESULT[10] = aborts;
    __asm__ volatile("str %0, [%1]" :: "r"(d), "r"(WINDOW + (1 << 29)));
    RESULT[11] = aborts;
    for (int n = 0; n < 5; n++) RESULT[16 + n] = statuses[n];
    RESULT[12] = addresses[0]; RESULT[13] = addresses[1];
    RESULT[14] = *(uint32_t *)places[0] >> 20; // ldr
    RESULT[15] = 0x600d;
    return 0;
}
