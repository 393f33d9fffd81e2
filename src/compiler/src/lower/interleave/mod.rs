//! `with interleave`: its statements start at the same time, and their events are merged in time
//! order at compile time. All delays in them must therefore be constant: functions that delay are
//! inlined, loops over ranges are unrolled.

mod constants;

use std::collections::HashMap;
use std::mem::swap;

use crate::builtins::{LONGEST, NO_TIME};
use crate::diagnostic::{Diagnostic, Result};
use crate::emit::{Cursor, Emitter};
use crate::ir::*;
use crate::language::{Builtin, Order, Time};
use crate::names::LocalId;
use crate::program::{ArgSource, CallTarget, Fact, FunctionId, FunctionInstance};
use crate::source::Span;
use crate::syntax::*;
use crate::types::{self, Kind};
use constants::{assigns, number};

/// Maximum number of steps of all statements, unrolled loops included.
const MOST_STEPS: usize = 10_000;
/// Maximum call depth of functions that delay.
const DEEPEST: usize = 32;

/// A function whose statements are interleaved: the enclosing one, or an inlined one.
struct Frame<'p> {
    function: &'p FunctionInstance,
    locals: Vec<Value>,
    closures: HashMap<ExprId, Value>,
    /// Variables with a constant value.
    known: HashMap<LocalId, Value>,
    /// The outermost call site in the enclosing function; None for the enclosing function itself.
    called: Option<Span>,
    depth: usize,
}

