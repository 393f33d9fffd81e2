//! Checks of boot images: an image that this device could not boot from is rejected before anything
//! is written.

use kairos_chip::boards;
use kairos_config::keys::{self, Key};
use kairos_proto::boot_image::{check, Machine};

/// Returns whether a value may be written to a key. A boot image must be bootable on this device;
/// otherwise the reason is logged.
pub fn fits(key: &str, value: &[u8]) -> bool {
    if keys::find(key) != Some(Key::Boot) || value.is_empty() {
        return true;
    }
    let machine = Machine {
        idcode: Some(boards::idcode()),
        board: boards::running().map(|board| board.name),
    };
    let checked = check(value, machine);
    if let Err(error) = &checked {
        log::error!("flash: the boot image stays as it is: {error}");
    }
    checked.is_ok()
}
