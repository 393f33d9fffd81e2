//! I2C and SPI buses that kernel drivers expose, found below `/sys/bus`.

use std::path::{Path, PathBuf};

use crate::files;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    I2c,
    Spi,
}

/// A bus. For SPI each chip select is a separate one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bus {
    pub kind: Kind,
    /// Such as `i2c-1`, `spidev0.0`.
    pub name: String,
    /// The driver's description.
    pub text: String,
    /// The device file for programs; `None` if the kernel offers none (modules `i2c-dev` and
    /// `spidev`).
    pub path: Option<PathBuf>,
    pub chips: Vec<Chip>,
}

/// A chip in the device tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chip {
    /// Address on I2C.
    pub address: u16,
    pub name: String,
    /// The kernel driver bound to it; empty if none. Programs must not access a chip with a driver.
    pub driver: String,
}

/// Finds all buses, those of I2C first.
pub fn find(root: &Path) -> Vec<Bus> {
    i2c(root).into_iter().chain(spi(root)).collect()
}

fn i2c(root: &Path) -> Vec<Bus> {
    let folder = files::below(root, "/sys/bus/i2c/devices");
    let names = files::names(&folder);
    let buses = names.iter().filter(|name| name.starts_with("i2c-")).map(|name| {
        let number = files::last_number(name);
        let chips = names.iter().filter_map(|chip| {
            let (bus, address) = chip.split_once('-')?;
            (bus.parse() == Ok(number)).then_some(())?;
            let chip = folder.join(chip);
            Some(Chip {
                address: u16::from_str_radix(address, 16).ok()?,
                name: files::text(&chip.join("name")).unwrap_or_default(),
                driver: files::target(&chip.join("driver")).unwrap_or_default(),
            })
        });
        Bus {
            kind: Kind::I2c,
            name: name.clone(),
            text: files::text(&folder.join(name).join("name")).unwrap_or_default(),
            path: existing(files::below(root, Path::new("/dev").join(name))),
            chips: chips.collect(),
        }
    });
    buses.collect()
}

fn spi(root: &Path) -> Vec<Bus> {
    let folder = files::below(root, "/sys/bus/spi/devices");
    let names = files::names(&folder).into_iter();
    let buses = names.filter_map(|name| {
        let line = name.strip_prefix("spi")?;
        let modalias = files::text(&folder.join(&name).join("modalias")).unwrap_or_default();
        let device = format!("spidev{line}");
        Some(Bus {
            kind: Kind::Spi,
            path: existing(files::below(root, Path::new("/dev").join(&device))),
            name: device,
            text: modalias.trim_start_matches("spi:").to_string(),
            chips: Vec::new(),
        })
    });
    buses.collect()
}

fn existing(path: PathBuf) -> Option<PathBuf> {
    path.exists().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buses_and_declared_chips_are_found() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("sys/bus/i2c/devices/i2c-10/name", "mux\n");
        write("sys/bus/i2c/devices/i2c-2/name", "Cadence I2C at e0004000\n");
        write("sys/bus/i2c/devices/2-0050/name", "24c64\n");
        write("sys/bus/i2c/devices/10-0068/name", "si5324\n");
        write("sys/bus/spi/devices/spi0.1/modalias", "spi:ad9910\n");
        write("dev/i2c-2", "");
        std::os::unix::fs::symlink(
            "../../drivers/at24",
            root.path().join("sys/bus/i2c/devices/2-0050/driver"),
        )
        .unwrap();
        let found = find(root.path());
        let names: Vec<_> = found
            .iter()
            .map(|bus| (bus.name.as_str(), bus.path.is_some()))
            .collect();
        assert_eq!(names, [("i2c-2", true), ("i2c-10", false), ("spidev0.1", false)]);
        let chip = |address, name: &str, driver: &str| Chip {
            address,
            name: name.into(),
            driver: driver.into(),
        };
        assert_eq!(found[0].chips, [chip(0x50, "24c64", "at24")]);
        assert_eq!(found[1].chips, [chip(0x68, "si5324", "")]);
        assert_eq!(found[2].text, "ad9910");
    }
}
