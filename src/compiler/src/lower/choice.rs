//! Functions as values: the number of one of several functions, and the function's own value (the
//! receiver of a method, the environment of a nested function). A call compares the number with
//! each candidate, so that all calls are direct.

use super::call::Passed;
use crate::diagnostic::Result;
use crate::emit::{int, Emitter};
use crate::ir::*;
use crate::program::{ArgSource, CallTarget};
use crate::syntax::Expr;
use crate::types::{Callable, Kind};

impl<'p> Emitter<'_, 'p> {
    /// Converts a function value of type `own` to the type of `expr`, which may be a choice.
    pub(super) fn as_choice(&mut self, value: Value, own: &Kind, expr: &Expr) -> Value {
        match (own, self.kind_of(expr)) {
            (Kind::Choice(_), _) => value,
            (_, Kind::Choice(_)) => {
                let number = self.module.callable_number(own);
                let value = if value.ty.is_unit() {
                    Value::zero(Ty::Ptr)
                } else {
                    value
                };
                self.build.aggregate(vec![number, value])
            }
            _ => value,
        }
    }

    /// Calls the function that `function` identifies.
    pub(super) fn choice_call(
        &mut self,
        passed: &Passed<'p>,
        function: Value,
        calls: &[(Callable, CallTarget, Vec<ArgSource>)],
    ) -> Result<Value> {
        let [number, own] = [0, 1].map(|index| self.build.extract(&function, index));
        let ty = self.ir_type_of(passed.whole);
        let result = self.build.slot(ty.clone());
        let after = self.build.new_block("after call");
        for (index, (callable, target, sources)) in calls.iter().enumerate() {
            let next = self.build.new_block("next function");
            if index + 1 < calls.len() {
                let this = self.build.new_block("this function");
                let same = self.build.compare(Compare::Eq, number.clone(), int((*callable).into()));
                self.build.branch(same, this, next);
                self.build.block = this;
            }
            let single = self.module.program.types.callable_type(*callable);
            let value = self.call_target(passed, (own.clone(), single), target, sources)?;
            self.build.store(value, &result);
            self.build.jump(after);
            self.build.block = next;
        }
        self.build.end(Terminator::Unreachable);
        self.build.block = after;
        Ok(self.build.load(ty, &result))
    }
}
