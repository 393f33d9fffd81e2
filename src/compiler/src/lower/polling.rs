//! Loops that poll the counter until it has reached a time: the core sleeps for the most of it, so that it saves
//! power and an emulator can skip the time, and polls for the rest as the program says.
//!
//! How long the loop stays is found by running its code with the counter ahead of time: a variable is added
//! to each value of the counter. Such code has no effects, and leaves the loop from one time on. What the loop
//! counts (`n += 1`, the variable of a range) is ahead, too, by as many passes as take that time: how long one
//! takes is measured first.

use super::passes::{leaves, poll, CursorChange, Poll};
use super::trends::COUNTER;
use crate::diagnostic::Result;
use crate::emit::{Emitter, ModuleBuilder};
use crate::ir::*;
use crate::names::LocalId;
use crate::syntax::*;

const SLEEP: &str = "rtio_wait_until_mu";
/// Returns the counter.
const READ: &str = "kairos.counter";
/// By how much the counter is ahead.
const AHEAD: &str = "kairos.counter.ahead";
/// Machine units of polling: a sleep may end some microseconds late.
const POLLED: i64 = 20_000;
/// Passes over which the duration of one is measured.
const PASSES: i64 = 16;
/// How far to look ahead, in machine units: 19 hours at 1 ns.
const FARTHEST: i64 = 1 << 46;

fn wide(value: i64) -> Value {
    Value::int(Ty::I64, value)
}

