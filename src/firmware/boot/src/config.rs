//! The configuration on the SD card, as the loader uses it.

use kairos_chip::sd::Slot;
use kairos_config::auth::{self, Access};
use kairos_config::keys::Setting;
use kairos_config::store::{self, Store};

/// The configuration on the SD card, if there is one.
pub struct Config(Store<'static, Slot>);

impl Config {
    pub fn new(store: Store<'static, Slot>) -> Self {
        Self(store)
    }

    /// Reads the card's boot image into `out`; returns its length, if there is one.
    pub fn boot_image(&mut self, out: &mut [u8]) -> Result<Option<usize>, store::Error> {
        self.0.read_boot_image(out)
    }

    /// Reads a value into `out`. Without a card there are no values.
    pub fn read<'a>(&mut self, key: &str, out: &'a mut [u8]) -> Option<&'a [u8]> {
        match self.0.read(key, out) {
            Ok(length) => Some(&out[..length?]),
            Err(store::Error::Card(_)) => None,
            Err(error) => {
                log::warn!("configuration: {key}: {error}");
                None
            }
        }
    }

    /// Who may boot from the network.
    pub fn access(&mut self) -> Access {
        let mut value = [0; auth::VALUE_MAX];
        Access::of(self.0.read(auth::KEY, &mut value), &value)
    }

    /// A textual value. An invalid one is logged and ignored.
    pub fn setting<T>(&mut self, setting: &Setting<T>) -> Option<T> {
        let (key, mut bytes) = (setting.key.name(), [0; 128]);
        let text = core::str::from_utf8(self.read(key, &mut bytes)?).ok()?;
        let value = setting.parse(text);
        if value.is_none() {
            log::warn!("configuration: {key}={} is invalid and ignored", text.trim_end());
        }
        value
    }
}
