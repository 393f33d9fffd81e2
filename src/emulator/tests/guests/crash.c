// A guest with invalid exception vectors: every abort causes the next one.
#include "guest.h"
volatile uint32_t resume;
void exception(uint32_t kind, uint32_t pc) { (void)kind; (void)pc; }
void irq(void) {}
void main1(void) {}
int main(void) {
    put("about to crash\n");
    uint32_t base = 0x30000000;
    __asm__ volatile("mcr p15,0,%0,c12,c0,0" :: "r"(base));
    REG(0x38000000) = 1;
    return 0;
}
