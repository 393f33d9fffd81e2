//! How values change while the counter rises: what a loop that polls the counter waits for.

use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::host::FunctionKind;
use crate::language::{Builtin, Number, Time};
use crate::names::{LocalId, Name};
use crate::program::{ArgSource, CallTarget, Fact, FunctionInstance, Program};
use crate::syntax::*;
use crate::types::Kind;

pub(super) const COUNTER: &str = "rtio_get_counter";
/// Functions within one another that are looked into.
const DEPTH: usize = 4;

/// How a value changes while the counter rises. A truth value that rises becomes true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trend {
    Constant,
    Rises,
    Falls,
    /// Rises or falls, which depends on other values.
    Either,
}

impl Trend {
    pub fn reversed(self) -> Trend {
        match self {
            Trend::Rises => Trend::Falls,
            Trend::Falls => Trend::Rises,
            same => same,
        }
    }

    /// That of a sum of two values, of their minimum, or of whether both are true.
    pub fn with(self, other: Trend) -> Option<Trend> {
        match (self, other) {
            (Trend::Constant, one) | (one, Trend::Constant) => Some(one),
            (Trend::Rises, Trend::Rises) | (Trend::Falls, Trend::Falls) => Some(self),
            _ => None,
        }
    }

    /// That of the product with a constant.
    fn times(self, factor: &Expr) -> Trend {
        match factor.kind {
            ExprKind::Int(factor) if factor > 0 => self,
            ExprKind::Float(factor) if factor > 0.0 => self,
            _ if self == Trend::Constant => self,
            _ => Trend::Either,
        }
    }
}

/// Finds trends in a function. What has effects, may raise, or rises and falls has none.
pub(super) struct Trends<'a> {
    pub program: &'a Program,
    pub function: &'a FunctionInstance,
    /// Variables that differ between two times at which the same code runs, as far as they are known.
    pub known: HashMap<LocalId, Trend>,
    /// Variables that are assigned.
    pub assigned: BTreeSet<LocalId>,
    /// Variables that count the passes of a loop, whose range is looked after where they are counted.
    pub counts: BTreeSet<LocalId>,
    /// The time cursor; None if it is not known yet.
    pub cursor: Option<Trend>,
    /// Whether the counter is read.
    reads: Rc<Cell<bool>>,
    depth: usize,
}

/// Whether values of a kind are compared in their whole range.
fn is_wide(kind: &Kind) -> bool {
    matches!(kind, Kind::Bool | Kind::Int64 | Kind::Float)
}

impl<'a> Trends<'a> {
    pub fn new(program: &'a Program, function: &'a FunctionInstance) -> Self {
        Trends {
            program,
            function,
            known: HashMap::new(),
            assigned: BTreeSet::new(),
            counts: BTreeSet::new(),
            cursor: Some(Trend::Constant),
            reads: Rc::default(),
            depth: DEPTH,
        }
    }

    /// Whether the counter has been read.
    pub fn has_read(&self) -> bool {
        self.reads.get()
    }

    /// The variable that an assignment has as its only target.
    pub fn local(&self, targets: &[Expr]) -> Option<LocalId> {
        match targets {
            [Expr {
                kind: ExprKind::Name(name),
                ..
            }] => self.function.names.local(name),
            _ => None,
        }
    }

    pub fn assign(&mut self, targets: &[Expr], value: &Expr) -> Option<()> {
        let local = self.local(targets)?;
        let trend = self.of(value)?;
        // A narrower variable may wrap around, unless it is what is counted.
        let kind = self.program.types.kind(self.function.locals[local as usize]);
        let counts = self.counts_passes(value) && self.kind(value) == kind;
        if !(counts || trend == Trend::Constant || is_wide(kind)) || !self.is_scalar(value) {
            return None;
        }
        if counts {
            self.counts.insert(local);
        }
        self.known.insert(local, trend);
        Some(())
    }

