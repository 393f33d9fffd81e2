//! The compiler. Host values are passed as tuples that begin with their kind, made by
//! `kairos.compiler.quoting`.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::rc::Rc;

use kairos_compiler::diagnostic::Diagnostic;
use kairos_compiler::ir::Ty;
use kairos_compiler::language::Builtin;
use kairos_compiler::llvm::Machine;
use kairos_compiler::lower::Target;
use kairos_compiler::source::{Sources, Span};
use kairos_compiler::{check as run_check, compile as run, elf, link as linker, Library, Output, Request};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::bridge::{host_value, Bridge};

pyo3::create_exception!(
    kairos._native,
    RejectedError,
    pyo3::exceptions::PyException,
    "The program cannot be compiled."
);

/// A compiled program, or one of its libraries. All methods except those about libraries return text.
#[pyclass(unsendable, module = "kairos._native")]
struct Program {
    output: Rc<Output>,
    /// Number of the library: 0 is the core device's.
    library: usize,
}

impl Program {
    fn library(&self) -> Library<'_> {
        self.output.libraries().nth(self.library).expect("it has so many")
    }
}

#[pymethods]
impl Program {
    /// Syntax trees of the functions.
    fn ast(&self) -> PyResult<String> {
        guarded(|| self.output.ast())
    }

    /// Types of functions and variables.
    fn types(&self) -> PyResult<String> {
        guarded(|| self.output.types())
    }

    /// The intermediate representation.
    fn ir(&self) -> PyResult<String> {
        guarded(|| self.output.module.to_string())
    }

    /// LLVM assembly for a target triple and data layout (empty: LLVM's choice).
    fn llvm(&self, triple: String, data_layout: String) -> PyResult<String> {
        guarded(|| {
            self.library().llvm(&Machine {
                triple,
                data_layout,
                variables: false,
            })
        })
    }

    /// LLVM assembly in the parts that become object files, and whether each is to be optimised
    /// thoroughly. `variables`: describe them for a debugger.
    fn parts(&self, triple: String, data_layout: String, variables: bool) -> PyResult<Vec<(String, bool, bool, bool)>> {
        guarded(|| {
            self.library().parts(&Machine {
                triple,
                data_layout,
                variables,
            })
        })
    }

    /// Subkernels: number, destination, and library.
    fn subkernels(&self) -> Vec<(u32, u8, Program)> {
        let libraries = self.output.libraries().enumerate();
        let satellites = libraries.filter_map(|(library, one)| {
            let (number, destination) = one.subkernel()?;
            let output = self.output.clone();
            Some((number, destination, Program { output, library }))
        });
        satellites.collect()
    }

    /// The diagnostic of why the program cannot run without a host; None if it can.
    fn needs_host(&self) -> PyResult<Option<String>> {
        guarded(|| self.output.needs_host())
    }

    /// Warnings, formatted for the user.
    fn warnings(&self) -> PyResult<Vec<String>> {
        let render = || {
            self.output
                .warnings
                .iter()
                .map(|w| w.render(&self.output.sources))
                .collect()
        };
        guarded(render)
    }
}

