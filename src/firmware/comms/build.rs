//! Embeds the kernel core's image, which every image of the comms core contains.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_FEATURE_IMAGE").is_some() {
        kairos_intercore::linker::embed("KAIROS_KERNEL_BIN", "kernel.bin");
    }
}
