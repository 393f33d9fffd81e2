//! Memory on the stack to which very many instructions refer, and variables that are compared very often.

use std::collections::{HashMap, HashSet};

use super::*;

/// Number of instructions above which memory is crowded.
const MANY: u32 = 64;

/// Number of comparisons of a variable above which it is compared very often.
const COMPARED: u32 = 100;

impl Function {
    /// Whether a variable is compared very often, as in a long chain of `elif` or of `assert`. LLVM's combination
    /// of instructions looks at all conditions on a value for each of them.
    pub fn compares_often(&self) -> bool {
        let instructions = || self.blocks.iter().flat_map(|block| &block.body);
        let (mut variables, mut compared) = (HashMap::new(), HashMap::<u32, u32>::new());
        for instruction in instructions() {
            match (&instruction.op, instruction.result) {
                (Op::Load { from, .. }, Some(result)) => {
                    if let ValueKind::Temp(variable) = from.kind {
                        variables.insert(result, variable);
                    }
                }
                (Op::Compare(_, one, other), _) => {
                    for value in [one, other] {
                        if let ValueKind::Temp(number) = value.kind {
                            *compared.entry(*variables.get(&number).unwrap_or(&number)).or_default() += 1;
                        }
                    }
                }
                _ => {}
            }
        }
        compared.values().any(|&count| count > COMPARED)
    }

    /// The results of those allocations, and the slots, that stay in memory and to which many instructions
    /// refer, directly or through a variable that has their address.
    ///
    /// LLVM looks at all users of an allocation whenever it has removed one of them, so that its time would
    /// grow with the square of their number. An allocation of which it does not know the users costs no more
    /// than others.
    pub fn crowded(&self) -> HashSet<u32> {
        let mut places: HashSet<u32> = self.slots.iter().map(|(number, _)| *number).collect();
        let instructions = || self.blocks.iter().flat_map(|block| &block.body);
        let allocated = instructions().filter(|instruction| matches!(instruction.op, Op::Alloca { .. }));
        places.extend(allocated.filter_map(|instruction| instruction.result));
        let (mut users, mut addressed) = (HashMap::<u32, u32>::new(), HashSet::new());
        let mut kept = vec![];
        for instruction in instructions() {
            instruction.op.each_operand(&mut |operand| {
                let ValueKind::Temp(place) = operand.kind else { return };
                if places.contains(&place) {
                    *users.entry(place).or_default() += 1;
                    if !instruction.op.accesses(place) {
                        addressed.insert(place);
                    }
                }
            });
            if let Op::Store { value, to } = &instruction.op {
                if let (ValueKind::Temp(value), ValueKind::Temp(to)) = (&value.kind, &to.kind) {
                    kept.push((*value, *to));
                }
            }
        }
        for (place, variable) in kept {
            if let (true, Some(&more)) = (places.contains(&place), users.get(&variable)) {
                *users.entry(place).or_default() += more;
            }
        }
        addressed.retain(|place| users[place] > MANY);
        addressed
    }
}

impl Op {
    /// Whether the operation only loads from, or stores to, a place on the stack.
    fn accesses(&self, place: u32) -> bool {
        let is_place = |value: &Value| matches!(value.kind, ValueKind::Temp(number) if number == place);
        match self {
            Op::Load { .. } => true,
            Op::Store { value, .. } => !is_place(value),
            _ => false,
        }
    }
}