/// A variable, or the cursor, that changes by the same in each pass.
struct Counted {
    slot: Value,
    ty: Ty,
    /// Its value in the first pass, in 64 bits.
    first: Value,
    by: Value,
    /// For the variable of a range: its length in 64 bits, unsigned, and the slot from which the loop begins.
    range: Option<(Value, Value)>,
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
        let Some(poll) = poll(self.module.program, self.function, Some(test), None, body) else {
            return Ok(());
        };
        let counts = poll
            .counts
            .iter()
            .map(|&(local, by)| self.counting(local, by))
            .collect();
        self.sleep(Some(test), body, &poll, counts)
    }

    /// Sleeps before a loop over a range, with a slot for its beginning, if it only polls the counter; the slot
    /// has the element with which the loop goes on. Returns whether it polls.
    pub(super) fn sleep_before_polling_range(
        &mut self,
        stmt: &'p For,
        begin: &Value,
        [start, stop, step]: [&Value; 3],
    ) -> Result<bool> {
        let (ExprKind::Name(name), Some(by)) = (&stmt.target.kind, step.as_int()) else {
            return Ok(false);
        };
        let index = self.function.names.local(name).filter(|_| by != 0);
        let found =
            index.and_then(|local| poll(self.module.program, self.function, None, Some((local, by)), &stmt.body));
        let Some(poll) = found else { return Ok(false) };
        let mut counts: Vec<_> = poll.counts[1..]
            .iter()
            .map(|&(local, by)| self.counting(local, by))
            .collect();
        let length = self.range_length(start, stop, step);
        counts.push(Counted {
            slot: self.locals[poll.counts[0].0 as usize].clone(),
            ty: start.ty.clone(),
            first: self.build.convert(start.clone(), &Ty::I64),
            by: wide(by),
            range: Some((self.unsigned(length), begin.clone())),
        });
        self.sleep(None, &stmt.body, &poll, counts)?;
        Ok(true)
    }

    /// A variable that counts, as it is before the loop.
    fn counting(&mut self, local: LocalId, by: i64) -> Counted {
        let slot = self.locals[local as usize].clone();
        let ty = self.module.ir_type(self.function.locals[local as usize]);
        let first = self.build.load(ty.clone(), &slot);
        let first = self.build.convert(first, &Ty::I64);
        let (by, range) = (wide(by), None);
        Counted {
            slot,
            ty,
            first,
            by,
            range,
        }
    }

    fn sleep(&mut self, test: Option<&'p Expr>, body: &'p [Stmt], poll: &Poll, mut counts: Vec<Counted>) -> Result<()> {
        (self.module.polls, self.module.counts) = (true, true);
        let awake = self.build.new_block("awake");
        if let Some(test) = test.filter(|_| !does_nothing(body)) {
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
        if poll.cursor != CursorChange::Never {
            let cursor = self.module.cursor();
            kept.push((self.build.load(Ty::I64, &cursor), cursor));
        }
        let start = self.call_external(COUNTER, vec![], Ty::I64, true);
        let moves = poll.cursor == CursorChange::Moves;
        let pace = match counts.is_empty() && !moves {
            true => wide(1),
            false => self.pace(test, body)?,
        };
        if moves {
            let (first, cursor) = kept.last().cloned().expect("of the cursor");
            let now = self.build.load(Ty::I64, &cursor);
            let moved = self.build.binary(Binary::Sub, now, first.clone());
            counts.push(Counted {
                slot: cursor,
                ty: Ty::I64,
                first,
                by: self.build.binary(Binary::SDiv, moved, wide(PASSES)),
                range: None,
            });
        }
        let stays_until = self.probe(test, body, &counts, &pace, &kept)?;
        self.restore(&kept);
        let sleep = self.build.new_block("sleep");
        let is_long = self.build.compare(Compare::Sgt, stays_until.clone(), wide(POLLED));
        self.build.branch(is_long, sleep, awake);
        self.build.block = sleep;
        let end = self.build.binary(Binary::Add, start, stays_until.clone());
        let until = self.build.binary(Binary::Sub, end, wide(POLLED));
        self.call_external(SLEEP, vec![until], Ty::unit(), false);
        let slept = self.build.binary(Binary::Sub, stays_until, wide(POLLED));
        let passes = self.build.binary(Binary::UDiv, slept, pace);
        for count in &counts {
            let value = self.count_after(count, &passes);
            let value = self.build.convert(value, &count.ty);
            let to = count.range.as_ref().map_or(&count.slot, |(_, begin)| begin);
            self.build.store(value, to);
        }
        self.build.jump(awake);
        self.build.block = awake;
        Ok(())
    }

    /// Gives variables the values that they had before.
    fn restore(&mut self, kept: &[(Value, Value)]) {
        for (value, slot) in kept {
            self.build.store(value.clone(), slot);
        }
    }

    /// What a variable counts after a number of passes, in 64 bits.
    fn count_after(&mut self, count: &Counted, passes: &Value) -> Value {
        let more = self.build.binary(Binary::Mul, passes.clone(), count.by.clone());
        self.build.binary(Binary::Add, count.first.clone(), more)
    }

    /// Measures the duration of a pass, in machine units, at least 1.
    fn pace(&mut self, test: Option<&'p Expr>, body: &'p [Stmt]) -> Result<Value> {
        let names = ["pass", "next pass", "passes done"];
        let [pass, next, done] = names.map(|name| self.build.new_block(name));
        let number = self.build.slot(Ty::I32);
        self.build.store(Value::int(Ty::I32, 0), &number);
        let start = self.call_external(COUNTER, vec![], Ty::I64, true);
        self.build.jump(pass);
        self.build.block = pass;
        self.iteration(test, body, next, next)?;
        self.build.block = next;
        let count = self.build.load(Ty::I32, &number);
        let count = self.build.binary(Binary::Add, count, Value::int(Ty::I32, 1));
        self.build.store(count.clone(), &number);
        let more = self.build.compare(Compare::Slt, count, Value::int(Ty::I32, PASSES));
        self.build.branch(more, pass, done);
        self.build.block = done;
        let end = self.call_external(COUNTER, vec![], Ty::I64, true);
        let taken = self.build.binary(Binary::Sub, end, start);
        let pace = self.build.binary(Binary::UDiv, taken, wide(PASSES));
        let some = self.build.compare(Compare::Sgt, pace.clone(), wide(1));
        Ok(self.build.select(some, pace, wide(1)))
    }

    /// Sets what is counted to what it is ahead of time. Leaves where that is out of its range.
    fn set_counts(&mut self, counts: &[Counted], pace: &Value, leaves: BlockId) {
        if counts.is_empty() {
            return;
        }
        let ahead = self.build.load(Ty::I64, &Value::global(AHEAD));
        let passes = self.build.binary(Binary::UDiv, ahead, pace.clone());
        for count in counts {
            let value = self.count_after(count, &passes);
            let narrow = self.build.convert(value.clone(), &count.ty);
            self.build.store(narrow.clone(), &count.slot);
            let back = self.build.convert(narrow, &Ty::I64);
            let mut fits = self.build.compare(Compare::Eq, back, value);
            if let Some((length, _)) = &count.range {
                let inside = self.build.compare(Compare::Ult, passes.clone(), length.clone());
                fits = self.build.binary(Binary::And, fits, inside);
            }
            let set = self.build.new_block("count is set");
            self.build.branch(fits, set, leaves);
            self.build.block = set;
        }
    }

    /// Finds out for how many machine units at least a loop stays, to `POLLED`: looks ahead twice as far each time
    /// until it does not stay, then halves. `kept`: what the variables are before each pass.
    fn probe(
        &mut self,
        test: Option<&'p Expr>,
        body: &'p [Stmt],
        counts: &[Counted],
        pace: &Value,
        kept: &[(Value, Value)],
    ) -> Result<Value> {
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
        self.restore(kept);
        self.set_counts(counts, pace, leaves);
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
    fn iteration(&mut self, test: Option<&'p Expr>, body: &'p [Stmt], stays: BlockId, leaves: BlockId) -> Result<()> {
        let tests = self.build.new_block("pass is tested");
        self.run_pass(body, tests, leaves)?;
        self.build.jump(tests);
        self.build.block = tests;
        match test {
            Some(test) => {
                let condition = self.condition(test)?;
                self.build.branch(condition, stays, leaves);
            }
            None => self.build.jump(stays),
        }
        Ok(())
    }

    /// Runs statements of a pass; `next`: where it ends; `end`: where it goes on if it leaves the loop, without what
    /// is done before that.
    fn run_pass(&mut self, body: &'p [Stmt], next: BlockId, end: BlockId) -> Result<()> {
        for stmt in body {
            self.build.span = stmt.span;
            match &stmt.kind {
                StmtKind::If { test, body, orelse } => {
                    let condition = self.condition(test)?;
                    let blocks = ["pass then", "pass else", "pass after"].map(|name| self.build.new_block(name));
                    let [yes, no, after] = blocks;
                    self.build.branch(condition, yes, no);
                    for (block, body) in [(yes, body), (no, orelse)] {
                        self.build.block = block;
                        if leaves(body) {
                            self.build.jump(end);
                        } else {
                            self.run_pass(body, next, end)?;
                            self.build.jump(after);
                        }
                    }
                    self.build.block = after;
                }
                StmtKind::Break | StmtKind::Return(_) | StmtKind::Raise(_) => self.build.jump(end),
                StmtKind::Continue => self.build.jump(next),
                _ => self.body(std::slice::from_ref(stmt))?,
            }
            if self.build.is_closed() {
                break;
            }
        }
        Ok(())
    }
}
