//! Calls of compiled functions, of the firmware, and of the language's own functions.

use crate::builtins::{self, Site};
use crate::diagnostic::Result;
use crate::emit::Emitter;
use crate::host::{FunctionKind, Handle};
use crate::ir::*;
use crate::program::{ArgSource, CallTarget, Fact};
use crate::syntax::*;
use crate::types::Kind;

impl<'p> Emitter<'_, 'p> {
    pub(super) fn call(
        &mut self,
        whole: &'p Expr,
        callee: &'p Expr,
        args: &'p [Expr],
        keywords: &'p [Keyword],
    ) -> Result<Value> {
        let Some(Fact::Call(target, sources)) = self.function.facts.get(&whole.id) else {
            return match self.kind_of(callee) {
                Kind::Builtin(builtin) => {
                    let values = args.iter().map(|arg| self.expr(arg)).collect::<Result<Vec<_>>>()?;
                    self.build.span = whole.span;
                    builtins::code(self, *builtin, Site { whole, args }, values)
                }
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
                let function = &self.module.program.functions[*function];
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
        let info = &self.module.program.function_infos[&handle];
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
}