    pub fn kind(&self, expr: &Expr) -> &'a Kind {
        self.program.types.kind(self.function.types[expr.id as usize])
    }

    fn is_scalar(&self, expr: &Expr) -> bool {
        matches!(self.kind(expr), Kind::Bool | Kind::Int32 | Kind::Int64 | Kind::Float)
    }

    /// Whether this is a variable that counts the passes of the loop.
    fn counts_passes(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(name) => (self.function.names.local(name)).is_some_and(|local| self.counts.contains(&local)),
            _ => false,
        }
    }

    /// How the truth of a condition changes.
    pub fn of_condition(&self, test: &Expr) -> Option<Trend> {
        let trend = self.of(test)?;
        (trend == Trend::Constant || matches!(self.kind(test), Kind::Bool)).then_some(trend)
    }

    pub fn of(&self, expr: &Expr) -> Option<Trend> {
        let trend = self.of_kind(expr)?;
        (self.counts_passes(expr) || is_wide(self.kind(expr)) || trend == Trend::Constant).then_some(trend)
    }

    fn of_kind(&self, expr: &Expr) -> Option<Trend> {
        if let Some(Fact::Constant(_)) = self.function.facts.get(&expr.id) {
            return Some(Trend::Constant);
        }
        match &expr.kind {
            ExprKind::Bool(_) | ExprKind::Int(_) | ExprKind::Float(_) => Some(Trend::Constant),
            ExprKind::Name(_) => match self.function.names.known(expr)? {
                Name::Local(local) if self.assigned.contains(local) => self.known.get(local).copied(),
                Name::Local(local) => Some(self.known.get(local).copied().unwrap_or(Trend::Constant)),
                _ => Some(Trend::Constant),
            },
            ExprKind::Attribute { value, .. } => (self.of(value)? == Trend::Constant).then_some(Trend::Constant),
            ExprKind::Unary { op, operand } => {
                let trend = self.of(operand)?;
                match op {
                    UnaryOp::Neg | UnaryOp::Not if self.is_scalar(operand) => Some(trend.reversed()),
                    UnaryOp::Pos => Some(trend),
                    _ => None,
                }
            }
            ExprKind::Binary { op, left, right } if self.is_scalar(left) && self.is_scalar(right) => {
                let (one, other) = (self.of(left)?, self.of(right)?);
                let is_known =
                    matches!(right.kind, ExprKind::Int(1..)) || matches!(right.kind, ExprKind::Float(f) if f > 0.0);
                match op {
                    BinOp::Add => one.with(other),
                    BinOp::Sub => one.with(other.reversed()),
                    BinOp::Mul if other == Trend::Constant => Some(one.times(right)),
                    BinOp::Mul if one == Trend::Constant => Some(other.times(left)),
                    BinOp::Div | BinOp::FloorDiv if is_known => Some(one),
                    _ => None,
                }
            }
            ExprKind::Compare { first, rest } => {
                let [(op, second)] = &rest[..] else { return None };
                if !(self.is_scalar(first) && self.is_scalar(second)) {
                    return None;
                }
                let (one, other) = (self.of(first)?, self.of(second)?);
                match op {
                    CmpOp::Lt | CmpOp::LtE => other.with(one.reversed()),
                    CmpOp::Gt | CmpOp::GtE => one.with(other.reversed()),
                    _ => (one == Trend::Constant && other == one).then_some(one),
                }
            }
            ExprKind::BoolOp { values, .. } => values.iter().try_fold(Trend::Constant, |trend, value| {
                matches!(self.kind(value), Kind::Bool).then_some(())?;
                trend.with(self.of(value)?)
            }),
            ExprKind::Call { callee, args, keywords } => self.of_call(expr, callee, args, keywords),
            _ => None,
        }
    }

    fn of_call(&self, call: &Expr, callee: &Expr, args: &[Expr], keywords: &[Keyword]) -> Option<Trend> {
        if let Kind::Builtin(builtin) = self.kind(callee) {
            return match (builtin, args) {
                (Builtin::Time(Time::NowMu), []) => self.cursor,
                // `int` of a float may raise.
                (Builtin::Number(Number::Int), [arg]) if matches!(self.kind(arg), Kind::Float) => None,
                (Builtin::Number(Number::Int64 | Number::Float | Number::Int), [arg]) if self.is_scalar(arg) => {
                    self.of(arg)
                }
                (Builtin::Number(Number::Min | Number::Max), [one, other]) if self.is_scalar(one) => {
                    self.of(one)?.with(self.of(other)?)
                }
                _ => None,
            };
        }
        let Some(Fact::Call(target, sources)) = self.function.facts.get(&call.id) else {
            return None;
        };
        match target {
            CallTarget::Syscall(handle) => {
                let kind = &self.program.function_infos[handle].kind;
                let reads = matches!(kind, FunctionKind::Syscall { symbol, nounwind: true } if &**symbol == COUNTER);
                self.reads.set(self.reads.get() || reads);
                reads.then_some(Trend::Rises)
            }
            CallTarget::Compiled(id) if self.depth > 0 => {
                let function = &self.program.functions[*id];
                // A nested function sees variables by other names.
                if function.nested.is_some() && !self.assigned.is_empty() {
                    return None;
                }
                let mut known = HashMap::new();
                for (index, source) in sources.iter().enumerate() {
                    let trend = match source {
                        ArgSource::Positional(place) => self.of(&args[*place])?,
                        ArgSource::Keyword(place) => self.of(&keywords[*place].value)?,
                        ArgSource::Receiver | ArgSource::Default(_) | ArgSource::Kept(_) => Trend::Constant,
                        ArgSource::Within(..) => return None,
                    };
                    known.insert(index as LocalId, trend);
                }
                let called = Trends {
                    known,
                    cursor: self.cursor,
                    reads: self.reads.clone(),
                    depth: self.depth - 1,
                    ..Trends::new(self.program, function)
                };
                called.of_result()
            }
            CallTarget::Compiled(_) | CallTarget::Rpc(_) => None,
        }
    }

    /// The trend of what a function returns that only computes it.
    fn of_result(mut self) -> Option<Trend> {
        let function = self.function;
        let (last, before) = function.ast.body.split_last()?;
        for stmt in before {
            match &stmt.kind {
                StmtKind::Pass => {}
                StmtKind::Expr(expr) if matches!(expr.kind, ExprKind::Str(_)) => {}
                StmtKind::Assign { targets, value } => self.assign(targets, value)?,
                _ => return None,
            }
        }
        match &last.kind {
            StmtKind::Return(Some(result)) if self.is_scalar(result) => self.of(result),
            _ => None,
        }
    }
}
