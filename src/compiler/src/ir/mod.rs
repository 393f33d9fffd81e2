//! The intermediate representation: functions of basic blocks with typed instructions, and constant data.
//!
//! It is close to LLVM's, without what the compiler does not need: variables live in stack slots
//! (LLVM promotes them to registers), there are no phi nodes, and a call inside `try` names its
//! landing pad. `Display` prints it for `--emit ir`.

mod crowded;
mod hoist;
mod operators;
mod print;
mod routines;
mod tidy;
mod walk;

use std::rc::Rc;

use crate::source::Span;
pub use operators::{Binary, Compare, Convert};
pub use routines::{Element, Routine};

#[derive(Clone, Debug, PartialEq)]
pub enum Ty {
    I1,
    I8,
    I32,
    I64,
    F64,
    Ptr,
    /// Members in order, naturally aligned. The empty struct is the type of `None`.
    Struct(Rc<[Ty]>),
}

impl Ty {
    pub fn unit() -> Ty {
        Ty::Struct(Rc::new([]))
    }

    /// A string: data and length in bytes.
    pub fn str() -> Ty {
        Ty::Struct([Ty::Ptr, Ty::I32].into())
    }

    /// Whether values of the type take no space.
    pub fn is_unit(&self) -> bool {
        matches!(self, Ty::Struct(members) if members.is_empty())
    }

    pub fn is_int(&self) -> bool {
        matches!(self, Ty::I1 | Ty::I8 | Ty::I32 | Ty::I64)
    }

    pub fn bits(&self) -> u32 {
        match self {
            Ty::I1 => 1,
            Ty::I8 => 8,
            Ty::I32 | Ty::Ptr => 32,
            _ => 64,
        }
    }

    /// Size and alignment in bytes on the device.
    pub fn layout(&self) -> (u32, u32) {
        match self {
            Ty::I1 | Ty::I8 => (1, 1),
            Ty::I32 | Ty::Ptr => (4, 4),
            Ty::I64 | Ty::F64 => (8, 8),
            Ty::Struct(members) => {
                // In one pass: two would take time that doubles with each level of nesting.
                let (end, align) = members.iter().fold((0u32, 1), |(end, align), member| {
                    let (size, own) = member.layout();
                    (end.next_multiple_of(own) + size, align.max(own))
                });
                (end.next_multiple_of(align), align)
            }
        }
    }

    /// Offset of a member of a struct; for the index after the last, the end of the last member.
    pub fn offset(&self, index: usize) -> u32 {
        let Ty::Struct(members) = self else { return 0 };
        let end = members[..index].iter().fold(0, |offset: u32, member| {
            let (size, align) = member.layout();
            offset.next_multiple_of(align) + size
        });
        members
            .get(index)
            .map_or(end, |member| end.next_multiple_of(member.layout().1))
    }
}

/// An operand: a constant or the result of an instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    pub ty: Ty,
    pub kind: ValueKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ValueKind {
    Temp(u32),
    Int(i64),
    Float(f64),
    Global(Rc<str>),
    /// A place in a global: bytes from its beginning.
    Within(Rc<str>, u32),
    Struct(Rc<[Value]>),
    /// All zeros; also the null pointer.
    Zero,
}

impl Value {
    pub fn int(ty: Ty, value: i64) -> Value {
        let value = match ty {
            Ty::I1 => value & 1,
            Ty::I8 => value as i8 as i64,
            Ty::I32 => value as i32 as i64,
            _ => value,
        };
        Value {
            ty,
            kind: ValueKind::Int(value),
        }
    }

    pub fn bool(value: bool) -> Value {
        Value::int(Ty::I1, value as i64)
    }

    pub fn float(value: f64) -> Value {
        Value {
            ty: Ty::F64,
            kind: ValueKind::Float(value),
        }
    }

    pub fn global(name: impl Into<Rc<str>>) -> Value {
        Value {
            ty: Ty::Ptr,
            kind: ValueKind::Global(name.into()),
        }
    }

