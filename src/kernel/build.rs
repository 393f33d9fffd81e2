//! Gives the linker the image's memory layout.

fn main() {
    println!("cargo:rerun-if-changed=kernel.ld");
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("arm") {
        let folder = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
        println!("cargo:rustc-link-arg-bins=-T{folder}/kernel.ld");
        println!("cargo:rustc-link-arg-bins=-zmax-page-size=4096");
    }
}
