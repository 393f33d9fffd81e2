//! Hoists constants that a loop-free function uses repeatedly to its beginning.
//!
//! Quick code generation puts each use of an address into a literal pool after the code, which
//! must be in range: with thousands of uses, placing the pools takes longer than everything else.

use std::collections::HashMap;

use super::*;

/// Number of uses from which hoisting is worthwhile.
const USES: usize = 4;

/// A constant that does not fit into an instruction: an address, or the bits of a float.
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
    /// Loads frequently used constants once, from variables that are added to `globals`.
    pub fn hoist(&mut self, globals: &mut Vec<Global>) {
        let external = globals.iter().filter(|global| matches!(global.init, Init::External(_)));
        let external: Vec<Rc<str>> = external.map(|global| global.name.clone()).collect();
        let mut uses: HashMap<Literal, usize> = HashMap::new();
        let mut order = vec![];
        for instruction in self.blocks.iter().flat_map(|block| &block.body) {
            instruction.op.each_operand(&mut |value| {
                let Some(literal) = Literal::of(value) else { return };
                if matches!(&literal, Literal::Address(name) if external.contains(name)) {
                    // Only the linker knows the address.
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
                patched: false,
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
