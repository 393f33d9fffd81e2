//! Typed functions to the intermediate representation: statements and expressions in their order.
//! The code for what they do to values is `emit`'s.

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

use std::collections::{BTreeMap, HashMap};

use crate::diagnostic::{Diagnostic, Result};
pub use crate::emit::Target;
use crate::emit::{int, Emitter, Message, ModuleBuilder, ARGUMENTS, FOREVER};
use crate::host::{FunctionKind, Host, HostValue, Inline};
use crate::ir::*;
use crate::names::LocalId;
use crate::program::{Entry, FunctionId, FunctionInstance, Program, Subkernel};
use crate::source::Sources;
use crate::types::Kind;

/// Lowers a whole program, whose types are known and which has been checked.
pub fn lower(program: &Program, sources: &Sources, host: &mut dyn Host, target: Target) -> Result<Module> {
    let mut module = ModuleBuilder::new(program, sources, host, target);
    let entry = program.entry.as_ref().expect("inference sets the entry");
    functions(&mut module, entry.function)?;
    let modinit = modinit(&mut module, entry)?;
    module.module.functions.push(modinit);
    module.finish(entry.writeback)
}

/// Lowers what a satellite runs to a library of its own, with the data of the host that it needs.
pub fn lower_subkernel(
    program: &Program,
    sources: &Sources,
    host: &mut dyn Host,
    target: Target,
    subkernel: Subkernel,
) -> Result<Module> {
    let mut module = ModuleBuilder::new(program, sources, host, target);
    functions(&mut module, subkernel.function)?;
    if let Some((span, name)) = module.module.remote_call.take() {
        let text = format!("'{name}' runs on the host, which subkernels cannot call");
        let error = Diagnostic::new(span, text).help("send a message to a kernel of the core device");
        return Err(program.blame(subkernel.function, error));
    }
    let modinit = subkernel_modinit(&mut module, subkernel)?;
    module.module.functions.push(modinit);
    module.finish(false)
}

/// Lowers the functions that `entry` reaches.
fn functions(module: &mut ModuleBuilder, entry: FunctionId) -> Result<()> {
    let program = module.program;
    let symbols = program.functions.iter().enumerate();
    let symbols: HashMap<&str, FunctionId> = symbols.map(|(id, function)| (&*function.symbol, id)).collect();
    let on_one_board = program
        .functions
        .iter()
        .all(|function| function.info.kind.destination().is_none());
    let mut open: Vec<FunctionId> = match on_one_board {
        true => (0..program.functions.len()).rev().collect(),
        false => vec![entry],
    };
    let mut lowered: BTreeMap<FunctionId, Function> = BTreeMap::new();
    while let Some(id) = open.pop() {
        let instance = &program.functions[id];
        if instance.is_dead() || lowered.contains_key(&id) {
            continue;
        }
        let function = declared(module, id, instance);
        let mut function = Emitter::new(module, instance, function).run()?;
        function.tidy();
        if !on_one_board {
            let body = function.blocks.iter().flat_map(|block| &block.body);
            open.extend(body.filter_map(|instruction| match &instruction.op {
                Op::Call { callee, .. } => symbols.get(&**callee).copied(),
                _ => None,
            }));
        }
        lowered.insert(id, function);
    }
    module.module.functions.extend(lowered.into_values());
    inline::mark(&mut module.module.functions, &program.functions[entry].symbol);
    Ok(())
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

/// `__modinit__` of a subkernel: receives the arguments, calls it, and sends its result to whoever
/// has started it.
fn subkernel_modinit(module: &mut ModuleBuilder, subkernel: Subkernel) -> Result<Function> {
    let mut function = Function::new("__modinit__", vec![Ty::Ptr], Ty::unit(), None);
    function.exported = true;
    let instance = &module.program.functions[subkernel.function];
    let mut emitter = Emitter::new(module, instance, function);
    let span = instance.ast.name_span;
    emitter.build.span = span;
    let receiver = subkernel.receiver.map(HostValue::Object);
    let mut args: Vec<Value> = receiver
        .iter()
        .map(|object| emitter.module.constant(object, &Ty::Ptr))
        .collect();
    let sent = &instance.locals[args.len()..instance.ast.params.len()];
    if !sent.is_empty() {
        let forever = Value::int(Ty::I64, FOREVER);
        args.extend(emitter.receive_message(int(ARGUMENTS), forever, sent, span)?);
    }
    let returns = emitter.module.ir_type(instance.returns);
    let result = emitter.build.call(&instance.symbol, args, returns, None);
    emitter.take_over_stack(&instance.symbol);
    if *emitter.module.program.types.kind(instance.returns) != Kind::None {
        let message = Message {
            number: int(subkernel.number.into()),
            is_result: true,
            destination: int(0),
        };
        emitter.send_message(message, vec![(result, instance.returns)], span)?;
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
        // A function that returns something ends in a return on every path, so this is the end of
        // one that does not.
        self.build.end(if returns.ty.is_unit() {
            Terminator::Return(returns)
        } else {
            Terminator::Unreachable
        });
        Ok(self.build.finish())
    }
}
