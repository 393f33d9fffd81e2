/* The calls given byte for byte in the wire protocol's description, and kinds of arguments not covered by other kernels. */
#include "kernel.h"

typedef struct { uint32_t id; } object;
typedef struct { void *elements; uint32_t length; } list;

static object self = {3}, *self_at = &self;
static double x = 1.5;
static slice texts[] = {TEXT("a"), TEXT("bc")};
static list text_list = {texts, 2}, *text_list_at = &text_list;
static object one = {4}, two = {5}, *objects[] = {&one, &two};
static list object_list = {objects, 2};
static struct { list *objects; object *object; } nested = {&object_list, &self};
static struct { slice name; int32_t value; } keyword = {TEXT("to"), 7};
static int32_t number = -1;
/* 58 is the code of ':', which ends the arguments. */
static int8_t truths[58] = {1, [57] = 1};

void __modinit__(void *unused)
{
    static const slice report = TEXT("Of:i");
    void *report_data[] = {&self_at, &x};
    int32_t answer;
    rpc_send(1, &report, report_data);
    rpc_recv(&answer);
    mark(answer);

    static const slice strings = TEXT("ls:n");
    void *strings_data[] = {&text_list_at};
    rpc_send_async(2, &strings, strings_data);

    static const slice host_objects = TEXT("t\2lOO:n");
    void *objects_data[] = {&nested};
    rpc_send_async(3, &host_objects, objects_data);

    static const slice keywords = TEXT("iki:n");
    void *keyword_data[] = {&number, &keyword};
    rpc_send_async(4, &keywords, keyword_data);

    static const slice tuple = TEXT("t:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb:n");
    void *tuple_data[] = {&truths};
    rpc_send_async(5, &tuple, tuple_data);
}
