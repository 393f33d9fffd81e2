//! Calls of compiled functions, of syscalls, and of built-in functions.

use crate::builtins::{self, Site};
use crate::diagnostic::Result;
use crate::emit::{int, Emitter, Message};
use crate::host::{FunctionKind, Handle, HostType};
use crate::ir::*;
use crate::language::{Arithmetic, Builtin, Number};
use crate::program::{ArgSource, CallTarget, Fact, FunctionId};
use crate::source::Span;
use crate::syntax::*;
use crate::types::{self, Kind};

use super::trends::COUNTER;

/// A call, and the values of its arguments.
pub(super) struct Passed<'p> {
    pub whole: &'p Expr,
    args: &'p [Expr],
    keywords: &'p [Keyword],
    /// The value of each argument; for a string that the host formats, the values in it.
    positional: Vec<Vec<Value>>,
    named: Vec<Value>,
}

impl<'p> Emitter<'_, 'p> {
    pub(super) fn call(
        &mut self,
        whole: &'p Expr,
        callee: &'p Expr,
        args: &'p [Expr],
        keywords: &'p [Keyword],
    ) -> Result<Value> {
        if let (Kind::Namespace(..), Kind::Instance(class)) = (self.kind_of(callee), self.kind_of(whole)) {
            return self.construction(whole, *class, args, keywords);
        }
        let fact = self.function.facts.get(&whole.id);
        if !matches!(fact, Some(Fact::Call(..) | Fact::Choice(_))) {
            return match self.kind_of(callee) {
                Kind::Builtin(builtin) if !self.is_exception_class(callee) => {
                    let site = Site { whole, args, keywords };
                    if let (Builtin::Number(Number::Bool), [asked]) = (builtin, args) {
                        return self.condition(asked);
                    }
                    if let (Builtin::Arithmetic(Arithmetic::Pow), [base, exponent]) = (builtin, args) {
                        return self.binary(whole, BinOp::Pow, base, exponent);
                    }
                    if let Some(ExprKind::Generator { element, clauses }) = args.first().map(|arg| &arg.kind) {
                        return self.over_generator(*builtin, site, element, clauses);
                    }
                    let named = keywords.iter().map(|keyword| &keyword.value);
                    let args = args.iter().enumerate();
                    let args = args.filter(|(index, _)| builtins::is_evaluated(*builtin, *index));
                    let args = args.map(|(_, arg)| arg);
                    let given = self.array_receiver(callee).into_iter().chain(args).chain(named);
                    let values = given.map(|arg| self.expr(arg)).collect::<Result<Vec<_>>>()?;
                    self.build.span = whole.span;
                    builtins::code(self, *builtin, site, values)
                }
                _ => self.exception_value(callee, args),
            };
        }
        let function = (self.expr(callee)?, self.type_of(callee));
        let sources = match fact {
            Some(Fact::Call(_, sources)) => &sources[..],
            _ => &[],
        };
        let passed = self.passed(whole, args, keywords, sources)?;
        match fact {
            Some(Fact::Choice(calls)) => self.choice_call(&passed, function.0, calls),
            Some(Fact::Call(target, sources)) => self.call_target(&passed, function, target, sources),
            _ => unreachable!("matched above"),
        }
    }

    /// Evaluates the arguments of a call. If the sources say that the host formats an argument,
    /// evaluates the values in it instead.
    pub(super) fn passed(
        &mut self,
        whole: &'p Expr,
        args: &'p [Expr],
        keywords: &'p [Keyword],
        sources: &[ArgSource],
    ) -> Result<Passed<'p>> {
        let is_text = |index: usize| {
            sources
                .iter()
                .any(|source| matches!(source, ArgSource::Within(at, _) if *at == index))
        };
        let mut positional = vec![];
        for (index, arg) in args.iter().enumerate() {
            let passed = if is_text(index) {
                arg.text_values()
            } else {
                std::slice::from_ref(arg)
            };
            let values = passed.iter().map(|value| self.expr(value));
            positional.push(values.collect::<Result<Vec<_>>>()?);
        }
        let named = keywords
            .iter()
            .map(|keyword| self.expr(&keyword.value))
            .collect::<Result<Vec<_>>>()?;
        self.build.span = whole.span;
        Ok(Passed {
            whole,
            args,
            keywords,
            positional,
            named,
        })
    }

    /// Evaluates the function that a call of a compiled function calls, and what it passes to its
    /// parameters.
    pub(super) fn values_passed(&mut self, call: &'p Expr) -> Result<(Value, Vec<Value>)> {
        let (ExprKind::Call { callee, args, keywords }, Some(Fact::Call(target, sources))) =
            (&call.kind, self.function.facts.get(&call.id))
        else {
            unreachable!("it is a call")
        };
        let receiver = self.expr(callee)?;
        let passed = self.passed(call, args, keywords, sources)?;
        let values = self.parameters(&passed, &receiver, target, sources);
        Ok((receiver, values))
    }

    fn parameters(
        &mut self,
        passed: &Passed<'p>,
        receiver: &Value,
        target: &CallTarget,
        sources: &[ArgSource],
    ) -> Vec<Value> {
        let value_of = |this: &mut Self, index: usize, source: &ArgSource| match source {
            ArgSource::Receiver => receiver.clone(),
            ArgSource::Positional(index) => passed.positional[*index][0].clone(),
            ArgSource::Within(index, value) => passed.positional[*index][*value].clone(),
            ArgSource::Keyword(index) => passed.named[*index].clone(),
            ArgSource::Default(value) => {
                let ty = this.parameter_type(target, index);
                this.module.constant(value, &ty)
            }
            ArgSource::Kept(place) => match target {
                CallTarget::Compiled(function) => {
                    let inner = &this.module.program.functions[*function];
                    this.kept_default(inner, receiver, *place)
                }
                CallTarget::Rpc(_) | CallTarget::Syscall(_) => unreachable!("they are not inside a function"),
            },
        };
        let mut values: Vec<Value> = (sources.iter().enumerate())
            .map(|(index, source)| value_of(self, index, source))
            .collect();
        for (index, value) in values.iter_mut().enumerate().filter(|(_, value)| value.ty == Ty::I1) {
            if let Some(wanted) = self.integer_parameter(target, index) {
                *value = self.build.convert(value.clone(), &wanted);
            }
        }
        values
    }

    /// Calls `target`; the pair is the value of the called function and its type.
    pub(super) fn call_target(
        &mut self,
        passed: &Passed<'p>,
        (receiver, receiver_ty): (Value, types::Ty),
        target: &CallTarget,
        sources: &[ArgSource],
    ) -> Result<Value> {
        let mut values = self.parameters(passed, &receiver, target, sources);
        let whole = passed.whole;
        match target {
            CallTarget::Compiled(function) => {
                if let Some(destination) = self.started_on(*function) {
                    self.start(*function, destination, &receiver, sources, values, whole.span)?;
                    return Ok(Value::unit());
                }
                let function = &self.module.program.functions[*function];
                let returns = self.module.ir_type(function.returns);
                if function.nested.is_some() {
                    values.insert(0, receiver);
                }
                let unwind = self.unwind();
                let result = self.build.call(&function.symbol, values, returns, unwind);
                self.take_over_stack(&function.symbol);
                Ok(result)
            }
            CallTarget::Syscall(handle) => self.syscall(whole, *handle, values),
            CallTarget::Rpc(handle) => {
                let types = sources.iter().map(|source| match source {
                    ArgSource::Positional(index) => (self.type_of(&passed.args[*index]), None),
                    ArgSource::Within(index, value) => (self.type_of(&passed.args[*index].text_values()[*value]), None),
                    ArgSource::Keyword(index) => (
                        self.type_of(&passed.keywords[*index].value),
                        Some(passed.keywords[*index].name.clone()),
                    ),
                    ArgSource::Receiver | ArgSource::Default(_) | ArgSource::Kept(_) => (receiver_ty, None),
                });
                let types = types.collect();
                self.rpc(whole.span, *handle, values, types, self.type_of(whole))
            }
        }
    }

    /// Type of parameter `index` if it is an integer.
    fn integer_parameter(&self, target: &CallTarget, index: usize) -> Option<Ty> {
        let wanted = match target {
            CallTarget::Compiled(function) => self
                .module
                .ir_type(self.module.program.functions[*function].locals[index]),
            CallTarget::Syscall(handle) => match self.module.program.function_infos[handle].params[index].annotation {
                Some(HostType::Int32) => Ty::I32,
                Some(HostType::Int64) => Ty::I64,
                _ => return None,
            },
            // The host accepts any type.
            CallTarget::Rpc(_) => return None,
        };
        matches!(wanted, Ty::I32 | Ty::I64).then_some(wanted)
    }

    /// Starts a subkernel and sends it its arguments, except the receiver, which its library
    /// contains.
    fn start(
        &mut self,
        function: FunctionId,
        destination: u8,
        receiver: &Value,
        sources: &[ArgSource],
        values: Vec<Value>,
        span: Span,
    ) -> Result<()> {
        let number = self.subkernel_number(function, receiver);
        self.load_subkernel(number.clone(), destination, true);
        let instance = &self.module.program.functions[function];
        let sent = sources.iter().zip(values.into_iter().zip(&instance.locals));
        let sent = sent.filter(|(source, _)| !matches!(source, ArgSource::Receiver));
        let sent: Vec<_> = sent.map(|(_, (value, &ty))| (value, ty)).collect();
        if sent.is_empty() {
            return Ok(());
        }
        let message = Message {
            number,
            is_result: false,
            destination: int(destination.into()),
        };
        self.send_message(message, sent, span)
    }

    /// Type of parameter `index` of a function; the parameter has a default.
    fn parameter_type(&self, target: &CallTarget, index: usize) -> Ty {
        match target {
            CallTarget::Compiled(function) => {
                let function = &self.module.program.functions[*function];
                self.module.ir_type(function.locals[index])
            }
            CallTarget::Syscall(handle) | CallTarget::Rpc(handle) => {
                match self.module.program.function_infos[handle].params[index].annotation {
                    Some(HostType::Int64) => Ty::I64,
                    Some(HostType::Float) => Ty::F64,
                    _ => Ty::I32,
                }
            }
        }
    }

    fn syscall(&mut self, whole: &'p Expr, handle: Handle, values: Vec<Value>) -> Result<Value> {
        let info = &self.module.program.function_infos[&handle];
        let FunctionKind::Syscall { symbol, nounwind } = &info.kind else {
            unreachable!("a system call")
        };
        if &**symbol == COUNTER && *nounwind && values.is_empty() {
            return Ok(self.read_counter());
        }
        let returns = self.ir_type_of(whole);
        // Strings are passed as two words.
        let mut args = vec![];
        for value in values {
            if value.ty == Ty::str() {
                args.extend([0, 1].map(|index| self.build.extract(&value, index)));
            } else {
                args.push(value);
            }
        }
        Ok(self.call_external(symbol, args, returns, *nounwind))
    }
}
