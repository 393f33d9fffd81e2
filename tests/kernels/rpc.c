/* One synchronous call for each type, number k on service k; the host replies with the same value, which the kernel
   sends back in an asynchronous call on service 200 + k. */
#include "kernel.h"

typedef struct { void *elements; uint32_t length; } list;

static int8_t truth = 1;
static int32_t number = -5;
static int64_t large = 0x123456789abcdef0;
static double real = 1.5;
static slice text = TEXT("h\xc3\xa9llo");
static slice empty = {"", 0};
static int32_t numbers[] = {1, -2, 3};
static list number_list = {numbers, 3}, *number_list_at = &number_list;
static list empty_list = {numbers, 0}, *empty_list_at = &empty_list;
static double reals[] = {0.5, -0.25};
static list real_list = {reals, 2}, *real_list_at = &real_list;
static int8_t truths[] = {1, 0, 1};
static list truth_list = {truths, 3}, *truth_list_at = &truth_list;
static slice texts[] = {TEXT("a"), {"", 0}, TEXT("bcd")};
static list text_list = {texts, 3}, *text_list_at = &text_list;
static list *rows[] = {&number_list, &empty_list};
static list row_list = {rows, 2}, *row_list_at = &row_list;
static struct { int32_t a; int8_t b; int64_t c; slice d; } tuple = {7, 1, -8, TEXT("t")};
static struct { void *buffer; uint32_t shape[2]; } array = {numbers, {1, 3}};
static struct { void *buffer; uint32_t shape[1]; } no_array = {numbers, {0}};
static int32_t range[] = {0, 10, 2};
static int64_t large_range[] = {0, 1ll << 40, 3};
static struct { int32_t a; list *b; } pairs[] = {{1, &number_list}, {2, &empty_list}};
static list pair_list = {pairs, 2}, *pair_list_at = &pair_list;

static struct { slice call, back; void *value; } cases[] = {
#define CASE(tag, value) {TEXT(tag ":" tag), TEXT(tag ":n"), value}
    CASE("n", &number),
    CASE("b", &truth),
    CASE("i", &number),
    CASE("I", &large),
    CASE("f", &real),
    CASE("s", &text),
    CASE("B", &text),
    CASE("A", &empty),
    CASE("li", &number_list_at),
    CASE("li", &empty_list_at),
    CASE("lf", &real_list_at),
    CASE("lb", &truth_list_at),
    CASE("ls", &text_list_at),
    CASE("lli", &row_list_at),
    CASE("t\4ibIs", &tuple),
    CASE("a\2i", &array),
    CASE("a\1i", &no_array),
    CASE("ri", &range),
    CASE("rI", &large_range),
    CASE("lt\2ili", &pair_list_at),
    CASE("t\0", &number),
};

static __attribute__((noinline)) void round_trip(int index)
{
    int64_t slot[8];
    void *data[] = {cases[index].value};
    rpc_send(index, &cases[index].call, data);
    uint32_t size = rpc_recv(slot);
    while (size != 0)
        size = rpc_recv(__builtin_alloca_with_align(size, 64));
    void *back[] = {slot};
    rpc_send_async(200 + index, &cases[index].back, back);
}

void __modinit__(void *unused)
{
    for (unsigned index = 0; index < sizeof cases / sizeof cases[0]; index++)
        round_trip(index);
}
