//! Loops that poll the counter until it has reached a time: the core sleeps for the most of it, so that it saves
//! power and an emulator can skip the time, and polls for the rest as the program says.
//!
//! How long the loop stays is found by running its code with the counter ahead of time: a variable is added
//! to each value of the counter. Such code has no effects, and leaves the loop from one time on.

use super::trends::{poll, COUNTER};
use crate::diagnostic::Result;
use crate::emit::{Emitter, ModuleBuilder};
use crate::ir::*;
use crate::syntax::*;

const SLEEP: &str = "rtio_wait_until_mu";
/// Returns the counter.
const READ: &str = "kairos.counter";
/// By how much the counter is ahead.
const AHEAD: &str = "kairos.counter.ahead";
/// Machine units of polling: a sleep may end some microseconds late.
const POLLED: i64 = 20_000;
/// How far to look ahead, in machine units: 19 hours at 1 ns.
const FARTHEST: i64 = 1 << 46;

fn wide(value: i64) -> Value {
    Value::int(Ty::I64, value)
}

impl ModuleBuilder<'_> {
    /// Emits the function that reads the counter, if there are loops that poll it or other uses.
    pub(crate) fn counter_function(&mut self) {
        if !self.counts {
            return;
        }
        let mut function = crate::ir::Function::new(READ, vec![], Ty::I64, None);
        function.attributes = "alwaysinline nounwind";
        let mut build = crate::emit::Builder::new(function);
        self.external(COUNTER, &[], Ty::I64, true);
        let mut now = build.call(COUNTER, vec![], Ty::I64, None);
        if self.polls {
            self.global(AHEAD, false, Init::Value(wide(0)));
            let ahead = build.load(Ty::I64, &Value::global(AHEAD));
            now = build.binary(Binary::Add, now, ahead);
        }
        build.end(Terminator::Return(now));
        self.module.functions.push(build.finish());
    }
}

impl<'p> Emitter<'_, 'p> {
    /// Reads the counter.
    pub(super) fn read_counter(&mut self) -> Value {
        self.module.counts = true;
        self.build.call(READ, vec![], Ty::I64, None)
    }

    /// Sleeps before the loop `while test: body` if it only polls the counter.
    pub(super) fn sleep_before_polling(&mut self, test: &'p Expr, body: &'p [Stmt]) -> Result<()> {
        let Some(poll) = poll(self.module.program, self.function, test, body) else {
            return Ok(());
        };
        (self.module.polls, self.module.counts) = (true, true);
        let awake = self.build.new_block("awake");
        if !does_nothing(body) {
            // Its variables may tell that it does not begin.
            let begins = self.build.new_block("polling begins");
            let condition = self.condition(test)?;
            self.build.branch(condition, begins, awake);
            self.build.block = begins;
        }
        let mut kept = vec![];
        for &local in &poll.assigned {
            let slot = self.locals[local as usize].clone();
            let ty = self.module.ir_type(self.function.locals[local as usize]);
            kept.push((self.build.load(ty, &slot), slot));
        }
        let start = self.call_external(COUNTER, vec![], Ty::I64, true);
        let stays_until = self.probe(test, body)?;
        for (value, slot) in kept {
            self.build.store(value, &slot);
        }
        let sleep = self.build.new_block("sleep");
        let is_long = self.build.compare(Compare::Sgt, stays_until.clone(), wide(POLLED));
        self.build.branch(is_long, sleep, awake);
        self.build.block = sleep;
        let end = self.build.binary(Binary::Add, start, stays_until);
        let until = self.build.binary(Binary::Sub, end, wide(POLLED));
        self.call_external(SLEEP, vec![until], Ty::unit(), false);
        self.build.jump(awake);
        self.build.block = awake;
        Ok(())
    }

    /// Finds out for how many machine units at least a loop stays, to `POLLED`: looks ahead twice as far each time
    /// until it does not stay, then halves.
    fn probe(&mut self, test: &'p Expr, body: &'p [Stmt]) -> Result<Value> {
        let (stayed, left) = (self.build.slot(Ty::I64), self.build.slot(Ty::I64));
        let names = [
            "look ahead",
            "farther",
            "between",
            "run",
            "stays",
            "leaves",
            "again",
            "found",
        ];
        let [look, farther, between, run, stays, leaves, again, found] = names.map(|name| self.build.new_block(name));
        let ahead = Value::global(AHEAD);
        self.build.store(wide(0), &stayed);
        self.build.store(wide(0), &left);
        self.build.jump(look);

        self.build.block = look;
        let (low, high) = (self.build.load(Ty::I64, &stayed), self.build.load(Ty::I64, &left));
        let has_left = self.build.compare(Compare::Ne, high.clone(), wide(0));
        let sum = self.build.binary(Binary::Add, low.clone(), high);
        self.build.branch(has_left, between, farther);
        self.build.block = farther;
        let twice = self.build.binary(Binary::Add, low.clone(), low);
        let next = self.build.binary(Binary::Add, twice, wide(POLLED));
        self.build.store(next, &ahead);
        self.build.jump(run);
        self.build.block = between;
        let middle = self.build.binary(Binary::AShr, sum, wide(1));
        self.build.store(middle, &ahead);
        self.build.jump(run);

        self.build.block = run;
        self.iteration(test, body, stays, leaves)?;
        for (block, place) in [(stays, &stayed), (leaves, &left)] {
            self.build.block = block;
            let here = self.build.load(Ty::I64, &ahead);
            self.build.store(here, place);
            self.build.jump(again);
        }
        self.build.block = again;
        let (low, high) = (self.build.load(Ty::I64, &stayed), self.build.load(Ty::I64, &left));
        let apart = self.build.binary(Binary::Sub, high.clone(), low.clone());
        let is_near = self.build.compare(Compare::Sle, apart, wide(POLLED));
        let has_left = self.build.compare(Compare::Ne, high, wide(0));
        let is_between = self.build.binary(Binary::And, is_near, has_left);
        let is_far = self.build.compare(Compare::Sge, low.clone(), wide(FARTHEST));
        let ends = self.either(is_between, is_far);
        self.build.branch(ends, found, look);
        self.build.block = found;
        self.build.store(wide(0), &ahead);
        Ok(low)
    }

    /// Runs the loop's body and test once.
    fn iteration(&mut self, test: &'p Expr, body: &'p [Stmt], stays: BlockId, leaves: BlockId) -> Result<()> {
        for stmt in body {
            match &stmt.kind {
                StmtKind::If { test, .. } => {
                    let condition = self.condition(test)?;
                    let goes_on = self.build.new_block("goes on");
                    self.build.branch(condition, leaves, goes_on);
                    self.build.block = goes_on;
                }
                StmtKind::Assign { .. } => self.body(std::slice::from_ref(stmt))?,
                _ => {}
            }
        }
        let condition = self.condition(test)?;
        self.build.branch(condition, stays, leaves);
        Ok(())
    }
}
