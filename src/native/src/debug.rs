//! Steps of kernels for a debugger: what the emulator has recorded at each call of the firmware
//! (`emulator/src/machine/cpu/steps.rs`), with the debug information of the libraries.

use std::collections::HashMap;

use kairos_compiler::debugger::{Active, Debugger, Registers};
use kairos_contracts::library::FINGERPRINT_BYTES;
use kairos_contracts::memory::KERNEL_LIBRARY;
use kairos_proto::bytes::Reader;
use kairos_proto::rpc::{BadAddress, Memory};
use kairos_unwind::{Entry, LR, PC, SP};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

const BASE: u32 = KERNEL_LIBRARY.start as u32;
/// Frames that are shown at most.
const DEEPEST: usize = 32;
/// Registers that a call preserves: r4 to r11 (and the stack pointer), d8 to d15.
const PRESERVED: std::ops::RangeInclusive<usize> = 4..=11;

/// File, line, function, and names and values of the variables.
type Function = (String, u32, String, Vec<(String, String)>);
/// Time in ns, and the functions that had not returned, innermost first.
type Step = (u64, Vec<Function>);

/// A step as recorded.
struct Recorded<'d> {
    time_ns: u64,
    fingerprint: &'d [u8],
    r: [u32; 16],
    d: [u64; 16],
    stack: &'d [u8],
    /// `None`: as in the step before.
    data: Option<&'d [u8]>,
}

/// Takes the first step off the front; `None` if it is not complete.
fn taken<'d>(rest: &mut &'d [u8]) -> Option<Recorded<'d>> {
    let mut reader = Reader(rest);
    let time_ns = reader.long()? as u64;
    let fingerprint = reader.take(FINGERPRINT_BYTES + 1)?.get(..FINGERPRINT_BYTES)?;
    let (mut r, mut d) = ([0; 16], [0; 16]);
    for value in &mut r {
        *value = reader.word()?;
    }
    for value in &mut d {
        *value = reader.long()? as u64;
    }
    let (stack, data) = (reader.word()? as usize, reader.word()? as usize);
    let stack = reader.take(stack)?;
    let data = match data {
        0 => None,
        length => Some(reader.take(length)?),
    };
    *rest = reader.0;
    Some(Recorded {
        time_ns,
        fingerprint,
        r,
        d,
        stack,
        data,
    })
}

/// Memory during a step.
struct Seen<'m, 'a> {
    debugger: &'m Debugger<'a>,
    /// Address and content.
    parts: [(u32, &'m [u8]); 2],
}

impl Seen<'_, '_> {
    fn recorded(&self, address: u32, length: usize) -> Option<Vec<u8>> {
        self.parts.iter().find_map(|(start, content)| {
            let from = address.checked_sub(*start)? as usize;
            Some(content.get(from..from.checked_add(length)?)?.to_vec())
        })
    }
}

impl Memory for Seen<'_, '_> {
    /// Not supported: only words are read.
    fn bytes(&self, address: u32, length: u32) -> Result<&[u8], BadAddress> {
        Err(BadAddress { address, length })
    }

    fn word(&self, address: u32) -> Result<u32, BadAddress> {
        let bytes = self.recorded(address, 4).or_else(|| self.debugger.constant(address, 4));
        let word = bytes.and_then(|bytes| Some(u32::from_le_bytes(bytes.try_into().ok()?)));
        word.ok_or(BadAddress { address, length: 4 })
    }
}

/// The functions of a step, innermost first.
fn functions(step: &Recorded, data: &[u8], debugger: &Debugger, index: Option<(u32, u32)>) -> Vec<Function> {
    let seen = Seen {
        debugger,
        parts: [(step.r[SP], step.stack), (step.r[PC], data)],
    };
    let memory = |address: u32, length: usize| seen.recorded(address, length);
    let mut found = vec![];
    let mut registers = kairos_unwind::Registers {
        r: step.r,
        ..Default::default()
    };
    registers.r[PC] = step.r[LR];
    registers.d.copy_from_slice(&step.d[8..]);
    for depth in 0..DEEPEST {
        let pc = registers.r[PC];
        if !KERNEL_LIBRARY.contains(&(pc as usize)) {
            break;
        }
        // A call may have changed all but the preserved ones; of the innermost call nothing is changed yet.
        let mut known = Registers::default();
        for number in 0..SP {
            known.r[number] = (depth == 0 || PRESERVED.contains(&number)).then_some(registers.r[number]);
        }
        (known.r[SP], known.r[PC]) = (Some(registers.r[SP]), Some(pc - BASE));
        for number in 0..16 {
            known.d[number] = match number {
                0..8 => (depth == 0).then_some(step.d[number]),
                _ => Some(registers.d[number - 8]),
            };
        }
        let active = debugger.active(&known, &memory);
        found.extend(
            active
                .into_iter()
                .map(|Active { place, variables }| (place.file, place.line, place.function, variables)),
        );
        let stepped = index.and_then(|index| Entry::find(&seen, index, pc).ok()?.step(&seen, &mut registers).ok());
        if stepped.is_none() || registers.r[PC] == pc {
            break;
        }
    }
    found
}

/// The steps in a recording of the emulator: time in ns since power-up, and the functions that had not returned,
/// innermost first, each with file, line, name, and names and values of its variables. `libraries`: with debug
/// information, by fingerprint (hexadecimal); steps of others are left out.
#[pyfunction]
fn steps(recording: &[u8], libraries: HashMap<String, Bound<'_, PyBytes>>) -> PyResult<Vec<Step>> {
    let mut debuggers = HashMap::new();
    for (name, library) in &libraries {
        let library = library.as_bytes();
        let debugger = Debugger::new(library, BASE).map_err(PyValueError::new_err)?;
        debuggers.insert(name.as_str(), (debugger, kairos_compiler::elf::unwind_index(library)));
    }
    let (mut rest, mut found) = (recording, vec![]);
    let (mut data, mut of): (&[u8], &[u8]) = (&[], &[]);
    while !rest.is_empty() {
        let step = taken(&mut rest).ok_or_else(|| PyValueError::new_err("the recording of the steps is damaged"))?;
        if let Some(new) = step.data {
            data = new;
        } else if step.fingerprint != of {
            data = &[];
        }
        of = step.fingerprint;
        let name: String = of.iter().map(|byte| format!("{byte:02x}")).collect();
        if let Some((debugger, index)) = debuggers.get(name.as_str()) {
            let index = index.map(|(at, count)| (BASE + at, count));
            found.push((step.time_ns, functions(&step, data, debugger, index)));
        }
    }
    Ok(found)
}

/// Adds the function to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(steps, module)?)
}
