/* Changes attributes of two host objects; the firmware writes them back by the table `typeinfo`. */
#include "kernel.h"

typedef struct { uint32_t id; int32_t count; double level; slice name; } object;
typedef struct { uint32_t offset; slice tag, name; } attribute;

static object first = {3, 10, 0.5, TEXT("one")}, second = {4, 20, 1.5, TEXT("two")};
static const attribute id = {0, {"", 0}, TEXT("__objectid__")};
static const attribute count = {4, TEXT("Osi:n"), TEXT("count")};
static const attribute level = {8, TEXT("Osf:n"), TEXT("level")};
static const attribute name = {16, TEXT("Oss:n"), TEXT("name")};
static const attribute *attributes[] = {&id, &count, &level, &name, 0};
static object *objects[] = {&first, &second, 0};
static struct { const attribute **attributes; object **objects; } type = {attributes, objects};
EXPORT void *typeinfo[] = {&type, 0};

void __modinit__(void *unused)
{
    first.count += 1;
    second.level = -2.0;
}
