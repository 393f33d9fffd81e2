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
    part(module, "wire", |wire| {
        wire::add(wire)?;
        services::add(wire)
    })?;
    part(module, "pulse", |pulse| {
        pulse::add(pulse)?;
        pulse_logic::add(pulse)
    })
}

/// Adds a module within `module`, where Python finds its classes again when their objects are sent to another process.
fn part(
    module: &Bound<'_, PyModule>,
    name: &str,
    add: impl FnOnce(&Bound<'_, PyModule>) -> PyResult<()>,
) -> PyResult<()> {
    let made = PyModule::new(module.py(), &format!("kairos._native.{name}"))?;
    add(&made)?;
    module.add(name, &made)?;
    let modules = module.py().import("sys")?.getattr("modules")?;
    modules.set_item(made.name()?, &made)
}
