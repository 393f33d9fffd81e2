//! Code for operations on values: arithmetic, comparison, sequences, arrays, strings, remote calls
//! and syscalls.
//!
//! This module knows types and values of the program, but neither statements nor the evaluation of
//! expressions, which belong to `lower`. Both `lower` and the built-in functions (`builtins/`) use
//! it.

mod arith;
pub mod array;
mod build;
mod bytes;
mod compare;
mod creation;
mod cursor;
mod data;
mod described;
pub mod exceptions;
mod format;
pub mod iterate;
pub mod list;
mod log;
mod matrix;
mod messages;
pub mod parallel;
mod power;
mod range;
mod reduction;
mod returned;
mod rpc;
mod scalars;
mod sequence_table;
mod sort;
mod strings;
mod subkernel;
mod write_back;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::diagnostic::{Diagnostic, Result};
use crate::escape::{kept, Head, Kept, Loops};
use crate::forms::form_of;
use crate::host::{Caught, FunctionInfo, FunctionKind, Handle, Host, HostValue};
use crate::ir::*;
use crate::program::{Fact, FunctionId, FunctionInstance, Program};
use crate::returned::Returning;
use crate::source::{Sources, Span};
use crate::syntax::{Expr, ExprId, ExprKind, Stmt};
use crate::types;
pub use build::Builder;
pub use cursor::Cursor;
pub(crate) use data::data_symbol;
use exceptions::{Pad, Scope};
pub(crate) use subkernel::{Message, ARGUMENTS, AT_ONCE, FOREVER};
pub(crate) use write_back::write_back_function;

/// Properties of the device that the code depends on.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Duration of a machine unit in seconds.
    pub ref_period: f64,
}

/// A 32-bit constant.
pub(crate) fn int(value: i64) -> Value {
    Value::int(Ty::I32, value)
}

/// The value of an attribute that all objects of a class have, and whether it is a method of each.
type Common<'p> = (Option<&'p HostValue>, bool);

/// The module under construction.
pub(crate) struct ModuleBuilder<'p> {
    pub program: &'p Program,
    pub sources: &'p Sources,
    pub host: &'p mut dyn Host,
    pub target: Target,
    pub module: Module,
    strings: HashMap<Rc<[u8]>, Rc<str>>,
    /// The bytes of these strings, by the names of their globals.
    texts: HashMap<Rc<str>, Rc<[u8]>>,
    /// What the objects of a class have in common in an attribute, once asked for.
    shared: RefCell<HashMap<(Handle, Rc<str>), Common<'p>>>,
    /// Names of the globals that hold data and length of a string.
    records: HashSet<Rc<str>>,
    /// Number of list displays with constants in the library.
    literals: usize,
    /// Attributes, by class, whose numbers are constants in the code.
    used: HashSet<(Handle, Rc<str>)>,
    /// Layouts of the classes' objects.
    class_types: HashMap<Handle, Ty>,
    exception_ids: HashMap<i32, Rc<str>>,
    /// What clauses for a class catch, by its key.
    caught: HashMap<Option<i32>, Option<Caught>>,
    /// Whether the host may raise exceptions in the kernel: whether the kernel waits for its answers.
    pub host_raises: bool,
    /// Whether exceptions with 64-bit and with 32-bit integer parameters are raised, which need
    /// helper functions.
    raises: [bool; 2],
    /// Whether exceptions of the host are recognised by the numbers of their classes.
    marked: bool,
    raise_sites: Vec<Value>,
    /// Whether the time cursor is used.
    timeline: bool,
    /// Whether the program has `with parallel` blocks.
    parallel: bool,
    /// Whether the counter is read, and whether loops that poll it look ahead.
    pub counts: bool,
    pub polls: bool,
    /// Whether characters of strings are counted.
    characters: bool,
    /// Whether texts of the program are messages of exceptions.
    keeps_messages: bool,
    /// Whether strings are searched for others.
    searches: bool,
    /// Whether numbers are formatted as text.
    pub decimals: bool,
    /// Whether several strings are concatenated at once.
    joins: bool,
    /// Whether powers of 32-bit and of 64-bit integers are computed.
    powers: [bool; 2],
    /// Types of values that may outlive a loop iteration; computed on demand.
    kept: Option<Kept>,
    /// Whether arrays of floats are summed.
    sums: bool,
    /// The functions whose callers keep their stack.
    pub returning: Returning<'p>,
}

