//! Linker settings of the kernel core's image. Its entry is the first instruction, so that the raw
//! image can be started at its beginning.

use kairos_intercore::linker::{Image, Own};
use kairos_intercore::memory::{KERNEL_DATA, KERNEL_IMAGE, KERNEL_STACK};

const STARTUP: Own = Own {
    entry: "kairos_start",
    stacks: &[("__irq_stack", 1 << 10), ("__fault_stack", 16 << 10)],
    // The stack of kernels, and of the firmware functions they call.
    stack: ("__kernel_stack", KERNEL_STACK.end),
};

fn main() {
    Image {
        region: KERNEL_IMAGE,
        data: Some(KERNEL_DATA),
        startup: STARTUP,
    }
    .link();
}
