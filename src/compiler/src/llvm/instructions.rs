//! Instructions and calls as text.

use std::fmt::Write;

use super::format::{operand, passed, quoted, result, typed};
use super::Printer;
use crate::ir::*;

/// Largest number of instructions with which a function inlines others everywhere, and with which
/// it does so in its loops: code generation time grows faster than the size of blocks.
const LONG: usize = 200;
const LARGE: usize = 600;

/// Number of members from which a struct is printed once and referred to by name.
const NAMED: usize = 8;

fn allocated(of: &Ty, count: &Value) -> String {
    format!("alloca {of}, {}, align 8", typed(count))
}

impl Printer<'_> {
    /// A struct type in an instruction. The layout of a large class would be the longest text of all.
    fn struct_name(&mut self, ty: &Ty) -> String {
        match ty {
            Ty::Struct(members) if members.len() >= NAMED => {
                let (numbers, types) = &mut self.structs;
                let number = *numbers.entry(members.as_ptr() as usize).or_insert_with(|| {
                    types.push(ty.clone());
                    types.len() - 1
                });
                format!("%struct.{number}")
            }
            _ => ty.to_string(),
        }
    }

    pub(super) fn instruction(&mut self, function: &Function, instruction: &Instruction, scope: Option<usize>) {
        let fast = if function.fast_math { "fast " } else { "" };
        let text = match &instruction.op {
            Op::Binary(op, a, b) => {
                let fast = if op.is_float() { fast } else { "" };
                format!("{} {fast}{}, {}", op.name(), typed(a), operand(b))
            }
            Op::Compare(op, a, b) => format!("{} {}, {}", op.name(), typed(a), operand(b)),
            Op::Convert(Convert::FPToSI, a, ty) => self.float_to_integer(instruction.result.expect("a number"), a, ty),
            Op::Convert(op, a, ty) => format!("{} {} to {ty}", op.name(), typed(a)),
            Op::Select(c, a, b) => format!("select {}, {}, {}", typed(c), typed(a), typed(b)),
            Op::Load { ty, from, invariant } => {
                let invariant = if *invariant { ", !invariant.load !{}" } else { "" };
                format!("load {ty}, {}{invariant}", typed(from))
            }
            Op::Store { value, to } => format!("store {}, {}", typed(value), typed(to)),
            Op::Field { base, of, index } => {
                let of = self.struct_name(of);
                format!("getelementptr {of}, {}, i32 0, i32 {index}", typed(base))
            }
            Op::Element { base, of, index } => format!("getelementptr {of}, {}, {}", typed(base), typed(index)),
            Op::Extract { from, index } => format!("extractvalue {}, {index}", typed(from)),
            Op::Insert { into, value, index } => format!("insertvalue {}, {}, {index}", typed(into), typed(value)),
            Op::Alloca { of, count } => {
                let number = instruction.result.expect("an address");
                if !self.hoisted.contains(&number) {
                    self.allocation(number, &allocated(of, count));
                }
                return;
            }
            Op::LandingPad { clauses, cleanup } => {
                let mut text = String::from("landingpad { ptr, i32 }");
                if *cleanup {
                    text.push_str(" cleanup");
                }
                for clause in clauses {
                    match clause {
                        Some(name) => write!(text, " catch ptr @{}", quoted(name)).expect("writing to a string"),
                        None => text.push_str(" catch ptr null"),
                    }
                }
                text
            }
            Op::Call { .. } => return self.call(instruction, scope),
        };
        match instruction.result {
            Some(number) => self.line(format_args!("  %t{number} = {text}")),
            None => self.line(format_args!("  {text}")),
        }
    }

    /// Makes the allocations of a constant size in the first block of a function at its beginning, where they
    /// have a fixed place in its frame: that block is not the beginning if blocks are not joined.
    pub(super) fn hoist_allocations(&mut self, function: &Function) {
        self.hoisted.clear();
        let mut entered = false;
        (0..function.blocks.len()).for_each(|from| function.each_next(from, &mut |to| entered |= to == 0));
        if !self.divided || entered {
            return;
        }
        for instruction in &function.blocks[0].body {
            if let (Op::Alloca { of, count }, Some(number)) = (&instruction.op, instruction.result) {
                if count.is_constant() {
                    self.hoisted.insert(number);
                    self.allocation(number, &allocated(of, count));
                }
            }
        }
    }

    /// Memory on the stack. The address of crowded memory passes through an empty piece of assembly, where LLVM
    /// does not follow it.
    pub(super) fn allocation(&mut self, number: u32, text: &str) {
        if !self.crowded.contains(&number) {
            return self.line(format_args!("  %t{number} = {text}"));
        }
        self.line(format_args!("  %t{number}.memory = {text}"));
        self.line(format_args!(
            "  %t{number} = call ptr asm \"\", \"=r,0\"(ptr %t{number}.memory)"
        ));
    }

    /// Truncates a float toward zero; saturates out-of-range values, and converts NaN to 0. LLVM's
    /// own instruction leaves both undefined, so its constant folding would not match the
    /// processor.
    fn float_to_integer(&mut self, result: u32, value: &Value, ty: &Ty) -> String {
        let saturating = format!("llvm.fptosi.sat.{ty}.f64");
        let library = "__aeabi_d2lz";
        let fast = self.arm && *ty == Ty::I64;
        let declared = [
            (true, saturating.as_str(), format!("{ty}")),
            (fast, "llvm.is.constant.f64", "i1".into()),
            (fast, library, format!("arm_aapcscc {ty}")),
        ];
        for (_, symbol, returns) in declared.into_iter().filter(|(needed, ..)| *needed) {
            let declaration = format!("declare {returns} @{symbol}(double) nounwind willreturn memory(none)");
            self.conversions.insert(symbol.to_string(), declaration);
        }
        let value = typed(value);
        if !fast {
            return format!("call {ty} @{saturating}({value})");
        }
        // The run-time library's function behaves like this already, but LLVM does not know that
        // and would add comparisons around the call.
        self.line(format_args!(
            "  %t{result}.known = call i1 @llvm.is.constant.f64({value})"
        ));
        self.line(format_args!("  %t{result}.folded = call {ty} @{saturating}({value})"));
        self.line(format_args!(
            "  %t{result}.called = call arm_aapcscc {ty} @{library}({value})"
        ));
        format!("select i1 %t{result}.known, {ty} %t{result}.folded, {ty} %t{result}.called")
    }

    fn call(&mut self, instruction: &Instruction, scope: Option<usize>) {
        let Op::Call {
            callee,
            args,
            returns,
            unwind,
            looped,
        } = &instruction.op
        else {
            return;
        };
        let location = self.location(scope, instruction.span);
        let external = self.module.externals.get(callee);
        let mut list: Vec<String> = args
            .iter()
            .map(|arg| match external {
                Some(_) => format!("{} {}", passed(&arg.ty), operand(arg)),
                None => typed(arg),
            })
            .collect();
        let by_pointer = external.is_some_and(|external| external.by_pointer);
        let number = instruction.result.unwrap_or(0);
        if by_pointer {
            list.insert(0, format!("ptr sret({returns}) %r{number}"));
        }
        let value = if by_pointer || instruction.result.is_none() {
            String::new()
        } else {
            format!("%t{number} = ")
        };
        let returned = if by_pointer {
            "void".to_string()
        } else {
            result(returns)
        };
        let returned = match external {
            Some(External {
                variadic: true, params, ..
            }) => {
                let params: Vec<_> = params.iter().map(passed).collect();
                format!("{returned} ({}, ...)", params.join(", "))
            }
            _ => returned,
        };
        let folds = *looped && self.folding.contains(callee) && args.iter().any(|arg| arg.as_float().is_some());
        // Inlining code that runs once in a long function is worth neither the space nor the
        // compile time.
        let worth = self.size <= if *looped { LARGE } else { LONG };
        let attribute = match (worth, self.inlined.contains(callee)) {
            (true, _) if folds => " alwaysinline",
            (false, true) => " noinline",
            _ => "",
        };
        let callee = quoted(callee);
        let call = format!("{returned} @{callee}({}){attribute}", list.join(", "));
        match unwind {
            None => self.line(format_args!("  {value}call {call}{location}")),
            Some(pad) => {
                let next = self.cont;
                self.cont += 1;
                self.line(format_args!(
                    "  {value}invoke {call} to label %c{next} unwind label %b{pad}{location}"
                ));
                self.line(format_args!("c{next}:"));
            }
        }
        if by_pointer {
            self.line(format_args!("  %t{number} = load {returns}, ptr %r{number}"));
        }
    }
}
