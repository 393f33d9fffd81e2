//! The intermediate representation as LLVM assembly.
//!
//! Debug information is a line table, and for debuggers variables: every call has a location, since exceptions can
//! only start at calls.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;
use std::rc::Rc;

use crate::ir::*;
use crate::language::only_computes;
use crate::parts::Part;
use crate::source::Sources;
use crate::vectors;

mod format;
mod instructions;
mod lines;

use format::{escaped, operand, passed, quoted, result, typed};

/// Number of instructions of a block from which a part that is compiled quickly has its blocks divided into
/// pieces: some of LLVM's steps take time that grows with the square of the length of a block.
const LONG: usize = 1000;
const PIECE: usize = 100;
/// Number of other globals to which a global refers that counts as many.
const MANY: usize = 64;

/// Whether the blocks of a part are printed in pieces, which LLVM must not join again.
pub fn is_divided(module: &Module, part: &Part) -> bool {
    let is_long = |function: &Function| function.blocks.iter().any(|block| block.body.len() >= LONG);
    !part.thorough && functions_of(module, part).any(is_long)
}

/// Whether LLVM should not combine instructions of a part that is compiled quickly, which would take long.
pub fn compares_often(module: &Module, part: &Part) -> bool {
    !part.thorough && functions_of(module, part).any(Function::compares_often)
}

fn functions_of<'m>(module: &'m Module, part: &'m Part) -> impl Iterator<Item = &'m Function> {
    let of_part = |function: &&Function| part.defines.contains(&function.symbol);
    module.functions.iter().filter(of_part)
}

/// Target triple and data layout. With an empty layout, LLVM chooses.
#[derive(Clone, Debug)]
pub struct Machine {
    pub triple: String,
    pub data_layout: String,
    /// Whether debug information has variables, for a debugger. It does not change the code.
    pub variables: bool,
}

/// Prints a whole module.
pub fn print(module: &Module, sources: &Sources, machine: &Machine) -> String {
    let functions = module.functions.iter().map(|function| &function.symbol);
    let globals = module.globals.iter().map(|global| &global.name);
    let whole = Part {
        thorough: true,
        defines: functions
            .chain(globals)
            .chain(module.routines.keys())
            .cloned()
            .collect(),
        shares: HashSet::new(),
        borrows: HashSet::new(),
    };
    print_part(module, &whole, sources, machine)
}

/// Prints a part of a module.
pub fn print_part(module: &Module, part: &Part, sources: &Sources, machine: &Machine) -> String {
    let named = |wanted: &dyn Fn(&Function) -> bool| {
        let functions = module.functions.iter();
        let functions = functions.filter(|function| part.defines.contains(&function.symbol) && wanted(function));
        functions.map(|function| function.symbol.clone()).collect()
    };
    let mut printer = Printer {
        module,
        part,
        sources,
        out: String::new(),
        meta: vec![],
        locations: HashMap::new(),
        forms: HashMap::new(),
        crowded: HashSet::new(),
        divided: is_divided(module, part),
        hoisted: HashSet::new(),
        cont: 0,
        size: 0,
        arm: machine.triple.starts_with("arm"),
        variables: machine.variables,
        conversions: BTreeMap::new(),
        structs: (HashMap::new(), vec![]),
        inlined: named(&|function| function.attributes.starts_with("alwaysinline")),
        folding: named(&|function| function.folds),
    };
    printer.module(machine);
    printer.out
}

struct Printer<'a> {
    module: &'a Module,
    part: &'a Part,
    sources: &'a Sources,
    out: String,
    /// Metadata nodes from number 5 on.
    meta: Vec<String>,
    locations: HashMap<(usize, u32, u32), usize>,
    /// Nodes of the types of variables, by their forms.
    forms: HashMap<Rc<str>, usize>,
    /// Memory of the function being printed that LLVM must not look into.
    crowded: HashSet<u32>,
    /// Whether blocks are printed in pieces.
    divided: bool,
    /// Allocations that the function being printed makes at its beginning.
    hoisted: HashSet<u32>,
    /// Number of the next block that continues after an invoke.
    cont: usize,
    /// Number of instructions of the function being printed.
    size: usize,
    /// Whether the target is ARM, where the firmware's run-time library is available.
    arm: bool,
    /// Whether variables are described.
    variables: bool,
    /// Functions that convert floats to integers: symbol and declaration.
    conversions: BTreeMap<String, String>,
    /// Structs referred to by name: their numbers by the address of their members, and the types.
    structs: (HashMap<usize, usize>, Vec<Ty>),
    /// Functions of this part that are inlined everywhere.
    inlined: HashSet<Rc<str>>,
    /// Functions that are inlined in loops if a constant float is passed.
    folding: HashSet<Rc<str>>,
}

