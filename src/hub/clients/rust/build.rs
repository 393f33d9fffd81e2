//! Generates the client from the hub's protocol files.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=proto");
    let files = ["hub", "buses", "clocks", "waveforms"].map(|name| format!("kairos/hub/v1/{name}.proto"));
    let mut files = protox::compile(files, ["proto"])?;
    // Imported files have generated code already.
    files.file.retain(|file| file.package().starts_with("kairos."));
    tonic_prost_build::configure().build_server(false).compile_fds(files)?;
    Ok(())
}
