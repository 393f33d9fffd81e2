//! Gives the linker the memory layout, and the program the second stage to embed.

use std::{env, fs, path::PathBuf};

fn main() {
    println!("cargo:rerun-if-changed=first.ld");
    println!("cargo:rerun-if-env-changed=KAIROS_LOADER_BIN");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let here = env::var("CARGO_MANIFEST_DIR").unwrap();
    println!("cargo:rustc-link-arg-bins=-T{here}/first.ld");
    println!("cargo:rustc-link-arg-bins=-zmax-page-size=4096");

    let Some(loader) = env::var_os("KAIROS_LOADER_BIN").map(PathBuf::from) else {
        panic!("KAIROS_LOADER_BIN is not set: it names loader.bin, which scripts/build-firmware makes and passes on");
    };
    println!("cargo:rerun-if-changed={}", loader.display());
    let mut bytes = fs::read(&loader).unwrap_or_else(|e| panic!("cannot read the loader, {}: {e}", loader.display()));
    // It is copied in words.
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    fs::write(out.join("loader.bin"), bytes).unwrap();
}
