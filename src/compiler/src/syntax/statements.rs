//! Statements: their kinds, their parts, and their conversion.

use std::rc::Rc;

use ruff_python_ast as py;
use ruff_text_size::Ranged;

use super::expressions::declare_target;
use super::refused::refused_statement;
use super::{walk_expr, BinOp, Converter, Expr, ExprKind};
use crate::diagnostic::{Diagnostic, Result};
use crate::source::Span;

#[derive(Clone, Debug)]
pub struct Stmt {
    pub span: Span,
    pub kind: StmtKind,
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    Expr(Expr),
    Assign {
        targets: Vec<Expr>,
        value: Expr,
    },
    /// `target: annotation = value`
    Annotated {
        target: Expr,
        /// The text of the annotation, which the host evaluates, and its span.
        annotation: Rc<str>,
        span: Span,
        value: Option<Expr>,
    },
    AugAssign {
        target: Expr,
        op: BinOp,
        value: Expr,
    },
    If {
        test: Expr,
        body: Vec<Stmt>,
        orelse: Vec<Stmt>,
    },
    While {
        test: Expr,
        body: Vec<Stmt>,
        orelse: Vec<Stmt>,
    },
    For(For),
    /// `parallel`, `sequential`, `interleave` or `watchdog`; other context managers become a `Try`.
    With {
        context: Expr,
        body: Vec<Stmt>,
    },
    Try(Try),
    Raise(Option<Expr>),
    Assert {
        test: Expr,
        message: Option<Expr>,
    },
    Return(Option<Expr>),
    Break,
    Continue,
    Pass,
}

/// `for target in iter`
#[derive(Clone, Debug)]
pub struct For {
    pub target: Expr,
    pub iter: Expr,
    pub body: Vec<Stmt>,
    pub orelse: Vec<Stmt>,
}

#[derive(Clone, Debug)]
pub struct Try {
    pub body: Vec<Stmt>,
    pub handlers: Vec<Handler>,
    pub orelse: Vec<Stmt>,
    pub finally: Vec<Stmt>,
}

#[derive(Clone, Debug)]
pub struct Handler {
    pub span: Span,
    /// None catches every exception.
    pub classes: Option<Vec<Expr>>,
    pub name: Option<Rc<str>>,
    pub body: Vec<Stmt>,
}

