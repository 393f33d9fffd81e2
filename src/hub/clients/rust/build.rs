//! Generates the client from the hub's protocol files.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto");
    let files = std::fs::read_dir("proto/kairos/hub/v1")?.map(|entry| Ok(entry?.path()));
    let mut files = files.collect::<std::io::Result<Vec<_>>>()?;
    files.sort();
    let mut files = protox::compile(files, ["proto"])?;
    // Imported files have generated code already.
    files.file.retain(|file| file.package().starts_with("kairos."));
    tonic_prost_build::configure().build_server(false).compile_fds(files)?;
    Ok(())
}
