//! Gives the linker the memory layout.

use std::{env, fs, path::PathBuf};

fn main() {
    println!("cargo:rerun-if-changed=memory.x");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap());
    fs::copy(here.join("memory.x"), out.join("memory.x")).unwrap();
    println!("cargo:rustc-link-search={}", out.display());
    println!("cargo:rustc-link-arg-bins=-Tz7link.x");
    // The page table needs 16 KiB alignment: in front of the other data it costs no padding of that size.
    println!("cargo:rustc-link-arg-bins=--sort-section=alignment");
}
