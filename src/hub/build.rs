//! Generates the service from its protocol files, the encoded files for reflection, the role that
//! each method requires, and the table of the page's files.

use std::fmt::Write;
use std::path::{Path, PathBuf};

#[path = "src/roles.rs"]
mod roles;

/// Folders of the protocol files, below `proto`: of the hub itself, and of the laboratory, to which
/// it forwards.
const FOLDERS: [&str; 2] = ["kairos/hub/v1", "kairos/lab/v1"];
const PACKAGE: &str = "kairos.hub.v1";
const LABORATORY: &str = "kairos.lab.v1";
/// Files of the laboratory's protocol with what the hub itself calls, and with what these import.
const CALLED: [&str; 2] = ["kairos/lab/v1/runs.proto", "kairos/lab/v1/datasets.proto"];

/// All protocol files, in the order of their names.
fn protocol_files() -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in FOLDERS {
        for entry in std::fs::read_dir(Path::new("proto").join(folder))? {
            files.push(Path::new(folder).join(entry?.file_name()));
        }
    }
    files.retain(|file| file.extension().is_some_and(|extension| extension == "proto"));
    files.sort();
    Ok(files)
}

/// Where `make page` leaves the page.
const PAGE: &str = "../../build/page";

/// Writes the table of the page's files: name, contents, whether these are compressed. Without the
/// page it is empty.
fn embed_page(out: &Path) -> std::io::Result<()> {
    let folder = Path::new(&std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join(PAGE);
    println!("cargo:rerun-if-changed={PAGE}/index.html.gz");
    let mut table = String::from("[\n");
    for below in ["", "assets/"] {
        let Ok(entries) = std::fs::read_dir(folder.join(below)) else {
            continue;
        };
        let mut paths = entries
            .map(|entry| Ok(entry?.path()))
            .collect::<std::io::Result<Vec<_>>>()?;
        paths.sort();
        for path in paths.iter().filter(|path| path.is_file()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let plain = name.strip_suffix(".gz");
            let (shown, contents) = (format!("{below}{}", plain.unwrap_or(&name)), path.display().to_string());
            let compressed = plain.is_some();
            let _ = writeln!(
                table,
                "    ({shown:?}, include_bytes!({contents:?}).as_slice(), {compressed}),"
            );
        }
    }
    std::fs::write(out.join("page.rs"), table + "]")
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
    for (path, role) in roles::methods(&compiler.descriptor_pool(), |package| {
        package == PACKAGE || package == LABORATORY
    })? {
        let role = match role {
            1 => "View",
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
        .bytes(".kairos.hub.v1.LiveCall")
        .bytes(".kairos.hub.v1.LiveResponse")
        .bytes(".kairos.hub.v1.WriteMemoryRequest")
        .bytes(".kairos.hub.v1.WaveformFileResponse")
        .compile_fds(files)?;
    let mut files = compiler.file_descriptor_set();
    files.file.retain(|file| CALLED.contains(&file.name()));
    tonic_prost_build::configure()
        .build_server(false)
        .bytes(".kairos.lab.v1.RunFileResponse")
        .compile_fds(files)?;
    embed_page(&out)?;
    // The protocol of the example plugin.
    println!("cargo:rerun-if-changed=../../examples/hub/plugins/counter.proto");
    let example = protox::compile(["counter.proto"], ["../../examples/hub/plugins"])?;
    tonic_prost_build::configure()
        .build_client(false)
        .compile_fds(example)?;
    Ok(())
}
