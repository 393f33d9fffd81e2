//! Source files of kernels: arbitrary text through every pass of the compiler, with host values of
//! all kinds.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[allow(dead_code)]
#[path = "../../src/compiler/tests/common/mod.rs"]
mod host;

fuzz_target!(|data: &[u8]| {
    host::any_text(&String::from_utf8_lossy(data));
});
