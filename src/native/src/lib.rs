//! The extension module `kairos._native`: the compiler and its debugger; in `wire` the host's side of the wire
//! formats; in `pulse` the pulse core's compiler and model.

mod bridge;
mod compiler;
mod debug;
mod errors;
mod pulse;
mod pulse_logic;
mod services;
mod stream;
mod values;
mod wire;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    compiler::add(module)?;
    debug::add(module)?;
    let wire = PyModule::new(module.py(), "wire")?;
    wire::add(&wire)?;
    services::add(&wire)?;
    module.add_submodule(&wire)?;
    let pulse = PyModule::new(module.py(), "pulse")?;
    pulse::add(&pulse)?;
    pulse_logic::add(&pulse)?;
    module.add_submodule(&pulse)
}
