//! Typing of statements.

use super::classes::Truth;
use super::Infer;
use crate::diagnostic::{Diagnostic, Result};
use crate::host::is_kernel_class;
use crate::language::Builtin;
use crate::program::Fact;
use crate::source::Span;
use crate::syntax::*;
use crate::types::{Kind, Ty};

impl Infer<'_, '_> {
    pub(super) fn body(&mut self, body: &[Stmt]) -> Result<()> {
        for stmt in body {
            self.noted(stmt)?;
            if self.ends(stmt) {
                break;
            }
        }
        Ok(())
    }

    /// Visits a statement. If several errors are wanted, records an error and skips the statement
    /// in later visits.
    fn noted(&mut self, stmt: &Stmt) -> Result<()> {
        if self.errors.is_none() {
            return self.stmt(stmt).map_err(|error| self.explained(error, stmt));
        }
        let place = (self.current, stmt.span.start);
        if self.failed.contains(&place) {
            return Ok(());
        }
        if let Err(error) = self.stmt(stmt) {
            self.failed.insert(place);
            let error = self.explained(error, stmt);
            self.errors.get_or_insert_default().push(*error);
        }
        Ok(())
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<()> {
        match &stmt.kind {
            StmtKind::Expr(expr) => self.expr(expr).map(drop),
            StmtKind::Assign { targets, value } => {
                let found = self.expr(value)?;
                targets
                    .iter()
                    .try_for_each(|target| self.assign(target, found, value.span))
            }
            StmtKind::Annotated {
                target,
                annotation,
                span,
                value,
            } => self.annotated(target, annotation, *span, value.as_ref()),
            StmtKind::AugAssign { target, op, value } => self.aug_assign(stmt.span, target, *op, value),
            StmtKind::If { test, body, orelse } => {
                let found = self.expr(test)?;
                self.condition(test, found)?;
                match self.truth(test) {
                    Truth::Known(known) => self.body(if known { body } else { orelse }),
                    Truth::Later => Ok(()),
                    Truth::Open => {
                        self.body(body)?;
                        self.body(orelse)
                    }
                }
            }
            StmtKind::While { test, body, orelse } => {
                let found = self.expr(test)?;
                self.condition(test, found)?;
                if self.truth(test) != Truth::Known(false) {
                    self.body(body)?;
                }
                self.body(orelse)
            }
            StmtKind::For(stmt) => self.for_loop(stmt),
            StmtKind::With { context, body } => {
                let manager = self.expr(context)?;
                match self.types().kind(manager).clone() {
                    Kind::Var => self.body(body),
                    Kind::Builtin(Builtin::Order(_)) => self.body(body),
                    _ => {
                        let name = self.type_name(manager);
                        Err(Diagnostic::new(context.span, super::no_manager(&name)))
                    }
                }
            }
            StmtKind::Try(stmt) => self.try_statement(stmt),
            StmtKind::Raise(None) => Ok(()),
            StmtKind::Raise(Some(value)) => {
                let found = self.expr(value)?;
                if matches!(self.types().kind(found), Kind::Exception | Kind::Var) {
                    return Ok(());
                }
                self.exception_class(value)
            }
            StmtKind::Assert { test, message } => self.assertion(test, message.as_ref()),
            StmtKind::Return(None) => {
                let returns = self.function().returns;
                let none = self.kind(Kind::None);
                self.unify(returns, none, stmt.span, "this return")
            }
            StmtKind::Return(Some(value)) => {
                let (found, returns) = (self.expr(value)?, self.function().returns);
                self.unify(returns, found, value.span, "the returned value")
            }
            StmtKind::Break | StmtKind::Continue | StmtKind::Pass => Ok(()),
        }
    }

    fn for_loop(&mut self, stmt: &For) -> Result<()> {
        let iterable = self.expr(&stmt.iter)?;
        if self.is_empty(&stmt.iter) {
            return self.body(&stmt.orelse);
        }
        let elt = self.types().iterated(iterable, stmt.iter.span)?;
        self.assign(&stmt.target, elt, stmt.iter.span)?;
        if !matches!(stmt.target.kind, ExprKind::Name(_) | ExprKind::Attribute { .. }) {
            // Rows are copied into parts of arrays, regardless of memory layout.
            let function = &mut self.context.program.functions[self.current];
            function.facts.insert(stmt.target.id, Fact::Element(elt));
        }
        self.body(&stmt.body)?;
        self.body(&stmt.orelse)
    }

    fn try_statement(&mut self, stmt: &Try) -> Result<()> {
        self.body(&stmt.body)?;
        for handler in &stmt.handlers {
            let mut classes = handler.classes.iter().flatten();
            classes.try_for_each(|class| self.exception_class(class))?;
            if let Some(name) = &handler.name {
                let local = self.function().names.local(name);
                let local = local.expect("declared when names were resolved");
                let ty = self.function().locals[local as usize];
                let exception = self.kind(Kind::Exception);
                self.unify(ty, exception, handler.span, "the exception")?;
            }
            self.body(&handler.body)?;
        }
        self.body(&stmt.orelse)?;
        self.body(&stmt.finally)
    }

    fn assertion(&mut self, test: &Expr, message: Option<&Expr>) -> Result<()> {
        let found = self.expr(test)?;
        self.condition(test, found)?;
        if let Some(message) = message {
            let ty = self.expr(message)?;
            if !matches!(self.types().kind(ty), Kind::Str | Kind::Var) {
                let error = Diagnostic::new(message.span, "the message of an assertion must be a text");
                return Err(error.help("write it as an f-string: f\"… {x} …\""));
            }
        }
        Ok(())
    }

    /// Assigns a value of type `found`, located at `span`, to `target`.
    pub(super) fn assign(&mut self, target: &Expr, found: Ty, span: Span) -> Result<()> {
        match &target.kind {
            ExprKind::Tuple(elements) => {
                let wanted = match self.types().kind(found).clone() {
                    Kind::Tuple(found) if found.len() == elements.len() => found,
                    Kind::Var => return Ok(()),
                    _ => {
                        let text = format!(
                            "cannot assign a value of type {} to a tuple of {} elements",
                            self.type_name(found),
                            elements.len()
                        );
                        return Err(Diagnostic::new(span, text));
                    }
                };
                elements
                    .iter()
                    .zip(wanted.iter())
                    .try_for_each(|(element, &ty)| self.assign(element, ty, span))?;
                self.expr(target).map(drop)
            }
            ExprKind::List(elements) => {
                let elt = match *self.types().kind(found) {
                    Kind::List(elt) => elt,
                    Kind::Var => return Ok(()),
                    _ => {
                        let text = format!("cannot assign a value of type {} to a list", self.type_name(found));
                        return Err(Diagnostic::new(span, text));
                    }
                };
                elements
                    .iter()
                    .try_for_each(|element| self.assign(element, elt, span))?;
                self.expr(target).map(drop)
            }
            ExprKind::Slice { value, .. } => {
                let wanted = self.expr(target)?;
                let bytes = self.types().is_bytes(found);
                match self.types().kind(wanted) {
                    Kind::ByteArray if bytes => return Ok(()),
                    Kind::Array(..) | Kind::View(..) => return self.copied_into(wanted, found, span),
                    Kind::List(_) | Kind::ByteArray | Kind::Var => {}
                    _ => {
                        let text = format!("type {} is not mutable", self.type_name(wanted));
                        return Err(Diagnostic::new(value.span, text).help("make a new value, and assign that"));
                    }
                }
                self.unify(wanted, found, span, "this value")
            }
            ExprKind::Subscript { value, .. } | ExprKind::Slices { value, .. } if self.is_array(value)? => {
                let wanted = self.target(target)?;
                match self.types().is_array(wanted) {
                    true => self.copied_into(wanted, found, span),
                    false => self.unify(wanted, found, span, "this value"),
                }
            }
            _ => {
                let wanted = self.target(target)?;
                self.unify(wanted, found, span, "this value")
            }
        }
    }

    fn is_array(&mut self, expr: &Expr) -> Result<bool> {
        let ty = self.expr(expr)?;
        Ok(self.types().is_array(ty))
    }

    /// Types `target: annotation = value`; without a value it only declares the type.
    fn annotated(&mut self, target: &Expr, annotation: &str, span: Span, value: Option<&Expr>) -> Result<()> {
        let at = |text: String| Diagnostic::new(span, text);
        let handle = self.function().handle;
        let stated = self.context.host.annotation(handle, annotation).map_err(at)?;
        let stated = self.types().annotation(&stated).map_err(at)?;
        if let Some(value) = value {
            let wanted = self.target(target)?;
            self.unify(wanted, stated, span, "this variable")?;
            let found = self.expr(value)?;
            return self.unify(stated, found, value.span, "this value");
        }
        match &target.kind {
            ExprKind::Name(name) => match self.function().names.local(name) {
                Some(local) => {
                    let wanted = self.function().locals[local as usize];
                    self.unify(wanted, stated, span, "this variable")
                }
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Whether the attribute that a target names may be changed.
    fn is_variable(&mut self, target: &Expr) -> Result<bool> {
        let ExprKind::Attribute { value, name, .. } = &target.kind else {
            return Ok(true);
        };
        let object = self.expr(value)?;
        Ok(match *self.types().kind(object) {
            Kind::Instance(class) => !self.context.program.classes[&class].is_invariant(name),
            _ => false,
        })
    }

    /// Type of a variable, attribute or element as the target of an assignment.
    fn target(&mut self, target: &Expr) -> Result<Ty> {
        match &target.kind {
            ExprKind::Name(_) => {}
            ExprKind::Attribute { value, name, name_span } => {
                let object = self.expr(value)?;
                match self.types().kind(object).clone() {
                    Kind::Instance(class) if is_kernel_class(class) => {
                        self.context.program.kernel_class_assigned.insert((class, name.clone()));
                    }
                    Kind::Instance(class) => {
                        self.context.program.assigned.insert(name.clone());
                        let class = &self.context.program.classes[&class];
                        if class.is_invariant(name) {
                            let (class, text) = (&class.name, "cannot assign to constant attribute");
                            let error = Diagnostic::new(*name_span, format!("{text} '{name}' of class '{class}'"));
                            return Err(
                                error.help(format!("take '{name}' out of kernel_invariants to make it variable"))
                            );
                        }
                    }
                    Kind::Var => {}
                    _ => {
                        let text = format!("attributes of {} cannot be assigned to", self.type_name(object));
                        return Err(Diagnostic::new(target.span, text)
                            .help("only objects have attributes that can be assigned to"));
                    }
                }
            }
            ExprKind::Subscript { value, .. } | ExprKind::Slice { value, .. } | ExprKind::Slices { value, .. } => {
                let object = self.expr(value)?;
                match self.types().kind(object) {
                    Kind::List(_) | Kind::Array(..) | Kind::View(..) | Kind::ByteArray | Kind::Var => {}
                    Kind::Tuple(_) => {
                        let error = Diagnostic::new(target.span, "cannot assign to a tuple element");
                        return Err(error.help("assign a new tuple, or use a list"));
                    }
                    _ => {
                        let text = format!("type {} is not mutable", self.type_name(object));
                        return Err(Diagnostic::new(target.span, text).help("make a new value, and assign that"));
                    }
                }
            }
            _ => return Err(Diagnostic::new(target.span, "cannot assign to this expression")),
        }
        self.expr(target)
    }

    fn aug_assign(&mut self, span: Span, target: &Expr, op: BinOp, value: &Expr) -> Result<()> {
        let wanted = match self.expr(target)? {
            ty if self.types().is_var(ty) => ty,
            // Only its elements change: an attribute holds the same array as before.
            ty if self.types().is_array(ty) && self.is_variable(target)? => ty,
            _ => self.target(target)?,
        };
        let operand = self.expr(value)?;
        let texts = match self.types().kind(wanted) {
            Kind::Str => *self.types().kind(operand) == Kind::Str,
            Kind::Bytes => self.types().is_bytes(operand),
            _ => false,
        };
        if texts && op == BinOp::Add {
            return Ok(());
        }
        if let list @ (Kind::List(_) | Kind::ByteArray) = self.types().kind(wanted) {
            let name = if *list == Kind::ByteArray {
                "bytearrays"
            } else {
                "lists"
            };
            let error = Diagnostic::new(span, format!("{name} cannot be mutated in-place"));
            return Err(error.help(format!("write a = a {} b", op.symbol())));
        }
        if self.types().is_array(wanted) {
            let Some((elt, result)) =
                self.array_aug_assign(op, (wanted, target.span), (operand, value.span), target)?
            else {
                return Ok(());
            };
            return self.fits_target(span, elt, result);
        }
        if *self.types().kind(wanted) == Kind::Bool {
            let bits = matches!(op, BinOp::And | BinOp::Or | BinOp::Xor);
            if bits && matches!(self.types().kind(operand), Kind::Bool | Kind::Var) {
                return Ok(());
            }
            let open = self.kind(Kind::IntOpen);
            return self.fits_target(span, wanted, open);
        }
        // The operation has no expression of its own: its result must have the target's type, and
        // operands of undetermined width adapt.
        let both = (wanted, target.span);
        let result = match op {
            BinOp::Div => self.binary(op, both, (operand, value.span), value)?,
            _ => {
                self.binary_operands(op, both, (operand, value.span))?;
                self.promote(wanted, operand, wanted, target)
            }
        };
        let Some(result) = result else { return Ok(()) };
        self.fits_target(span, wanted, result)
    }

    fn fits_target(&mut self, span: Span, wanted: Ty, result: Ty) -> Result<()> {
        if self.types().unify(wanted, result).is_ok() {
            return Ok(());
        }
        let (result, wanted) = (self.type_name(result), self.type_name(wanted));
        let text = format!(
            "the result of this operation has type {result}, which cannot be assigned to a variable of type {wanted}"
        );
        Err(Diagnostic::new(span, text))
    }

    /// Whether `isinstance` makes the code after a statement unreachable, or is undecided about it.
    pub(super) fn ends(&self, stmt: &Stmt) -> bool {
        let StmtKind::If { test, body, orelse } = &stmt.kind else {
            return false;
        };
        match self.truth(test) {
            Truth::Known(known) => self.leaves(if known { body } else { orelse }),
            Truth::Later => self.leaves(body) || self.leaves(orelse),
            Truth::Open => false,
        }
    }

    fn leaves(&self, body: &[Stmt]) -> bool {
        let leaving = |stmt: &Stmt| {
            let flow = stmt.kind.flow();
            matches!(flow, Flow::Return(_) | Flow::Raise | Flow::Break | Flow::Continue) || self.ends(stmt)
        };
        body.iter().any(leaving)
    }
}