    /// The address `offset` bytes from the beginning of a global.
    pub fn within(name: impl Into<Rc<str>>, offset: u32) -> Value {
        match offset {
            0 => Value::global(name),
            _ => Value {
                ty: Ty::Ptr,
                kind: ValueKind::Within(name.into(), offset),
            },
        }
    }

    pub fn zero(ty: Ty) -> Value {
        Value {
            ty,
            kind: ValueKind::Zero,
        }
    }

    pub fn unit() -> Value {
        Value::zero(Ty::unit())
    }

    /// A constant struct.
    pub fn record(members: Vec<Value>) -> Value {
        let ty = Ty::Struct(members.iter().map(|member| member.ty.clone()).collect());
        Value {
            ty,
            kind: ValueKind::Struct(members.into()),
        }
    }

    /// Whether the value is known before the program runs.
    pub fn is_constant(&self) -> bool {
        match &self.kind {
            ValueKind::Temp(_) => false,
            ValueKind::Struct(members) => members.iter().all(Value::is_constant),
            ValueKind::Int(_) | ValueKind::Float(_) | ValueKind::Zero => true,
            ValueKind::Global(_) | ValueKind::Within(..) => true,
        }
    }

    pub fn as_int(&self) -> Option<i64> {
        match self.kind {
            ValueKind::Int(value) => Some(value),
            _ => None,
        }
    }

    pub fn as_float(&self) -> Option<f64> {
        match self.kind {
            ValueKind::Float(value) => Some(value),
            _ => None,
        }
    }
}

pub type BlockId = usize;

#[derive(Clone, Debug)]
pub enum Op {
    Binary(Binary, Value, Value),
    Compare(Compare, Value, Value),
    Convert(Convert, Value, Ty),
    Select(Value, Value, Value),
    /// Loads from a pointer. An invariant load always yields the same value.
    Load {
        ty: Ty,
        from: Value,
        invariant: bool,
    },
    Store {
        value: Value,
        to: Value,
    },
    /// Address of a member of a struct.
    Field {
        base: Value,
        of: Ty,
        index: usize,
    },
    /// Address of an element of an array.
    Element {
        base: Value,
        of: Ty,
        index: Value,
    },
    Extract {
        from: Value,
        index: usize,
    },
    Insert {
        into: Value,
        value: Value,
        index: usize,
    },
    /// Allocates `count` values until the function returns.
    Alloca {
        of: Ty,
        count: Value,
    },
    Call {
        callee: Rc<str>,
        args: Vec<Value>,
        returns: Ty,
        unwind: Option<BlockId>,
        /// In the body of a loop.
        looped: bool,
    },
    /// Entry point of an exception: `{unwinder object, exception record}`. A clause is the global
    /// that holds the exception id; None matches all.
    LandingPad {
        clauses: Vec<Option<Rc<str>>>,
        cleanup: bool,
    },
}

