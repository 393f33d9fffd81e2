//! The names by which kernels import firmware functions (kernel ABI, section 2.13): what stands in
//! `src/contracts/kernel_symbols.toml` and `mathematics.toml`, as a table of addresses.

use crate::calls::{cache, dma, i2c, log, math, rpc, unavailable};
use crate::raise;
use crate::rtio::{self, cursor};

struct Symbol {
    name: &'static str,
    address: *const (),
}

// SAFETY: addresses of functions.
unsafe impl Sync for Symbol {}

/// Address of the firmware function that kernels know by `name`.
///
/// Searched in a row: a library imports a few dozen names, once.
pub fn find(name: &[u8]) -> Option<u32> {
    TABLE
        .iter()
        .find(|symbol| symbol.name.as_bytes() == name)
        .map(|symbol| symbol.address as u32)
}

macro_rules! firmware {
    ($($name:literal = $function:path;)*) => { &[$(Symbol { name: $name, address: $function as *const () }),*] };
}

/// Functions of the compiler's run-time library, exported under their own names.
macro_rules! runtime {
    ($($name:ident)*) => {{
        extern "C" { $(fn $name();)* }
        &[$(Symbol { name: stringify!($name), address: $name as *const () }),*]
    }};
}

macro_rules! mathematics {
    ($($name:ident $arguments:tt;)*) => { &[$(Symbol { name: stringify!($name), address: math::$name as *const () }),*] };
}

const FIRMWARE: &[Symbol] = kairos_contracts::kernel_symbols!(firmware);
const RUNTIME: &[Symbol] = kairos_contracts::runtime_symbols!(runtime);
const MATHEMATICS: &[Symbol] = kairos_contracts::mathematics!(mathematics);

struct Table;

impl Table {
    fn iter(&self) -> impl Iterator<Item = &'static Symbol> {
        FIRMWARE.iter().chain(RUNTIME).chain(MATHEMATICS)
    }
}

const TABLE: Table = Table;
