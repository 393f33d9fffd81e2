//! The service's code from its protocol files, and those files as the bytes that reflection gives out.

use std::path::PathBuf;

use prost::Message;

const FILES: [&str; 1] = ["kairos/hub/v1/hub.proto"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto");
    let files = protox::compile(FILES, ["proto"])?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("hub.bin"), files.encode_to_vec())?;
    tonic_prost_build::configure().compile_fds(files)?;
    Ok(())
}
