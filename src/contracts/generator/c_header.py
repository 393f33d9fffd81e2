"""A header for kernels in C (tests/kernels): prototypes and names of the firmware's functions, ids of exceptions, the
ring."""

from pathlib import Path

from .facts import Subject

__all__ = ["files"]

TYPES = {
    "none": "void",
    "bool": "int",
    "u8": "int",
    "i32": "int32_t",
    "u32": "uint32_t",
    "i64": "int64_t",
    "f64": "double",
    "str": "slice",
    "list": "const void *",
    "doubles": "const void *",
    "longs": "const void *",
    "tag": "const slice *",
    "pointer": "void *",
    "(i64, i32)": "timestamped",
    "(i64, i32, bool)": "retrieved",
    "(i32, i32, i32)": "frame_format",
}
HEAD = """\
/* What the firmware provides to kernels. Generated from src/contracts/ by src/contracts/generate.py: do not edit. */
#pragma once
#include <stdint.h>

#define IMPORT extern __attribute__((visibility("default")))

typedef struct { const void *data; uint32_t length; } slice;
typedef struct { int64_t timestamp; int32_t data; } timestamped;
typedef struct { int64_t duration; int32_t address; uint8_t uses_ddma; } retrieved;
typedef struct { int32_t width, height, pixel_code; } frame_format;
"""


def files(subjects: dict[str, Subject], root: Path) -> dict[str, str]:
    """The header."""
    groups = subjects["kernel_symbols"].own["groups"]
    functions = subjects["mathematics"].own["functions"]
    lines = [HEAD]
    names = []
    for group, facts in groups.items():
        lines.append(f"/* {group}: {facts['doc']} */")
        for name, fact in facts["symbols"].items():
            if not fact.get("unlisted") and not fact.get("own"):
                names.append(name)
            if "arguments" in fact and name not in functions:
                lines.append(_prototype(name, fact))
        lines.append("")
    names += subjects["kernel_symbols"].own["runtime"]["symbols"].split()
    names += list(functions)
    lines.append("/* Every name but Kairos's own. */")
    lines.append("#define KERNEL_SYMBOLS(X) \\")
    lines += [f"    X({name}) \\" for name in names[:-1]]
    lines += [f"    X({names[-1]})", "", "/* Ids of exceptions. */", "enum {"]
    for number, entry in enumerate(subjects["exceptions"].own["exceptions"]):
        lines.append(f"    ID_{entry['name']} = {number},")
    lines += ["};", "", "/* The kernel initiator's ring. */", "enum {"]
    lines += [f"    RING_{constant.name} = {constant.value}," for constant in subjects["initiator"].constants]
    lines.append("};")
    lines += ["", "/* Begins and ends of the regions of memory. */"]
    for name, region in subjects["memory"].own["regions"].items():
        lines += [f"#define {name}_{edge.upper()} 0x{region[edge]:08x}u" for edge in ("start", "end")]
    return {"tests/kernels/contracts.h": "\n".join(lines) + "\n"}


def _prototype(name: str, fact: dict) -> str:
    arguments = fact["arguments"]
    returns = TYPES[fact.get("returns", "none")]
    space = "" if returns.endswith("*") else " "
    if arguments == ["..."]:
        # Variadic functions follow the base convention: doubles in core registers.
        return f'IMPORT {returns}{space}{name}(const char *format, ...) __attribute__((pcs("aapcs")));'
    listed = ", ".join(TYPES[kind] for kind in arguments) or "void"
    return f"IMPORT {returns}{space}{name}({listed});"
