//! Typed functions to the intermediate representation.

mod arith;
mod array;
mod build;
mod call;
mod data;
pub mod exceptions;
mod expr;
mod inline;
mod list;
mod log;
mod matrix;
mod rpc;
mod sequence;
mod stmt;

use std::collections::HashMap;
use std::rc::Rc;

use crate::ast;
use crate::diagnostic::{Diagnostic, Result};
use crate::host::{FunctionKind, Host, Inline};
use crate::ir::*;
use crate::program::{FunctionId, FunctionInstance, Program};
use crate::source::{Sources, Span};
use crate::types;
use build::Builder;
use exceptions::{Pad, Scope};

/// The firmware's variable with the time cursor, an i64.
const CURSOR: &str = "rtio_cursor";

/// What lowering needs to know of the device.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Seconds in a machine unit.
    pub ref_period: f64,
}

/// Lowers a whole program, whose types are known and which has been checked.
pub fn lower(program: &Program, sources: &Sources, host: &mut dyn Host, target: Target) -> Result<Module> {
    let mut module = ModuleBuilder {
        program,
        sources,
        host,
        target,
        module: Module::default(),
        strings: HashMap::new(),
        exception_ids: HashMap::new(),
        raises: false,
        timeline: false,
    };
    let entry = program.entry.as_ref().expect("inference sets the entry");
    for function in &program.functions {
        let lowered = FunctionLowering::new(&mut module, function).run()?;
        module.module.functions.push(lowered);
    }
    inline::mark(&mut module.module.functions, &program.functions[entry.function].symbol);
    let modinit = module.modinit(entry)?;
    module.module.functions.push(modinit);
    if module.timeline {
        module.timeline();
    }
    if module.raises {
        module.raise_helper();
    }
    module.host_data(entry.writeback)?;
    Ok(module.module)
}

/// The module under construction.
pub(crate) struct ModuleBuilder<'p> {
    program: &'p Program,
    sources: &'p Sources,
    host: &'p mut dyn Host,
    target: Target,
    module: Module,
    strings: HashMap<Vec<u8>, Rc<str>>,
    exception_ids: HashMap<i32, Rc<str>>,
    /// Whether anything raises, so that the helper is needed.
    raises: bool,
    /// Whether anything uses the time cursor.
    timeline: bool,
}

/// One function under construction.
pub(crate) struct FunctionLowering<'m, 'p> {
    module: &'m mut ModuleBuilder<'p>,
    function: &'p FunctionInstance,
    build: Builder,
    /// Slot of each variable.
    locals: Vec<Value>,
    /// What surrounds the current statement and must be left in order.
    scopes: Vec<Scope<'p>>,
    pads: Vec<Pad>,
    /// The landing pad of calls made here.
    pad: Option<usize>,
}

impl<'p> ModuleBuilder<'p> {
    fn program(&self) -> &'p Program {
        self.program
    }

    /// How values of a type are represented.
    fn ir_type(&self, ty: types::Ty) -> Ty {
        use types::Kind;
        match self.program.types.kind(ty) {
            Kind::Bool => Ty::I1,
            Kind::Int32 => Ty::I32,
            Kind::Int64 => Ty::I64,
            Kind::Float => Ty::F64,
            Kind::Str => Ty::str(),
            Kind::List(_) | Kind::Instance(_) | Kind::Method { .. } | Kind::Exception => Ty::Ptr,
            Kind::Tuple(elements) => Ty::Struct(elements.iter().map(|&element| self.ir_type(element)).collect()),
            Kind::Array(_, dims) => array::layout(*dims),
            Kind::Range(elt) => {
                let elt = self.ir_type(*elt);
                Ty::Struct([elt.clone(), elt.clone(), elt].into())
            }
            _ => Ty::unit(),
        }
    }

    /// Parameters as the compiled function takes them: those without a value are left out.
    fn signature(&self, function: FunctionId) -> (Vec<Ty>, Ty) {
        let instance = &self.program.functions[function];
        let params = instance.locals[..instance.ast.params.len()]
            .iter()
            .map(|&ty| self.ir_type(ty));
        (
            params.filter(|ty| !ty.is_unit()).collect(),
            self.ir_type(instance.returns),
        )
    }

    /// Declares a function of the firmware and returns its symbol.
    fn external(&mut self, symbol: &str, params: &[Ty], returns: Ty, nounwind: bool) -> Rc<str> {
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

    /// `now_mu`, `at_mu` and `delay_mu`: functions of the library, not the firmware's of that name, so that LLVM can put them
    /// in place of their calls. In large functions, which it compiles quickly and badly, they stay calls.
    fn timeline(&mut self) {
        self.global(CURSOR, false, Init::External(Ty::I64));
        let cursor = Value::global(CURSOR);
        let time = Value {
            ty: Ty::I64,
            kind: ValueKind::Temp(0),
        };
        for (name, params, returns) in [
            ("now_mu", vec![], Ty::I64),
            ("at_mu", vec![Ty::I64], Ty::unit()),
            ("delay_mu", vec![Ty::I64], Ty::unit()),
        ] {
            let mut function = Function::new(name, params, returns, None);
            function.attributes = "alwaysinline nounwind";
            let mut build = Builder::new(function);
            let mut result = Value::unit();
            match name {
                "now_mu" => result = build.load(Ty::I64, &cursor),
                "at_mu" => build.store(time.clone(), &cursor),
                _ => {
                    let now = build.load(Ty::I64, &cursor);
                    let later = build.binary("add", now, time.clone());
                    build.store(later, &cursor);
                }
            }
            build.end(Terminator::Return(result));
            self.module.functions.push(build.finish());
        }
    }

    /// `__modinit__`: calls the entry with its constant arguments and sends the result back.
    fn modinit(&mut self, entry: &crate::program::Entry) -> Result<Function> {
        let mut function = Function::new("__modinit__", vec![Ty::Ptr], Ty::unit(), None);
        function.exported = true;
        let instance = &self.program.functions[entry.function];
        let mut lowering = FunctionLowering::bare(self, instance, function);
        lowering.build.span = instance.ast.name_span;
        let args = entry.args.iter().map(|arg| lowering.module.constant(arg)).collect();
        let returns = lowering.module.ir_type(instance.returns);
        let symbol = instance.symbol.clone();
        let result = lowering.build.call(&symbol, args, returns, None);
        if let Some(set_result) = entry.set_result {
            lowering.send_result(set_result, result, instance)?;
        }
        lowering.build.end(Terminator::Return(Value::unit()));
        Ok(lowering.build.finish())
    }
}

