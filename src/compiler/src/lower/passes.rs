//! What a pass of a loop does that polls the counter: whether it stays in the loop, and what it counts meanwhile.

use std::collections::BTreeSet;

use crate::language::{Builtin, Time};
use crate::names::LocalId;
use crate::program::{FunctionInstance, Program};
use crate::syntax::*;
use crate::types::Kind;

use super::trends::{Trend, Trends};

/// A loop whose body does nothing but to find out whether the counter has reached a time.
pub(super) struct Poll {
    /// Variables that the body assigns.
    pub assigned: BTreeSet<LocalId>,
    /// Variables that change by a constant in each pass.
    pub counts: Vec<(LocalId, i64)>,
    /// Whether it sets the time cursor, or moves it.
    pub cursor: CursorChange,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CursorChange {
    Never,
    /// By the same in each pass.
    Moves,
    Sets,
}

/// Whether a pass stays in the loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stays {
    Never,
    Always,
    /// While a truth value is true, which changes like this.
    While(Trend),
}

impl Stays {
    fn and(self, other: Stays) -> Option<Stays> {
        Some(match (self, other) {
            (Stays::Never, _) | (_, Stays::Never) => Stays::Never,
            (Stays::Always, one) | (one, Stays::Always) => one,
            (Stays::While(one), Stays::While(other)) => Stays::While(one.with(other)?),
        })
    }

    /// What a branch does, depending on a condition.
    fn either(test: Trend, yes: Stays, no: Stays) -> Option<Stays> {
        let trend = match (yes, no) {
            (one, other) if one == other && !matches!(one, Stays::While(_)) => return Some(one),
            (Stays::Always, Stays::Never) => test,
            (Stays::Never, Stays::Always) => test.reversed(),
            (Stays::Always | Stays::Never, Stays::While(other)) => {
                let own = if yes == Stays::Always { test } else { test.reversed() };
                own.with(other)?
            }
            (Stays::While(one), Stays::Always | Stays::Never) => {
                let own = if no == Stays::Always { test.reversed() } else { test };
                own.with(one)?
            }
            (Stays::While(one), Stays::While(other)) if test == Trend::Constant => one.with(other)?,
            _ => return None,
        };
        Some(Stays::While(trend))
    }
}

/// Describes the loop `while test: body` if it only polls the counter, or a loop over a range, which has no test
/// but a variable that changes by a constant.
pub(super) fn poll(
    program: &Program,
    function: &FunctionInstance,
    test: Option<&Expr>,
    index: Option<(LocalId, i64)>,
    body: &[Stmt],
) -> Option<Poll> {
    let mut pass = Pass {
        trends: Trends::new(program, function),
        counts: index.into_iter().collect(),
        assigned: vec![],
        cursor: CursorChange::Never,
    };
    pass.prepare(body)?;
    let mut stays = pass.stays(body, None)?;
    if let Some(test) = test {
        stays = stays.and(Stays::While(pass.trends.of_condition(test)?))?;
    }
    let Stays::While(trend) = stays else { return None };
    (trend != Trend::Constant && pass.trends.has_read()).then_some(Poll {
        assigned: pass.trends.assigned,
        counts: pass.counts,
        cursor: pass.cursor,
    })
}

/// A pass of a loop.
struct Pass<'a> {
    trends: Trends<'a>,
    counts: Vec<(LocalId, i64)>,
    /// The variable of each assignment.
    assigned: Vec<LocalId>,
    cursor: CursorChange,
}

