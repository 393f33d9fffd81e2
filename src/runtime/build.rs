//! Gives the linker the memory layout, and the program the image of the kernel core to embed.

use std::{env, fs, path::PathBuf};

fn main() {
    println!("cargo:rerun-if-changed=memory.x");
    println!("cargo:rerun-if-env-changed=KAIROS_KERNEL_BIN");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap());
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap());
    fs::copy(here.join("memory.x"), out.join("memory.x")).unwrap();
    println!("cargo:rustc-link-search={}", out.display());
    println!("cargo:rustc-link-arg-bins=-Tz7link.x");
    // The page table needs 16 KiB alignment: in front of the other data it costs no padding of that size.
    println!("cargo:rustc-link-arg-bins=--sort-section=alignment");

    let Some(kernel) = env::var_os("KAIROS_KERNEL_BIN").map(PathBuf::from) else {
        panic!("KAIROS_KERNEL_BIN is not set: it names kernel.bin, which scripts/build-firmware makes and passes on");
    };
    println!("cargo:rerun-if-changed={}", kernel.display());
    if let Err(error) = fs::copy(&kernel, out.join("kernel.bin")) {
        panic!(
            "cannot read the image of the kernel core, {}: {error}",
            kernel.display()
        );
    }
}
