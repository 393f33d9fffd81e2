//! Comprehensions and generator expressions. Their variables are separate from those of the
//! function, even with the same name.

use std::rc::Rc;

use ruff_python_ast as py;

use super::{Clause, Converter, Expr, ExprKind, Keyword, COMPREHENSION};
use crate::diagnostic::{Diagnostic, Result};
use crate::language::KEYED;

impl Converter<'_> {
    /// Converts the arguments of a call, the first of which may be a generator expression.
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
        let (element, clauses) = self.clauses(&generator.elt, &generator.generators)?;
        Ok(self.make(span, ExprKind::Generator { element, clauses }))
    }

    /// Converts a list comprehension.
    pub(super) fn comprehension(&mut self, comprehension: &py::ExprListComp) -> Result<ExprKind> {
        let (element, clauses) = self.clauses(&comprehension.elt, &comprehension.generators)?;
        Ok(ExprKind::ListComp { element, clauses })
    }

    fn clauses(&mut self, element: &py::Expr, of: &[py::Comprehension]) -> Result<(Box<Expr>, Vec<Clause>)> {
        let outer = self.scopes.len();
        let mut clauses = vec![];
        for clause in of {
            if clause.is_async {
                return Err(Diagnostic::unsupported(self.span(clause), "'async'"));
            }
            // The iterable of the first clause is evaluated in the enclosing scope.
            let iter = self.expr(&clause.iter)?;
            self.own_names(&clause.target);
            let target = self.expr(&clause.target)?;
            let tests = self.exprs(&clause.ifs)?;
            clauses.push(Clause { target, iter, tests });
        }
        let element = self.boxed(element)?;
        self.scopes.truncate(outer);
        Ok((element, clauses))
    }

    /// Gives the variables of a target unique names.
    fn own_names(&mut self, target: &py::Expr) {
        let mut names = vec![];
        target_names(target, &mut names);
        for name in names {
            self.comprehensions += 1;
            let own = format!("{name}{COMPREHENSION}{}", self.comprehensions).into();
            self.scopes.push((name, own));
        }
    }
}

/// Sorting by key.
impl Converter<'_> {
    /// The argument `key` of a call of `sorted`, if it is suitable: a name, an attribute, or a
    /// lambda without defaults.
    pub(super) fn key_of_sorted<'a>(&self, call: &'a py::ExprCall) -> Option<&'a py::Keyword> {
        let (py::Expr::Name(callee), [_]) = (&*call.func, &*call.arguments.args) else {
            return None;
        };
        let keywords = call.arguments.keywords.iter();
        let mut keys = keywords.filter(|keyword| keyword.arg.as_ref().is_some_and(|name| name.as_str() == "key"));
        let key = keys.next().filter(|_| callee.id.as_str() == "sorted")?;
        let callable = match &key.value {
            py::Expr::Name(_) | py::Expr::Attribute(_) => true,
            py::Expr::Lambda(lambda) => {
                let parameters = lambda.parameters.as_deref();
                parameters.is_some_and(|all| all.iter().all(|parameter| parameter.default().is_none()))
            }
            _ => false,
        };
        callable.then_some(key)
    }

    /// Rewrites `sorted(x, key=f)` to sort pairs by their first member: `[(f(e), e) for e in x]`.
    pub(super) fn sorted_by_key(&mut self, call: &py::ExprCall) -> Result<ExprKind> {
        let key = self.key_of_sorted(call).expect("asked before");
        let (key_span, iterable) = (self.span(key), &call.arguments.args[0]);
        let iterable_span = self.span(iterable);
        let callee = self.boxed(&call.func)?;
        let iter = self.expr(iterable)?;
        self.comprehensions += 1;
        let own: Rc<str> = format!("sorted element{COMPREHENSION}{}", self.comprehensions).into();
        let [given, element, target] = [(); 3].map(|()| self.make(iterable_span, ExprKind::Name(own.clone())));
        let function = self.boxed(&key.value)?;
        let keyed = ExprKind::Call {
            callee: function,
            args: vec![given],
            keywords: vec![],
        };
        let pair = vec![self.make(key_span, keyed), element];
        let pairs = ExprKind::ListComp {
            element: Box::new(self.make(iterable_span, ExprKind::Tuple(pair))),
            clauses: vec![Clause {
                target,
                iter,
                tests: vec![],
            }],
        };
        let mut keywords = vec![Keyword {
            name: KEYED.into(),
            span: key_span,
            value: self.make(key_span, ExprKind::None),
        }];
        for keyword in call
            .arguments
            .keywords
            .iter()
            .filter(|&other| !std::ptr::eq(other, key))
        {
            keywords.push(self.keyword(keyword)?);
        }
        let args = vec![self.make(iterable_span, pairs)];
        Ok(ExprKind::Call { callee, args, keywords })
    }
}

/// Collects the names that a target assigns to.
fn target_names(target: &py::Expr, names: &mut Vec<String>) {
    match target {
        py::Expr::Name(name) => names.push(name.id.to_string()),
        py::Expr::Tuple(tuple) => tuple.elts.iter().for_each(|elt| target_names(elt, names)),
        py::Expr::List(list) => list.elts.iter().for_each(|elt| target_names(elt, names)),
        _ => {}
    }
}
