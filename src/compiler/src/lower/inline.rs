//! Selects functions that LLVM must inline: those whose code is hardly longer than a call, such as
//! methods that write one output. Debug information keeps them visible in tracebacks.

use std::collections::HashMap;
use std::rc::Rc;

use crate::ir::*;

/// Largest weight of an inlined function, in machine instructions approximately. A call that is not
/// inlined weighs [`CALL`].
const LARGEST: usize = 8;
const CALL: usize = 3;
/// Largest weight of a function that is inlined where a constant time in seconds is passed to it,
/// because the conversion folds, with the check that it is a time.
const FOLDED: usize = 36;
/// The firmware function that converts floats to machine units.
const CONVERSION: &str = "round";

/// Marks the functions to be inlined. `entry` is never inlined: its caller has no source position.
pub fn mark(functions: &mut [Function], entry: &str) {
    let index = functions
        .iter()
        .enumerate()
        .map(|(number, function)| (function.symbol.clone(), number))
        .collect();
    let mut weights = Weights {
        functions,
        index,
        known: HashMap::new(),
    };
    let inlined: Vec<usize> = (0..functions.len())
        .filter(|&number| weights.is_small(number))
        .collect();
    let folding: Vec<usize> = (0..functions.len()).filter(|&number| weights.folds(number)).collect();
    for number in folding {
        functions[number].folds = true;
    }
    for number in inlined {
        let function = &mut functions[number];
        if function.attributes.is_empty() && function.span.is_some() && &*function.symbol != entry {
            function.attributes = "alwaysinline";
        }
    }
}

struct Weights<'a> {
    functions: &'a [Function],
    index: HashMap<Rc<str>, usize>,
    known: HashMap<usize, Weight>,
}

#[derive(Clone, Copy)]
enum Weight {
    Small(usize),
    Large,
    /// Being computed; reached by recursion.
    Unknown,
}

impl Weights<'_> {
    fn is_small(&mut self, number: usize) -> bool {
        matches!(self.of(number), Weight::Small(_))
    }

    fn of(&mut self, number: usize) -> Weight {
        if let Some(&known) = self.known.get(&number) {
            return known;
        }
        self.known.insert(number, Weight::Unknown);
        let weight = self.weigh(number, LARGEST).map_or(Weight::Large, Weight::Small);
        self.known.insert(number, weight);
        weight
    }

    /// Whether a function converts a time passed to it and does little else.
    fn folds(&mut self, number: usize) -> bool {
        let function = &self.functions[number];
        let takes_float = function.params.iter().any(|(_, ty)| *ty == Ty::F64);
        let mut body = function.blocks.iter().flat_map(|block| &block.body);
        let converts =
            body.any(|instruction| matches!(&instruction.op, Op::Call { callee, .. } if &**callee == CONVERSION));
        takes_float && converts && function.span.is_some() && self.weigh(number, FOLDED).is_some()
    }

    /// The weight of a function; None if it is above `largest` or the function must not be inlined.
    fn weigh(&mut self, number: usize, largest: usize) -> Option<usize> {
        let function = &self.functions[number];
        let mut sum = 0;
        for block in &function.blocks {
            for instruction in &block.body {
                sum += match &instruction.op {
                    // Variables become registers, addresses are folded into loads and stores.
                    Op::Load { from, .. } if is_slot(function, from) => 0,
                    Op::Store { to, value } if is_slot(function, to) && !is_slot(function, value) => 0,
                    Op::Field { base, .. } if !is_slot(function, base) => 0,
                    Op::Extract { .. } | Op::Insert { .. } => 0,
                    // Memory of its own, or a `try`.
                    Op::Field { .. } | Op::Alloca { .. } | Op::LandingPad { .. } => return None,
                    Op::Call { args, .. } if args.iter().any(|arg| is_slot(function, arg)) => return None,
                    Op::Call { callee, .. } => match self.index.get(callee).copied().map(|callee| self.of(callee)) {
                        Some(Weight::Small(weight)) => weight,
                        Some(Weight::Unknown) => return None,
                        _ => CALL,
                    },
                    _ => 1,
                };
            }
            sum += usize::from(matches!(block.end, Some(Terminator::Branch(..))));
            if sum > largest {
                return None;
            }
        }
        Some(sum)
    }
}

fn is_slot(function: &Function, address: &Value) -> bool {
    matches!(address.kind, ValueKind::Temp(number) if function.slots.iter().any(|(slot, _)| *slot == number))
}
