//! Additions to type errors: the other place where the type comes from, in Python's words, and host
//! functions without a return annotation.

use super::Infer;
use crate::diagnostic::Diagnostic;
use crate::host::FunctionKind;
use crate::names::Name;
use crate::program::{CallTarget, Fact};
use crate::source::Span;
use crate::syntax::*;
use crate::types::Ty;

impl Infer<'_, '_> {
    /// Adds to an error in a statement what helps to understand it.
    pub(super) fn explained(&mut self, error: Box<Diagnostic>, stmt: &Stmt) -> Box<Diagnostic> {
        let Some(at) = error.span.filter(|span| self.explained != Some(*span)) else {
            return error;
        };
        self.explained = Some(at);
        let error = match error.message.starts_with("cannot unify") && error.labels.is_empty() {
            true => match self.other_place(stmt, at) {
                Some((place, text)) => error.label(place, text),
                None => error,
            },
            false => error,
        };
        let says_none = |text: &str| text.contains("NoneType");
        match (says_none(&error.message) || says_none(&error.primary_note)).then(|| self.untyped_call(stmt, at)) {
            Some(Some(name)) => error.help(format!(
                "'{name}' runs on the host; without a return annotation it gives a kernel nothing: write \
                 'def {name}(…) -> TFloat:', or whichever type it returns"
            )),
            _ => error,
        }
    }

    /// The place with which the type of the expression at `at` does not agree, and its text.
    fn other_place(&self, stmt: &Stmt, at: Span) -> Option<(Span, String)> {
        let within = self.list_or_branch(stmt, at).or_else(|| self.parameter(stmt, at));
        let within = within.or_else(|| self.operand(stmt, at));
        within.or_else(|| match &stmt.kind {
            StmtKind::Assign { targets, value } => targets
                .iter()
                .find_map(|target| self.type_of_target(target, value, at, stmt.span)),
            StmtKind::Annotated { target, .. } | StmtKind::AugAssign { target, .. } => {
                self.assigned_before(target, stmt.span)
            }
            StmtKind::For(own) if own.iter.span == at => self.earlier_assignment(&own.target, own.target.span),
            StmtKind::Return(_) => self.other_return(stmt.span),
            _ => None,
        })
    }

    /// Where what gets the value at `at` has its type from.
    fn type_of_target(&self, target: &Expr, value: &Expr, at: Span, here: Span) -> Option<(Span, String)> {
        match (&target.kind, &value.kind) {
            (ExprKind::Tuple(targets), ExprKind::Tuple(values)) if targets.len() == values.len() => {
                let word = |expr: &Expr| self.words(self.type_known(expr));
                let mut pairs = targets.iter().zip(values);
                pairs.find_map(|(target, one)| match value.span == at {
                    true if word(target) != word(one) => self.assigned_before(target, here),
                    true => None,
                    false => self.type_of_target(target, one, at, here),
                })
            }
            _ if value.span == at => self.assigned_before(target, here),
            _ => None,
        }
    }

    /// The type of a variable, or of another expression.
    fn type_known(&self, expr: &Expr) -> Ty {
        let function = self.function();
        let local = match &expr.kind {
            ExprKind::Name(name) => function.names.local(name),
            _ => None,
        };
        local.map_or(function.types[expr.id as usize], |local| {
            function.locals[local as usize]
        })
    }

    /// Where a variable, or the list, array or object that a target is a part of, has its type from.
    fn assigned_before(&self, target: &Expr, here: Span) -> Option<(Span, String)> {
        let mut whole = target;
        while let ExprKind::Subscript { value, .. } | ExprKind::Slice { value, .. } | ExprKind::Slices { value, .. } =
            &whole.kind
        {
            whole = value;
        }
        if let ExprKind::Name(_) = &whole.kind {
            return self.earlier_assignment(whole, here);
        }
        let host = match &whole.kind {
            ExprKind::Attribute { .. } => ", as on the host or where it was assigned first",
            _ => "",
        };
        let ty = self.function().types[whole.id as usize];
        Some((whole.span, format!("this is {}{host}", self.words(ty))))
    }

    /// The other operand of a comparison or operation, or the first argument of a built-in function.
    fn operand(&self, stmt: &Stmt, at: Span) -> Option<(Span, String)> {
        let mut found = None;
        walk_exprs(std::slice::from_ref(stmt), &mut |expr| {
            let other = match &expr.kind {
                ExprKind::Compare { first, rest } => {
                    let operands: Vec<&Expr> = std::iter::once(&**first)
                        .chain(rest.iter().map(|(_, one)| one))
                        .collect();
                    let Some(place) = operands.iter().position(|operand| operand.span == at) else {
                        return;
                    };
                    operands[if place == 0 { 1 } else { place - 1 }]
                }
                ExprKind::Binary { left, right, .. } if right.span == at => left,
                ExprKind::Binary { left, right, .. } if left.span == at => right,
                ExprKind::Call { args, .. } if args.iter().skip(1).any(|arg| arg.span == at) => &args[0],
                _ => return,
            };
            let ty = self.function().types[other.id as usize];
            found.get_or_insert((other.span, format!("this is {}", self.words(ty))));
        });
        found
    }

