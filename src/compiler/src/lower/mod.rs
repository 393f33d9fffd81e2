//! Typed functions to the intermediate representation: statements and expressions in their order. The code for what they do to
//! values is `emit`'s.

mod call;
mod choice;
mod exceptions;
mod expr;
mod generator;
mod inline;
mod interleave;
mod made;
mod memory;
mod nested;
mod sequence;
mod stmt;
mod text;

use crate::diagnostic::Result;
pub use crate::emit::Target;
use crate::emit::{Emitter, ModuleBuilder};
use crate::host::{FunctionKind, Host, Inline};
use crate::ir::*;
use crate::names::LocalId;
use crate::program::{Entry, FunctionId, FunctionInstance, Program};
use crate::source::Sources;

/// Lowers a whole program, whose types are known and which has been checked.
pub fn lower(program: &Program, sources: &Sources, host: &mut dyn Host, target: Target) -> Result<Module> {
    let mut module = ModuleBuilder::new(program, sources, host, target);
    let entry = program.entry.as_ref().expect("inference sets the entry");
    for (id, instance) in program.functions.iter().enumerate() {
        if instance.is_dead() {
            continue;
        }
        let function = declared(&module, id, instance);
        let mut lowered = Emitter::new(&mut module, instance, function).run()?;
        lowered.tidy();
        module.module.functions.push(lowered);
    }
    inline::mark(&mut module.module.functions, &program.functions[entry.function].symbol);
    let modinit = modinit(&mut module, entry)?;
    module.module.functions.push(modinit);
    module.finish(entry.writeback)
}

/// A function before its code is made.
fn declared(module: &ModuleBuilder, id: FunctionId, instance: &FunctionInstance) -> Function {
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
    if module.returning.contains(&instance.symbol) {
        // Its stack must be its own.
        function.attributes = "noinline";
    }
    function
}

/// `__modinit__`: calls the entry with its constant arguments and sends the result back.
fn modinit(module: &mut ModuleBuilder, entry: &Entry) -> Result<Function> {
    let mut function = Function::new("__modinit__", vec![Ty::Ptr], Ty::unit(), None);
    function.exported = true;
    let instance = &module.program.functions[entry.function];
    let mut emitter = Emitter::new(module, instance, function);
    emitter.build.span = instance.ast.name_span;
    let params = instance
        .locals
        .iter()
        .map(|&ty| emitter.module.ir_type(ty))
        .collect::<Vec<_>>();
    let args = entry.args.iter().zip(&params);
    let args = args.map(|(arg, ty)| emitter.module.constant(arg, ty)).collect();
    let returns = emitter.module.ir_type(instance.returns);
    if entry.writeback {
        emitter.leave_room();
    }
    let result = emitter.build.call(&instance.symbol, args, returns, None);
    emitter.take_over_stack(&instance.symbol);
    if let Some(set_result) = entry.set_result {
        emitter.send_result(set_result, result, instance)?;
    }
    emitter.build.end(Terminator::Return(Value::unit()));
    Ok(emitter.build.finish())
}

impl Emitter<'_, '_> {
    fn run(mut self) -> Result<Function> {
        self.build.span = self.function.ast.name_span;
        let mut params = self.build.function.params.clone().into_iter();
        let environment = self.function.nested.as_ref().and_then(|_| params.next());
        for (index, &ty) in self.function.locals.iter().enumerate() {
            if let Some(address) = self.captured(&environment, index as LocalId) {
                self.locals.push(address);
                continue;
            }
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
        self.make_inner_functions();
        self.body(&self.function.ast.body)?;
        if !self.build.is_closed() {
            self.leave_stack();
        }
        let returns = Value::zero(self.build.function.returns.clone());
        // A function that returns something ends in a return on every path, so this is the end of one that does not.
        self.build.end(if returns.ty.is_unit() {
            Terminator::Return(returns)
        } else {
            Terminator::Unreachable
        });
        Ok(self.build.finish())
    }
}
