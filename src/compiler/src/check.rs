//! Control-flow checks: variables are set before they are read, every path returns, `break` and
//! `continue` are inside loops.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::diagnostic::{Diagnostic, Result};
use crate::language::{Builtin, Number};
use crate::names::{LocalId, Name, Names};
use crate::program::{Fact, FunctionInstance, Program};
use crate::syntax::*;
use crate::types::Kind;
use crate::warnings::Warnings;

/// Checks one function, whose types are known, and adds to the program's `warnings`.
pub fn check(function: &FunctionInstance, program: &Program, warnings: &mut Warnings) -> Result<()> {
    let types = &program.types;
    let mut sets_within = false;
    walk_exprs(&function.ast.body, &mut |expr| {
        sets_within |= matches!(expr.kind, ExprKind::Named { .. });
    });
    let mut check = Check {
        function,
        program,
        names: function.names.clone(),
        sets_within,
        loops: vec![],
        warnings,
    };
    let mut params: Set = (0..function.ast.params.len() as LocalId).collect();
    params.extend(function.names.captures.iter().map(|capture| capture.own));
    let end = check.body(&function.ast.body, Some(params))?;
    if end.is_some() && *types.kind(function.returns) != Kind::None {
        let name = types.name(function.returns);
        let text = format!("this function must return a value of type {name} explicitly");
        return Err(
            Diagnostic::new(function.ast.name_span, text).primary_note("a path through it ends without 'return'")
        );
    }
    Ok(())
}

/// The variables that are set on every path.
type Set = BTreeSet<LocalId>;

/// The state at a point of the program; None if the point is never reached.
type State = Option<Set>;

struct Check<'a> {
    function: &'a FunctionInstance,
    program: &'a Program,
    names: Rc<Names>,
    /// Whether expressions of the function set variables.
    sets_within: bool,
    /// For each enclosing loop, the variables set at its `break`s.
    loops: Vec<State>,
    warnings: &'a mut Warnings,
}

fn join(a: State, b: State) -> State {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.intersection(&b).copied().collect()),
        (a, b) => a.or(b),
    }
}

/// Whether control never reaches the statement that follows this one.
fn leaves(stmt: &Stmt) -> bool {
    matches!(
        stmt.kind.flow(),
        Flow::Return(_) | Flow::Raise | Flow::Break | Flow::Continue
    )
}

fn outside_loop(stmt: &Stmt, word: &str) -> Box<Diagnostic> {
    Diagnostic::new(stmt.span, format!("{word} statement outside of a loop"))
}