    /// Where a variable is assigned other than in `here`.
    fn earlier_assignment(&self, target: &Expr, here: Span) -> Option<(Span, String)> {
        let ExprKind::Name(name) = &target.kind else {
            return None;
        };
        let function = self.function();
        let local = function.names.local(name)?;
        let ty = function.locals[local as usize];
        let first = function.names.locals[local as usize].span;
        let text = format!("'{name}' is {} here", self.words(ty));
        if !(here.start <= first.start && first.end <= here.end) {
            return Some((first, text));
        }
        let mut found = None;
        walk_stmts(&function.ast.body, &mut |other| {
            other.kind.each_variable(&mut |variable, span| {
                if variable == name && other.span != here {
                    found.get_or_insert(span);
                }
            });
        });
        found.map(|span| (span, text))
    }

    fn other_return(&self, here: Span) -> Option<(Span, String)> {
        let function = self.function();
        let words = self.words(function.returns);
        if function.info.returns.is_some() {
            return Some((function.ast.name_span, format!("declared to return {words}")));
        }
        let mut found = None;
        walk_stmts(&function.ast.body, &mut |stmt| {
            if matches!(stmt.kind, StmtKind::Return(_)) && stmt.span != here {
                found.get_or_insert(stmt.span);
            }
        });
        found.map(|span| (span, format!("returns {words} here")))
    }

    /// The first element of the list, or the other branch, of which `at` is a part.
    fn list_or_branch(&self, stmt: &Stmt, at: Span) -> Option<(Span, String)> {
        let mut found = None;
        walk_exprs(std::slice::from_ref(stmt), &mut |expr| {
            let first = match &expr.kind {
                ExprKind::List(elements) | ExprKind::BoolOp { values: elements, .. }
                    if elements.iter().skip(1).any(|element| element.span == at) =>
                {
                    &elements[0]
                }
                ExprKind::IfExp { body, orelse, .. } if orelse.span == at => body,
                _ => return,
            };
            let ty = self.function().types[first.id as usize];
            found.get_or_insert((first.span, format!("this is {}", self.words(ty))));
        });
        found
    }

    /// The parameter that gets the argument at `at`.
    fn parameter(&self, stmt: &Stmt, at: Span) -> Option<(Span, String)> {
        let mut found = None;
        walk_exprs(std::slice::from_ref(stmt), &mut |expr| {
            let ExprKind::Call { callee, args, keywords } = &expr.kind else {
                return;
            };
            let positional = args.iter().position(|arg| arg.span == at);
            let keyword = keywords.iter().find(|keyword| keyword.value.span == at);
            if positional.is_none() && keyword.is_none() {
                return;
            }
            let kind = self
                .context
                .program
                .types
                .kind(self.function().types[callee.id as usize]);
            let (key, skip) = match kind {
                crate::types::Kind::Function(handle) => ((*handle, None), 0),
                crate::types::Kind::Method { function, class } => ((*function, Some(*class)), 1),
                _ => return,
            };
            let Some(&id) = self.context.program.function_index.get(&key) else {
                return;
            };
            let callee = &self.context.program.functions[id];
            let place = match keyword {
                Some(keyword) => callee.info.params.iter().position(|param| param.name == keyword.name),
                None => positional.map(|index| index + skip),
            };
            let library = matches!(callee.info.kind, FunctionKind::Compiled { library: true, .. });
            if let Some(param) = place
                .and_then(|place| callee.ast.params.get(place))
                .filter(|_| !library)
            {
                let ty = callee.locals[place.expect("found above")];
                let from = match callee.info.params[place.expect("found above")].annotation {
                    Some(_) => "by its annotation",
                    None if param.has_default => "as its default or in an earlier call",
                    None => "in an earlier call, or by its use",
                };
                found.get_or_insert((param.span, format!("'{}' is {}, {from}", param.name, self.words(ty))));
            }
        });
        found
    }

    /// The host function without a return annotation whose result is at `at`, directly or in a
    /// variable.
    fn untyped_call(&self, stmt: &Stmt, at: Span) -> Option<String> {
        let function = self.function();
        let inside = |span: Span| span.file == at.file && at.start <= span.start && span.end <= at.end;
        let untyped = |expr: &Expr| match function.facts.get(&expr.id) {
            Some(Fact::Call(CallTarget::Rpc(handle), _)) => {
                let info = self.context.program.function_infos.get(handle)?;
                info.returns.is_none().then(|| info.name.to_string())
            }
            _ => None,
        };
        let (mut found, mut beside, mut variables) = (None, None, vec![]);
        let mut note = |expr: &Expr| {
            if !inside(expr.span) {
                // The other operand of a comparison.
                beside = beside.take().or_else(|| untyped(expr));
                return;
            }
            found = found.take().or_else(|| untyped(expr));
            if let ExprKind::Name(name) = &expr.kind {
                if matches!(function.names.of(expr), Name::Local(_)) {
                    variables.push(name.clone());
                }
            }
        };
        stmt.kind.each_part(&mut |part| {
            if let Part::Expr(expr) | Part::Target(expr, _) | Part::Update(expr) = part {
                walk_expr(expr, &mut note);
            }
        });
        walk_stmts(&function.ast.body, &mut |other| {
            if let StmtKind::Assign { targets, value } = &other.kind {
                let set = |target: &Expr| matches!(&target.kind, ExprKind::Name(name) if variables.contains(name));
                if found.is_none() && targets.iter().any(set) {
                    found = untyped(value);
                }
            }
        });
        found.or(beside)
    }

    fn words(&self, ty: Ty) -> String {
        self.context.program.types.words(ty)
    }
}