/// Where a symbol is defined.
enum Definition {
    /// In this part, with this linkage and visibility.
    Defined(&'static str),
    /// In the other part, but used in this one.
    Borrowed,
    Elsewhere,
}

impl Printer<'_> {
    fn line(&mut self, text: std::fmt::Arguments) {
        self.out.write_fmt(text).expect("writing to a string");
        self.out.push('\n');
    }

    fn module(&mut self, machine: &Machine) {
        self.line(format_args!("target triple = \"{}\"", machine.triple));
        if !machine.data_layout.is_empty() {
            self.line(format_args!("target datalayout = \"{}\"", machine.data_layout));
        }
        let head = self.out.len();
        // What refers to many others comes after them: LLVM creates it anew for each that it does not know yet.
        let (few, many): (Vec<_>, Vec<_>) = (self.module.globals.iter()).partition(|global| global.references() < MANY);
        few.into_iter().chain(many).for_each(|global| self.global(global));
        self.line(format_args!("declare i32 @__artiq_personality(...)"));
        if self.variables {
            self.line(format_args!(
                "declare void @llvm.dbg.declare(metadata, metadata, metadata)"
            ));
            self.line(format_args!(
                "declare void @llvm.dbg.value(metadata, metadata, metadata)"
            ));
        }
        for (symbol, external) in &self.module.externals {
            let mut params: Vec<String> = external.params.iter().map(|ty| passed(ty).to_string()).collect();
            let returns = match external.by_pointer {
                true => {
                    params.insert(0, format!("ptr sret({})", external.returns));
                    "void".to_string()
                }
                false => result(&external.returns),
            };
            if external.variadic {
                params.push("...".into());
            }
            let attributes = match external.nounwind {
                // Allows LLVM to omit the call if the result is unused.
                true if only_computes(symbol) => " nounwind willreturn memory(none)",
                true => " nounwind",
                false => "",
            };
            self.line(format_args!(
                "declare {returns} @{}({}){attributes}",
                quoted(symbol),
                params.join(", ")
            ));
        }
        for function in &self.module.functions {
            match self.definition(&function.symbol) {
                Definition::Defined(_) => self.function(function),
                Definition::Borrowed => self.declaration(function),
                Definition::Elsewhere => {}
            }
        }
        self.routines();
        for declaration in std::mem::take(&mut self.conversions).into_values() {
            self.line(format_args!("{declaration}"));
        }
        self.metadata();
        let structs = self.structs.1.iter().enumerate();
        let structs: String = structs
            .map(|(number, ty)| format!("%struct.{number} = type {ty}\n"))
            .collect();
        self.out.insert_str(head, &structs);
    }

    fn definition(&self, name: &Rc<str>) -> Definition {
        match (self.part.defines.contains(name), self.part.shares.contains(name)) {
            (true, true) => Definition::Defined("hidden "),
            (true, false) => Definition::Defined("internal "),
            (false, _) if self.part.borrows.contains(name) => Definition::Borrowed,
            (false, _) => Definition::Elsewhere,
        }
    }

    fn routines(&mut self) {
        let mut defined = false;
        for (symbol, &routine) in &self.module.routines {
            match self.definition(symbol) {
                Definition::Defined(linkage) => {
                    self.out.push_str(&vectors::definition(routine, linkage, self.arm));
                    defined = true;
                }
                Definition::Borrowed => self.out.push_str(&vectors::declaration(routine)),
                Definition::Elsewhere => {}
            }
        }
        if self.arm && defined {
            self.out.push_str(&vectors::declarations());
        }
    }

    /// Declares a function of the other part.
    fn declaration(&mut self, function: &Function) {
        let params: Vec<_> = function.params.iter().map(|(_, ty)| ty.to_string()).collect();
        let attributes = function.attributes.split(' ');
        let attributes: Vec<_> = attributes
            .filter(|one| ["nounwind", "noreturn", "cold"].contains(one))
            .collect();
        self.line(format_args!(
            "declare hidden {} @{}({}) {}",
            result(&function.returns),
            quoted(&function.symbol),
            params.join(", "),
            attributes.join(" "),
        ));
    }

