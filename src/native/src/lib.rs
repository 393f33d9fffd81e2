//! What Python has of the Rust parts, as the module `kairos._native`: the compiler, and in `wire` the wire formats.

mod bridge;
mod compiler;
mod values;
mod wire;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    compiler::add(module)?;
    let wire = PyModule::new(module.py(), "wire")?;
    wire::add(&wire)?;
    module.add_submodule(&wire)
}
