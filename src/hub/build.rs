//! Generates the service from its protocol files, the encoded files for reflection, and the role
//! that each method requires.

use std::fmt::Write;
use std::path::{Path, PathBuf};

#[path = "src/roles.rs"]
mod roles;

/// Folder of the protocol files, below `proto`.
const FOLDER: &str = "kairos/hub/v1";
const PACKAGE: &str = "kairos.hub.v1";

/// All protocol files, in the order of their names.
fn protocol_files() -> std::io::Result<Vec<PathBuf>> {
    let names = std::fs::read_dir(Path::new("proto").join(FOLDER))?;
    let mut files = names
        .map(|entry| Ok(Path::new(FOLDER).join(entry?.file_name())))
        .collect::<std::io::Result<Vec<_>>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "proto"));
    files.sort();
    Ok(files)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto");
    println!("cargo:rerun-if-changed=src/roles.rs");
    let mut compiler = protox::Compiler::new(["proto"])?;
    compiler
        .include_imports(true)
        .include_source_info(true)
        .open_files(protocol_files()?)?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("hub.bin"), compiler.encode_file_descriptor_set())?;
    let mut methods = String::from("[\n");
    for (path, role) in roles::methods(&compiler.descriptor_pool(), |package| package == PACKAGE)? {
        let role = match role {
            1 => "Look",
            2 => "Operate",
            3 => "Administer",
            _ => return Err(format!("{path} does not say which role it asks for").into()),
        };
        writeln!(methods, "    (\"{path}\", Role::{role}),")?;
    }
    std::fs::write(out.join("methods.rs"), methods + "]")?;
    let mut files = compiler.file_descriptor_set();
    // Imported files have generated code already.
    files.file.retain(|file| file.package() == PACKAGE);
    tonic_prost_build::configure()
        // Large messages, passed on without additional copies.
        .extern_path(
            ".kairos.hub.v1.ReadMemoryResponse",
            "crate::board::part::ReadMemoryResponse",
        )
        .bytes(".kairos.hub.v1.WriteMemoryRequest")
        .bytes(".kairos.hub.v1.WaveformFileResponse")
        .compile_fds(files)?;
    // The protocol of the example plugin.
    println!("cargo:rerun-if-changed=../../examples/hub/plugins/counter.proto");
    let example = protox::compile(["counter.proto"], ["../../examples/hub/plugins"])?;
    tonic_prost_build::configure()
        .build_client(false)
        .compile_fds(example)?;
    Ok(())
}
