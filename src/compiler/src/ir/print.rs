//! The intermediate representation as text, for `--emit ir` and the tests.

use std::fmt;

use super::*;

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Ty::I1 => f.write_str("i1"),
            Ty::I8 => f.write_str("i8"),
            Ty::I32 => f.write_str("i32"),
            Ty::I64 => f.write_str("i64"),
            Ty::F64 => f.write_str("double"),
            Ty::Ptr => f.write_str("ptr"),
            Ty::Struct(members) => {
                let members: Vec<_> = members.iter().map(Ty::to_string).collect();
                write!(f, "{{{}}}", members.join(", "))
            }
        }
    }
}

/// Prints a value without its type.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &self.kind {
            ValueKind::Temp(number) => write!(f, "%{number}"),
            ValueKind::Int(value) => write!(f, "{value}"),
            ValueKind::Float(value) => write!(f, "{value:?}"),
            ValueKind::Global(name) => write!(f, "@{name}"),
            ValueKind::Struct(members) => {
                let members: Vec<_> = members.iter().map(|member| format!("{} {member}", member.ty)).collect();
                write!(f, "{{{}}}", members.join(", "))
            }
            ValueKind::Zero => f.write_str("0"),
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
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
                let args: Vec<_> = args.iter().map(|arg| format!("{} {arg}", arg.ty)).collect();
                write!(f, "call {returns} {callee}({})", args.join(", "))?;
                unwind.map_or(Ok(()), |block| write!(f, " unwind b{block}"))
            }
            Op::LandingPad { clauses, cleanup } => {
                let clauses: Vec<_> = clauses
                    .iter()
                    .map(|clause| clause.as_deref().unwrap_or("all"))
                    .collect();
                write!(
                    f,
                    "landingpad [{}]{}",
                    clauses.join(", "),
                    if *cleanup { " cleanup" } else { "" }
                )
            }
        }
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let params: Vec<_> = self
            .params
            .iter()
            .map(|(number, ty)| format!("{ty} %{number}"))
            .collect();
        writeln!(f, "function {}({}) -> {}", self.symbol, params.join(", "), self.returns)?;
        for (number, ty) in &self.slots {
            writeln!(f, "    %{number} = slot {ty}")?;
        }
        for (id, block) in self.blocks.iter().enumerate() {
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

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for global in &self.globals {
            let kind = if global.constant { "constant" } else { "variable" };
            match &global.init {
                Init::Bytes(bytes) => writeln!(f, "{kind} {} = {:?}", global.name, String::from_utf8_lossy(bytes))?,
                Init::Value(value) => writeln!(f, "{kind} {} = {value}", global.name)?,
                Init::External(ty) => writeln!(f, "{kind} {} of the firmware: {ty}", global.name)?,
                Init::Array(ty, values) => {
                    let values: Vec<_> = values.iter().map(Value::to_string).collect();
                    writeln!(
                        f,
                        "{kind} {} = [{} x {ty}] {}",
                        global.name,
                        values.len(),
                        values.join(", ")
                    )?;
                }
            }
        }
        self.functions.iter().try_for_each(|function| write!(f, "\n{function}"))
    }
}