/// The options of a call: without a result, attributes are not written back, `print` is the host's.
fn request(
    function: &Bound<'_, PyAny>,
    args: &[Bound<'_, PyAny>],
    kwargs: &[(String, Bound<'_, PyAny>)],
) -> PyResult<Request> {
    let keyword = |(name, arg): &(String, Bound<'_, PyAny>)| Ok((name.as_str().into(), host_value(arg)?));
    Ok(Request {
        function: host_value(function)?,
        args: args.iter().map(host_value).collect::<PyResult<_>>()?,
        kwargs: kwargs.iter().map(keyword).collect::<PyResult<_>>()?,
        set_result: None,
        writeback: false,
        print_as_rpc: true,
    })
}

/// Compiles a call of `function`; `bridge` answers questions about host objects.
///
/// Raises `RejectedError` with the whole diagnostic as text, and as a record like those of `check`.
#[pyfunction]
#[pyo3(signature = (bridge, function, args, kwargs, *, set_result, writeback, print_as_rpc, ref_period))]
#[allow(clippy::too_many_arguments, reason = "in Python they have names")]
fn compile(
    bridge: Bound<'_, PyAny>,
    function: Bound<'_, PyAny>,
    args: Vec<Bound<'_, PyAny>>,
    kwargs: Vec<(String, Bound<'_, PyAny>)>,
    set_result: Option<u32>,
    writeback: bool,
    print_as_rpc: bool,
    ref_period: f64,
) -> PyResult<Program> {
    let request = Request {
        set_result,
        writeback,
        print_as_rpc,
        ..request(&function, &args, &kwargs)?
    };
    let mut host = Bridge::new(bridge);
    let result = guarded(|| run(&mut host, request, Target { ref_period }))?;
    host.finish(result)?
        .map(|output| Program {
            output: Rc::new(output),
            library: 0,
        })
        .map_err(|rejection| {
            let record = record(&rejection.sources, &rejection.diagnostic);
            RejectedError::new_err((rejection.to_string(), record))
        })
}

/// A range in a source file: file name, line and column of start and end as in editor protocols, from 0.
type SourceRange = (String, u32, u32, u32, u32);

/// An error or a warning: whether it is a warning, message, place, label, (place, label) of further
/// places, advice, the complete text, the file and line of the compiler that created it, and its kind.
type Record = (
    bool,
    String,
    Option<SourceRange>,
    String,
    Vec<(SourceRange, String)>,
    Vec<String>,
    String,
    (&'static str, u32),
    &'static str,
);

fn record(sources: &Sources, one: &Diagnostic) -> Record {
    let place = |span: Span| {
        let file = sources.file(span.file);
        let (start, end) = (file.editor_position(span.start), file.editor_position(span.end));
        (file.name.clone(), start.0, start.1, end.0, end.1)
    };
    let labels = one.labels.iter().map(|(span, text)| (place(*span), text.clone()));
    (
        one.warning,
        one.message.clone(),
        one.span.map(place),
        one.primary_note.clone(),
        labels.collect(),
        one.help.clone(),
        one.render(sources),
        (one.origin.file(), one.origin.line()),
        one.kind.name(),
    )
}

/// All errors and warnings of a call. The arguments are those of `compile`.
#[pyfunction]
#[pyo3(signature = (bridge, function, args, kwargs))]
fn check(
    bridge: Bound<'_, PyAny>,
    function: Bound<'_, PyAny>,
    args: Vec<Bound<'_, PyAny>>,
    kwargs: Vec<(String, Bound<'_, PyAny>)>,
) -> PyResult<Vec<Record>> {
    let request = request(&function, &args, &kwargs)?;
    let mut host = Bridge::new(bridge);
    let result = guarded(|| run_check(&mut host, request))?;
    let (sources, found) = host.finish(result)?;
    Ok(found.iter().map(|one| record(&sources, one)).collect())
}

/// Memory of a host array in a library: the array's number, offset, length.
type ArraySlot = (u32, u32, u32);

/// A number of the host in a library: the object's number and the attribute's name, or 0 and the number
/// of the argument; offset; format as in Python's module `struct`.
type ScalarSlot = (u32, String, u32, char);

/// A library, and what in it nothing else depends on.
type Linked<'py> = (Bound<'py, PyBytes>, Vec<ArraySlot>, Vec<ScalarSlot>);

/// Links object files to a library with debug information; `program` has the data that code
/// generation did not see. Also returns the memory of those host arrays, and the places of those numbers,
/// that nothing else in the library depends on.
#[pyfunction]
#[pyo3(signature = (objects, program=None))]
fn link<'py>(py: Python<'py>, objects: Vec<Bound<'py, PyBytes>>, program: Option<&Program>) -> PyResult<Linked<'py>> {
    let objects: Vec<&[u8]> = objects.iter().map(|object| object.as_bytes()).collect();
    let fills: Vec<_> = program.map_or(vec![], |program| program.library().fills().collect());
    let (handles, mut names): (Vec<_>, Vec<_>) =
        program.map_or((vec![], vec![]), |program| program.library().arrays().unzip());
    let scalars = program.map_or(&[][..], |program| program.library().scalars());
    names.extend(scalars.iter().map(|scalar| &*scalar.symbol));
    let link = || {
        let library = linker::link(&objects, &fills)?;
        let places = if names.is_empty() {
            vec![]
        } else {
            elf::places(&library, &names)?
        };
        Ok((library, places))
    };
    let (library, mut places) = guarded(link)?.map_err(|error: String| PyRuntimeError::new_err(error))?;
    let symbols = places.split_off(handles.len());
    let arrays = handles.into_iter().zip(places);
    let arrays = arrays.filter_map(|(handle, place)| place.map(|(start, length)| (handle, start, length)));
    let scalars = scalars.iter().zip(symbols).filter_map(|(scalar, place)| {
        let offset = place?.0 + scalar.offset;
        Some((scalar.object, scalar.name.to_string(), offset, format_of(&scalar.ty)?))
    });
    Ok((PyBytes::new(py, &library), arrays.collect(), scalars.collect()))
}

/// The format of a number in Python's module `struct`.
fn format_of(ty: &Ty) -> Option<char> {
    match ty {
        Ty::I1 => Some('?'),
        Ty::I32 => Some('i'),
        Ty::I64 => Some('q'),
        Ty::F64 => Some('d'),
        _ => None,
    }
}

/// Removes symbol table and debug information from a library.
#[pyfunction]
fn strip<'py>(py: Python<'py>, library: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let stripped = guarded(|| elf::strip(library))?.map_err(PyRuntimeError::new_err)?;
    Ok(PyBytes::new(py, &stripped))
}

/// Source positions of return addresses, innermost first: (file, line, column, function), lines and columns from 1.
#[pyfunction]
fn symbolize(library: &[u8], addresses: Vec<u32>) -> PyResult<Vec<(String, u32, u32, String)>> {
    let frames = guarded(|| elf::symbolize(library, &addresses))?.map_err(PyRuntimeError::new_err)?;
    Ok(frames
        .into_iter()
        .map(|frame| (frame.file, frame.line, frame.column, frame.function))
        .collect())
}

/// Host objects that represent names of the language: (module, attribute, the compiler's name).
#[pyfunction]
fn host_objects() -> Vec<(&'static str, &'static str, &'static str)> {
    let objects = Builtin::all().filter_map(|builtin| {
        let (module, attribute) = builtin.host_object()?;
        Some((module, attribute, builtin.name()))
    });
    objects.collect()
}

/// Runs the compiler; a panic becomes an exception.
fn guarded<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or(panic.downcast_ref::<&str>().copied());
        let text = text.unwrap_or("no message");
        PyRuntimeError::new_err(format!(
            "this is a bug in the Kairos compiler, please report it: {text}"
        ))
    })
}

/// Adds these classes and functions to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Program>()?;
    module.add("RejectedError", module.py().get_type::<RejectedError>())?;
    module.add_function(wrap_pyfunction!(compile, module)?)?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(host_objects, module)?)?;
    module.add_function(wrap_pyfunction!(link, module)?)?;
    module.add_function(wrap_pyfunction!(strip, module)?)?;
    module.add_function(wrap_pyfunction!(symbolize, module)?)
}
