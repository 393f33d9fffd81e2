//! The service's code from its protocol files, those files as the bytes that reflection gives out, and the role that each
//! method asks for.

use std::fmt::Write;
use std::path::PathBuf;

use protox::prost_reflect::{DescriptorPool, Value};

const FILES: [&str; 1] = ["kairos/hub/v1/hub.proto"];
const PACKAGE: &str = "kairos.hub.v1";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto");
    let mut compiler = protox::Compiler::new(["proto"])?;
    compiler
        .include_imports(true)
        .include_source_info(true)
        .open_files(FILES)?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("hub.bin"), compiler.encode_file_descriptor_set())?;
    std::fs::write(out.join("methods.rs"), methods(&compiler.descriptor_pool())?)?;
    let mut files = compiler.file_descriptor_set();
    // What is imported has code already.
    files.file.retain(|file| file.package() == PACKAGE);
    tonic_prost_build::configure().compile_fds(files)?;
    Ok(())
}

/// A Rust expression: each method's path and role.
fn methods(pool: &DescriptorPool) -> Result<String, Box<dyn std::error::Error>> {
    let option = pool
        .get_extension_by_name(&format!("{PACKAGE}.role"))
        .ok_or("the protocol has no option `role`")?;
    let mut text = String::from("[\n");
    let services = pool.services().filter(|service| service.package_name() == PACKAGE);
    for method in services.flat_map(|service| service.methods().collect::<Vec<_>>()) {
        let path = format!("/{}/{}", method.parent_service().full_name(), method.name());
        let role = match *method.options().get_extension(&option) {
            Value::EnumNumber(1) => "Look",
            Value::EnumNumber(2) => "Operate",
            Value::EnumNumber(3) => "Administer",
            _ => return Err(format!("{path} does not say which role it asks for").into()),
        };
        writeln!(text, "    (\"{path}\", Role::{role}),")?;
    }
    Ok(text + "]")
}
