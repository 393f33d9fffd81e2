//! The second stage lies in memory of its own, so that it can put the firmware into place.

use kairos_channel::memory::LOADER;
use kairos_layout::{Image, Supplied};

const STARTUP: Supplied = Supplied {
    cores: 1,
    stack: 1 << 20,
    sections: &[],
};

fn main() {
    Image {
        region: LOADER,
        data: None,
        startup: STARTUP,
    }
    .link();
}
