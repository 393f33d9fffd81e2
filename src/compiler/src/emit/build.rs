//! Builds the instructions of one function, folding constants.

use crate::ir::*;
use crate::source::Span;
use std::collections::HashMap;
use std::rc::Rc;

/// The function under construction and the insertion point.
pub struct Builder {
    pub function: Function,
    pub block: BlockId,
    pub span: Span,
    /// The call site in this function when code of another function is inlined: it replaces the
    /// position of that code in the line table, which has one file per function.
    pub inlined_at: Option<Span>,
    /// Number of loops around the current statement.
    pub loops: u32,
    /// Members of structs built here, so that extracting one needs no instruction.
    made: HashMap<u32, Rc<[Value]>>,
}

impl Builder {
    pub fn new(function: Function) -> Builder {
        Builder {
            function,
            block: 0,
            span: Span::default(),
            inlined_at: None,
            loops: 0,
            made: HashMap::new(),
        }
    }

    pub fn new_block(&mut self, label: &'static str) -> BlockId {
        self.function.blocks.push(Block {
            label,
            ..Block::default()
        });
        self.function.blocks.len() - 1
    }

    /// Allocates the number of a value.
    fn fresh(&mut self) -> u32 {
        self.function.next += 1;
        self.function.next - 1
    }

    pub fn push(&mut self, ty: Option<Ty>, op: Op) -> Value {
        let result = ty.as_ref().map(|_| self.fresh());
        let span = self.inlined_at.unwrap_or(self.span);
        self.function.blocks[self.block]
            .body
            .push(Instruction { result, op, span });
        match (ty, result) {
            (Some(ty), Some(number)) => Value {
                ty,
                kind: ValueKind::Temp(number),
            },
            _ => Value::unit(),
        }
    }

    /// Inserts an instruction at a position of an existing block; returns its result, if any.
    pub fn insert(&mut self, (block, index): (BlockId, usize), ty: Option<Ty>, op: Op) -> Value {
        let here = std::mem::replace(&mut self.block, block);
        let value = self.push(ty, op);
        let body = &mut self.function.blocks[block].body;
        let instruction = body.pop().expect("just pushed");
        body.insert(index, instruction);
        self.block = here;
        value
    }

    /// Whether the current block already ends; code after it is unreachable.
    pub fn is_closed(&self) -> bool {
        self.function.blocks[self.block].end.is_some()
    }

    pub fn end(&mut self, end: Terminator) {
        let block = &mut self.function.blocks[self.block];
        if block.end.is_none() {
            block.end = Some(end);
        }
    }

    pub fn jump(&mut self, to: BlockId) {
        self.end(Terminator::Jump(to));
    }

    pub fn branch(&mut self, condition: Value, yes: BlockId, no: BlockId) {
        match condition.as_int() {
            Some(known) => self.jump(if known != 0 { yes } else { no }),
            None => self.end(Terminator::Branch(condition, yes, no)),
        }
    }

    /// Allocates a stack slot in the function's frame.
    pub fn slot(&mut self, ty: Ty) -> Value {
        let number = self.fresh();
        self.function.slots.push((number, ty));
        Value {
            ty: Ty::Ptr,
            kind: ValueKind::Temp(number),
        }
    }

    pub fn alloca(&mut self, of: Ty, count: Value) -> Value {
        self.push(Some(Ty::Ptr), Op::Alloca { of, count })
    }

    pub fn load(&mut self, ty: Ty, from: &Value) -> Value {
        self.load_as(ty, from, false)
    }

    pub fn load_as(&mut self, ty: Ty, from: &Value, invariant: bool) -> Value {
        if ty.is_unit() {
            return Value::unit();
        }
        self.push(
            Some(ty.clone()),
            Op::Load {
                ty,
                from: from.clone(),
                invariant,
            },
        )
    }

    pub fn store(&mut self, value: Value, to: &Value) {
        if !value.ty.is_unit() {
            self.push(None, Op::Store { value, to: to.clone() });
        }
    }

    pub fn field(&mut self, base: &Value, of: &Ty, index: usize) -> Value {
        self.push(
            Some(Ty::Ptr),
            Op::Field {
                base: base.clone(),
                of: of.clone(),
                index,
            },
        )
    }

    pub fn element(&mut self, base: &Value, of: &Ty, index: Value) -> Value {
        self.push(
            Some(Ty::Ptr),
            Op::Element {
                base: base.clone(),
                of: of.clone(),
                index,
            },
        )
    }

    pub fn extract(&mut self, from: &Value, index: usize) -> Value {
        if let ValueKind::Temp(number) = from.kind {
            if let Some(members) = self.made.get(&number) {
                return members[index].clone();
            }
        }
        match (&from.kind, &from.ty) {
            (ValueKind::Struct(members), _) => members[index].clone(),
            (_, Ty::Struct(members)) if members[index].is_unit() => Value::unit(),
            (_, Ty::Struct(members)) => self.push(
                Some(members[index].clone()),
                Op::Extract {
                    from: from.clone(),
                    index,
                },
            ),
            _ => unreachable!("only structs have members"),
        }
    }

