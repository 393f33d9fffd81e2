//! Removes dead code before LLVM sees it: code generation costs more per line than emitting the
//! line.

use super::*;

impl Function {
    /// Removes instructions with unused results, and skips blocks that only jump.
    pub fn tidy(&mut self) {
        self.remove_unused();
        self.skip_empty_blocks();
        self.clear_unreachable();
    }

    fn remove_unused(&mut self) {
        let mut uses = vec![0u32; self.next as usize];
        let count = |value: &Value, uses: &mut Vec<u32>| each_temp(value, &mut |number| uses[number as usize] += 1);
        for block in &self.blocks {
            for instruction in &block.body {
                instruction.op.each_operand(&mut |value| count(value, &mut uses));
            }
            if let Some(value) = block.end.as_ref().and_then(Terminator::operand) {
                count(value, &mut uses);
            }
        }
        for block in self.blocks.iter_mut().rev() {
            let mut kept: Vec<Instruction> = Vec::with_capacity(block.body.len());
            for instruction in std::mem::take(&mut block.body).into_iter().rev() {
                let unused = instruction.result.is_some_and(|number| uses[number as usize] == 0);
                if !(unused && instruction.op.is_pure()) {
                    kept.push(instruction);
                    continue;
                }
                let release = &mut |value: &Value| each_temp(value, &mut |number| uses[number as usize] -= 1);
                instruction.op.each_operand(release);
            }
            kept.reverse();
            block.body = kept;
        }
    }

    /// Redirects jumps to empty blocks to their destinations.
    fn skip_empty_blocks(&mut self) {
        let leads: Vec<Option<BlockId>> = self.blocks.iter().map(only_jump).collect();
        let end_of = |mut block: BlockId| {
            // An endless loop may be empty.
            for _ in 0..leads.len() {
                match leads[block] {
                    Some(next) if next != block => block = next,
                    _ => break,
                }
            }
            block
        };
        for block in &mut self.blocks {
            match &mut block.end {
                Some(Terminator::Jump(to)) => *to = end_of(*to),
                Some(Terminator::Branch(_, yes, no)) => {
                    (*yes, *no) = (end_of(*yes), end_of(*no));
                    if yes == no {
                        block.end = Some(Terminator::Jump(*yes));
                    }
                }
                _ => {}
            }
        }
    }

    /// Empties unreachable blocks.
    fn clear_unreachable(&mut self) {
        let mut reached = vec![false; self.blocks.len()];
        let mut open = vec![0];
        while let Some(block) = open.pop() {
            if !std::mem::replace(&mut reached[block], true) {
                self.each_next(block, &mut |next| open.push(next));
            }
        }
        for (block, reached) in self.blocks.iter_mut().zip(reached) {
            if !reached {
                (block.body, block.end) = (vec![], None);
            } else if block.end.is_none() {
                block.end = Some(Terminator::Unreachable);
            }
        }
    }
}

fn only_jump(block: &Block) -> Option<BlockId> {
    match block.end {
        Some(Terminator::Jump(to)) if block.body.is_empty() => Some(to),
        _ => None,
    }
}

fn each_temp(value: &Value, visit: &mut dyn FnMut(u32)) {
    match &value.kind {
        ValueKind::Temp(number) => visit(*number),
        ValueKind::Struct(members) => members.iter().for_each(|member| each_temp(member, visit)),
        _ => {}
    }
}
