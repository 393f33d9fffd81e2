//! Linker settings of the first stage, which is at the boot ROM's load address, followed by its
//! stack, and embeds the second stage.

use kairos_channel::memory::{FIRST_STAGE, FIRST_STAGE_STACK};
use kairos_layout::{embed, Image, Own};

const STARTUP: Own = Own {
    entry: "kairos_boot_start",
    stacks: &[],
    stack: ("__stack", FIRST_STAGE_STACK),
};

fn main() {
    Image {
        region: FIRST_STAGE,
        data: None,
        startup: STARTUP,
    }
    .link();
    embed("KAIROS_LOADER_BIN", "loader.bin");
}
