//! The names by which kernels import firmware functions (kernel ABI, section 2.13): the contents of
//! `src/contracts/kernel_symbols.toml` and `mathematics.toml`, as an index of addresses.

use kairos_kernel::index::Index;

use crate::calls::{cache, dma, i2c, linalg, log, math, pulse, remote, rpc, subkernel, unavailable};
use crate::raise;
use crate::rtio::{self, cursor};

#[derive(Clone, Copy)]
struct Address(*const ());

// SAFETY: addresses of functions and of the time cursor, which are not dereferenced here.
unsafe impl Sync for Address {}

/// Address of the firmware function that kernels know by `name`, whose hash is `hash`.
pub fn find(name: &[u8], hash: u32) -> Option<u32> {
    INDEX.find(name, hash).map(|address| address.0 as u32)
}

macro_rules! firmware {
    ($($name:literal = $function:path;)*) => { &[$(($name, Address($function as *const ()))),*] };
}

/// Functions of the compiler's run-time library, exported under their own names.
macro_rules! runtime {
    ($($name:ident)*) => {{
        extern "C" { $(fn $name();)* }
        &[$((stringify!($name), Address($name as *const ()))),*]
    }};
}

macro_rules! mathematics {
    ($($name:ident $arguments:tt;)*) => { &[$((stringify!($name), Address(math::$name as *const ()))),*] };
}

type Group = [(&'static str, Address)];
const FIRMWARE: &Group = kairos_contracts::kernel_symbols!(firmware);
const RUNTIME: &Group = kairos_contracts::runtime_symbols!(runtime);
const MATHEMATICS: &Group = kairos_contracts::mathematics!(mathematics);

static INDEX: Index<Address, { FIRMWARE.len() + RUNTIME.len() + MATHEMATICS.len() }> =
    Index::new(&[FIRMWARE, RUNTIME, MATHEMATICS]);
