//! The intermediate representation as text, for `--emit ir` and the tests.

use std::fmt::{Display, Formatter, Result};

use super::*;

/// Items separated by commas.
struct Listed<I>(I);

impl<I: Iterator<Item: Display> + Clone> Display for Listed<I> {
    fn fmt(&self, f: &mut Formatter) -> Result {
        self.0.clone().enumerate().try_for_each(|(index, item)| match index {
            0 => write!(f, "{item}"),
            _ => write!(f, ", {item}"),
        })
    }
}

/// A value with its type.
struct Typed<'a>(&'a Value);

impl Display for Typed<'_> {
    fn fmt(&self, f: &mut Formatter) -> Result {
        write!(f, "{} {}", self.0.ty, self.0)
    }
}

impl Display for Ty {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match self {
            Ty::I1 => f.write_str("i1"),
            Ty::I8 => f.write_str("i8"),
            Ty::I32 => f.write_str("i32"),
            Ty::I64 => f.write_str("i64"),
            Ty::F64 => f.write_str("double"),
            Ty::Ptr => f.write_str("ptr"),
            Ty::Struct(members) => write!(f, "{{{}}}", Listed(members.iter())),
        }
    }
}

/// Prints a value without its type.
impl Display for Value {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match &self.kind {
            ValueKind::Temp(number) => write!(f, "%{number}"),
            ValueKind::Int(value) => write!(f, "{value}"),
            ValueKind::Float(value) => write!(f, "{value:?}"),
            ValueKind::Global(name) => write!(f, "@{name}"),
            ValueKind::Within(name, offset) => write!(f, "@{name} + {offset}"),
            ValueKind::Struct(members) => write!(f, "{{{}}}", Listed(members.iter().map(Typed))),
            ValueKind::Zero => f.write_str("0"),
        }
    }
}

impl Display for Op {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match self {
            Op::Binary(op, a, b) => write!(f, "{} {} {a}, {b}", op.name(), a.ty),
            Op::Compare(op, a, b) => write!(f, "{} {} {a}, {b}", op.name(), a.ty),
            Op::Convert(op, a, ty) => write!(f, "{} {} {a} to {ty}", op.name(), a.ty),
            Op::Select(c, a, b) => write!(f, "select {c}, {} {a}, {b}", a.ty),
            Op::Load { ty, from, invariant } => {
                write!(f, "load {ty} {from}{}", if *invariant { " invariant" } else { "" })
            }
            Op::Store { value, to } => write!(f, "store {} {value} to {to}", value.ty),
            Op::Field { base, of, index } => write!(f, "field {base}.{index} of {of}"),
            Op::Element { base, of, index } => write!(f, "element {base}[{index}] of {of}"),
            Op::Extract { from, index } => write!(f, "extract {from}.{index}"),
            Op::Insert { into, value, index } => write!(f, "insert {into}.{index} = {value}"),
            Op::Alloca { of, count } => write!(f, "alloca {count} x {of}"),
            Op::Call {
                callee,
                args,
                returns,
                unwind,
                ..
            } => {
                write!(f, "call {returns} {callee}({})", Listed(args.iter().map(Typed)))?;
                unwind.map_or(Ok(()), |block| write!(f, " unwind b{block}"))
            }
            Op::LandingPad { clauses, cleanup } => {
                let clauses = clauses.iter().map(|clause| clause.as_deref().unwrap_or("all"));
                let cleanup = if *cleanup { " cleanup" } else { "" };
                write!(f, "landingpad [{}]{cleanup}", Listed(clauses))
            }
        }
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter) -> Result {
        let params = self.params.iter().map(|(number, ty)| format!("{ty} %{number}"));
        writeln!(f, "function {}({}) -> {}", self.symbol, Listed(params), self.returns)?;
        for (number, ty) in &self.slots {
            writeln!(f, "    %{number} = slot {ty}")?;
        }
        for (id, block) in self
            .blocks
            .iter()
            .enumerate()
            .filter(|(_, block)| !block.is_unreachable())
        {
            writeln!(f, "  b{id}: ; {}", block.label)?;
            for instruction in &block.body {
                match instruction.result {
                    Some(number) => writeln!(f, "    %{number} = {}", instruction.op)?,
                    None => writeln!(f, "    {}", instruction.op)?,
                }
            }
            match &block.end {
                Some(Terminator::Jump(to)) => writeln!(f, "    jump b{to}")?,
                Some(Terminator::Branch(c, yes, no)) => writeln!(f, "    branch {c}, b{yes}, b{no}")?,
                Some(Terminator::Return(value)) => writeln!(f, "    return {value}")?,
                Some(Terminator::Unreachable) | None => writeln!(f, "    unreachable")?,
            }
        }
        Ok(())
    }
}

impl Display for Module {
    fn fmt(&self, f: &mut Formatter) -> Result {
        for global in &self.globals {
            let kind = if global.constant { "constant" } else { "variable" };
            match &global.init {
                Init::Bytes(bytes) => writeln!(f, "{kind} {} = {:?}", global.name, String::from_utf8_lossy(bytes))?,
                Init::Memory(memory) => writeln!(f, "{kind} {} = {} bytes of an array", global.name, memory.len())?,
                Init::Value(value) => writeln!(f, "{kind} {} = {value}", global.name)?,
                Init::External(ty) => writeln!(f, "{kind} {} of the firmware: {ty}", global.name)?,
                Init::Array(ty, values) => {
                    let (count, values) = (values.len(), Listed(values.iter()));
                    writeln!(f, "{kind} {} = [{count} x {ty}] {values}", global.name)?;
                }
            }
        }
        self.functions.iter().try_for_each(|function| write!(f, "\n{function}"))
    }
}
