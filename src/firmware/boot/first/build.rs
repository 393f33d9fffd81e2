//! Linker settings of the first stage, which is at the boot ROM's load address, followed by its
//! stack, and embeds the second stage.

use kairos_intercore::linker::{embed, Image, Own};
use kairos_intercore::memory::{FIRST_STAGE, FIRST_STAGE_STACK};

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