    /// A struct with these members.
    pub fn aggregate(&mut self, members: Vec<Value>) -> Value {
        if members.iter().all(|member| !matches!(member.kind, ValueKind::Temp(_))) {
            return Value::record(members);
        }
        let ty = Ty::Struct(members.iter().map(|member| member.ty.clone()).collect());
        let mut whole = Value::zero(ty.clone());
        for (index, value) in members.iter().enumerate().filter(|(_, value)| !value.ty.is_unit()) {
            whole = self.push(
                Some(ty.clone()),
                Op::Insert {
                    into: whole,
                    value: value.clone(),
                    index,
                },
            );
        }
        if let ValueKind::Temp(number) = whole.kind {
            self.made.insert(number, members.into());
        }
        whole
    }

    pub fn call(&mut self, callee: &str, args: Vec<Value>, returns: Ty, unwind: Option<BlockId>) -> Value {
        let result = (!returns.is_unit()).then(|| returns.clone());
        let args = args.into_iter().filter(|arg| !arg.ty.is_unit()).collect();
        self.push(
            result,
            Op::Call {
                callee: callee.into(),
                args,
                returns,
                unwind,
                looped: self.loops > 0,
            },
        )
    }

    pub fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        match condition.as_int() {
            Some(known) => [no, yes][(known != 0) as usize].clone(),
            None => self.push(Some(yes.ty.clone()), Op::Select(condition, yes, no)),
        }
    }

    /// An arithmetic instruction; the operands have the same type.
    pub fn binary(&mut self, op: Binary, a: Value, b: Value) -> Value {
        if let (Some(x), Some(y)) = (a.as_int(), b.as_int()) {
            if let Some(folded) = op.fold_int(x, y, a.ty.bits()) {
                return Value::int(a.ty, folded);
            }
        }
        if let (Some(x), Some(y)) = (a.as_float(), b.as_float()) {
            if let Some(folded) = op.fold_float(x, y) {
                return Value::float(folded);
            }
        }
        self.push(Some(a.ty.clone()), Op::Binary(op, a, b))
    }

    pub fn compare(&mut self, op: Compare, a: Value, b: Value) -> Value {
        let (ints, floats) = (a.as_int().zip(b.as_int()), a.as_float().zip(b.as_float()));
        match op.fold(ints, floats) {
            Some(known) => Value::bool(known),
            None => self.push(Some(Ty::I1), Op::Compare(op, a, b)),
        }
    }

    /// Converts a number: integers wrap or are sign-extended, floats are truncated toward zero.
    pub fn convert(&mut self, value: Value, to: &Ty) -> Value {
        if value.ty == *to {
            return value;
        }
        match (value.as_int(), value.as_float(), to) {
            (Some(x), _, Ty::F64) => return Value::float(x as f64),
            (Some(x), _, _) => return Value::int(to.clone(), x),
            (_, Some(x), Ty::I64) => return Value::int(Ty::I64, x as i64),
            (_, Some(x), Ty::I32) => return Value::int(Ty::I32, (x as i32).into()),
            _ => {}
        }
        if (&value.ty, to) == (&Ty::I1, &Ty::F64) {
            let number = self.convert(value, &Ty::I32);
            return self.convert(number, to);
        }
        let op = match (&value.ty, to) {
            (Ty::F64, _) => Convert::FPToSI,
            (_, Ty::F64) => Convert::SIToFP,
            (from, to) if from.bits() > to.bits() => Convert::Trunc,
            (Ty::I1, _) => Convert::ZExt,
            _ => Convert::SExt,
        };
        self.push(Some(to.clone()), Op::Convert(op, value, to.clone()))
    }

    /// Negates a number, including the sign of zero.
    pub fn negated(&mut self, value: Value) -> Value {
        match value.ty {
            Ty::F64 => self.binary(Binary::FSub, Value::float(-0.0), value),
            _ => self.binary(Binary::Sub, Value::int(value.ty.clone(), 0), value),
        }
    }

    pub fn not(&mut self, value: Value) -> Value {
        self.binary(Binary::Xor, value, Value::bool(true))
    }

    pub fn finish(mut self) -> Function {
        self.end(Terminator::Unreachable);
        self.function
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_fold_in_their_width() {
        let mut build = Builder::new(Function::new("f", vec![], Ty::unit(), None));
        let max = Value::int(Ty::I32, i32::MAX.into());
        let sum = build.binary(Binary::Add, max, Value::int(Ty::I32, 1));
        assert_eq!(sum.as_int(), Some(i32::MIN.into()));
        let cut = build.convert(Value::float(-2.9), &Ty::I32);
        assert_eq!(cut.as_int(), Some(-2));
        assert!(build.function.blocks[0].body.is_empty());
    }
}
