//! The ARTIQ-Python compiler: from a host function to LLVM assembly.
//!
//! `parse → resolve → infer → check → lower`: each pass produces data that can be printed (see
//! [`Output`]). The passes query the Python process through the trait [`host::Host`], so the crate
//! is tested without Python. LLVM generates the code and is called through Python; [`elf`] works on
//! the linked library. docs/compiler.md says which module may import which.
#![forbid(unsafe_code)]

mod builtins;
mod check;
pub mod debugger;
pub mod diagnostic;
pub mod elf;
mod emit;
mod escape;
mod forms;
pub mod host;
mod infer;
mod initial;
pub mod ir;
pub mod language;
mod lifetime;
pub mod link;
pub mod llvm;
pub mod lower;
mod names;
mod parts;
mod program;
mod resolve;
mod returned;
pub mod source;
mod symbol;
mod syntax;
mod types;
mod vectors;
mod warnings;

pub use infer::Request;

use std::collections::HashMap;

use diagnostic::Diagnostic;
use host::Handle;
use program::{Context, Program};
use source::Sources;
use warnings::Warnings;

/// A compiled program, with the results of every pass.
pub struct Output {
    program: Program,
    pub module: ir::Module,
    parts: Vec<parts::Part>,
    /// The libraries that run on satellites.
    subkernels: Vec<Satellite>,
    pub sources: Sources,
    pub warnings: Vec<Diagnostic>,
}

/// The library of a subkernel.
struct Satellite {
    subkernel: program::Subkernel,
    module: ir::Module,
    parts: Vec<parts::Part>,
}

/// The reason why a program was rejected. Its `Display` text is what the user sees.
pub struct Rejection {
    pub sources: Sources,
    pub diagnostic: Box<Diagnostic>,
}

impl std::fmt::Display for Rejection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.diagnostic.render(&self.sources))
    }
}

/// Compiles the functions that `request` asks for.
pub fn compile(host: &mut dyn host::Host, request: Request, target: lower::Target) -> Result<Output, Rejection> {
    let (sources, program, warnings) = (Sources::default(), Program::default(), Warnings::default());
    let mut context = Context {
        host,
        sources,
        program,
        warnings,
        shapes: Default::default(),
        strided: Default::default(),
    };
    let passed = passes(&mut context, request, target);
    let Context {
        sources,
        program,
        warnings,
        ..
    } = context;
    match passed {
        Ok((mut module, subkernels)) => Ok(Output {
            program,
            parts: parts::divide(&mut module),
            module,
            subkernels,
            sources,
            warnings: warnings.into_diagnostics(),
        }),
        Err(diagnostic) => Err(Rejection { sources, diagnostic }),
    }
}

/// Returns all errors and warnings of the functions that `request` asks for, without lowering them.
/// Errors other than type errors are reported once per function: the first one.
pub fn check(host: &mut dyn host::Host, request: Request) -> (Sources, Vec<Diagnostic>) {
    let mut context = Context {
        host,
        sources: Sources::default(),
        program: Program::default(),
        warnings: Warnings::default(),
        shapes: Default::default(),
        strided: Default::default(),
    };
    let mut found = infer::infer_all(&mut context, &request);
    while (!found.is_empty() || context.shapes.is_incomplete()) && context.reshape() {
        restart(&mut context);
        found = infer::infer_all(&mut context, &request);
    }
    if found.is_empty() {
        let (program, warnings) = (&context.program, &mut context.warnings);
        let owning = lifetime::owning(program);
        let checked = program.live().map(|function| {
            check::check(function, program, warnings).and_then(|_| lifetime::check(function, &program.types, &owning))
        });
        found.extend(checked.filter_map(|result| result.err().map(|error| *error)));
        found.extend(initial::check(&context.program).err().map(|error| *error));
    }
    found.extend(context.warnings.into_diagnostics());
    (context.sources, found)
}

/// Discards the results of inference, because the shapes of objects have changed.
fn restart(context: &mut Context) {
    context.program = Program::default();
    context.sources = Sources::default();
    context.warnings = Warnings::default();
}

fn passes(
    context: &mut Context,
    request: Request,
    target: lower::Target,
) -> diagnostic::Result<(ir::Module, Vec<Satellite>)> {
    loop {
        match infer::infer(context, &request) {
            Ok(()) if !context.shapes.is_incomplete() => {
                if context.share_arrays().map_err(Diagnostic::global)? {
                    break;
                }
                restart(context);
            }
            Ok(()) => {
                context.reshape();
                restart(context);
            }
            Err(_) if context.reshape() || context.strided.keep_apart() => restart(context),
            Err(error) => return Err(error),
        }
    }
    let owning = lifetime::owning(&context.program);
    for function in context.program.live() {
        check::check(function, &context.program, &mut context.warnings)?;
        lifetime::check(function, &context.program.types, &owning)?;
    }
    initial::check(&context.program)?;
    let (program, sources) = (&context.program, &context.sources);
    let module = lower::lower(program, sources, context.host, target)?;
    let subkernels = program.subkernels().into_iter().map(|subkernel| {
        let mut module = lower::lower_subkernel(program, sources, context.host, target, subkernel)?;
        let parts = parts::divide(&mut module);
        Ok(Satellite {
            subkernel,
            module,
            parts,
        })
    });
    Ok((module, subkernels.collect::<diagnostic::Result<_>>()?))
}

