// Submits transactions to the test PL through sev and ACP, the second half waiting in wfe.
#include "guest.h"
volatile uint32_t resume;
void exception(uint32_t kind, uint32_t pc) { RESULT[14] = kind; RESULT[13] = pc; for (;;) wfi(); }
void irq(void) {}
static struct { uint32_t head, target; int64_t time; uint32_t data[20]; uint32_t in[2]; volatile uint32_t status; uint32_t x; uint32_t pad[4]; }
    buffer __attribute__((aligned(128)));
static void output(uint32_t sequence, int64_t time, uint32_t level, int sleep) {
    buffer.head = 1 << 8 | sequence << 16; buffer.target = 0; buffer.time = time; buffer.data[0] = level;
    sev();
    while (buffer.status >> 16 != sequence) if (sleep) wfe();
}
static int64_t now(void) { uint32_t l = REG(0x40010004); return (int64_t)REG(0x40010008) << 32 | l; }
void main1(void) {
    uint32_t from = cycles();
    RESULT[0] = REG(0x40000000);
    RESULT[1] = cycles() - from;
    REG(0x40010000) = (uint32_t)&buffer;
    int64_t t = now() + 1000;
    from = cycles();
    for (uint32_t i = 1; i <= 100; i++) output(i, t + 1000 * i, i & 1, i > 50);
    RESULT[2] = cycles() - from;
    RESULT[15] = 0x600d;
    // One second until the last two.
    output(101, t + 125000000, 1, 1);
    output(102, t + 125000010, 0, 1);
    for (;;) wfi();
}
int main(void) { release_core1(); return 0; }
