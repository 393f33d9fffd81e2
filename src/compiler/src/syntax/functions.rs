//! Functions: their parameters, nested functions, and the names that these capture.

use std::collections::HashSet;
use std::rc::Rc;

use ruff_python_ast as py;

use super::{walk_exprs, walk_stmts, Converter, Expr, ExprKind, Function, Param, Stmt, StmtKind};
use crate::diagnostic::{Diagnostic, Result};
use crate::language::{Builtin, Decorator};
use crate::source::Span;

impl Converter<'_> {
    pub(super) fn function(mut self, def: &py::StmtFunctionDef) -> Result<Function> {
        self.not_async(def)?;
        let params = self.params(&def.parameters)?;
        let name_span = self.span(&def.name);
        let body = self.body(&def.body)?;
        self.require_narrow()?;
        Ok(Function {
            name: def.name.as_str().into(),
            name_span,
            params,
            body,
            nonlocals: self.nonlocals,
            expr_count: self.next,
        })
    }

    fn not_async(&self, def: &py::StmtFunctionDef) -> Result<()> {
        if def.is_async {
            return Err(Diagnostic::new(
                self.span(&def.name),
                "a kernel function cannot be 'async'",
            ));
        }
        Ok(())
    }

    fn params(&self, list: &py::Parameters) -> Result<Vec<Param>> {
        if let Some(variadic) = list.vararg.as_deref().or(list.kwarg.as_deref()) {
            let message = format!("variadic arguments are not supported; '{}' is variadic", variadic.name);
            return Err(Diagnostic::new(self.span(variadic), message));
        }
        let by_name = list.kwonlyargs.iter().map(|param| (param, true));
        let params = parameters(list).map(|param| (param, false)).chain(by_name);
        let params = params.map(|(param, by_name_only)| Param {
            name: param.parameter.name.as_str().into(),
            span: self.span(&param.parameter),
            has_default: param.default.is_some(),
            by_name_only,
        });
        Ok(params.collect())
    }

    /// Converts a `def` inside a function.
    pub(super) fn inner_def(&mut self, def: &py::StmtFunctionDef) -> Result<Expr> {
        self.not_async(def)?;
        for decorator in &def.decorator_list {
            let known = match &decorator.expression {
                py::Expr::Name(name) => Builtin::named(name.id.as_str()),
                _ => None,
            };
            if !matches!(known, Some(Builtin::Decorator(Decorator::Kernel | Decorator::Portable))) {
                let text = "a decorator of a function inside a kernel, other than 'kernel' and 'portable',";
                return Err(Diagnostic::unsupported(self.span(decorator), text));
            }
        }
        let span = self.span(&def.name);
        let kind = self.nested((def.name.as_str(), span), &def.parameters, |this| this.body(&def.body))?;
        Ok(self.make(span, kind))
    }

    /// Converts a lambda to a function that returns its expression.
    pub(super) fn lambda(&mut self, span: Span, lambda: &py::ExprLambda) -> Result<ExprKind> {
        let none = py::Parameters::default();
        let list = lambda.parameters.as_deref().unwrap_or(&none);
        self.nested(("lambda", span), list, |this| {
            let kind = StmtKind::Return(Some(this.expr(&lambda.body)?));
            Ok(vec![Stmt { span, kind }])
        })
    }

    /// Converts a nested function. Its expressions are numbered separately.
    fn nested(
        &mut self,
        (name, name_span): (&str, Span),
        list: &py::Parameters,
        body: impl FnOnce(&mut Self) -> Result<Vec<Stmt>>,
    ) -> Result<ExprKind> {
        let all = parameters(list).chain(&list.kwonlyargs);
        let defaults = all.filter_map(|param| param.default.as_deref());
        let defaults = defaults.map(|value| self.expr(value)).collect::<Result<_>>()?;
        let params = self.params(list)?;
        self.require_narrow()?;
        let (next, nonlocals) = (std::mem::take(&mut self.next), std::mem::take(&mut self.nonlocals));
        let outer = self.scopes.len();
        // A parameter hides a variable of an enclosing comprehension.
        let own = params.iter().map(|param| (param.name.to_string(), param.name.clone()));
        self.scopes.extend(own);
        let body = body(self)?;
        self.require_narrow()?;
        self.scopes.truncate(outer);
        let function = Function {
            name: name.into(),
            name_span,
            params,
            body,
            nonlocals: std::mem::replace(&mut self.nonlocals, nonlocals),
            expr_count: std::mem::replace(&mut self.next, next),
        };
        let function = Rc::new(function);
        Ok(ExprKind::Function { function, defaults })
    }
}

/// The parameters that can be passed without a name.
fn parameters(list: &py::Parameters) -> impl Iterator<Item = &py::ParameterWithDefault> {
    list.posonlyargs.iter().chain(&list.args)
}

impl Function {
    /// The number of parameters that can be passed without a name.
    pub fn positional(&self) -> usize {
        self.params.iter().filter(|param| !param.by_name_only).count()
    }

    /// The number of a parameter's default among the defaults of the function, if it has one.
    pub fn default_of(&self, index: usize) -> Option<usize> {
        let (before, rest) = self.params.split_at_checked(index)?;
        rest.first().filter(|param| param.has_default)?;
        Some(before.iter().filter(|param| param.has_default).count())
    }

    /// Visits the function's own variables with their spans, parameters first.
    pub fn each_own(&self, visit: &mut dyn FnMut(&Rc<str>, Span)) {
        for param in &self.params {
            visit(&param.name, param.span);
        }
        let mut assigned = |name: &Rc<str>, span| {
            if !self.nonlocals.iter().any(|(outer, _)| outer == name) {
                visit(name, span);
            }
        };
        walk_stmts(&self.body, &mut |stmt| stmt.kind.each_variable(&mut assigned));
        walk_exprs(&self.body, &mut |expr| expr.kind.each_variable(&mut assigned));
    }

    /// Visits the directly nested functions.
    pub fn each_inner<'a>(&'a self, visit: &mut dyn FnMut(&'a Expr, &'a Rc<Function>)) {
        walk_exprs(&self.body, &mut |expr| {
            if let ExprKind::Function { function, .. } = &expr.kind {
                visit(expr, function);
            }
        });
    }

    /// Visits the free names of the function and of functions nested in it, each at least once.
    pub fn each_free(&self, visit: &mut dyn FnMut(&Rc<str>, Span)) {
        let mut own = HashSet::new();
        self.each_own(&mut |name, _| _ = own.insert(name.clone()));
        let mut used = |name: &Rc<str>, span| {
            if !own.contains(name) {
                visit(name, span);
            }
        };
        walk_exprs(&self.body, &mut |expr| {
            if let ExprKind::Name(name) = &expr.kind {
                used(name, expr.span);
            }
        });
        self.each_inner(&mut |_, inner| inner.each_free(&mut used));
    }
}