    fn global(&mut self, global: &Global) {
        let kind = match (global.constant, global.patched) {
            (true, true) => "externally_initialized constant",
            (true, false) => "constant",
            (false, _) => "global",
        };
        let linkage = match (&global.init, self.definition(&global.name)) {
            (Init::External(_), _) => "external ",
            (_, Definition::Defined(_)) if global.exported => "",
            (_, Definition::Defined(linkage)) => linkage,
            (_, Definition::Borrowed) => {
                let name = quoted(&global.name);
                return self.line(format_args!("@{name} = external hidden {kind} i8"));
            }
            (_, Definition::Elsewhere) => return,
        };
        let init = match &global.init {
            Init::Bytes(bytes) => format!("[{} x i8] c\"{}\"", bytes.len(), escaped(bytes)),
            Init::Memory(memory) if global.fill().is_some() => {
                // In a section with contents, and marked so that LLVM does not assume zeros.
                let size = memory.len();
                let name = quoted(&global.name);
                let line = format!("[{size} x i8] zeroinitializer, section \".data\", align 8");
                return self.line(format_args!("@{name} = {linkage}externally_initialized global {line}"));
            }
            // Likewise; arrays of the host are replaced in the library.
            Init::Memory(memory) if !global.constant => {
                let line = format!(
                    "[{} x i8] c\"{}\", section \".data\", align 8",
                    memory.len(),
                    escaped(memory)
                );
                return self.line(format_args!(
                    "@{} = {linkage}externally_initialized global {line}",
                    quoted(&global.name)
                ));
            }
            Init::Memory(memory) => format!("[{} x i8] c\"{}\", align 8", memory.len(), escaped(memory)),
            Init::Value(value) => typed(value),
            Init::External(ty) => ty.to_string(),
            Init::Array(ty, values) => {
                let values: Vec<_> = values.iter().map(typed).collect();
                format!("[{} x {ty}] [{}]", values.len(), values.join(", "))
            }
        };
        self.line(format_args!("@{} = {linkage}{kind} {init}", quoted(&global.name)));
    }

    fn function(&mut self, function: &Function) {
        let linkage = match self.definition(&function.symbol) {
            Definition::Defined(linkage) if !function.exported => linkage,
            _ => "",
        };
        let params: Vec<_> = function
            .params
            .iter()
            .map(|(number, ty)| format!("{ty} %t{number}"))
            .collect();
        let scope = function.span.map(|span| self.subprogram(&function.symbol, span));
        let debug = scope.map_or(String::new(), |scope| format!(" !dbg !{scope}"));
        self.line(format_args!(
            "define {linkage}{} @{}({}) uwtable {} personality ptr @__artiq_personality{debug} {{",
            result(&function.returns),
            quoted(&function.symbol),
            params.join(", "),
            function.attributes,
        ));
        self.size = function.blocks.iter().map(|block| block.body.len()).sum();
        self.line(format_args!("entry:"));
        self.crowded = match self.part.thorough {
            true => HashSet::new(), // limited in size
            false => function.crowded(),
        };
        for (number, ty) in &function.slots {
            self.allocation(*number, &format!("alloca {ty}"));
        }
        // Space for results that firmware functions store: allocated once, even if a loop calls
        // them.
        let calls = function.blocks.iter().flat_map(|block| &block.body);
        for instruction in calls {
            if let Op::Call { callee, returns, .. } = &instruction.op {
                if self
                    .module
                    .externals
                    .get(callee)
                    .is_some_and(|external| external.by_pointer)
                {
                    let number = instruction.result.unwrap_or(0);
                    self.line(format_args!("  %r{number} = alloca {returns}"));
                }
            }
        }
        if let (true, Some(scope)) = (self.variables, scope) {
            for variable in &function.variables {
                self.variable(variable, scope);
            }
            for constant in &function.constants {
                self.constant(constant, scope);
            }
        }
        self.hoist_allocations(function);
        self.line(format_args!("  br label %b0"));
        for (id, block) in function.blocks.iter().enumerate() {
            if block.is_unreachable() {
                continue;
            }
            self.line(format_args!("b{id}:"));
            for (index, instruction) in block.body.iter().enumerate() {
                if self.divided && index % PIECE == PIECE - 1 {
                    let next = self.cont;
                    self.cont += 1;
                    self.line(format_args!("  br label %c{next}\nc{next}:"));
                }
                self.instruction(function, instruction, scope);
            }
            match &block.end {
                Some(Terminator::Jump(to)) => self.line(format_args!("  br label %b{to}")),
                Some(Terminator::Branch(condition, yes, no)) => self.line(format_args!(
                    "  br i1 {}, label %b{yes}, label %b{no}",
                    operand(condition)
                )),
                Some(Terminator::Return(value)) if value.ty.is_unit() => self.line(format_args!("  ret void")),
                Some(Terminator::Return(value)) => self.line(format_args!("  ret {}", typed(value))),
                Some(Terminator::Unreachable) | None => self.line(format_args!("  unreachable")),
            }
        }
        self.line(format_args!("}}"));
    }
}
