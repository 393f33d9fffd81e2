//! Checks of boot images: an image that this device could not boot from is rejected before anything
//! is written.

use kairos_chip::boards;
use kairos_config::keys::{self, Key};
use kairos_proto::boot_image::{check, Machine, Unbootable};

/// Checks whether a value may be written to a key: a boot image must be bootable on this device.
///
/// # Errors
/// The reason why this device cannot boot from it.
pub fn check_value<'a>(key: &str, value: &'a [u8]) -> Result<(), Unbootable<'a>> {
    if keys::find(key) != Some(Key::Boot) || value.is_empty() {
        return Ok(());
    }
    let machine = Machine {
        idcode: Some(boards::idcode()),
        board: boards::running().map(|board| board.name),
    };
    check(value, machine)
}
