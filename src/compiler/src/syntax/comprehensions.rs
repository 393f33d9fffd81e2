//! Comprehensions and generator expressions. Their variables are not those of the function, even if they are called the same.

use ruff_python_ast as py;

use super::{Clause, Converter, Expr, ExprKind, COMPREHENSION};
use crate::diagnostic::{Diagnostic, Result};
use crate::source::Span;

impl Converter<'_> {
    /// Arguments of a call, the first of which may be a generator expression.
    pub(super) fn arguments(&mut self, args: &[py::Expr]) -> Result<Vec<Expr>> {
        let Some((py::Expr::Generator(first), rest)) = args.split_first() else {
            return self.exprs(args);
        };
        let mut arguments = vec![self.generator(first)?];
        arguments.extend(self.exprs(rest)?);
        Ok(arguments)
    }

    fn generator(&mut self, generator: &py::ExprGenerator) -> Result<Expr> {
        let span = self.span(generator);
        let outside = self.scopes.len();
        let mut clauses = vec![];
        for clause in &generator.generators {
            if clause.is_async {
                return Err(Diagnostic::unsupported(span, "'async'"));
            }
            // What the first clause goes over is evaluated outside.
            let iter = self.expr(&clause.iter)?;
            self.own_names(&clause.target);
            let target = self.expr(&clause.target)?;
            let tests = self.exprs(&clause.ifs)?;
            clauses.push(Clause { target, iter, tests });
        }
        let element = self.boxed(&generator.elt)?;
        self.scopes.truncate(outside);
        Ok(self.make(span, ExprKind::Generator { element, clauses }))
    }

    /// Gives the variables of a target names that no others have.
    fn own_names(&mut self, target: &py::Expr) {
        let mut names = vec![];
        target_names(target, &mut names);
        for name in names {
            self.comprehensions += 1;
            let own = format!("{name}{COMPREHENSION}{}", self.comprehensions).into();
            self.scopes.push((name, own));
        }
    }

    /// A list comprehension.
    pub(super) fn comprehension(&mut self, span: Span, comprehension: &py::ExprListComp) -> Result<ExprKind> {
        let (first, rest) = comprehension.generators.split_first().expect("the grammar wants one");
        if let Some(second) = rest.first() {
            let text = "multiple for clauses in comprehensions are not supported";
            return Err(Diagnostic::new(self.span(second), text));
        }
        if let Some(test) = first.ifs.first() {
            let text = "if clauses in comprehensions are not supported";
            return Err(Diagnostic::new(self.span(test), text));
        }
        if first.is_async {
            return Err(Diagnostic::unsupported(span, "'async'"));
        }
        let iter = self.boxed(&first.iter)?;
        let outside = self.scopes.len();
        self.own_names(&first.target);
        let target = self.boxed(&first.target)?;
        let element = self.boxed(&comprehension.elt)?;
        self.scopes.truncate(outside);
        Ok(ExprKind::ListComp { element, target, iter })
    }
}

/// Names that a target assigns to.
fn target_names(target: &py::Expr, names: &mut Vec<String>) {
    match target {
        py::Expr::Name(name) => names.push(name.id.to_string()),
        py::Expr::Tuple(tuple) => tuple.elts.iter().for_each(|elt| target_names(elt, names)),
        py::Expr::List(list) => list.elts.iter().for_each(|elt| target_names(elt, names)),
        _ => {}
    }
}