impl Check<'_> {
    fn body(&mut self, body: &[Stmt], mut state: State) -> Result<State> {
        for (index, stmt) in body.iter().enumerate() {
            // Code after a return is not compiled.
            let Some(set) = state else {
                if let Some(before) = index.checked_sub(1).filter(|&before| leaves(&body[before])) {
                    self.unreachable(stmt, &body[before]);
                }
                return Ok(None);
            };
            state = self.stmt(stmt, set)?;
        }
        Ok(state)
    }

    /// Warns of a statement that follows one which never falls through to it.
    fn unreachable(&mut self, stmt: &Stmt, before: &Stmt) {
        let warning = Diagnostic::new(stmt.span, "unreachable code");
        self.warnings
            .add(*warning.label(before.span, "never continues past this"));
    }

    /// Warns of clauses after one that catches every exception.
    fn never_caught(&mut self, stmt: &Try) {
        let types = &self.program.types;
        let kind_of = |class: &Expr| types.kind(self.function.types[class.id as usize]);
        let is_any = |class: &Expr| matches!(kind_of(class), Kind::Builtin(Builtin::AnyException));
        let is_one = |class: &Expr| !matches!(kind_of(class), Kind::ExceptionClass(class) if !class.is_ordinary);
        let catches_any = |handler: &&Handler| handler.classes.as_ref().is_some_and(|of| of.iter().any(is_any));
        // Clauses for all exceptions after `except Exception` may catch `KeyboardInterrupt` and the like.
        let catches_none = |handler: &&Handler| handler.classes.as_ref().is_some_and(|of| of.iter().all(is_one));
        let mut handlers = stmt.handlers.iter();
        if let (Some(before), Some(after)) = (handlers.find(catches_any), handlers.find(catches_none)) {
            let warning = Diagnostic::new(after.span, "this clause never catches anything");
            let warning = warning.label(before.span, "catches every `Exception`");
            self.warnings
                .add(*warning.help("put the clause for all exceptions last"));
        }
    }

    /// Warns of conditions that are probably mistakes: `test` and conditions within `expr`.
    fn conditions(&mut self, expr: &Expr, test: bool) {
        let mut tested = vec![];
        if test {
            tested.push(expr);
        }
        walk_expr(expr, &mut |expr| match &expr.kind {
            ExprKind::Unary {
                op: UnaryOp::Not,
                operand,
            } => tested.push(operand),
            ExprKind::BoolOp { values, .. } => {
                let (last, others) = values.split_last().expect("there are two at least");
                tested.extend(others);
                // The last operand is the result of the expression.
                if self.function.is_equality_of_arrays(last, &self.program.types) {
                    tested.push(last);
                }
            }
            ExprKind::IfExp { test, .. } => tested.push(test),
            ExprKind::Generator { clauses, .. } => tested.extend(clauses.iter().flat_map(|clause| &clause.tests)),
            ExprKind::Call { callee, args, .. } if self.is_truth_test(callee) => tested.extend(args),
            _ => {}
        });
        for expr in tested {
            self.condition(expr);
        }
    }

    fn is_truth_test(&self, callee: &Expr) -> bool {
        let kind = self.program.types.kind(self.function.types[callee.id as usize]);
        matches!(kind, Kind::Builtin(Builtin::Number(Number::Bool)))
    }

    /// Warns of functions used as a condition, which are always true, and of arrays, whose truth
    /// value NumPy does not define.
    fn condition(&mut self, expr: &Expr) {
        if self.function.is_equality_of_arrays(expr, &self.program.types) {
            let text =
                "arrays are compared as a whole in this condition: they are equal if shape and elements are equal";
            let warning = Diagnostic::new(expr.span, text);
            return self
                .warnings
                .add(*warning.help("write np.all(…) or np.any(…) around it, as NumPy requires"));
        }
        let what = match self.program.types.kind(self.function.types[expr.id as usize]) {
            Kind::Function(_) | Kind::Closure(_) | Kind::Choice(_) => "a function",
            Kind::Method { .. } => "a method",
            Kind::Builtin(_) | Kind::ExceptionClass(_) => "a function or class of the language",
            Kind::Namespace(..) => "a module or class",
            Kind::Array(..) | Kind::View(..) => {
                let text = "this array counts as true if its length is not 0, whatever its elements";
                let warning = Diagnostic::new(expr.span, text);
                let advice = "write len(…) > 0 if that is meant, np.any(…) or np.all(…) if not; NumPy tests an array's only element";
                return self.warnings.add(*warning.help(advice));
            }
            _ => return,
        };
        let text = format!("this condition is always true: it is {what}, which is not called");
        self.warnings
            .add(*Diagnostic::new(expr.span, text).help("add () to test what it returns"));
    }

    fn stmt(&mut self, stmt: &Stmt, set: Set) -> Result<State> {
        let test = stmt.kind.test().is_some();
        stmt.kind.each_part(&mut |part| {
            if let Part::Expr(expr) = part {
                self.conditions(expr, test);
            }
        });
        match stmt.kind.flow() {
            Flow::On => self.parts(stmt, set),
            Flow::Branch => {
                let (blocks, after) = self.head(stmt, set.clone())?;
                let sets = match stmt.kind.test() {
                    Some(test) if self.sets_within => self.tested(test, set)?,
                    _ => [after.clone(), after],
                };
                let ends = blocks.into_iter().zip(sets);
                let ends = ends.map(|(block, set)| self.body(block, Some(set)));
                ends.reduce(|a, b| Ok(join(a?, b?))).expect("a branch has blocks")
            }
            Flow::Loop { endless } => self.looped(stmt, set, endless),
            Flow::Try(stmt) => {
                self.never_caught(stmt);
                let before = set.clone();
                let end = self.body(&stmt.body, Some(set))?;
                let mut end = self.body(&stmt.orelse, end)?;
                for handler in &stmt.handlers {
                    let mut inside = before.clone();
                    if let Some(local) = handler.name.as_ref().and_then(|name| self.names.local(name)) {
                        inside.insert(local);
                    }
                    let handled = self.body(&handler.body, Some(inside))?;
                    end = join(end, handled);
                }
                let finally = self.body(&stmt.finally, Some(before))?;
                let Some(finally) = finally else { return Ok(None) };
                Ok(end.map(|end| end.union(&finally).copied().collect()))
            }
            Flow::Raise | Flow::Return(_) => {
                self.parts(stmt, set)?;
                Ok(None)
            }
            Flow::Break => {
                let at_break = self.loops.last_mut().ok_or_else(|| outside_loop(stmt, "break"))?;
                *at_break = join(at_break.take(), Some(set));
                Ok(None)
            }
            Flow::Continue if self.loops.is_empty() => Err(outside_loop(stmt, "continue")),
            Flow::Continue => Ok(None),
        }
    }

    /// Checks the parts of a statement in order.
    fn parts(&mut self, stmt: &Stmt, set: Set) -> Result<State> {
        let (blocks, set) = self.head(stmt, set)?;
        let mut state = Some(set);
        for block in blocks {
            state = self.body(block, state)?;
        }
        Ok(state)
    }

    /// Checks the expressions and targets of a statement; returns its blocks and the variables set
    /// before them.
    fn head<'a>(&mut self, stmt: &'a Stmt, mut set: Set) -> Result<(Vec<&'a [Stmt]>, Set)> {
        let (mut blocks, mut result) = (vec![], Ok(()));
        stmt.kind.each_part(&mut |part| {
            if result.is_err() {
                return;
            }
            match part {
                Part::Expr(expr) | Part::Update(expr) => result = self.uses(expr, &mut set),
                Part::Target(target, _) => result = self.assign(target, &mut set),
                Part::Variable(name, _) => set.extend(self.names.local(name)),
                Part::Block(block) => blocks.push(block),
            }
        });
        result.map(|()| (blocks, set))
    }

    /// Checks a loop: variables that its head sets are set in the body, but perhaps not after the
    /// loop.
    fn looped(&mut self, stmt: &Stmt, before: Set, endless: bool) -> Result<State> {
        let (blocks, inside) = self.head(stmt, before.clone())?;
        let [inside, before] = match stmt.kind.test() {
            Some(test) if self.sets_within => self.tested(test, before)?,
            _ => [inside, before],
        };
        let [body, orelse] = blocks[..] else {
            unreachable!("a loop has a body and an 'else'")
        };
        self.loops.push(None);
        self.body(body, Some(inside))?;
        let at_break = self.loops.pop().expect("pushed above");
        let end = self.body(orelse, (!endless).then_some(before))?;
        Ok(join(end, at_break))
    }

    fn assign(&self, target: &Expr, set: &mut Set) -> Result<()> {
        match &target.kind {
            ExprKind::Name(name) => {
                set.extend(self.names.local(name));
                Ok(())
            }
            ExprKind::Tuple(elements) | ExprKind::List(elements) => {
                elements.iter().try_for_each(|element| self.assign(element, set))
            }
            _ => self.uses(target, set),
        }
    }

    /// Checks the names in an expression in the order of evaluation, and adds the variables that it sets
    /// whatever its values are.
    fn uses(&self, expr: &Expr, set: &mut Set) -> Result<()> {
        match &expr.kind {
            ExprKind::Name(name) => self.is_set(expr, name, set),
            ExprKind::Function { .. } => {
                self.each_use(expr, set)?;
                match self.function.facts.get(&expr.id) {
                    Some(Fact::Function(inner)) if !self.program.functions[*inner].is_dead() => {
                        self.captured(&self.program.functions[*inner], set)
                    }
                    _ => Ok(()),
                }
            }
            _ if !self.sets_within => self.each_use(expr, set),
            ExprKind::Named { target, value } => {
                self.uses(value, set)?;
                self.assign(target, set)
            }
            ExprKind::BoolOp { .. } | ExprKind::IfExp { .. } | ExprKind::Unary { op: UnaryOp::Not, .. } => {
                let [yes, no] = self.tested(expr, std::mem::take(set))?;
                set.extend(yes.intersection(&no));
                Ok(())
            }
            // What follows is not always evaluated.
            ExprKind::Compare { first, rest } => {
                self.uses(first, set)?;
                self.uses(&rest[0].1, set)?;
                let mut maybe = set.clone();
                rest[1..].iter().try_for_each(|(_, value)| self.uses(value, &mut maybe))
            }
            ExprKind::ListComp { clauses, .. } | ExprKind::Generator { clauses, .. } => {
                self.uses(&clauses[0].iter, set)?;
                self.each_use(expr, &mut set.clone())
            }
            _ => self.each_use(expr, set),
        }
    }

    fn each_use(&self, expr: &Expr, set: &mut Set) -> Result<()> {
        let mut result = Ok(());
        expr.kind.each_part(&mut |part| {
            if result.is_ok() {
                result = self.uses(part, set);
            }
        });
        result
    }

    /// Checks a condition; returns the variables that are set where it is true, and where it is false.
    fn tested(&self, test: &Expr, mut set: Set) -> Result<[Set; 2]> {
        match &test.kind {
            ExprKind::Unary {
                op: UnaryOp::Not,
                operand,
            } => self.tested(operand, set).map(|[yes, no]| [no, yes]),
            ExprKind::BoolOp { and, values } => {
                let mut ended: State = None;
                for value in values {
                    let [yes, no] = self.tested(value, set)?;
                    let (next, end) = if *and { (yes, no) } else { (no, yes) };
                    (set, ended) = (next, join(ended, Some(end)));
                }
                let ended = ended.expect("there are two operands at least");
                Ok(if *and { [set, ended] } else { [ended, set] })
            }
            ExprKind::IfExp { test, body, orelse } => {
                let [yes, no] = self.tested(test, set)?;
                let (body, orelse) = (self.tested(body, yes)?, self.tested(orelse, no)?);
                let mut both = body
                    .iter()
                    .zip(&orelse)
                    .map(|(a, b)| a.intersection(b).copied().collect());
                let mut next = || both.next().expect("there are two");
                Ok([next(), next()])
            }
            _ => {
                self.uses(test, &mut set)?;
                Ok([set.clone(), set])
            }
        }
    }

    fn is_set(&self, expr: &Expr, name: &Rc<str>, set: &Set) -> Result<()> {
        // A comprehension sets its own variables.
        if name.contains(COMPREHENSION) || !matches!(self.names.of(expr), Name::Local(local) if !set.contains(local)) {
            return Ok(());
        }
        let error = Diagnostic::new(expr.span, format!("variable '{name}' is not always initialized here"));
        let local = self.names.local(name).expect("found above");
        let error = error.label(
            self.names.locals[local as usize].span,
            "assigned here, but not on every path",
        );
        Err(error.help("give it a value before the loop or branch"))
    }

    /// Variables that a nested function captures must be set where the function is defined.
    fn captured(&self, inner: &FunctionInstance, set: &Set) -> Result<()> {
        for capture in &inner.names.captures {
            let local = &self.names.locals[capture.outer as usize];
            // Nested functions are defined from the beginning; a comprehension sets its own
            // variables.
            let is_function = matches!(
                self.program.types.kind(self.function.locals[capture.outer as usize]),
                Kind::Closure(_)
            );
            if set.contains(&capture.outer) || is_function || local.name.contains(COMPREHENSION) {
                continue;
            }
            let place = inner.names.locals[capture.own as usize].span;
            let text = format!(
                "variable '{}' can be captured in a closure uninitialized here",
                local.name
            );
            let error = Diagnostic::new(inner.ast.name_span, text).label(place, "used here");
            return Err(error.help("give it a value before the function is defined"));
        }
        Ok(())
    }
}
