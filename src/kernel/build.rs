//! The image of the kernel core: its entry is the first instruction, for whoever loads the raw image.

use kairos_channel::memory::{KERNEL_DATA, KERNEL_IMAGE, KERNEL_STACK};
use kairos_layout::{Image, Own};

const STARTUP: Own = Own {
    entry: "kairos_start",
    stacks: &[("__irq_stack", 1 << 10), ("__fault_stack", 16 << 10)],
    // That of kernels, and of the firmware functions they call.
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