/// One function under construction.
pub(crate) struct Emitter<'m, 'p> {
    pub module: &'m mut ModuleBuilder<'p>,
    pub function: &'p FunctionInstance,
    pub build: Builder,
    /// The stack slot of each variable.
    pub locals: Vec<Value>,
    /// Environments of nested functions without defaults, by function expression.
    pub closures: HashMap<ExprId, Value>,
    /// Scopes around the current statement that must be left properly.
    pub scopes: Vec<Scope<'p>>,
    pub pads: Vec<Pad>,
    /// The landing pad of calls at this point.
    pub pad: Option<usize>,
    /// Escape analysis of loops; computed on demand.
    loops: Option<Loops<'p>>,
    /// The latest integer `%`: its result, and the remainder before the sign correction, which is
    /// zero in the same cases.
    remainder: Option<(Value, Value)>,
}

impl<'p> ModuleBuilder<'p> {
    pub fn new(program: &'p Program, sources: &'p Sources, host: &'p mut dyn Host, target: Target) -> Self {
        let waits = |info: &Rc<FunctionInfo>| matches!(info.kind, FunctionKind::Rpc { is_async: false });
        ModuleBuilder {
            host_raises: program.function_infos.values().any(waits),
            caught: HashMap::new(),
            program,
            sources,
            host,
            target,
            module: Module::default(),
            strings: HashMap::new(),
            texts: HashMap::new(),
            shared: RefCell::default(),
            records: HashSet::new(),
            literals: 0,
            class_types: HashMap::new(),
            exception_ids: HashMap::new(),
            raises: [false; 2],
            marked: false,
            raise_sites: vec![],
            timeline: false,
            parallel: parallel::has_parallel(program),
            counts: false,
            polls: false,
            characters: false,
            keeps_messages: false,
            searches: false,
            decimals: false,
            joins: false,
            powers: [false; 2],
            kept: None,
            sums: false,
            used: HashSet::new(),
            returning: Returning::of(program),
        }
    }

    /// Adds helper functions and host data.
    pub fn finish(mut self) -> Result<Module> {
        if self.timeline {
            self.cursor_functions();
        }
        self.parallel_list();
        self.power_functions();
        self.sum_function();
        if self.keeps_messages {
            self.message_function();
        }
        if self.searches {
            self.search_function();
        }
        if self.characters {
            self.character_functions();
        }
        if self.decimals {
            self.decimal_function();
        }
        if self.joins {
            self.join_functions();
        }
        self.raise_helpers();
        self.marked_function();
        self.counter_function();
        if !self.returning.is_empty() {
            self.stack_end();
        }
        self.host_data()?;
        Ok(self.module)
    }

    /// The representation of values of a type.
    pub fn ir_type(&self, ty: types::Ty) -> Ty {
        use types::{Kind, Lazy};
        match self.program.types.kind(ty) {
            Kind::Bool => Ty::I1,
            Kind::Int32 => Ty::I32,
            Kind::Int64 => Ty::I64,
            Kind::Float => Ty::F64,
            Kind::Str | Kind::Bytes | Kind::ByteArray => Ty::str(),
            Kind::List(_) | Kind::Instance(_) | Kind::Method { .. } | Kind::Exception | Kind::Closure(_) => Ty::Ptr,
            Kind::Choice(_) => Ty::Struct([Ty::I32, Ty::Ptr].into()),
            Kind::Super { .. } => Ty::Ptr,
            Kind::Tuple(elements) => Ty::Struct(elements.iter().map(|&element| self.ir_type(element)).collect()),
            Kind::Array(_, dims) => array::layout(*dims),
            Kind::View(_, dims) => array::strided_layout(*dims),
            Kind::Range(elt) => {
                let elt = self.ir_type(*elt);
                Ty::Struct([elt.clone(), elt.clone(), elt].into())
            }
            Kind::Lazy(Lazy::Generator, _) => Ty::unit(),
            Kind::Lazy(_, parts) => Ty::Struct(parts.iter().map(|&part| self.ir_type(part)).collect()),
            _ => Ty::unit(),
        }
    }

    /// How a debugger reads values of a type; of objects, those attributes that are no objects themselves.
    pub fn form_of(&mut self, ty: types::Ty) -> Option<String> {
        let types::Kind::Instance(class) = *self.program.types.kind(ty) else {
            return form_of(&self.program.types, ty);
        };
        let layout = self.class_type(class);
        let attributes = self.program.classes[&class].attributes.iter().enumerate();
        let shown = attributes.filter_map(|(index, attribute)| {
            let form = form_of(&self.program.types, attribute.ty)?;
            Some(format!("{}@{}:{form},", attribute.name, layout.offset(index + 1)))
        });
        let shown: String = shown.collect();
        (!shown.is_empty()).then(|| format!("{{{shown}}}"))
    }

