//! The image that a device boots from next time: one that it could not boot is refused before
//! anything is written.

use kairos_chip::boards;
use kairos_config::keys::{self, Key};
use kairos_proto::boot_image::{check, Machine};

/// Whether a value may be written to a key: if that is the boot image, this device has to be able
/// to boot from it; else the log says why not.
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
