/* The firmware's memory functions, with every alignment and many lengths, compared with plain loops. Reports the first
   wrong case, or 0. */
#include "kernel.h"

IMPORT void *memmove(void *, const void *, unsigned);

enum { ROOM = 640 };
static volatile uint8_t original[ROOM], expected[ROOM];
static uint8_t area[ROOM] __attribute__((aligned(64)));

static void prepare(void)
{
    for (unsigned i = 0; i < ROOM; i++)
        area[i] = expected[i] = original[i] = (uint8_t)(i * 7 + i / 256);
}

static int32_t compare(int32_t number)
{
    for (unsigned i = 0; i < ROOM; i++)
        if (area[i] != expected[i])
            return number;
    return 0;
}

static int32_t check(unsigned to, unsigned from, unsigned length)
{
    int32_t number = (int32_t)(1 + (to << 20 | from << 10 | length));
    prepare();
    for (unsigned i = 0; i < length; i++)
        expected[to + i] = original[from + i];
    if (to + length <= from || from + length <= to) {
        memcpy(area + to, area + from, length);
        int32_t wrong = compare(number);
        if (wrong)
            return wrong;
        prepare();
        for (unsigned i = 0; i < length; i++)
            expected[to + i] = original[from + i];
    }
    if (memmove(area + to, area + from, length) != area + to)
        return number;
    int32_t wrong = compare(number);
    if (wrong)
        return -wrong;
    prepare();
    for (unsigned i = 0; i < length; i++)
        expected[to + i] = 0xa5;
    memset(area + to, 0x7a5, length);
    return compare(number) ? 0x40000000 : 0;
}

void __modinit__(void *unused)
{
    static const uint16_t lengths[] = {0, 1, 2, 3, 4, 5, 7, 8, 31, 32, 60, 63, 64, 65, 66, 67, 68, 95, 127, 128, 129, 200, 255};
    for (unsigned which = 0; which < sizeof lengths / sizeof lengths[0]; which++)
        for (unsigned to = 0; to < 5; to++)
            for (unsigned from = 0; from < 5; from++) {
                int32_t wrong = check(to, 300 + from, lengths[which]);
                wrong = wrong ? wrong : check(16 + to * 5, 20 + from * 3, lengths[which]);
                if (wrong) {
                    mark(wrong);
                    return;
                }
            }
    mark(0);
}