impl<'m, 'p> FunctionLowering<'m, 'p> {
    fn new(module: &'m mut ModuleBuilder<'p>, instance: &'p FunctionInstance) -> Self {
        let id = module.program.function_index[&(instance.handle, instance.class)];
        let (params, returns) = module.signature(id);
        let mut function = Function::new(&instance.symbol, params, returns, Some(instance.ast.name_span));
        if let FunctionKind::Compiled { fast_math, inline, .. } = &instance.info.kind {
            function.fast_math = *fast_math;
            function.attributes = match inline {
                Inline::Auto => "",
                Inline::Hint => "inlinehint",
                Inline::Always => "alwaysinline",
            };
        }
        Self::bare(module, instance, function)
    }

    fn bare(module: &'m mut ModuleBuilder<'p>, function: &'p FunctionInstance, ir: Function) -> Self {
        let build = Builder::new(ir);
        FunctionLowering {
            module,
            function,
            build,
            locals: vec![],
            scopes: vec![],
            pads: vec![],
            pad: None,
        }
    }

    fn run(mut self) -> Result<Function> {
        self.build.span = self.function.ast.name_span;
        let mut params = self.build.function.params.clone().into_iter();
        for (index, &ty) in self.function.locals.iter().enumerate() {
            let ty = self.module.ir_type(ty);
            let slot = self.build.slot(ty.clone());
            if index < self.function.ast.params.len() && !ty.is_unit() {
                let (number, ty) = params.next().expect("one for each parameter with a value");
                self.build.store(
                    Value {
                        ty,
                        kind: ValueKind::Temp(number),
                    },
                    &slot,
                );
            }
            self.locals.push(slot);
        }
        self.body(&self.function.ast.body)?;
        let returns = Value::zero(self.build.function.returns.clone());
        // A function that returns something ends in a return on every path, so this is the end of one that does not.
        self.build.end(if returns.ty.is_unit() {
            Terminator::Return(returns)
        } else {
            Terminator::Unreachable
        });
        Ok(self.build.finish())
    }

    fn type_of(&self, expr: &ast::Expr) -> types::Ty {
        self.function.types[expr.id as usize]
    }

    fn kind_of(&self, expr: &ast::Expr) -> &'p types::Kind {
        self.module.program().types.kind(self.type_of(expr))
    }

    fn ir_type_of(&self, expr: &ast::Expr) -> Ty {
        self.module.ir_type(self.type_of(expr))
    }

    /// Calls a function of the firmware.
    fn call_external(&mut self, symbol: &str, args: Vec<Value>, returns: Ty, nounwind: bool) -> Value {
        let params: Vec<Ty> = args.iter().map(|arg| arg.ty.clone()).collect();
        self.module.external(symbol, &params, returns.clone(), nounwind);
        let unwind = if nounwind { None } else { self.unwind() };
        self.build.call(symbol, args, returns, unwind)
    }

    fn now_mu(&mut self) -> Value {
        self.module.timeline = true;
        self.build.call("now_mu", vec![], Ty::I64, None)
    }

    /// `at_mu` or `delay_mu`.
    fn set_cursor(&mut self, function: &str, time: Value) {
        self.module.timeline = true;
        self.build.call(function, vec![time], Ty::unit(), None);
    }

    /// The block where an exception raised here lands.
    fn unwind(&self) -> Option<BlockId> {
        self.pad.map(|pad| self.pads[pad].block)
    }

    fn unsupported<T>(&self, span: Span, what: &str) -> Result<T> {
        Err(Diagnostic::unsupported(span, what))
    }
}
