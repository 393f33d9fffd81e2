//! Loops that poll the counter until it has reached a time: the core sleeps for the most of it, so that it saves
//! power and an emulator can skip the time, and polls for the rest as the program says.

use crate::diagnostic::Result;
use crate::emit::Emitter;
use crate::host::FunctionKind;
use crate::ir::*;
use crate::language::{Builtin, Time};
use crate::program::{CallTarget, Fact, FunctionInstance};
use crate::syntax::*;
use crate::types::Kind;

const COUNTER: &str = "rtio_get_counter";
const SLEEP: &str = "rtio_wait_until_mu";
/// Functions within one another that are looked into.
const DEPTH: usize = 4;
/// Machine units of polling: a sleep may end some microseconds late.
const POLLED: i64 = 20_000;

impl<'p> Emitter<'_, 'p> {
    /// Sleeps before the loop `while test: body` if it only polls the counter.
    pub(super) fn sleep_before_polling(&mut self, test: &'p Expr, body: &'p [Stmt]) -> Result<()> {
        let Some((early, late)) = self.polled(test).filter(|_| does_nothing(body)) else {
            return Ok(());
        };
        let mut wide = |side| self.expr(side).map(|value| self.build.convert(value, &Ty::I64));
        let (early, late) = (wide(early)?, wide(late)?);
        let left = self.build.binary(Binary::Sub, late, early);
        let polled = Value::int(Ty::I64, POLLED);
        let is_long = self.build.compare(Compare::Sgt, left.clone(), polled.clone());
        let (sleep, awake) = (self.build.new_block("sleep"), self.build.new_block("awake"));
        self.build.branch(is_long, sleep, awake);
        self.build.block = sleep;
        let now = self.call_external(COUNTER, vec![], Ty::I64, false);
        let end = self.build.binary(Binary::Add, now, left);
        let until = self.build.binary(Binary::Sub, end, polled);
        self.call_external(SLEEP, vec![until], Ty::unit(), false);
        self.build.jump(awake);
        self.build.block = awake;
        Ok(())
    }

    /// The sides of the test `early < late`, if their difference grows with the counter and with nothing else.
    fn polled(&self, test: &'p Expr) -> Option<(&'p Expr, &'p Expr)> {
        let ExprKind::Compare { first, rest } = &test.kind else {
            return None;
        };
        let [(op, second)] = &rest[..] else { return None };
        let (early, late) = match op {
            CmpOp::Lt | CmpOp::LtE => (&**first, second),
            CmpOp::Gt | CmpOp::GtE => (second, &**first),
            _ => return None,
        };
        let whole = [early, late]
            .iter()
            .all(|side| matches!(self.kind_of(side), Kind::Int32 | Kind::Int64));
        (whole && self.counts(early)? - self.counts(late)? == 1).then_some((early, late))
    }

    /// How often the counter is contained in a sum; None for what is no sum, or has effects.
    fn counts(&self, expr: &Expr) -> Option<i32> {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Name(_) => Some(0),
            ExprKind::Attribute { value, .. } => self.counts(value),
            ExprKind::Binary { op, left, right } => {
                let (left, right) = (self.counts(left)?, self.counts(right)?);
                match op {
                    BinOp::Add => Some(left + right),
                    BinOp::Sub => Some(left - right),
                    BinOp::Mul => (left == 0 && right == 0).then_some(0),
                    _ => None,
                }
            }
            ExprKind::Call { callee, .. } => {
                if let Kind::Builtin(Builtin::Time(Time::NowMu)) = self.kind_of(callee) {
                    return Some(0);
                }
                self.reads_counter(self.function, expr, DEPTH).then_some(1)
            }
            _ => None,
        }
    }

    /// Whether a call in a function reads the counter, and does nothing else.
    fn reads_counter(&self, function: &FunctionInstance, call: &Expr, depth: usize) -> bool {
        let target = match function.facts.get(&call.id) {
            Some(Fact::Call(target, _)) => target,
            _ => return false,
        };
        match target {
            CallTarget::Syscall(handle) => {
                let kind = &self.module.program.function_infos[handle].kind;
                matches!(kind, FunctionKind::Syscall { symbol, .. } if &**symbol == COUNTER)
            }
            CallTarget::Compiled(id) if depth > 0 => {
                let called = &self.module.program.functions[*id];
                only_result(&called.ast.body).is_some_and(|result| self.reads_counter(called, result, depth - 1))
            }
            CallTarget::Compiled(_) | CallTarget::Rpc(_) => false,
        }
    }
}
