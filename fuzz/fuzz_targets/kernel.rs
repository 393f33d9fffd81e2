//! Source files of kernels: any text, through every pass of the compiler, for a host with values of
//! all kinds.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[allow(dead_code)]
#[path = "../../src/compiler/tests/common/mod.rs"]
mod host;

fuzz_target!(|data: &[u8]| {
    host::any_text(&String::from_utf8_lossy(data));
});
