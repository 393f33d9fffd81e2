/* Results of mathematical functions and compiler helpers, with one asynchronous call each. */
#include "kernel.h"

IMPORT double sin(double), pow(double, double), ldexp(double, int), tgamma(double), round(double), fmod(double, double);
IMPORT double jn(int, double), __powidf2(double, int), nextafter(double, double), fma(double, double, double);

static volatile double x = 0.5;
static volatile int64_t large = -1234567890123;
static volatile int32_t small = -17;

static void report(int32_t service, double value)
{
    static const slice tag = TEXT("f:n");
    void *data[] = {&value};
    rpc_send_async(service, &tag, data);
}

void __modinit__(void *unused)
{
    double s, c;
    sincos(x, &s, &c);
    report(0, sin(x));
    report(1, s);
    report(2, c);
    report(3, pow(x, 3.0));
    report(4, ldexp(x, 5));
    report(5, tgamma(x));
    report(6, round(x));
    report(7, fmod(7.25, x + 1));
    report(8, jn(2, x));
    report(9, __powidf2(x, -3));
    report(10, nextafter(x, 1.0));
    report(11, fma(x, x, x));
    report(12, (double)(large / small));
    report(13, (double)(large % small));
    report(14, (double)(small / 5 * 100 + small % 5));
    report(15, (double)(uint64_t)large);
    report(16, (double)(int64_t)(x * 1e18));
}
