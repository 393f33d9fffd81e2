//! Linker settings of the second stage, which has its own memory region, so that it can copy the
//! firmware into place.

use kairos_intercore::linker::{Image, Supplied};
use kairos_intercore::memory::LOADER;

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