#[derive(Clone, Debug)]
pub struct Instruction {
    /// Number of the result, if there is one.
    pub result: Option<u32>,
    pub op: Op,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum Terminator {
    Jump(BlockId),
    Branch(Value, BlockId, BlockId),
    Return(Value),
    Unreachable,
}

#[derive(Debug, Default)]
pub struct Block {
    pub label: &'static str,
    pub body: Vec<Instruction>,
    pub end: Option<Terminator>,
}

/// A variable of the source, which lives in a stack slot.
#[derive(Clone, Debug)]
pub struct Variable {
    pub slot: u32,
    pub name: Rc<str>,
    /// How a debugger reads its bytes, see [`crate::forms`].
    pub form: Rc<str>,
    pub ty: Ty,
    pub span: Span,
}

/// A constant that the source of a function names, for debuggers: `text` is its value.
#[derive(Clone, Debug)]
pub struct Constant {
    pub name: Rc<str>,
    pub text: Rc<str>,
    pub span: Span,
}

#[derive(Debug)]
pub struct Function {
    pub symbol: Rc<str>,
    pub exported: bool,
    pub params: Vec<(u32, Ty)>,
    pub returns: Ty,
    /// Stack slots of the function.
    pub slots: Vec<(u32, Ty)>,
    /// Variables that a debugger can show.
    pub variables: Vec<Variable>,
    /// Constants that a debugger can show.
    pub constants: Vec<Constant>,
    pub blocks: Vec<Block>,
    pub next: u32,
    /// Where the function is defined; None for functions generated by the compiler.
    pub span: Option<Span>,
    pub fast_math: bool,
    pub attributes: &'static str,
    /// Whether much of the function folds when it is called with constants.
    pub folds: bool,
}

/// A firmware function.
#[derive(Clone, Debug, PartialEq)]
pub struct External {
    pub params: Vec<Ty>,
    pub returns: Ty,
    pub nounwind: bool,
    /// Returns a struct through a hidden pointer.
    pub by_pointer: bool,
    /// Takes any arguments after `params`.
    pub variadic: bool,
}

#[derive(Debug)]
pub struct Global {
    pub name: Rc<str>,
    pub constant: bool,
    pub exported: bool,
    /// Whether its numbers may be replaced in the library, so that no code may depend on them.
    pub patched: bool,
    pub init: Init,
}

/// A number of the host in the library's data, on which no code depends.
#[derive(Clone, Debug)]
pub struct Scalar {
    /// The host object that has it as an attribute; 0: it is an argument of the call.
    pub object: u32,
    /// The attribute's name, or the number of the argument.
    pub name: Rc<str>,
    /// The global that contains it.
    pub symbol: Rc<str>,
    /// Offset in the global.
    pub offset: u32,
    pub ty: Ty,
}

/// Size in bytes from which array contents are left out of the assembly and filled in by the
/// linker, since text takes a hundred times as long. Smaller arrays stay readable in the assembly.
pub const FILLED: usize = 4096;

impl Global {
    /// The contents by which the linker must replace the zeros that code generation sees.
    pub fn fill(&self) -> Option<&[u8]> {
        match &self.init {
            Init::Memory(memory) if memory.len() >= FILLED => Some(memory),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub enum Init {
    Bytes(Vec<u8>),
    /// Memory image of an array of numbers.
    Memory(Rc<[u8]>),
    Value(Value),
    Array(Ty, Vec<Value>),
    /// Defined in the firmware.
    External(Ty),
}

#[derive(Debug, Default)]
pub struct Module {
    pub globals: Vec<Global>,
    /// Numbers of the host that no code depends on.
    pub scalars: Vec<Scalar>,
    pub externals: std::collections::BTreeMap<Rc<str>, External>,
    pub functions: Vec<Function>,
    /// Array routines that functions call, by symbol.
    pub routines: std::collections::BTreeMap<Rc<str>, Routine>,
    /// The first remote call, with the name of the called host function.
    pub remote_call: Option<(Span, Rc<str>)>,
}

impl Function {
    pub fn new(symbol: &str, params: Vec<Ty>, returns: Ty, span: Option<Span>) -> Function {
        let next = params.len() as u32;
        Function {
            symbol: symbol.into(),
            exported: false,
            params: params
                .into_iter()
                .enumerate()
                .map(|(index, ty)| (index as u32, ty))
                .collect(),
            returns,
            slots: vec![],
            variables: vec![],
            constants: vec![],
            blocks: vec![Block {
                label: "entry",
                ..Block::default()
            }],
            next,
            span,
            fast_math: false,
            attributes: "",
            folds: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_of_types_follows_the_abi() {
        let tuple = Ty::Struct([Ty::I32, Ty::I1, Ty::I64].into());
        assert_eq!(tuple.layout(), (16, 8));
        assert_eq!((tuple.offset(1), tuple.offset(2)), (4, 8));
        assert_eq!(Ty::unit().layout(), (0, 1));
        let nested = (0..100).fold(Ty::I64, |inner, _| Ty::Struct([inner].into()));
        assert_eq!(nested.layout(), (8, 8));
    }
}
