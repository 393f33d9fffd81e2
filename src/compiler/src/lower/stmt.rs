//! Statements.

use crate::diagnostic::Result;
use crate::emit::array::Array;
use crate::emit::exceptions::Scope;
use crate::emit::{Cursor, Emitter};
use crate::escape::Head;
use crate::ir::*;
use crate::language::{Builtin, Exception, Order};
use crate::program::Fact;
use crate::syntax::*;
use crate::types::{self, Kind};

use super::exceptions::literal;

/// The location of an assignment target.
enum AssignTarget {
    Memory(Value),
    /// A byte, which the language represents as a number.
    Byte(Value),
    /// A part of an array; assigned values are copied into it.
    Array(Array),
}

impl<'p> Emitter<'_, 'p> {
    pub(super) fn body(&mut self, body: &'p [Stmt]) -> Result<()> {
        for stmt in body {
            // Statements after a return, raise, break or continue are unreachable.
            if self.build.is_closed() {
                break;
            }
            self.build.span = stmt.span;
            self.stmt(stmt)?;
        }
        Ok(())
    }

    fn stmt(&mut self, stmt: &'p Stmt) -> Result<()> {
        match &stmt.kind {
            StmtKind::Pass => Ok(()),
            StmtKind::Expr(expr) => self.expr(expr).map(drop),
            StmtKind::Assign { targets, value } => {
                let ty = self.type_of(value);
                let value = self.expr(value)?;
                targets
                    .iter()
                    .try_for_each(|target| self.assign(target, value.clone(), ty))
            }
            StmtKind::Annotated { target, value, .. } => match value {
                Some(value) => {
                    let ty = self.type_of(value);
                    let value = self.expr(value)?;
                    self.assign(target, value, ty)
                }
                None => Ok(()),
            },
            StmtKind::AugAssign { target, op, value } => self.aug_assign(target, *op, value),
            StmtKind::If { test, body, orelse } => self.if_statement(test, [body, orelse]),
            StmtKind::While { test, body, orelse } => self.while_loop(test, body, orelse),
            StmtKind::For(stmt) => self.for_loop(stmt),
            StmtKind::With { context, body } => match self.kind_of(context) {
                Kind::Builtin(Builtin::Order(order)) => match order {
                    Order::Parallel => self.parallel(body),
                    Order::Sequential => self.body(body),
                    // The host implements the watchdog; here its argument is evaluated like any
                    // expression.
                    Order::Watchdog => {
                        self.expr(context)?;
                        self.body(body)
                    }
                    Order::Interleave => self.interleave(body),
                },
                _ => unreachable!("inference admits only orders"),
            },
            StmtKind::Try(stmt) => self.try_statement(stmt),
            StmtKind::Raise(value) => self.raise_statement(value.as_ref()),
            StmtKind::Assert { test, message } => {
                let condition = self.condition(test)?;
                self.build.span = stmt.span;
                let text = match message.as_ref().map(|message| (message, &message.kind)) {
                    Some((_, ExprKind::Str(text))) => literal(text),
                    Some((message, _)) => return self.assert_with(condition, message),
                    None => "AssertionError".into(),
                };
                self.require(condition, Exception::AssertionError, &text, &[]);
                Ok(())
            }
            StmtKind::Return(value) => {
                let result = match value {
                    Some(value) => self.expr(value)?,
                    None => Value::unit(),
                };
                self.leave(0)?;
                self.leave_stack();
                self.build.end(Terminator::Return(result));
                Ok(())
            }
            StmtKind::Break | StmtKind::Continue => {
                let (depth, on_break, on_continue) = self.innermost_loop().expect("checked to be in a loop");
                self.leave(depth)?;
                self.build.jump(if matches!(stmt.kind, StmtKind::Break) {
                    on_break
                } else {
                    on_continue
                });
                Ok(())
            }
        }
    }

    /// An assertion whose message is a text of the program, which is made only if the condition does not hold.
    fn assert_with(&mut self, condition: Value, message: &'p Expr) -> Result<()> {
        let (bad, good) = (self.build.new_block("raise"), self.build.new_block("checked"));
        self.build.branch(condition, good, bad);
        self.build.block = bad;
        self.raise_with(Exception::AssertionError as i32, message, &[])?;
        self.build.block = good;
        Ok(())
    }

    /// `branches`: the statements if the condition holds, and otherwise.
    fn if_statement(&mut self, test: &'p Expr, branches: [&'p [Stmt]; 2]) -> Result<()> {
        let condition = self.condition(test)?;
        let (yes, no) = (self.build.new_block("then"), self.build.new_block("else"));
        let after = self.build.new_block("after if");
        self.build.branch(condition, yes, no);
        for (block, body) in [yes, no].into_iter().zip(branches) {
            self.build.block = block;
            self.body(body)?;
            self.build.jump(after);
        }
        self.build.block = after;
        Ok(())
    }

    fn while_loop(&mut self, test: &'p Expr, body: &'p [Stmt], orelse: &'p [Stmt]) -> Result<()> {
        self.sleep_before_polling(test, body)?;
        let before = self.before_loop();
        let (head, inside) = (self.build.new_block("while"), self.build.new_block("body"));
        let (done, after) = (self.build.new_block("loop else"), self.build.new_block("after loop"));
        self.build.jump(head);
        self.build.block = head;
        let condition = self.condition(test)?;
        self.build.branch(condition, inside, done);
        self.build.block = inside;
        self.loop_body(body, after, head)?;
        // Allocations of an `else` are needed after the loop.
        let places = [head, after];
        let places = &places[..if orelse.is_empty() { 2 } else { 1 }];
        self.give_back(before, Head::Test(test), body, places);
        self.build.block = done;
        self.body(orelse)?;
        self.build.jump(after);
        self.build.block = after;
        Ok(())
    }

    /// `target op= value`; the operands of the target are evaluated once.
    fn aug_assign(&mut self, target: &'p Expr, op: BinOp, value: &'p Expr) -> Result<()> {
        let (span, ty) = (self.build.span, self.type_of(target));
        let place = self.assign_target(target)?;
        let current = match &place {
            AssignTarget::Array(array) => self.array_value(array.clone()),
            AssignTarget::Byte(from) => self.load_byte(from),
            AssignTarget::Memory(from) => {
                let ty = self.module.ir_type(ty);
                self.build.load(ty, from)
            }
        };
        let operand = (self.expr(value)?, self.type_of(value));
        self.build.span = span;
        if let Some(array) = self.array_parts(&current, ty) {
            return self.array_in_place(op, array, operand);
        }
        let result = match self.kind_of(target) {
            Kind::Str | Kind::Bytes | Kind::ByteArray => self.joined(current, operand.0),
            _ => self.arithmetic(op, (current, ty), operand, ty)?,
        };
        match place {
            AssignTarget::Memory(to) => self.build.store(result, &to),
            AssignTarget::Byte(to) => self.store_byte(result, &to),
            AssignTarget::Array(_) => unreachable!("arrays change in place"),
        }
        Ok(())
    }

    /// Locates a variable, attribute, element, row or part of an array.
    fn assign_target(&mut self, target: &'p Expr) -> Result<AssignTarget> {
        match &target.kind {
            ExprKind::Name(name) => {
                let local = self.function.names.local(name).expect("targets are variables");
                Ok(AssignTarget::Memory(self.locals[local as usize].clone()))
            }
            ExprKind::Attribute {
                value: object, name, ..
            } => {
                let Kind::Instance(class) = *self.kind_of(object) else {
                    unreachable!("only instances have attributes")
                };
                let base = self.expr(object)?;
                Ok(AssignTarget::Memory(self.attribute_address(&base, class, name)))
            }
            ExprKind::Subscript { value: object, index } if self.is_array(object) => {
                let array = self.expr(object)?;
                let array = self.array_parts(&array, self.type_of(object)).expect("it is one");
                let part = self.indexed(target, array, index)?;
                Ok(if part.shape.is_empty() {
                    AssignTarget::Memory(part.data)
                } else {
                    AssignTarget::Array(part)
                })
            }
            ExprKind::Subscript { value: object, index } if matches!(self.kind_of(object), Kind::ByteArray) => {
                Ok(AssignTarget::Byte(self.element_of_bytes(object, index)?))
            }
            ExprKind::Subscript { value: object, index } => {
                Ok(AssignTarget::Memory(self.element_address(object, index)?))
            }
            ExprKind::Slices { value: object, dims } => Ok(AssignTarget::Array(self.slices(target, object, dims)?)),
            ExprKind::Slice { value: object, bounds } => {
                let array = self.expr(object)?;
                let bounds = self.slice_bounds(bounds)?;
                self.build.span = target.span;
                let array = self.array_parts(&array, self.type_of(object));
                Ok(AssignTarget::Array(
                    self.array_view(array.expect("lists do not change in place"), bounds),
                ))
            }
            _ => unreachable!("refused by inference"),
        }
    }

    fn loop_body(&mut self, body: &'p [Stmt], on_break: BlockId, on_continue: BlockId) -> Result<()> {
        self.scopes.push(Scope::Loop { on_break, on_continue });
        self.build.loops += 1;
        self.body(body)?;
        self.build.loops -= 1;
        self.scopes.pop();
        self.build.jump(on_continue);
        Ok(())
    }

    fn for_loop(&mut self, stmt: &'p For) -> Result<()> {
        let iterable = self.expr(&stmt.iter)?;
        let before = self.before_loop();
        let (head, inside) = (self.build.new_block("for"), self.build.new_block("body"));
        let (step, done) = (self.build.new_block("step"), self.build.new_block("loop else"));
        let after = self.build.new_block("after loop");
        match *self.kind_of(&stmt.iter) {
            Kind::Range(elt) => {
                let ty = self.module.ir_type(elt);
                let [start, stop, stride] = [0, 1, 2].map(|index| self.build.extract(&iterable, index));
                let counter = self.build.slot(ty.clone());
                self.build.store(start.clone(), &counter);
                let polls = self.sleep_before_polling_range(stmt, &counter, [&start, &stop, &stride])?;
                let beyond = self.steps_beyond(&stop, &stride);
                let first = if beyond {
                    self.build.jump(head);
                    self.build.block = head;
                    self.build.load(ty.clone(), &counter)
                } else if polls {
                    self.build.load(ty.clone(), &counter)
                } else {
                    start
                };
                let more = self.in_range(&first, &stop, &stride);
                self.build.branch(more, inside, done);
                self.build.block = step;
                let value = self.build.load(ty.clone(), &counter);
                if !beyond {
                    let more = self.goes_on(&value, &stop, &stride);
                    self.build.branch(more, head, done);
                    self.build.block = head;
                }
                let next = self.build.binary(Binary::Add, value, stride);
                self.build.store(next, &counter);
                self.build.jump(if beyond { head } else { inside });
                self.build.block = inside;
                let value = self.build.load(ty, &counter);
                self.assign(&stmt.target, value, elt)?;
            }
            _ => {
                let elements = self.elements(&iterable, self.type_of(&stmt.iter));
                let counter = self.build.slot(elements.length.ty.clone());
                self.build.store(Value::int(elements.length.ty.clone(), 0), &counter);
                self.build.jump(head);
                self.build.block = step;
                let index = self.build.load(elements.length.ty.clone(), &counter);
                self.count(&counter, index, head);
                let index = self.next_element(&elements, &counter, [head, inside, done]);
                let value = self.element(&elements, index);
                let ty = match self.function.facts.get(&stmt.target.id) {
                    Some(Fact::Element(ty)) => *ty,
                    _ => self.type_of(&stmt.target),
                };
                self.assign(&stmt.target, value, ty)?;
            }
        }
        self.loop_body(&stmt.body, after, step)?;
        // Allocations of an `else` are needed after the loop.
        let places = [step, done, after];
        let places = &places[..if stmt.orelse.is_empty() { 3 } else { 2 }];
        self.give_back(before, Head::Target(&stmt.target), &stmt.body, places);
        self.build.block = done;
        self.body(&stmt.orelse)?;
        self.build.jump(after);
        self.build.block = after;
        Ok(())
    }

    /// `with parallel`: each statement starts at the time the block starts; the block ends when the
    /// last one ends, also if it is left before its end.
    fn parallel(&mut self, body: &'p [Stmt]) -> Result<()> {
        let start = self.now_mu();
        let block = self.begin_parallel(start.clone());
        self.scopes.push(Scope::Parallel(block.clone()));
        for (index, stmt) in body.iter().enumerate() {
            self.build.span = stmt.span;
            if index > 0 {
                self.reach(&block);
                self.set_cursor(Cursor::At, start.clone());
            }
            self.stmt(stmt)?;
            if self.build.is_closed() {
                self.scopes.pop();
                return Ok(());
            }
        }
        self.scopes.pop();
        self.end_parallel(&block);
        Ok(())
    }

    /// Assigns a value of type `ty` to a target.
    pub(super) fn assign(&mut self, target: &'p Expr, value: Value, ty: types::Ty) -> Result<()> {
        match &target.kind {
            ExprKind::Subscript { value: object, index } if matches!(self.kind_of(object), Kind::ByteArray) => {
                let bytes = self.expr(object)?;
                let position = self.expr(index)?;
                // Like Python, checks the value before the index.
                let byte = self.checked_byte(value);
                self.build.span = object.span.to(index.span);
                let to = self.byte_address(&bytes, position);
                self.build.store(byte, &to);
                Ok(())
            }
            ExprKind::Name(_) | ExprKind::Attribute { .. } | ExprKind::Subscript { .. } | ExprKind::Slices { .. } => {
                match self.assign_target(target)? {
                    AssignTarget::Array(to) => self.assign_part(&to, (value, ty))?,
                    AssignTarget::Memory(to) => self.build.store(value, &to),
                    AssignTarget::Byte(_) => unreachable!("above"),
                }
                Ok(())
            }
            ExprKind::Tuple(targets) => {
                let Kind::Tuple(types) = self.module.program.types.kind(ty) else {
                    unreachable!("a tuple is assigned to a tuple")
                };
                for (index, target) in targets.iter().enumerate() {
                    let member = self.build.extract(&value, index);
                    self.assign(target, member, types[index])?;
                }
                Ok(())
            }
            ExprKind::List(targets) => {
                let Kind::List(elt) = *self.module.program.types.kind(ty) else {
                    unreachable!("inference admits lists")
                };
                self.assign_list(targets, value, elt)
            }
            ExprKind::Slice { value: object, bounds } => self.assign_slice(target, object, bounds, (value, ty)),
            _ => self.unsupported(target.span, "assignment to this expression"),
        }
    }
}
