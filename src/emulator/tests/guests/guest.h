// Shared definitions of the C test guests. The test reads results from RESULT[0..15] at 0x00780000.
#include <stdint.h>
#define REG(a) (*(volatile uint32_t *)(a))
#define RESULT ((volatile uint32_t *)0x00780000)
#define GICC 0xf8f00100
#define GICD 0xf8f01000
void release_core1(void);
void atomic_add(volatile uint32_t *p, uint32_t n);
void irq(void);
void exception(uint32_t kind, uint32_t pc);
extern volatile uint32_t resume;
static inline void irq_on(void) { __asm__ volatile("cpsie i" ::: "memory"); }
static inline void irq_off(void) { __asm__ volatile("cpsid i" ::: "memory"); }
static inline void wfi(void) { __asm__ volatile("dsb; wfi" ::: "memory"); }
static inline void wfe(void) { __asm__ volatile("wfe" ::: "memory"); }
static inline void sev(void) { __asm__ volatile("dsb; sev" ::: "memory"); }
static inline uint32_t cycles(void) { uint32_t r; __asm__ volatile("mrc p15,0,%0,c9,c13,0" : "=r"(r)); return r; }
static inline uint32_t mpidr(void) { uint32_t r; __asm__ volatile("mrc p15,0,%0,c0,c0,5" : "=r"(r)); return r; }
static void gic_on(void) {
    REG(GICD) = 3; REG(GICC + 4) = 0xff; REG(GICC) = 3; REG(GICD + 0x100) = 0xffffffff;
}
static void put(const char *s) {
    REG(0xe0000000) = 0x14;
    while (*s) REG(0xe0000030) = *s++;
}
