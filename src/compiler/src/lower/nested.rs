//! Nested functions. The value of one is a pointer to its environment: the addresses of captured
//! variables, and its defaults.

use crate::diagnostic::Result;
use crate::emit::Emitter;
use crate::ir::*;
use crate::names::LocalId;
use crate::program::{Fact, FunctionInstance};
use crate::syntax::*;
use crate::types::Kind;

impl<'p> Emitter<'_, 'p> {
    /// Address of captured variable `local`, None if it is not captured; `environment`: the
    /// parameter that holds the environment.
    pub(super) fn captured(&mut self, environment: &Option<(u32, Ty)>, local: LocalId) -> Option<Value> {
        let (number, ty) = environment.clone()?;
        let kind = ValueKind::Temp(number);
        self.address_captured(self.function, &Value { ty, kind }, local)
    }

    /// Address of variable `local` that the nested function `inner` captures, from its value.
    pub(super) fn address_captured(
        &mut self,
        inner: &FunctionInstance,
        environment: &Value,
        local: LocalId,
    ) -> Option<Value> {
        let captures = &inner.names.captures;
        let place = captures.iter().position(|capture| capture.own == local)?;
        let layout = self.module.environment(inner);
        let from = self.build.field(environment, &layout, place);
        Some(self.build.load(Ty::Ptr, &from))
    }

    /// Creates the nested functions without defaults and sets the variables that their `def` binds,
    /// because other nested functions may call them before the `def` is reached.
    pub(super) fn make_inner_functions(&mut self) {
        let ast = &self.function.ast;
        ast.each_inner(&mut |expr, _| {
            let inner = self.inner(expr);
            if inner.nested.as_ref().is_some_and(|nested| nested.defaults.is_empty()) {
                let layout = self.module.environment(inner);
                let environment = self.build.slot(layout);
                self.capture(inner, &environment);
                self.closures.insert(expr.id, environment);
            }
        });
        walk_stmts(&ast.body, &mut |stmt| {
            stmt.kind.each_part(&mut |part| {
                if let Part::Target(target, Some(value)) = part {
                    if let (ExprKind::Name(name), Some(made)) = (&target.kind, self.closures.get(&value.id)) {
                        let local = self.function.names.local(name).expect("a target is a variable");
                        let made = self.as_function(made.clone(), value);
                        self.build.store(made, &self.locals[local as usize]);
                    }
                }
            });
        });
    }

    fn inner(&self, expr: &Expr) -> &'p FunctionInstance {
        match self.function.facts.get(&expr.id) {
            Some(Fact::Function(id)) => &self.module.program.functions[*id],
            _ => unreachable!("inference has found it"),
        }
    }

    /// Stores the addresses of the variables that a nested function captures.
    fn capture(&mut self, inner: &FunctionInstance, environment: &Value) {
        let layout = self.module.environment(inner);
        for (index, capture) in inner.names.captures.iter().enumerate() {
            let to = self.build.field(environment, &layout, index);
            let address = self.locals[capture.outer as usize].clone();
            self.build.store(address, &to);
        }
    }

    /// The value of a function expression. With defaults, each evaluation creates a new
    /// environment.
    pub(super) fn function_value(&mut self, whole: &'p Expr, defaults: &'p [Expr]) -> Result<Value> {
        if let Some(made) = self.closures.get(&whole.id) {
            return Ok(self.as_function(made.clone(), whole));
        }
        let inner = self.inner(whole);
        let layout = self.module.environment(inner);
        let values = defaults.iter().map(|value| self.expr(value));
        let values = values.collect::<Result<Vec<_>>>()?;
        let environment = self.build.alloca(layout.clone(), crate::emit::int(1));
        self.capture(inner, &environment);
        for (index, value) in values.into_iter().enumerate() {
            let to = self
                .build
                .field(&environment, &layout, inner.names.captures.len() + index);
            self.build.store(value, &to);
        }
        Ok(self.as_function(environment, whole))
    }

    /// The value of a function expression with environment `environment`.
    fn as_function(&mut self, environment: Value, whole: &'p Expr) -> Value {
        let Some(Fact::Function(id)) = self.function.facts.get(&whole.id) else {
            unreachable!("inference has found it")
        };
        self.as_choice(environment, &Kind::Closure(*id), whole)
    }

    /// Loads a default of a nested function, whose value is `function`.
    pub(super) fn kept_default(&mut self, inner: &FunctionInstance, function: &Value, index: usize) -> Value {
        let layout = self.module.environment(inner);
        let from = self.build.field(function, &layout, inner.names.captures.len() + index);
        let nested = inner.nested.as_ref().expect("it keeps defaults");
        let ty = self.module.ir_type(nested.defaults[index]);
        self.build.load(ty, &from)
    }
}
