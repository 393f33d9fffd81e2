//! The image of the comms core has that of the kernel core in a section of its own, which a scan for instructions leaves out.

use kairos_channel::memory::RUNTIME;
use kairos_layout::{embed, Image, Supplied};

/// On QEMU core 1 passes through the start-up code too.
const STARTUP: Supplied = Supplied {
    cores: 2,
    stack: 64 << 10,
    sections: &[".kernel_image"],
};

fn main() {
    let (region, startup) = (RUNTIME, STARTUP);
    Image { region, startup }.link();
    embed("KAIROS_KERNEL_BIN", "kernel.bin");
}
