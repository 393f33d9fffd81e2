//! The chip's own sensors: conversion of the XADC's values (UG480, chapters 2 and 3), and limits
//! (DS191, table 2).

use core::fmt;

/// Warning threshold in 1/1000 °C: the limit of commercial grades.
pub const HOT: i32 = 85_000;

/// A supply.
pub struct Supply {
    /// XADC register of its voltage.
    pub register: u8,
    pub name: &'static str,
    /// Limits in mV, including 1 % on each side for the converter.
    pub limits: (u32, u32),
}

/// Register of the temperature.
pub const TEMPERATURE: u8 = 0x00;

/// Supplies of the programmable logic, of the processors, and of the DDR memory's pins.
pub const SUPPLIES: [Supply; 6] = [
    Supply::new(0x01, "VCCINT", (940, 1060)),
    Supply::new(0x02, "VCCAUX", (1692, 1908)),
    Supply::new(0x06, "VCCBRAM", (940, 1060)),
    Supply::new(0x0d, "VCCPINT", (940, 1060)),
    Supply::new(0x0e, "VCCPAUX", (1692, 1908)),
    Supply::new(0x0f, "VCCO_DDR", (1128, 1908)),
];

impl Supply {
    const fn new(register: u8, name: &'static str, limits: (u32, u32)) -> Self {
        Self { register, name, limits }
    }
}

/// Converts a register's 16 bits to a temperature in 1/1000 °C.
pub fn millicelsius(raw: u16) -> i32 {
    (i64::from(raw) * 503_975 / 65_536 - 273_150) as i32
}

/// Converts a register's 16 bits to a voltage in mV: 3 V full scale.
pub fn millivolts(raw: u16) -> u32 {
    (u32::from(raw) * 3000 + 32_768) / 65_536
}

/// Values of all sensors.
#[derive(Clone, Copy)]
pub struct Reading {
    /// In 1/1000 °C.
    pub temperature: i32,
    /// In mV, in the order of [`SUPPLIES`].
    pub supplies: [u32; SUPPLIES.len()],
}

impl Reading {
    /// Converts registers: temperature, then [`SUPPLIES`].
    pub fn new(raw: &[u16; 1 + SUPPLIES.len()]) -> Self {
        Self {
            temperature: millicelsius(raw[0]),
            supplies: core::array::from_fn(|n| millivolts(raw[1 + n])),
        }
    }

    /// Whether all values are within their limits.
    pub fn is_good(&self) -> bool {
        let within = |(value, supply): (&u32, &Supply)| (supply.limits.0..=supply.limits.1).contains(value);
        self.temperature < HOT && self.supplies.iter().zip(&SUPPLIES).all(within)
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.temperature < 0 { "-" } else { "" };
        let (whole, tenth) = (self.temperature.abs() / 1000, self.temperature.abs() % 1000 / 100);
        write!(f, "{sign}{whole}.{tenth} °C")?;
        for (value, supply) in self.supplies.iter().zip(&SUPPLIES) {
            write!(f, ", {} {}.{:03} V", supply.name, value / 1000, value % 1000)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::string::ToString;

    const GOOD: [u16; 7] = [0xa1a0, 0x5555, 0x9999, 0x5555, 0x5555, 0x9999, 0x8000];

    /// UG480: 12 bits in the upper part of 16; 0x977 is 25 °C, 0x555 is 1 V.
    #[test]
    fn conversions_equal_those_of_the_manual() {
        assert!((millicelsius(0x9770) - 25_000).abs() < 150);
        assert_eq!(millicelsius(0), -273_150);
        assert!((millicelsius(0xfff0) - 230_700).abs() < 100);
        assert_eq!(
            (millivolts(0x5555), millivolts(0x9990), millivolts(0xffff)),
            (1000, 1800, 3000)
        );
    }

    #[test]
    fn reading_beyond_its_limits_is_unhealthy() {
        assert!(Reading::new(&GOOD).is_good());
        for (n, raw) in [(0, 0xb600), (0, 0xffff), (1, 0x4fff), (1, 0x5b00), (4, 0), (6, 0xb000)] {
            let mut bad = GOOD;
            bad[n] = raw;
            assert!(!Reading::new(&bad).is_good(), "{}", Reading::new(&bad));
        }
    }

    #[test]
    fn readings_are_printed_with_their_units() {
        let text = "45.0 °C, VCCINT 1.000 V, VCCAUX 1.800 V, VCCBRAM 1.000 V, VCCPINT 1.000 V, VCCPAUX 1.800 V, VCCO_DDR 1.500 V";
        assert_eq!(Reading::new(&GOOD).to_string(), text);
        let cold = Reading::new(&[0x8a00, 0, 0, 0, 0, 0, 0]);
        assert!(cold.to_string().starts_with("-1.4 °C"), "{cold}");
    }
}
