//! Constants that a function without a loop uses again and again, fetched once where it begins.
//!
//! The quick way of code generation puts every use of an address into the constants behind the
//! code, which must be near: for thousands of them it looks for places longer than it takes for all
//! the rest.

use std::collections::HashMap;

use super::*;

/// Uses from which on it is worth it.
const USES: usize = 4;

/// A constant that is no part of an instruction: an address, or the bits of a float.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Literal {
    Address(Rc<str>),
    Float(u64),
}

impl Literal {
    fn of(value: &Value) -> Option<Literal> {
        match &value.kind {
            ValueKind::Global(name) => Some(Literal::Address(name.clone())),
            ValueKind::Float(known) => Some(Literal::Float(known.to_bits())),
            _ => None,
        }
    }
}

impl Function {
    /// Takes constants that are used often from variables, which it adds to `globals`.
    pub fn hoist(&mut self, globals: &mut Vec<Global>) {
        let external = globals.iter().filter(|global| matches!(global.init, Init::External(_)));
        let external: Vec<Rc<str>> = external.map(|global| global.name.clone()).collect();
        let mut uses: HashMap<Literal, usize> = HashMap::new();
        let mut order = vec![];
        for instruction in self.blocks.iter().flat_map(|block| &block.body) {
            instruction.op.each_operand(&mut |value| {
                let Some(literal) = Literal::of(value) else { return };
                if matches!(&literal, Literal::Address(name) if external.contains(name)) {
                    // Only the linker knows where its address is.
                    return;
                }
                let count = uses.entry(literal.clone()).or_default();
                *count += 1;
                if *count == USES {
                    order.push((literal, value.clone()));
                }
            });
        }
        if order.is_empty() {
            return;
        }
        let mut fetched = HashMap::new();
        let mut loads = vec![];
        for (literal, value) in order {
            let name: Rc<str> = format!("{}.constant.{}", self.symbol, fetched.len()).into();
            let ty = value.ty.clone();
            globals.push(Global {
                name: name.clone(),
                constant: false,
                exported: false,
                init: Init::Value(value),
            });
            let op = Op::Load {
                ty: ty.clone(),
                from: Value::global(name),
                invariant: false,
            };
            let (result, span) = (Some(self.next), Span::default());
            loads.push(Instruction { result, op, span });
            let kind = ValueKind::Temp(self.next);
            fetched.insert(literal, Value { ty, kind });
            self.next += 1;
        }
        for instruction in self.blocks.iter_mut().flat_map(|block| &mut block.body) {
            instruction.op.each_operand_mut(&mut |value| {
                if let Some(known) = Literal::of(value).and_then(|literal| fetched.get(&literal)) {
                    *value = known.clone();
                }
            });
        }
        self.blocks[0].body.splice(0..0, loads);
    }
}
