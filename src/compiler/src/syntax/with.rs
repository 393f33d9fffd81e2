//! `with`: timing of statements, and context managers, which are expanded.

use std::rc::Rc;

use ruff_python_ast as py;

use super::{Converter, Expr, ExprKind, Stmt, StmtKind, Try};
use crate::diagnostic::{Diagnostic, Result};
use crate::language::Order;
use crate::source::Span;

/// Prefix of variables that hold a context manager; it contains a space, so programs cannot use it.
pub const MANAGER: &str = "with ";

/// `with watchdog(…)` belongs to the language.
const WATCHDOG: &str = "watchdog";

impl Converter<'_> {
    pub(super) fn with(&mut self, span: Span, items: &[py::WithItem], body: &[py::Stmt]) -> Result<Stmt> {
        let (first, rest) = items.split_first().expect("the grammar wants an item");
        let order = match &first.context_expr {
            py::Expr::Name(name) => name.id.as_str(),
            py::Expr::Attribute(attribute) => attribute.attr.as_str(),
            py::Expr::Call(call) => match &*call.func {
                py::Expr::Name(name) if name.id.as_str() == WATCHDOG => WATCHDOG,
                _ => "",
            },
            _ => "",
        };
        if order != WATCHDOG && Order::named(order).is_none() {
            return self.managed(span, first, rest, body);
        }
        if let Some(target) = &first.optional_vars {
            let error = Diagnostic::new(self.span(&**target), format!("'{order}' has no value to assign"));
            return Err(error.help("leave out 'as' and the name"));
        }
        if let Some(second) = rest.first() {
            return Err(Diagnostic::unsupported(self.span(second), "a second item in 'with'")
                .help("nest the 'with' statements"));
        }
        let context = self.expr(&first.context_expr)?;
        Ok(Stmt {
            span,
            kind: StmtKind::With {
                context,
                body: self.body(body)?,
            },
        })
    }

    /// Expands a context manager: a variable that holds it, the call of `__enter__`, and a `try`
    /// with the body whose `finally` calls `__exit__`. Further items are nested inside the first.
    fn managed(&mut self, span: Span, item: &py::WithItem, rest: &[py::WithItem], body: &[py::Stmt]) -> Result<Stmt> {
        let context = self.expr(&item.context_expr)?;
        let at = context.span;
        let variable: Rc<str> = format!("{MANAGER}{}", self.next).into();
        let stmt = |kind| Stmt { span: at, kind };
        let group = |body, finally| {
            StmtKind::Try(Try {
                body,
                handlers: vec![],
                orelse: vec![],
                finally,
            })
        };
        let assign = StmtKind::Assign {
            targets: vec![self.make(at, ExprKind::Name(variable.clone()))],
            value: context,
        };
        let entered = self.method(at, &variable, "__enter__", 0);
        let enter = match self.optional(&item.optional_vars)? {
            Some(target) => StmtKind::Assign {
                targets: vec![target],
                value: entered,
            },
            None => StmtKind::Expr(entered),
        };
        let body = match rest.split_first() {
            Some((second, rest)) => vec![self.managed(span, second, rest, body)?],
            None => self.body(body)?,
        };
        let exit = StmtKind::Expr(self.method(at, &variable, "__exit__", 3));
        let inside = group(body, vec![stmt(exit)]);
        Ok(Stmt {
            span,
            kind: group(vec![stmt(assign), stmt(enter), Stmt { span, kind: inside }], vec![]),
        })
    }

    /// A method call on the object in `variable`, with the given number of `None` arguments.
    fn method(&mut self, span: Span, variable: &Rc<str>, name: &str, arguments: usize) -> Expr {
        let object = Box::new(self.make(span, ExprKind::Name(variable.clone())));
        let callee = ExprKind::Attribute {
            value: object,
            name: name.into(),
            name_span: span,
        };
        let call = ExprKind::Call {
            callee: Box::new(self.make(span, callee)),
            args: (0..arguments).map(|_| self.make(span, ExprKind::None)).collect(),
            keywords: vec![],
        };
        self.make(span, call)
    }
}
