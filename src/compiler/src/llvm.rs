//! The intermediate representation as LLVM assembly.
//!
//! Debug information is a line table only: a location on every call, which is where an exception can start.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;
use std::rc::Rc;

use crate::ir::*;
use crate::language::only_computes;
use crate::parts::Part;
use crate::source::{FileId, Sources, Span};
use crate::vectors;

/// Triple and data layout that the text is for. An empty layout leaves the choice to LLVM.
#[derive(Clone, Debug)]
pub struct Machine {
    pub triple: String,
    pub data_layout: String,
}

/// Prints a module whole.
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
        cont: 0,
        size: 0,
        arm: machine.triple.starts_with("arm"),
        conversions: BTreeMap::new(),
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
    /// Metadata nodes from number 3 on.
    meta: Vec<String>,
    locations: HashMap<(usize, u32, u32), usize>,
    /// Number of the next block that continues after an invoke.
    cont: usize,
    /// Instructions of the function being printed.
    size: usize,
    /// Whether the processor is ARM, so that the firmware's run-time library is there.
    arm: bool,
    /// What converts floats to integers: symbol and declaration.
    conversions: BTreeMap<String, String>,
    /// Functions of this part to be inlined wherever they are called.
    inlined: HashSet<Rc<str>>,
    /// Functions to be inlined in loops where a float that is passed is a constant.
    folding: HashSet<Rc<str>>,
}

/// Instructions up to which a function inlines others everywhere, and up to which it does so in its loops: code generation
/// takes more than proportionally longer for large blocks.
const LONG: usize = 200;
const LARGE: usize = 600;