/// An event at one point in time, or a delay in machine units.
#[derive(Clone)]
enum Step<'p> {
    Delay(i64),
    Statement(usize, &'p Stmt),
    Expression(usize, &'p Expr),
    /// Assigns the next value to a loop variable.
    Next(usize, &'p Expr, Value, types::Ty),
    /// Evaluates the arguments of a call in the first frame and assigns them to variables of the
    /// second.
    Enter(usize, usize, &'p Expr),
}

struct Interleave<'e, 'm, 'p> {
    emitter: &'e mut Emitter<'m, 'p>,
    frames: Vec<Frame<'p>>,
    /// Whether functions move the time cursor; filled on demand.
    delaying: HashMap<FunctionId, bool>,
    steps: usize,
}

impl<'p> Emitter<'_, 'p> {
    pub(super) fn interleave(&mut self, body: &'p [Stmt]) -> Result<()> {
        let frame = Frame {
            function: self.function,
            locals: self.locals.clone(),
            closures: self.closures.clone(),
            known: HashMap::new(),
            called: self.build.inlined_at,
            depth: 0,
        };
        let mut interleave = Interleave {
            emitter: self,
            frames: vec![frame],
            delaying: HashMap::new(),
            steps: 0,
        };
        let steps = interleave.merged(0, body)?;
        interleave.run(steps)
    }
}

/// Merges the steps of statements that start at the same time into time order; simultaneous steps
/// keep the order of the statements.
fn merge(threads: Vec<Vec<Step>>) -> Vec<Step> {
    let mut threads: Vec<_> = threads
        .into_iter()
        .map(|steps| (0, steps.into_iter().peekable()))
        .collect();
    let (mut merged, mut now) = (vec![], 0);
    let mut go = |merged: &mut Vec<_>, to: i64| {
        if to != now {
            merged.push(Step::Delay(to - now));
            now = to;
        }
    };
    loop {
        for (time, steps) in &mut threads {
            while let Some(Step::Delay(delay)) = steps.next_if(|step| matches!(step, Step::Delay(_))) {
                *time += delay;
            }
        }
        let waiting = threads.iter_mut().filter_map(|(time, steps)| {
            steps.peek()?;
            Some((*time, steps))
        });
        let Some((time, steps)) = waiting.min_by_key(|(time, _)| *time) else {
            break;
        };
        go(&mut merged, time);
        merged.extend(steps.next());
    }
    let end = threads.iter().map(|(time, _)| *time).max();
    go(&mut merged, end.unwrap_or(0));
    merged
}

/// The builtin if it moves the time cursor.
fn delay_of(kind: &Kind) -> Option<Time> {
    match kind {
        Kind::Builtin(Builtin::Time(time @ (Time::Delay | Time::DelayMu | Time::AtMu))) => Some(*time),
        _ => None,
    }
}

/// Whether a statement may transfer control elsewhere than to the next one.
fn leaves(stmt: &Stmt) -> bool {
    fn inside(stmt: &Stmt, looped: bool) -> bool {
        let mut blocks = vec![];
        stmt.kind.each_part(&mut |part| {
            if let Part::Block(block) = part {
                blocks.push(block);
            }
        });
        let looped = match stmt.kind.flow() {
            Flow::Return(_) => return true,
            Flow::Break | Flow::Continue => return !looped,
            Flow::Loop { .. } => true,
            _ => looped,
        };
        blocks.into_iter().flatten().any(|stmt| inside(stmt, looped))
    }
    inside(stmt, false)
}

impl<'p> Interleave<'_, '_, 'p> {
    /// The merged steps of statements that start at the same time.
    fn merged(&mut self, frame: usize, body: &'p [Stmt]) -> Result<Vec<Step<'p>>> {
        let mut threads = vec![];
        for stmt in body {
            let mut steps = vec![];
            self.stmt(frame, stmt, &mut steps)?;
            threads.push(steps);
        }
        Ok(merge(threads))
    }

    fn body(&mut self, frame: usize, body: &'p [Stmt], steps: &mut Vec<Step<'p>>) -> Result<()> {
        body.iter().try_for_each(|stmt| self.stmt(frame, stmt, steps))
    }

    fn push(&mut self, span: Span, step: Step<'p>, steps: &mut Vec<Step<'p>>) -> Result<()> {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            let text = format!("more than {MOST_STEPS} steps cannot be interleaved");
            return Err(Diagnostic::new(span, text));
        }
        steps.push(step);
        Ok(())
    }

    fn stmt(&mut self, frame: usize, stmt: &'p Stmt, steps: &mut Vec<Step<'p>>) -> Result<()> {
        let function = self.frames[frame].function;
        let cannot = |what: &str| Err(Diagnostic::new(stmt.span, format!("{what} cannot be interleaved")));
        let order = |context: &Expr| match self
            .emitter
            .module
            .program
            .types
            .kind(function.types[context.id as usize])
        {
            Kind::Builtin(Builtin::Order(order)) => Some(*order),
            _ => None,
        };
        match &stmt.kind {
            StmtKind::With { context, body } => match order(context) {
                Some(Order::Sequential) => self.body(frame, body, steps),
                Some(Order::Interleave) => {
                    let merged = self.merged(frame, body)?;
                    steps.extend(merged);
                    Ok(())
                }
                _ => cannot("with statement"),
            },
            _ if !self.moves(function, stmt) => {
                if leaves(stmt) {
                    let text = "cannot interleave this 'with interleave:' statement";
                    let error = Diagnostic::new(stmt.span, text);
                    return Err(error.primary_note("this leaves it, or a function that is called in it"));
                }
                self.push(stmt.span, Step::Statement(frame, stmt), steps)
            }
            StmtKind::Expr(expr) => self.expression(frame, expr, steps),
            StmtKind::For(stmt) => self.unrolled(frame, stmt, steps),
            StmtKind::While { .. } => cannot("while statement"),
            StmtKind::If { .. } => cannot("if statement"),
            StmtKind::Try(_) => cannot("try statement"),
            _ => {
                let text = "it is not possible to interleave this function call";
                Err(Diagnostic::new(stmt.span, text).help("put the call that delays into its own statement"))
            }
        }
    }

    /// Appends the steps of an expression statement that delays.
    fn expression(&mut self, frame: usize, expr: &'p Expr, steps: &mut Vec<Step<'p>>) -> Result<()> {
        let function = self.frames[frame].function;
        let ExprKind::Call { callee, args, .. } = &expr.kind else {
            let text = "it is not possible to interleave this function call";
            return Err(Diagnostic::new(expr.span, text).help("put the call that delays into its own statement"));
        };
        let time = delay_of(
            self.emitter
                .module
                .program
                .types
                .kind(function.types[callee.id as usize]),
        );
        let known = match (time, &args[..]) {
            (Some(Time::Delay | Time::DelayMu), [arg]) => self.constant(frame, arg)?,
            _ => None,
        };
        let delay = match known.as_ref().map(|value| (value.as_int(), value.as_float())) {
            Some((Some(units), _)) => Some(units),
            Some((_, Some(seconds))) => {
                // Rounded, as everywhere; the reference truncates here.
                let units = (seconds / self.emitter.module.target.ref_period).round();
                if !(-LONGEST..LONGEST).contains(&units) {
                    return Err(Diagnostic::new(args[0].span, NO_TIME));
                }
                Some(units as i64)
            }
            _ => None,
        };
        match (time, delay) {
            (Some(_), Some(delay)) => self.push(expr.span, Step::Delay(delay), steps),
            (Some(Time::AtMu), _) => Err(Diagnostic::new(expr.span, "at_mu() cannot be interleaved")),
            (Some(_), None) => {
                let text = "call cannot be interleaved because an argument cannot be statically evaluated";
                Err(Diagnostic::new(expr.span, text).help("delays in 'with interleave' must be constants"))
            }
            (None, _) => self.inlined(frame, expr, steps),
        }
    }

    /// Inlines a call of a function that delays.
    fn inlined(&mut self, frame: usize, call: &'p Expr, steps: &mut Vec<Step<'p>>) -> Result<()> {
        let caller = &self.frames[frame];
        let program = self.emitter.module.program;
        let (callee, sources) = match caller.function.facts.get(&call.id) {
            Some(Fact::Call(CallTarget::Compiled(id), sources)) => (&program.functions[*id], sources),
            _ => {
                return Err(Diagnostic::new(
                    call.span,
                    "it is not possible to interleave this function call",
                ))
            }
        };
        let on_other_board = callee.info.kind.destination() != caller.function.info.kind.destination();
        if caller.depth == DEEPEST || on_other_board && callee.info.kind.destination().is_some() {
            return Err(Diagnostic::new(
                call.span,
                "it is not possible to interleave this function call",
            ));
        }
        let ExprKind::Call { args, keywords, .. } = &call.kind else {
            unreachable!("it has the fact of a call")
        };
        let (called, depth) = (caller.called.or(Some(call.span)), caller.depth + 1);
        let mut known = HashMap::new();
        for (index, source) in sources.iter().enumerate() {
            let param = &callee.ast.params[index];
            let value = match source {
                _ if assigns(&callee.ast.body, &param.name) => None,
                ArgSource::Positional(place) => self.constant(frame, &args[*place])?,
                ArgSource::Keyword(place) => self.constant(frame, &keywords[*place].value)?,
                ArgSource::Default(value) => {
                    let ty = self.emitter.module.ir_type(callee.locals[index]);
                    number(self.emitter.module.constant(value, &ty))
                }
                ArgSource::Receiver | ArgSource::Kept(_) | ArgSource::Within(..) => None,
            };
            known.extend(value.map(|value| (index as LocalId, value)));
        }
        let types = callee.locals.iter().map(|&ty| self.emitter.module.ir_type(ty));
        let types: Vec<_> = types.collect();
        let locals = types.into_iter().map(|ty| self.emitter.build.slot(ty)).collect();
        let inner = self.frames.len();
        self.frames.push(Frame {
            function: callee,
            locals,
            closures: HashMap::new(),
            known,
            called,
            depth,
        });
        self.push(call.span, Step::Enter(frame, inner, call), steps)?;
        let Some((last, before)) = callee.ast.body.split_last() else {
            return Ok(());
        };
        self.body(inner, before, steps)?;
        match &last.kind {
            StmtKind::Return(None) => Ok(()),
            StmtKind::Return(Some(value)) if self.moves(callee, last) => self.expression(inner, value, steps),
            StmtKind::Return(Some(value)) => self.push(last.span, Step::Expression(inner, value), steps),
            _ => self.stmt(inner, last, steps),
        }
    }

    /// Unrolls a loop that delays.
    fn unrolled(&mut self, frame: usize, stmt: &'p For, steps: &mut Vec<Step<'p>>) -> Result<()> {
        let function = self.frames[frame].function;
        let (values, local) = match (self.range(frame, &stmt.iter)?, &stmt.target.kind) {
            (Some(values), ExprKind::Name(name)) => (values, function.names.local(name)),
            _ => {
                let text = "for statement cannot be interleaved because iteration count is indeterminate";
                return Err(Diagnostic::new(stmt.iter.span, text).help("loop over range() of constants"));
            }
        };
        let local = local.expect("the loop's variable");
        let ty = function.locals[local as usize];
        let constant = !assigns(&stmt.body, &function.names.locals[local as usize].name);
        for value in values {
            if constant {
                self.frames[frame].known.insert(local, value.clone());
            }
            self.push(stmt.target.span, Step::Next(frame, &stmt.target, value, ty), steps)?;
            self.body(frame, &stmt.body, steps)?;
        }
        self.frames[frame].known.remove(&local);
        self.body(frame, &stmt.orelse, steps)
    }

    /// Whether a statement of `function` moves the time cursor.
    fn moves(&mut self, function: &'p FunctionInstance, stmt: &'p Stmt) -> bool {
        let types = &self.emitter.module.program.types;
        let (mut found, mut called) = (false, vec![]);
        walk_exprs(std::slice::from_ref(stmt), &mut |expr| {
            if let ExprKind::Call { callee, .. } = &expr.kind {
                found |= delay_of(types.kind(function.types[callee.id as usize])).is_some();
            }
            let mut note = |target: &CallTarget| {
                if let CallTarget::Compiled(id) = target {
                    // A call of a subkernel only starts it and does not move the cursor.
                    let other = self.emitter.module.program.functions[*id].info.kind.destination();
                    if other.is_none() || other == function.info.kind.destination() {
                        called.push(*id);
                    }
                }
            };
            match function.facts.get(&expr.id) {
                Some(Fact::Call(target, _)) => note(target),
                Some(Fact::Choice(calls)) => calls.iter().for_each(|(_, target, _)| note(target)),
                _ => {}
            }
        });
        found || called.into_iter().any(|id| self.function_moves(id))
    }

    fn function_moves(&mut self, id: FunctionId) -> bool {
        if let Some(&known) = self.delaying.get(&id) {
            return known;
        }
        self.delaying.insert(id, false);
        let function = &self.emitter.module.program.functions[id];
        let moves = function.ast.body.iter().any(|stmt| self.moves(function, stmt));
        self.delaying.insert(id, moves);
        moves
    }

    /// Generates code in the context of a frame's function.
    fn within<T>(&mut self, frame: usize, make: impl FnOnce(&mut Emitter<'_, 'p>) -> Result<T>) -> Result<T> {
        let (emitter, frame) = (&mut *self.emitter, &mut self.frames[frame]);
        let exchange = |emitter: &mut Emitter<'_, 'p>, frame: &mut Frame<'p>| {
            swap(&mut emitter.function, &mut frame.function);
            swap(&mut emitter.locals, &mut frame.locals);
            swap(&mut emitter.closures, &mut frame.closures);
        };
        let outer = std::mem::replace(&mut emitter.build.inlined_at, frame.called);
        exchange(emitter, frame);
        let made = make(emitter);
        exchange(emitter, frame);
        emitter.build.inlined_at = outer;
        made
    }

    fn run(&mut self, steps: Vec<Step<'p>>) -> Result<()> {
        let start = self.emitter.now_mu();
        let (mut wanted, mut now) = (0, 0);
        for step in steps {
            if let Step::Delay(delay) = step {
                wanted += delay;
                continue;
            }
            self.go(&start, wanted, &mut now);
            match step {
                Step::Statement(frame, stmt) => {
                    self.within(frame, |emitter| emitter.body(std::slice::from_ref(stmt)))?;
                }
                Step::Expression(frame, expr) => {
                    self.within(frame, |emitter| emitter.expr(expr))?;
                }
                Step::Next(frame, target, value, ty) => {
                    self.within(frame, |emitter| emitter.assign(target, value, ty))?;
                }
                Step::Enter(caller, callee, call) => {
                    let (function, values) = self.within(caller, |emitter| emitter.values_passed(call))?;
                    let inner = self.frames[callee].function;
                    for capture in &inner.names.captures {
                        let place = self.emitter.address_captured(inner, &function, capture.own);
                        self.frames[callee].locals[capture.own as usize] = place.expect("it is captured");
                    }
                    self.within(callee, |emitter| {
                        for (value, slot) in values.into_iter().zip(emitter.locals.clone()) {
                            emitter.build.store(value, &slot);
                        }
                        emitter.make_inner_functions();
                        Ok(())
                    })?;
                }
                Step::Delay(_) => {}
            }
            if self.emitter.build.is_closed() {
                return Ok(());
            }
        }
        self.go(&start, wanted, &mut now);
        Ok(())
    }

    fn go(&mut self, start: &Value, wanted: i64, now: &mut i64) {
        if wanted != *now {
            let time = Value::int(Ty::I64, wanted);
            let time = self.emitter.build.binary(Binary::Add, start.clone(), time);
            self.emitter.set_cursor(Cursor::At, time);
            *now = wanted;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interleaved_steps_are_ordered_by_time_then_statement() {
        let expr = |id| Expr {
            id,
            span: Span::default(),
            kind: ExprKind::None,
        };
        let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(expr);
        let does = |expr| Step::Expression(0, expr);
        let first = vec![does(&a), Step::Delay(3), does(&b)];
        let second = vec![
            does(&c),
            Step::Delay(2),
            does(&d),
            Step::Delay(2),
            does(&e),
            Step::Delay(-4),
        ];
        let mut reported = vec![];
        for step in merge(vec![first, second]) {
            reported.push(match step {
                Step::Delay(delay) => ("wait", delay),
                Step::Expression(_, expr) => ("do", expr.id.into()),
                _ => unreachable!("there is no other"),
            });
        }
        let wanted = [
            ("do", 0),
            ("do", 2),
            ("wait", 2),
            ("do", 3),
            ("wait", 1),
            ("do", 1),
            ("wait", 1),
            ("do", 4),
        ];
        assert_eq!(reported[..8], wanted);
        assert_eq!(reported[8..], [("wait", -1)]);
    }
}
