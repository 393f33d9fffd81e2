//! Operands and symbols that instructions use.

use super::*;

impl Value {
    /// Calls `visit` with every global in the value.
    pub fn each_global<'a>(&'a self, visit: &mut dyn FnMut(&'a Rc<str>)) {
        match &self.kind {
            ValueKind::Global(name) | ValueKind::Within(name, _) => visit(name),
            ValueKind::Struct(members) => members.iter().for_each(|member| member.each_global(visit)),
            _ => {}
        }
    }
}

impl Init {
    /// Calls `visit` with every global that the data refers to.
    pub fn each_global<'a>(&'a self, visit: &mut dyn FnMut(&'a Rc<str>)) {
        match self {
            Init::Value(value) => value.each_global(visit),
            Init::Array(_, values) => values.iter().for_each(|value| value.each_global(visit)),
            Init::Bytes(_) | Init::Memory(_) | Init::External(_) => {}
        }
    }
}

impl Global {
    /// The number of references to other globals.
    pub fn references(&self) -> usize {
        let mut count = 0;
        self.init.each_global(&mut |_| count += 1);
        count
    }
}

/// Calls `$visit` with every operand of `$op`; `$each` is the iterator method for call arguments.
macro_rules! operands {
    ($op:expr, $visit:expr, $each:ident) => {
        match $op {
            Op::Convert(_, a, _) | Op::Load { from: a, .. } | Op::Extract { from: a, .. } => $visit(a),
            Op::Field { base: a, .. } | Op::Alloca { count: a, .. } => $visit(a),
            Op::Binary(_, a, b)
            | Op::Compare(_, a, b)
            | Op::Store { value: a, to: b }
            | Op::Element { base: a, index: b, .. }
            | Op::Insert { into: a, value: b, .. } => {
                $visit(a);
                $visit(b);
            }
            Op::Select(a, b, c) => {
                $visit(a);
                $visit(b);
                $visit(c);
            }
            Op::Call { args, .. } => args.$each().for_each($visit),
            Op::LandingPad { .. } => {}
        }
    };
}

impl Op {
    /// Calls `visit` with every operand.
    pub fn each_operand<'a>(&'a self, visit: &mut dyn FnMut(&'a Value)) {
        operands!(self, visit, iter);
    }

    /// Calls `visit` with a mutable reference to every operand.
    pub fn each_operand_mut(&mut self, visit: &mut dyn FnMut(&mut Value)) {
        operands!(self, visit, iter_mut);
    }

    /// Whether the operation has no effect besides its result.
    pub fn is_pure(&self) -> bool {
        !matches!(
            self,
            Op::Store { .. } | Op::Alloca { .. } | Op::Call { .. } | Op::LandingPad { .. }
        )
    }
}

impl Terminator {
    /// The operand, if any.
    pub fn operand(&self) -> Option<&Value> {
        match self {
            Terminator::Branch(value, ..) | Terminator::Return(value) => Some(value),
            Terminator::Jump(_) | Terminator::Unreachable => None,
        }
    }
}

impl Block {
    /// Whether the block was found to be unreachable.
    pub fn is_unreachable(&self) -> bool {
        self.end.is_none() && self.body.is_empty()
    }
}

impl Function {
    /// Calls `visit` with every successor of block `from`, landing pads included.
    pub fn each_next(&self, from: BlockId, visit: &mut dyn FnMut(BlockId)) {
        let block = &self.blocks[from];
        for instruction in &block.body {
            if let Op::Call { unwind: Some(pad), .. } = instruction.op {
                visit(pad);
            }
        }
        match block.end {
            Some(Terminator::Jump(to)) => visit(to),
            Some(Terminator::Branch(_, yes, no)) => {
                visit(yes);
                visit(no);
            }
            _ => {}
        }
    }

    /// Number of blocks and instructions: about the lines of the function in assembly.
    pub fn size(&self) -> usize {
        // Each block has a label and a terminator.
        self.slots.len() + self.blocks.iter().map(|block| block.body.len() + 2).sum::<usize>()
    }
}