impl Output {
    /// The error to show to the user if the program needs a host; `None` if it runs without one.
    pub fn needs_host(&self) -> Option<String> {
        let (span, name) = self.module.remote_call.as_ref()?;
        let text = format!("'{name}' runs on the host, but startup and idle kernels have none");
        let error = Diagnostic::new(*span, text)
            .help("call only kernels and portable functions; print writes to the log of the device");
        Some(error.render(&self.sources))
    }

    /// The libraries: the core device's, then those of the satellites.
    pub fn libraries(&self) -> impl Iterator<Item = Library<'_>> {
        let others = self.subkernels.iter().map(|satellite| Library {
            output: self,
            satellite: Some(satellite),
        });
        std::iter::once(self.own()).chain(others)
    }

    /// The core device's module as LLVM assembly.
    pub fn llvm(&self, machine: &llvm::Machine) -> String {
        self.own().llvm(machine)
    }

    /// See [`Library::parts`], of the core device's library.
    pub fn parts(&self, machine: &llvm::Machine) -> Vec<(String, bool, bool, bool)> {
        self.own().parts(machine)
    }

    fn own(&self) -> Library<'_> {
        Library {
            output: self,
            satellite: None,
        }
    }

    /// The syntax trees of all functions.
    pub fn ast(&self) -> String {
        let functions = self.program.functions.iter();
        functions
            .map(|function| format!("{}: {:#?}\n", function.symbol, function.ast))
            .collect()
    }

    /// The types of all functions and their variables.
    pub fn types(&self) -> String {
        let mut text = String::new();
        for function in &self.program.functions {
            let name = |ty| self.program.types.name(ty);
            text += &format!("{} -> {}\n", function.symbol, name(function.returns));
            for (local, &ty) in function.names.locals.iter().zip(&function.locals) {
                text += &format!("    {}: {}\n", local.name, name(ty));
            }
        }
        text
    }
}

/// A library before code is generated.
#[derive(Clone, Copy)]
pub struct Library<'o> {
    output: &'o Output,
    satellite: Option<&'o Satellite>,
}

impl<'o> Library<'o> {
    /// Number and destination of a subkernel; None for the core device's library.
    pub fn subkernel(self) -> Option<(u32, u8)> {
        let satellite = self.satellite?;
        Some((satellite.subkernel.number, satellite.subkernel.destination))
    }

    fn module(self) -> &'o ir::Module {
        self.satellite
            .map_or(&self.output.module, |satellite| &satellite.module)
    }

    /// Symbols and contents of the globals that [`link::link`] fills in.
    pub fn fills(self) -> impl Iterator<Item = (&'o str, &'o [u8])> {
        let globals = self.module().globals.iter();
        globals.filter_map(|global| Some((&*global.name, global.fill()?)))
    }

    /// The globals that hold a host array of numbers: its handle and the symbol.
    ///
    /// Nothing else in the library depends on their contents.
    pub fn arrays(self) -> impl Iterator<Item = (Handle, &'o str)> {
        let program = &self.output.program;
        let arrays = program.lists.iter();
        let arrays = arrays.filter(|(_, list)| matches!(program.types.kind(list.ty), types::Kind::Array(..)));
        let symbols: HashMap<_, _> = arrays.map(|(&handle, _)| (emit::data_symbol(handle), handle)).collect();
        let globals = self.module().globals.iter();
        // Empty ones have no place.
        let filled = globals.filter(|global| matches!(&global.init, ir::Init::Memory(memory) if !memory.is_empty()));
        filled.filter_map(move |global| Some((*symbols.get(&*global.name)?, &*global.name)))
    }

    /// The numbers of the host that nothing else in the library depends on. None if several libraries
    /// have them.
    pub fn scalars(self) -> &'o [ir::Scalar] {
        match self.output.subkernels.is_empty() {
            true => &self.module().scalars,
            false => &[],
        }
    }

    /// The module as LLVM assembly.
    pub fn llvm(self, machine: &llvm::Machine) -> String {
        llvm::print(self.module(), &self.output.sources, machine)
    }

    /// The module as LLVM assembly, in the parts that become object files. The flags say whether to
    /// optimise the part thoroughly, whether its blocks are in pieces, and whether a variable is compared very often.
    pub fn parts(self, machine: &llvm::Machine) -> Vec<(String, bool, bool, bool)> {
        let parts = self.satellite.map_or(&self.output.parts, |satellite| &satellite.parts);
        let print = |part: &parts::Part| {
            (
                llvm::print_part(self.module(), part, &self.output.sources, machine),
                part.thorough,
                llvm::is_divided(self.module(), part),
                llvm::compares_often(self.module(), part),
            )
        };
        parts.iter().map(print).collect()
    }
}
