//! Calls of compiled functions, of the firmware, and of the language's own functions.

use super::FunctionLowering;
use crate::ast::*;
use crate::diagnostic::Result;
use crate::host::{FunctionKind, Handle};
use crate::ir::*;
use crate::program::{ArgSource, CallTarget, Fact};
use crate::types::Kind;

impl<'p> FunctionLowering<'_, 'p> {
    pub(super) fn call(
        &mut self,
        whole: &'p Expr,
        callee: &'p Expr,
        args: &'p [Expr],
        keywords: &'p [Keyword],
    ) -> Result<Value> {
        let Some(Fact::Call(target, sources)) = self.function.facts.get(&whole.id) else {
            return match self.kind_of(callee) {
                Kind::Builtin(name) => self.builtin(name, whole, args),
                _ => self.unsupported(whole.span, "an exception that is not raised at once"),
            };
        };
        let receiver = self.expr(callee)?;
        let positional = args.iter().map(|arg| self.expr(arg)).collect::<Result<Vec<_>>>()?;
        let named = keywords
            .iter()
            .map(|keyword| self.expr(&keyword.value))
            .collect::<Result<Vec<_>>>()?;
        self.build.span = whole.span;
        let value_of = |this: &mut Self, source: &ArgSource| match source {
            ArgSource::Receiver => receiver.clone(),
            ArgSource::Positional(index) => positional[*index].clone(),
            ArgSource::Keyword(index) => named[*index].clone(),
            ArgSource::Default(value) => this.module.constant(value),
        };
        let values: Vec<Value> = sources.iter().map(|source| value_of(self, source)).collect();
        match target {
            CallTarget::Compiled(function) => {
                let function = &self.module.program().functions[*function];
                let returns = self.module.ir_type(function.returns);
                let unwind = self.unwind();
                Ok(self.build.call(&function.symbol, values, returns, unwind))
            }
            CallTarget::Syscall(handle) => self.syscall(whole, *handle, values),
            CallTarget::Rpc(handle) => {
                let receiver_ty = self.type_of(callee);
                let types = sources.iter().map(|source| match source {
                    ArgSource::Positional(index) => (self.type_of(&args[*index]), None),
                    ArgSource::Keyword(index) => (
                        self.type_of(&keywords[*index].value),
                        Some(keywords[*index].name.clone()),
                    ),
                    ArgSource::Receiver | ArgSource::Default(_) => (receiver_ty, None),
                });
                let types = types.collect();
                self.rpc(whole.span, *handle, values, types, self.type_of(whole))
            }
        }
    }

    fn syscall(&mut self, whole: &'p Expr, handle: Handle, values: Vec<Value>) -> Result<Value> {
        let info = &self.module.program().function_infos[&handle];
        let FunctionKind::Syscall { symbol, nounwind } = &info.kind else {
            unreachable!("a system call")
        };
        let returns = self.ir_type_of(whole);
        // Strings travel as two words.
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

    fn builtin(&mut self, name: &str, whole: &'p Expr, args: &'p [Expr]) -> Result<Value> {
        let ty = self.ir_type_of(whole);
        let values = args.iter().map(|arg| self.expr(arg)).collect::<Result<Vec<_>>>()?;
        self.build.span = whole.span;
        if name.contains('.') {
            return self.numpy(name, whole, args, values);
        }
        let mut values = values.into_iter();
        let mut next = || values.next();
        Ok(match name {
            "bool" => match next() {
                Some(value) => self.truth(value, self.type_of(&args[0])),
                None => Value::bool(false),
            },
            "int" | "float" | "int32" | "int64" => match next() {
                Some(value) => self.build.convert(value, &ty),
                None if ty == Ty::F64 => Value::float(0.0),
                None => Value::int(ty, 0),
            },
            "round" => {
                let value = next().expect("checked by inference");
                let rounded = self.round(value);
                self.build.convert(rounded, &ty)
            }
            "abs" => {
                let value = next().expect("checked by inference");
                let (negative, negated) = if ty == Ty::F64 {
                    let zero = || Value::float(0.0);
                    (
                        self.build.compare("fcmp olt", value.clone(), zero()),
                        self.build.binary("fsub", zero(), value.clone()),
                    )
                } else {
                    let zero = || Value::int(ty.clone(), 0);
                    (
                        self.build.compare("icmp slt", value.clone(), zero()),
                        self.build.binary("sub", zero(), value.clone()),
                    )
                };
                self.build.select(negative, negated, value)
            }
            "min" | "max" => {
                let (a, b) = (
                    next().expect("checked by inference"),
                    next().expect("checked by inference"),
                );
                let predicate = match (name, &ty) {
                    ("min", Ty::F64) => "fcmp olt",
                    ("max", Ty::F64) => "fcmp ogt",
                    ("min", _) => "icmp slt",
                    _ => "icmp sgt",
                };
                // Python keeps the first of equals.
                let second = self.build.compare(predicate, b.clone(), a.clone());
                self.build.select(second, b, a)
            }
            "list" => match next() {
                None => {
                    let Kind::List(elt) = *self.kind_of(whole) else {
                        unreachable!("list() makes a list")
                    };
                    self.new_list(elt, vec![])
                }
                Some(value) => self.list_of(value, self.type_of(&args[0])),
            },
            "len" => {
                let value = next().expect("checked by inference");
                match self.kind_of(&args[0]) {
                    Kind::Range(_) => {
                        let [start, stop, step] = [0, 1, 2].map(|index| self.build.extract(&value, index));
                        self.range_length(&start, &stop, &step)
                    }
                    Kind::Str => self.build.extract(&value, 1),
                    Kind::Array(..) => {
                        let array = self.array_parts(&value, self.type_of(&args[0]));
                        array.expect("it is one").shape[0].clone()
                    }
                    _ => self.list_parts(&value).1,
                }
            }
            "range" => {
                let values: Vec<Value> = values.collect();
                let elt = values[0].ty.clone();
                let constant = |value| Value::int(elt.clone(), value);
                let members = match <[Value; 3]>::try_from(values) {
                    Ok(all) => all.into(),
                    Err(values) if values.len() == 2 => vec![values[0].clone(), values[1].clone(), constant(1)],
                    Err(values) => vec![constant(0), values[0].clone(), constant(1)],
                };
                self.build.aggregate(members)
            }
            "delay" => {
                let seconds = next().expect("checked by inference");
                let period = Value::float(self.module.target.ref_period);
                let units = self.build.binary("fdiv", seconds, period);
                let units = self.round(units);
                let units = self.build.convert(units, &Ty::I64);
                self.set_cursor("delay_mu", units);
                Value::unit()
            }
            "delay_mu" | "at_mu" => {
                let time = next().expect("checked by inference");
                self.set_cursor(name, time);
                Value::unit()
            }
            "now_mu" => self.now_mu(),
            "print" | "core_log" => self.core_log(args, values.collect())?,
            "rtio_log" => self.rtio_log(args, values.collect())?,
            "kernel" | "portable" | "rpc" | "subkernel" => Value::unit(),
            _ => return self.unsupported(whole.span, "an exception that is not raised at once"),
        })
    }

    /// Rounds half away from zero.
    fn round(&mut self, value: Value) -> Value {
        match value.as_float() {
            Some(known) => Value::float(known.round()),
            None => self.call_external("round", vec![value], Ty::F64, true),
        }
    }
}
