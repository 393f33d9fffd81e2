/* Log lines that are easily corrupted: two-byte characters in pieces of one byte, a line of 3000 of them, invalid UTF-8,
   separators that some hosts treat as line breaks, and a last line without terminator. */
#include "kernel.h"

void __modinit__(void *unused)
{
    core_log("odd");
    for (int n = 0; n < 3000; n++) {
        core_log("\xc3");
        core_log("\xa9");
    }
    core_log("\n");
    core_log("not \xff text\n");
    core_log("one\x0b" "two\x0c" "three\x1c" "four\xc2\x85" "five\xe2\x80\xa8" "six\r\n\n\n");
    core_log("without an end");
}