impl Pass<'_> {
    /// Finds what is counted and assigned.
    fn prepare(&mut self, body: &[Stmt]) -> Option<()> {
        self.collect(body)?;
        let counted: BTreeSet<_> = self.counts.iter().map(|(local, _)| *local).collect();
        let counts_once = counted.len() == self.counts.len();
        (counts_once && self.assigned.iter().all(|local| !counted.contains(local))).then_some(())?;
        for &(local, by) in &self.counts {
            let trend = if by > 0 { Trend::Rises } else { Trend::Falls };
            self.trends.known.insert(local, trend);
        }
        self.trends.assigned = counted.iter().chain(&self.assigned).copied().collect();
        self.trends.counts = counted;
        Some(())
    }

    fn collect(&mut self, body: &[Stmt]) -> Option<()> {
        for stmt in body {
            match &stmt.kind {
                StmtKind::If { body, orelse, .. } => {
                    for block in [body, orelse].into_iter().filter(|block| !leaves(block)) {
                        self.collect(block)?;
                    }
                }
                StmtKind::Assign { targets, .. } => match self.count(stmt) {
                    Some(count) => self.counts.push(count),
                    None => self.assigned.push(self.trends.local(targets)?),
                },
                StmtKind::AugAssign { .. } => self.counts.push(self.count(stmt)?),
                StmtKind::Expr(call) => self.collect_cursor(call)?,
                _ => {}
            }
        }
        Some(())
    }

    /// Finds how a statement changes the cursor.
    fn collect_cursor(&mut self, call: &Expr) -> Option<()> {
        let (time, value) = self.time(call)?;
        let change = match time {
            Time::AtMu => CursorChange::Sets,
            _ => CursorChange::Moves,
        };
        // It is either set or moved.
        (self.cursor == CursorChange::Never || self.cursor == change).then_some(())?;
        let rises = matches!(value.kind, ExprKind::Int(1..)) || matches!(value.kind, ExprKind::Float(t) if t > 0.0);
        self.trends.cursor = match change {
            CursorChange::Moves if rises && self.trends.cursor != Some(Trend::Either) => Some(Trend::Rises),
            CursorChange::Moves => Some(Trend::Either),
            _ => None,
        };
        self.cursor = change;
        Some(())
    }

    /// The function and argument of a call of `delay`, `delay_mu` or `at_mu`.
    fn time<'e>(&self, call: &'e Expr) -> Option<(Time, &'e Expr)> {
        let ExprKind::Call { callee, args, keywords } = &call.kind else {
            return None;
        };
        match (self.trends.kind(callee), &args[..], &keywords[..]) {
            (Kind::Builtin(Builtin::Time(time @ (Time::Delay | Time::DelayMu | Time::AtMu))), [arg], []) => {
                Some((*time, arg))
            }
            _ => None,
        }
    }

    /// A variable that changes by a constant, as in `n += 1` and `n = n + 1`.
    fn count(&self, stmt: &Stmt) -> Option<(LocalId, i64)> {
        let is = |expr: &Expr, name: &str| matches!(&expr.kind, ExprKind::Name(other) if **other == *name);
        let (target, op, by) = match &stmt.kind {
            StmtKind::AugAssign { target, op, value } => (target, *op, value),
            StmtKind::Assign { targets, value } => {
                let ([target], ExprKind::Binary { op, left, right }) = (&targets[..], &value.kind) else {
                    return None;
                };
                let ExprKind::Name(name) = &target.kind else {
                    return None;
                };
                match op {
                    BinOp::Add | BinOp::Sub if is(left, name) => (target, *op, &**right),
                    BinOp::Add if is(right, name) => (target, *op, &**left),
                    _ => return None,
                }
            }
            _ => return None,
        };
        let (ExprKind::Name(name), ExprKind::Int(by @ 1..=0xffff)) = (&target.kind, &by.kind) else {
            return None;
        };
        let trends = &self.trends;
        let local = trends.function.names.local(name)?;
        let kind = trends.program.types.kind(trends.function.locals[local as usize]);
        matches!(kind, Kind::Int32 | Kind::Int64).then_some(())?;
        match op {
            BinOp::Add => Some((local, *by)),
            BinOp::Sub => Some((local, -by)),
            _ => None,
        }
    }

    /// Whether a pass stays in the loop after these statements. `under`: how the condition changes under which
    /// they run, if they do not run in each pass that stays.
    fn stays(&mut self, body: &[Stmt], under: Option<Trend>) -> Option<Stays> {
        let Some((stmt, rest)) = body.split_first() else {
            return Some(Stays::Always);
        };
        match &stmt.kind {
            StmtKind::Pass => {}
            StmtKind::Continue => return Some(Stays::Always),
            StmtKind::Break | StmtKind::Return(_) | StmtKind::Raise(_) => return Some(Stays::Never),
            StmtKind::If { test, body, orelse } => return self.branch(test, [body, orelse], rest, under),
            _ if self.count(stmt).is_some() => under.is_none().then_some(())?,
            StmtKind::Assign { targets, value } => match under {
                None => self.trends.assign(targets, value)?,
                Some(under) => self.assign_sometimes(targets, value, under)?,
            },
            StmtKind::Expr(call) => {
                under.is_none().then_some(())?;
                let (time, value) = self.time(call)?;
                let trend = self.trends.of(value)?;
                match time {
                    Time::AtMu => self.trends.cursor = Some(trend),
                    _ => (trend == Trend::Constant).then_some(())?,
                }
            }
            _ => return None,
        }
        self.stays(rest, under)
    }

    fn branch(&mut self, test: &Expr, [yes, no]: [&[Stmt]; 2], rest: &[Stmt], under: Option<Trend>) -> Option<Stays> {
        let test = self.trends.of_condition(test)?;
        // A branch that leaves is not run by a pass that stays.
        match [leaves(yes), leaves(no)] {
            [true, true] => return Some(Stays::Never),
            [true, false] => {
                let stays = self.both(no, rest, under)?;
                return Stays::either(test, Stays::Never, stays);
            }
            [false, true] => {
                let stays = self.both(yes, rest, under)?;
                return Stays::either(test, stays, Stays::Never);
            }
            [false, false] => {}
        }
        let within = |test: Trend| under.map_or(Some(test), |under| under.with(test));
        let (if_yes, if_no) = (within(test), within(test.reversed()));
        let unknown = Some(Trend::Either);
        match [yes, no].map(|block| matches!(block.last().map(|stmt| &stmt.kind), Some(StmtKind::Continue))) {
            [true, _] if !continues(&yes[..yes.len() - 1]) => {
                let one = self.stays(yes, if_yes.or(unknown))?;
                let other = self.both(no, rest, if_no.or(unknown))?;
                Stays::either(test, one, other)
            }
            [false, false] if !continues(yes) && !continues(no) => {
                let one = self.stays(yes, if_yes.or(unknown))?;
                let other = self.stays(no, if_no.or(unknown))?;
                Stays::either(test, one, other)?.and(self.stays(rest, under)?)
            }
            _ => None,
        }
    }

    /// Whether a pass stays after these statements and the following ones.
    fn both(&mut self, body: &[Stmt], rest: &[Stmt], under: Option<Trend>) -> Option<Stays> {
        match continues(body) {
            // What follows is not always run.
            true if rest.is_empty() => self.stays(body, under),
            true => None,
            false => self.stays(body, under)?.and(self.stays(rest, under)?),
        }
    }

    /// An assignment of a constant in some passes: in all from one on, so that it is that of the last ones.
    fn assign_sometimes(&mut self, targets: &[Expr], value: &Expr, under: Trend) -> Option<()> {
        let local = self.trends.local(targets)?;
        let is_last = matches!(under, Trend::Constant | Trend::Rises);
        (is_last && self.trends.of(value)? == Trend::Constant).then_some(())?;
        let once = self.assigned.iter().filter(|&&other| other == local).count() == 1;
        let before = self
            .trends
            .known
            .get(&local)
            .copied()
            .or(once.then_some(Trend::Constant));
        let after = match value.kind {
            ExprKind::Bool(true) => before.and_then(|before| before.with(under)),
            ExprKind::Bool(false) => before.and_then(|before| before.with(under.reversed())),
            _ => None,
        };
        match after {
            Some(after) => self.trends.known.insert(local, after),
            None => self.trends.known.remove(&local),
        };
        Some(())
    }
}

/// Whether statements go on with the next pass.
fn continues(body: &[Stmt]) -> bool {
    let mut found = false;
    walk_stmts(body, &mut |stmt| found |= matches!(stmt.kind, StmtKind::Continue));
    found
}

/// Whether a body always leaves the loop around it.
pub(super) fn leaves(body: &[Stmt]) -> bool {
    let last = body.last().map(|stmt| stmt.kind.flow());
    !continues(body) && matches!(last, Some(Flow::Break | Flow::Return(_) | Flow::Raise))
}
