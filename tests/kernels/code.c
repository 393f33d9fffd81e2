/* The programs of `Code` in tests/bench/kernels.py in C, to compare with the code of another compiler. */
#include "kernel.h"

static __attribute__((noinline)) int32_t primes(int32_t limit)
{
    int32_t count = 0;
    for (int32_t n = 2; n < limit; n++) {
        int32_t divisor = 2;
        while (divisor * divisor <= n && n % divisor != 0)
            divisor++;
        if (divisor * divisor > n)
            count++;
    }
    return count;
}

static __attribute__((noinline)) double float_loop(int32_t count)
{
    double level = 1.0, sum = 0.0;
    for (int32_t k = 0; k < count; k++) {
        level = level * 0.75 + k * 0.125;
        if (level > 100.0)
            level -= 90.0;
        sum += level / (sum + 3.0);
    }
    return sum;
}

void __modinit__(void *unused)
{
    int32_t command = ask(), number = command >> 1;
    mark(command & 1 ? (int32_t)(float_loop(number) * 1e6) : primes(number));
}