/// Where something is defined.
enum Place {
    /// With this linkage and visibility.
    Here(&'static str),
    /// In the other part, and it is used here.
    Borrowed,
    Elsewhere,
}

/// Numbers of the fixed metadata nodes.
const UNIT: usize = 0;
const FIRST_FREE: usize = 5;

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
        for global in &self.module.globals {
            self.global(global);
        }
        self.line(format_args!("declare i32 @__artiq_personality(...)"));
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
                // So that a result that nobody needs is not computed.
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
            match self.place(&function.symbol) {
                Place::Here(_) => self.function(function),
                Place::Borrowed => self.declaration(function),
                Place::Elsewhere => {}
            }
        }
        self.routines();
        for declaration in std::mem::take(&mut self.conversions).into_values() {
            self.line(format_args!("{declaration}"));
        }
        self.metadata();
    }

    fn place(&self, name: &Rc<str>) -> Place {
        match (self.part.defines.contains(name), self.part.shares.contains(name)) {
            (true, true) => Place::Here("hidden "),
            (true, false) => Place::Here("internal "),
            (false, _) if self.part.borrows.contains(name) => Place::Borrowed,
            (false, _) => Place::Elsewhere,
        }
    }

    fn routines(&mut self) {
        let mut defined = false;
        for (symbol, &routine) in &self.module.routines {
            match self.place(symbol) {
                Place::Here(linkage) => {
                    self.out.push_str(&vectors::definition(routine, linkage, self.arm));
                    defined = true;
                }
                Place::Borrowed => self.out.push_str(&vectors::declaration(routine)),
                Place::Elsewhere => {}
            }
        }
        if self.arm && defined {
            self.out.push_str(&vectors::declarations());
        }
    }

    /// A function of the other part.
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

    fn metadata(&mut self) {
        let flags = "!llvm.module.flags = !{!1, !2}\n!llvm.dbg.cu = !{!0}";
        self.line(format_args!("{flags}"));
        let unit = "distinct !DICompileUnit(language: DW_LANG_Python, file: !3, producer: \"kairos\", \
                    isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly)";
        self.line(format_args!("!{UNIT} = {unit}"));
        self.line(format_args!("!1 = !{{i32 2, !\"Debug Info Version\", i32 3}}"));
        self.line(format_args!("!2 = !{{i32 2, !\"Dwarf Version\", i32 4}}"));
        self.line(format_args!("!3 = !DIFile(filename: \"kernel\", directory: \"\")"));
        self.line(format_args!("!4 = !DISubroutineType(types: !{{}})"));
        for (index, node) in std::mem::take(&mut self.meta).into_iter().enumerate() {
            self.line(format_args!("!{} = {node}", index + FIRST_FREE));
        }
    }

    fn node(&mut self, text: String) -> usize {
        self.meta.push(text);
        self.meta.len() - 1 + FIRST_FREE
    }

    fn file(&mut self, file: FileId) -> usize {
        let text = format!(
            "!DIFile(filename: \"{}\", directory: \"\")",
            escaped(self.sources.file(file).name.as_bytes())
        );
        match self.meta.iter().position(|known| *known == text) {
            Some(known) => known + FIRST_FREE,
            None => self.node(text),
        }
    }

    fn global(&mut self, global: &Global) {
        let kind = if global.constant { "constant" } else { "global" };
        let linkage = match (&global.init, self.place(&global.name)) {
            (Init::External(_), _) => "external ",
            (_, Place::Here(_)) if global.exported => "",
            (_, Place::Here(linkage)) => linkage,
            (_, Place::Borrowed) => {
                let name = quoted(&global.name);
                return self.line(format_args!("@{name} = external hidden {kind} i8"));
            }
            (_, Place::Elsewhere) => return,
        };
        let init = match &global.init {
            Init::Bytes(bytes) => format!("[{} x i8] c\"{}\"", bytes.len(), escaped(bytes)),
            Init::Memory(memory) if global.fill().is_some() => {
                // In a section of its contents, and not to be taken for zeros.
                let size = memory.len();
                let name = quoted(&global.name);
                let line = format!("[{size} x i8] zeroinitializer, section \".data\", align 8");
                return self.line(format_args!("@{name} = {linkage}externally_initialized global {line}"));
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
        let linkage = match self.place(&function.symbol) {
            Place::Here(linkage) if !function.exported => linkage,
            _ => "",
        };
        let params: Vec<_> = function
            .params
            .iter()
            .map(|(number, ty)| format!("{ty} %t{number}"))
            .collect();
        let scope = function.span.map(|span| {
            let file = self.file(span.file);
            let line = self.sources.position(span).0;
            let name = escaped(function.symbol.as_bytes());
            self.node(format!(
                "distinct !DISubprogram(name: \"{name}\", scope: !{file}, file: !{file}, line: {line}, type: !4, \
                 scopeLine: {line}, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !{UNIT})"
            ))
        });
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
        for (number, ty) in &function.slots {
            self.line(format_args!("  %t{number} = alloca {ty}"));
        }
        // Room for results that firmware functions store: once, however often a loop calls them.
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
        self.line(format_args!("  br label %b0"));
        for (id, block) in function.blocks.iter().enumerate() {
            if block.is_unreachable() {
                continue;
            }
            self.line(format_args!("b{id}:"));
            for instruction in &block.body {
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

    fn location(&mut self, scope: Option<usize>, span: Span) -> String {
        let Some(scope) = scope else { return String::new() };
        let (line, column) = self.sources.position(span);
        let node = match self.locations.get(&(scope, line, column)) {
            Some(&known) => known,
            None => {
                let node = self.node(format!(
                    "!DILocation(line: {line}, column: {}, scope: !{scope})",
                    column + 1
                ));
                self.locations.insert((scope, line, column), node);
                node
            }
        };
        format!(", !dbg !{node}")
    }

    fn instruction(&mut self, function: &Function, instruction: &Instruction, scope: Option<usize>) {
        let fast = if function.fast_math { "fast " } else { "" };
        let text = match &instruction.op {
            Op::Binary(op, a, b) => {
                let fast = if op.is_float() { fast } else { "" };
                format!("{} {fast}{}, {}", op.name(), typed(a), operand(b))
            }
            Op::Compare(op, a, b) => format!("{} {}, {}", op.name(), typed(a), operand(b)),
            Op::Convert(Convert::FPToSI, a, ty) => self.float_to_integer(instruction.result.expect("a number"), a, ty),
            Op::Convert(op, a, ty) => format!("{} {} to {ty}", op.name(), typed(a)),
            Op::Select(c, a, b) => format!("select {}, {}, {}", typed(c), typed(a), typed(b)),
            Op::Load { ty, from, invariant } => {
                let invariant = if *invariant { ", !invariant.load !{}" } else { "" };
                format!("load {ty}, {}{invariant}", typed(from))
            }
            Op::Store { value, to } => format!("store {}, {}", typed(value), typed(to)),
            Op::Field { base, of, index } => format!("getelementptr {of}, {}, i32 0, i32 {index}", typed(base)),
            Op::Element { base, of, index } => format!("getelementptr {of}, {}, {}", typed(base), typed(index)),
            Op::Extract { from, index } => format!("extractvalue {}, {index}", typed(from)),
            Op::Insert { into, value, index } => format!("insertvalue {}, {}, {index}", typed(into), typed(value)),
            Op::Alloca { of, count } => format!("alloca {of}, {}, align 8", typed(count)),
            Op::LandingPad { clauses, cleanup } => {
                let mut text = String::from("landingpad { ptr, i32 }");
                if *cleanup {
                    text.push_str(" cleanup");
                }
                for clause in clauses {
                    match clause {
                        Some(name) => write!(text, " catch ptr @{}", quoted(name)).expect("writing to a string"),
                        None => text.push_str(" catch ptr null"),
                    }
                }
                text
            }
            Op::Call { .. } => return self.call(instruction, scope),
        };
        match instruction.result {
            Some(number) => self.line(format_args!("  %t{number} = {text}")),
            None => self.line(format_args!("  {text}")),
        }
    }

    /// Cuts a float toward zero: the nearest integer of what lies beyond the range, 0 of what is not a number. LLVM's own
    /// instruction leaves both open, and what it folds would not be what the processor gives.
    fn float_to_integer(&mut self, result: u32, value: &Value, ty: &Ty) -> String {
        let saturating = format!("llvm.fptosi.sat.{ty}.f64");
        let library = "__aeabi_d2lz";
        let fast = self.arm && *ty == Ty::I64;
        let declared = [
            (true, saturating.as_str(), format!("{ty}")),
            (fast, "llvm.is.constant.f64", "i1".into()),
            (fast, library, format!("arm_aapcscc {ty}")),
        ];
        for (_, symbol, returns) in declared.into_iter().filter(|(needed, ..)| *needed) {
            let declaration = format!("declare {returns} @{symbol}(double) nounwind willreturn memory(none)");
            self.conversions.insert(symbol.to_string(), declaration);
        }
        let value = typed(value);
        if !fast {
            return format!("call {ty} @{saturating}({value})");
        }
        // The run-time library's function gives just that, but LLVM does not know, and would put comparisons around it.
        self.line(format_args!(
            "  %t{result}.known = call i1 @llvm.is.constant.f64({value})"
        ));
        self.line(format_args!("  %t{result}.folded = call {ty} @{saturating}({value})"));
        self.line(format_args!(
            "  %t{result}.called = call arm_aapcscc {ty} @{library}({value})"
        ));
        format!("select i1 %t{result}.known, {ty} %t{result}.folded, {ty} %t{result}.called")
    }

    fn call(&mut self, instruction: &Instruction, scope: Option<usize>) {
        let Op::Call {
            callee,
            args,
            returns,
            unwind,
            looped,
        } = &instruction.op
        else {
            return;
        };
        let location = self.location(scope, instruction.span);
        let external = self.module.externals.get(callee);
        let mut list: Vec<String> = args
            .iter()
            .map(|arg| match external {
                Some(_) => format!("{} {}", passed(&arg.ty), operand(arg)),
                None => typed(arg),
            })
            .collect();
        let by_pointer = external.is_some_and(|external| external.by_pointer);
        let number = instruction.result.unwrap_or(0);
        if by_pointer {
            list.insert(0, format!("ptr sret({returns}) %r{number}"));
        }
        let value = if by_pointer || instruction.result.is_none() {
            String::new()
        } else {
            format!("%t{number} = ")
        };
        let returned = if by_pointer {
            "void".to_string()
        } else {
            result(returns)
        };
        let returned = match external {
            Some(External {
                variadic: true, params, ..
            }) => {
                let params: Vec<_> = params.iter().map(passed).collect();
                format!("{returned} ({}, ...)", params.join(", "))
            }
            _ => returned,
        };
        let folds = *looped && self.folding.contains(callee) && args.iter().any(|arg| arg.as_float().is_some());
        // What runs once in a long function is not worth the space, nor the time to compile it.
        let worth = self.size <= if *looped { LARGE } else { LONG };
        let attribute = match (worth, self.inlined.contains(callee)) {
            (true, _) if folds => " alwaysinline",
            (false, true) => " noinline",
            _ => "",
        };
        let callee = quoted(callee);
        let call = format!("{returned} @{callee}({}){attribute}", list.join(", "));
        match unwind {
            None => self.line(format_args!("  {value}call {call}{location}")),
            Some(pad) => {
                let next = self.cont;
                self.cont += 1;
                self.line(format_args!(
                    "  {value}invoke {call} to label %c{next} unwind label %b{pad}{location}"
                ));
                self.line(format_args!("c{next}:"));
            }
        }
        if by_pointer {
            self.line(format_args!("  %t{number} = load {returns}, ptr %r{number}"));
        }
    }
}

/// A type as an argument of a firmware function: a bool fills its register.
fn passed(ty: &Ty) -> String {
    match ty {
        Ty::I1 | Ty::I8 => format!("{ty} zeroext"),
        ty => ty.to_string(),
    }
}

fn result(ty: &Ty) -> String {
    if ty.is_unit() {
        return "void".into();
    }
    ty.to_string()
}

/// A symbol in quotes, if it needs them.
fn quoted(name: &str) -> String {
    // One that begins with a digit would be taken for a number.
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._$".contains(&byte);
    if name.bytes().all(plain) && !name.starts_with(|first: char| first.is_ascii_digit()) {
        return name.into();
    }
    format!("\"{}\"", escaped(name.as_bytes()))
}

fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b'"' | b'\\' | 0..=31 | 127.. => write!(text, "\\{byte:02X}").expect("writing to a string"),
            _ => text.push(byte as char),
        }
    }
    text
}

fn typed(value: &Value) -> String {
    format!("{} {}", value.ty, operand(value))
}

fn operand(value: &Value) -> String {
    match &value.kind {
        ValueKind::Temp(number) => format!("%t{number}"),
        ValueKind::Int(known) if value.ty == Ty::I1 => (*known != 0).to_string(),
        ValueKind::Int(known) => known.to_string(),
        ValueKind::Float(known) => format!("0x{:016X}", known.to_bits()),
        ValueKind::Global(name) => format!("@{}", quoted(name)),
        ValueKind::Struct(members) if members.is_empty() => "zeroinitializer".into(),
        ValueKind::Struct(members) => {
            let members: Vec<_> = members.iter().map(typed).collect();
            format!("{{ {} }}", members.join(", "))
        }
        ValueKind::Zero if value.ty == Ty::Ptr => "null".into(),
        ValueKind::Zero => "zeroinitializer".into(),
    }
}