    /// Parameter and result types of the compiled function; parameters without a value are omitted.
    pub fn signature(&self, function: FunctionId) -> (Vec<Ty>, Ty) {
        let instance = &self.program.functions[function];
        let params = instance.locals[..instance.ast.params.len()]
            .iter()
            .map(|&ty| self.ir_type(ty));
        let environment = instance.nested.iter().map(|_| Ty::Ptr);
        (
            environment.chain(params).filter(|ty| !ty.is_unit()).collect(),
            self.ir_type(instance.returns),
        )
    }

    /// Layout of a nested function's environment: see [`crate::program::Nested`].
    pub fn environment(&self, function: &FunctionInstance) -> Ty {
        let captures = function.names.captures.iter().map(|_| Ty::Ptr);
        let defaults = function.nested.iter().flat_map(|nested| &nested.defaults);
        Ty::Struct(captures.chain(defaults.map(|&ty| self.ir_type(ty))).collect())
    }

    /// Declares a firmware function and returns its symbol.
    pub fn external(&mut self, symbol: &str, params: &[Ty], returns: Ty, nounwind: bool) -> Rc<str> {
        if let Some((known, _)) = self.module.externals.get_key_value(symbol) {
            return known.clone();
        }
        let symbol: Rc<str> = symbol.into();
        let by_pointer = matches!(returns, Ty::Struct(_)) && !returns.is_unit();
        let external = External {
            params: params.to_vec(),
            returns,
            nounwind,
            by_pointer,
            variadic: false,
        };
        self.module.externals.insert(symbol.clone(), external);
        symbol
    }
}

impl<'m, 'p> Emitter<'m, 'p> {
    pub fn new(module: &'m mut ModuleBuilder<'p>, function: &'p FunctionInstance, ir: Function) -> Self {
        let build = Builder::new(ir);
        Emitter {
            module,
            function,
            build,
            locals: vec![],
            closures: HashMap::new(),
            scopes: vec![],
            pads: vec![],
            pad: None,
            loops: None,
            remainder: None,
        }
    }

    pub fn type_of(&self, expr: &Expr) -> types::Ty {
        self.function.types[expr.id as usize]
    }

    pub fn kind_of(&self, expr: &Expr) -> &'p types::Kind {
        self.module.program.types.kind(self.type_of(expr))
    }

    pub fn is_array(&self, expr: &Expr) -> bool {
        self.module.program.types.is_array(self.type_of(expr))
    }

    pub fn ir_type_of(&self, expr: &Expr) -> Ty {
        self.module.ir_type(self.type_of(expr))
    }

    /// Calls a firmware function.
    pub fn call_external(&mut self, symbol: &str, args: Vec<Value>, returns: Ty, nounwind: bool) -> Value {
        let params: Vec<Ty> = args.iter().map(|arg| arg.ty.clone()).collect();
        self.module.external(symbol, &params, returns.clone(), nounwind);
        let unwind = if nounwind { None } else { self.unwind() };
        self.build.call(symbol, args, returns, unwind)
    }

    /// Calls an array routine.
    pub fn call_routine(&mut self, routine: Routine, args: Vec<Value>, returns: Ty) -> Value {
        let symbol: Rc<str> = routine.symbol().into();
        self.module.module.routines.insert(symbol.clone(), routine);
        self.build.call(&symbol, args, returns, None)
    }

    /// The array on which the method `callee` is called.
    pub fn array_receiver(&self, callee: &'p Expr) -> Option<&'p Expr> {
        match &callee.kind {
            ExprKind::Attribute { value, .. } if self.is_array(value) => Some(value),
            _ => None,
        }
    }

    /// The host constant that inference found an expression to be.
    pub fn host_constant(&self, expr: &Expr) -> Option<&'p HostValue> {
        match self.function.facts.get(&expr.id) {
            Some(Fact::Constant(value)) => Some(value),
            _ => None,
        }
    }

    /// Whether the iterations of a loop with this body leave nothing behind. `target`: the target
    /// of a `for` loop.
    pub fn leaves_nothing(&mut self, head: Head<'p>, body: &'p [Stmt]) -> bool {
        let program = self.module.program;
        let kept = self.module.kept.get_or_insert_with(|| kept(program));
        let loops = self
            .loops
            .get_or_insert_with(|| Loops::new(self.function, &program.types));
        let returning = &self.module.returning;
        let keeps = |expr: &Expr| returning.is_kept(program, self.function, expr);
        loops.leave_nothing(head, body, kept, &keeps)
    }

    /// The block where exceptions raised at this point land.
    pub fn unwind(&self) -> Option<BlockId> {
        self.pad.map(|pad| self.pads[pad].block)
    }

    pub fn unsupported<T>(&self, span: Span, what: &str) -> Result<T> {
        Err(Diagnostic::unsupported(span, what))
    }
}