/// A part of a statement.
pub enum Part<'a> {
    /// An evaluated expression.
    Expr(&'a Expr),
    /// An assignment target, and the assigned value if it is an expression of the statement.
    Target(&'a Expr, Option<&'a Expr>),
    /// An expression that is read and then assigned to.
    Update(&'a Expr),
    /// A variable that is set, and its span.
    Variable(&'a Rc<str>, Span),
    /// A nested block.
    Block(&'a [Stmt]),
}

/// Where control continues after the parts of a statement; used by the checks.
pub enum Flow<'a> {
    /// At the next statement; blocks run in order.
    On,
    /// At the next statement, after one of the blocks.
    Branch,
    /// The first block is repeated; the second runs when the loop ends without `break`, which an
    /// endless loop never does.
    Loop {
        endless: bool,
    },
    Try(&'a Try),
    /// After the enclosing loop, or at its head.
    Break,
    Continue,
    /// Not in this function: raises an exception.
    Raise,
    /// Not in this function: returns this value.
    Return(Option<&'a Expr>),
}

impl StmtKind {
    /// The condition that decides how control continues.
    pub fn test(&self) -> Option<&Expr> {
        match self {
            StmtKind::If { test, .. } | StmtKind::While { test, .. } | StmtKind::Assert { test, .. } => Some(test),
            _ => None,
        }
    }

    /// Visits the parts in the order of evaluation; blocks in source order.
    pub fn each_part<'a>(&'a self, visit: &mut dyn FnMut(Part<'a>)) {
        match self {
            StmtKind::Expr(expr) => visit(Part::Expr(expr)),
            StmtKind::Assign { targets, value } => {
                visit(Part::Expr(value));
                targets
                    .iter()
                    .for_each(|target| visit(Part::Target(target, Some(value))));
            }
            StmtKind::Annotated { target, value, .. } => {
                if let Some(value) = value {
                    visit(Part::Expr(value));
                    visit(Part::Target(target, Some(value)));
                }
            }
            StmtKind::AugAssign { target, value, .. } => {
                visit(Part::Update(target));
                visit(Part::Expr(value));
            }
            StmtKind::If { test, body, orelse } | StmtKind::While { test, body, orelse } => {
                visit(Part::Expr(test));
                visit(Part::Block(body));
                visit(Part::Block(orelse));
            }
            StmtKind::For(stmt) => {
                visit(Part::Expr(&stmt.iter));
                visit(Part::Target(&stmt.target, None));
                visit(Part::Block(&stmt.body));
                visit(Part::Block(&stmt.orelse));
            }
            StmtKind::With { context, body } => {
                visit(Part::Expr(context));
                visit(Part::Block(body));
            }
            StmtKind::Try(stmt) => {
                visit(Part::Block(&stmt.body));
                for handler in &stmt.handlers {
                    let classes = handler.classes.iter().flatten();
                    classes.for_each(|class| visit(Part::Expr(class)));
                    handler
                        .name
                        .iter()
                        .for_each(|name| visit(Part::Variable(name, handler.span)));
                    visit(Part::Block(&handler.body));
                }
                visit(Part::Block(&stmt.orelse));
                visit(Part::Block(&stmt.finally));
            }
            StmtKind::Raise(value) | StmtKind::Return(value) => {
                value.iter().for_each(|value| visit(Part::Expr(value)));
            }
            StmtKind::Assert { test, message } => {
                visit(Part::Expr(test));
                message.iter().for_each(|message| visit(Part::Expr(message)));
            }
            StmtKind::Break | StmtKind::Continue | StmtKind::Pass => {}
        }
    }

    /// Visits the expressions and the blocks, to change them.
    pub(super) fn each_part_mut(&mut self, expr: &mut dyn FnMut(&mut Expr), block: &mut dyn FnMut(&mut Vec<Stmt>)) {
        match self {
            StmtKind::Expr(value) => expr(value),
            StmtKind::Assign { targets, value } => {
                targets.iter_mut().for_each(&mut *expr);
                expr(value);
            }
            StmtKind::Annotated { target, value, .. } => {
                expr(target);
                value.iter_mut().for_each(expr);
            }
            StmtKind::AugAssign { target, value, .. } => [target, value].into_iter().for_each(expr),
            StmtKind::If { test, body, orelse } | StmtKind::While { test, body, orelse } => {
                expr(test);
                [body, orelse].into_iter().for_each(block);
            }
            StmtKind::For(stmt) => {
                [&mut stmt.iter, &mut stmt.target].into_iter().for_each(expr);
                [&mut stmt.body, &mut stmt.orelse].into_iter().for_each(block);
            }
            StmtKind::With { context, body } => {
                expr(context);
                block(body);
            }
            StmtKind::Try(stmt) => {
                let blocks = [&mut stmt.body, &mut stmt.orelse, &mut stmt.finally];
                blocks.into_iter().for_each(&mut *block);
                stmt.handlers.iter_mut().for_each(|handler| block(&mut handler.body));
            }
            StmtKind::Raise(value) | StmtKind::Return(value) => value.iter_mut().for_each(expr),
            StmtKind::Assert { test, message } => {
                expr(test);
                message.iter_mut().for_each(expr);
            }
            StmtKind::Break | StmtKind::Continue | StmtKind::Pass => {}
        }
    }

    pub fn flow(&self) -> Flow<'_> {
        match self {
            StmtKind::Expr(_)
            | StmtKind::Assign { .. }
            | StmtKind::Annotated { .. }
            | StmtKind::AugAssign { .. }
            | StmtKind::With { .. }
            | StmtKind::Assert { .. }
            | StmtKind::Pass => Flow::On,
            StmtKind::If { .. } => Flow::Branch,
            StmtKind::While { test, .. } => Flow::Loop {
                endless: matches!(test.kind, ExprKind::Bool(true)),
            },
            StmtKind::For(_) => Flow::Loop { endless: false },
            StmtKind::Try(stmt) => Flow::Try(stmt),
            StmtKind::Raise(_) => Flow::Raise,
            StmtKind::Return(value) => Flow::Return(value.as_ref()),
            StmtKind::Break => Flow::Break,
            StmtKind::Continue => Flow::Continue,
        }
    }

    /// Visits the variables that the statement itself sets, with their spans.
    pub fn each_variable(&self, visit: &mut dyn FnMut(&Rc<str>, Span)) {
        self.each_part(&mut |part| match part {
            Part::Target(target, _) | Part::Update(target) => declare_target(target, visit),
            Part::Variable(name, span) => visit(name, span),
            Part::Expr(_) | Part::Block(_) => {}
        });
    }
}

/// Visits every statement, outer before inner.
pub fn walk_stmts<'a>(body: &'a [Stmt], visit: &mut dyn FnMut(&'a Stmt)) {
    for stmt in body {
        visit(stmt);
        stmt.kind.each_part(&mut |part| {
            if let Part::Block(block) = part {
                walk_stmts(block, visit);
            }
        });
    }
}

/// Visits every expression, outer before inner.
pub fn walk_exprs<'a>(body: &'a [Stmt], visit: &mut dyn FnMut(&'a Expr)) {
    walk_stmts(body, &mut |stmt| {
        stmt.kind.each_part(&mut |part| {
            if let Part::Expr(expr) | Part::Target(expr, _) | Part::Update(expr) = part {
                walk_expr(expr, visit);
            }
        });
    });
}

/// An operation on two values, in an expression or an augmented assignment.
pub struct Operation<'a> {
    pub op: BinOp,
    pub operands: [&'a Expr; 2],
    /// The expression that has the type of the result.
    pub result: &'a Expr,
    pub span: Span,
}

/// Visits every operation, outer before inner.
pub fn walk_operations<'a>(body: &'a [Stmt], visit: &mut dyn FnMut(Operation<'a>)) {
    walk_stmts(body, &mut |stmt| {
        if let StmtKind::AugAssign { target, op, value } = &stmt.kind {
            visit(Operation {
                op: *op,
                operands: [target, value],
                result: target,
                span: stmt.span,
            });
        }
    });
    walk_exprs(body, &mut |expr| {
        if let ExprKind::Binary { op, left, right } = &expr.kind {
            visit(Operation {
                op: *op,
                operands: [left, right],
                result: expr,
                span: expr.span,
            });
        }
    });
}

/// Whether a body has no effect.
pub fn does_nothing(body: &[Stmt]) -> bool {
    body.iter().all(|stmt| matches!(stmt.kind, StmtKind::Pass))
}

/// Whether a function has a `return` with a value.
pub fn returns_value(body: &[Stmt]) -> bool {
    let mut found = false;
    walk_stmts(body, &mut |stmt| {
        found |= matches!(stmt.kind.flow(), Flow::Return(Some(_)))
    });
    found
}

impl Converter<'_> {
    pub(super) fn body(&mut self, body: &[py::Stmt]) -> Result<Vec<Stmt>> {
        let is_text =
            |stmt: &py::Stmt| matches!(stmt, py::Stmt::Expr(e) if matches!(*e.value, py::Expr::StringLiteral(_)));
        body.iter()
            .filter(|stmt| !is_text(stmt))
            .map(|stmt| self.stmt(stmt))
            .collect()
    }

    fn stmt(&mut self, stmt: &py::Stmt) -> Result<Stmt> {
        let span = self.span(stmt);
        let kind = match stmt {
            py::Stmt::Expr(stmt) if stmt.value.is_ellipsis_literal_expr() => StmtKind::Pass,
            py::Stmt::Expr(stmt) => StmtKind::Expr(self.expr(&stmt.value)?),
            py::Stmt::Assign(stmt) => StmtKind::Assign {
                targets: self.exprs(&stmt.targets)?,
                value: self.expr(&stmt.value)?,
            },
            py::Stmt::AnnAssign(stmt) => StmtKind::Annotated {
                target: self.expr(&stmt.target)?,
                annotation: self.text[stmt.annotation.range().to_std_range()].into(),
                span: self.span(&*stmt.annotation),
                value: self.optional(&stmt.value)?,
            },
            py::Stmt::AugAssign(stmt) => StmtKind::AugAssign {
                target: self.expr(&stmt.target)?,
                op: BinOp::read(stmt.op),
                value: self.expr(&stmt.value)?,
            },
            py::Stmt::If(stmt) => return self.if_chain(span, &stmt.test, &stmt.body, &stmt.elif_else_clauses),
            py::Stmt::While(stmt) => StmtKind::While {
                test: self.expr(&stmt.test)?,
                body: self.body(&stmt.body)?,
                orelse: self.body(&stmt.orelse)?,
            },
            py::Stmt::For(stmt) if !stmt.is_async => StmtKind::For(For {
                target: self.expr(&stmt.target)?,
                iter: self.expr(&stmt.iter)?,
                body: self.body(&stmt.body)?,
                orelse: self.body(&stmt.orelse)?,
            }),
            py::Stmt::With(stmt) if !stmt.is_async => return self.with(span, &stmt.items, &stmt.body),
            py::Stmt::Try(stmt) if !stmt.is_star => StmtKind::Try(Try {
                body: self.body(&stmt.body)?,
                handlers: stmt
                    .handlers
                    .iter()
                    .map(|handler| self.handler(handler))
                    .collect::<Result<_>>()?,
                orelse: self.body(&stmt.orelse)?,
                finally: self.body(&stmt.finalbody)?,
            }),
            py::Stmt::Raise(stmt) => {
                if let Some(cause) = &stmt.cause {
                    return Err(Diagnostic::unsupported(self.span(&**cause), "'raise … from'"));
                }
                StmtKind::Raise(self.optional(&stmt.exc)?)
            }
            py::Stmt::Assert(stmt) => StmtKind::Assert {
                test: self.expr(&stmt.test)?,
                message: self.optional(&stmt.msg)?,
            },
            py::Stmt::Return(stmt) => StmtKind::Return(self.optional(&stmt.value)?),
            py::Stmt::FunctionDef(def) => {
                let name_span = self.span(&def.name);
                StmtKind::Assign {
                    targets: vec![self.make(name_span, ExprKind::Name(def.name.as_str().into()))],
                    value: self.inner_def(def)?,
                }
            }
            py::Stmt::Nonlocal(stmt) => {
                let names = stmt.names.iter().map(|name| (name.as_str().into(), self.span(name)));
                let names: Vec<_> = names.collect();
                self.nonlocals.extend(names);
                StmtKind::Pass
            }
            py::Stmt::Break(_) => StmtKind::Break,
            py::Stmt::Continue(_) => StmtKind::Continue,
            py::Stmt::Pass(_) => StmtKind::Pass,
            py::Stmt::ClassDef(class) => {
                let text = "a class cannot be defined in a kernel";
                let help = "define it outside: a kernel can make objects of it";
                return Err(Diagnostic::new(self.span(&class.name), text).help(help));
            }
            other => return Err(refused_statement(span, other)),
        };
        Ok(Stmt { span, kind })
    }

    fn if_chain(
        &mut self,
        span: Span,
        test: &py::Expr,
        body: &[py::Stmt],
        rest: &[py::ElifElseClause],
    ) -> Result<Stmt> {
        let (test, body) = (self.expr(test)?, self.body(body)?);
        let orelse = match rest {
            [] => vec![],
            [clause, rest @ ..] => match &clause.test {
                None => self.body(&clause.body)?,
                Some(test) => vec![self.if_chain(self.span(clause), test, &clause.body, rest)?],
            },
        };
        Ok(Stmt {
            span,
            kind: StmtKind::If { test, body, orelse },
        })
    }

    fn classes(&mut self, classes: &py::Expr) -> Result<Vec<Expr>> {
        match classes {
            py::Expr::Tuple(tuple) => self.exprs(&tuple.elts),
            class => Ok(vec![self.expr(class)?]),
        }
    }

    fn handler(&mut self, handler: &py::ExceptHandler) -> Result<Handler> {
        let py::ExceptHandler::ExceptHandler(handler) = handler;
        Ok(Handler {
            span: self.span(handler),
            classes: handler
                .type_
                .as_deref()
                .map(|classes| self.classes(classes))
                .transpose()?,
            name: handler.name.as_ref().map(|name| name.as_str().into()),
            body: self.body(&handler.body)?,
        })
    }
}
