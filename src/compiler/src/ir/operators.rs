//! Operators of the intermediate representation: LLVM's instruction for each, and what it gives for
//! constants.

/// Instructions of two operands of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    SDiv,
    SRem,
    UDiv,
    URem,
    And,
    Or,
    Xor,
    Shl,
    AShr,
    FAdd,
    FSub,
    FMul,
    FDiv,
}

impl Binary {
    pub const fn name(self) -> &'static str {
        match self {
            Binary::Add => "add",
            Binary::Sub => "sub",
            Binary::Mul => "mul",
            Binary::SDiv => "sdiv",
            Binary::SRem => "srem",
            Binary::UDiv => "udiv",
            Binary::URem => "urem",
            Binary::And => "and",
            Binary::Or => "or",
            Binary::Xor => "xor",
            Binary::Shl => "shl",
            Binary::AShr => "ashr",
            Binary::FAdd => "fadd",
            Binary::FSub => "fsub",
            Binary::FMul => "fmul",
            Binary::FDiv => "fdiv",
        }
    }

    /// Whether the operands are floats; else they are integers.
    pub const fn is_float(self) -> bool {
        matches!(self, Binary::FAdd | Binary::FSub | Binary::FMul | Binary::FDiv)
    }

    /// The result for integers of so many bits, still to be cut to them; None if LLVM leaves it open.
    pub fn fold_int(self, x: i64, y: i64, bits: u32) -> Option<i64> {
        let small = (0..i64::from(bits)).contains(&y);
        let unsigned = |value: i64| value as u64 & (u64::MAX >> (64 - bits));
        match self {
            Binary::Add => Some(x.wrapping_add(y)),
            Binary::Sub => Some(x.wrapping_sub(y)),
            Binary::Mul => Some(x.wrapping_mul(y)),
            Binary::SDiv => (y != 0).then(|| x.wrapping_div(y)),
            Binary::SRem => (y != 0).then(|| x.wrapping_rem(y)),
            Binary::UDiv => (y != 0).then(|| (unsigned(x) / unsigned(y)) as i64),
            Binary::URem => (y != 0).then(|| (unsigned(x) % unsigned(y)) as i64),
            Binary::And => Some(x & y),
            Binary::Or => Some(x | y),
            Binary::Xor => Some(x ^ y),
            Binary::Shl => small.then(|| x.wrapping_shl(y as u32)),
            Binary::AShr => small.then(|| x.wrapping_shr(y as u32)),
            Binary::FAdd | Binary::FSub | Binary::FMul | Binary::FDiv => None,
        }
    }

    /// The result for floats, unless it is not a number.
    pub fn fold_float(self, x: f64, y: f64) -> Option<f64> {
        let value = match self {
            Binary::FAdd => x + y,
            Binary::FSub => x - y,
            Binary::FMul => x * y,
            Binary::FDiv => x / y,
            Binary::Add
            | Binary::Sub
            | Binary::Mul
            | Binary::SDiv
            | Binary::SRem
            | Binary::UDiv
            | Binary::URem
            | Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::Shl
            | Binary::AShr => return None,
        };
        (!value.is_nan()).then_some(value)
    }
}

/// Comparisons of two operands of one type: of integers (signed, but for `Ult`), of addresses, and of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    Eq,
    Ne,
    Slt,
    Sle,
    Sgt,
    Sge,
    Ult,
    /// Of floats: false if an operand is not a number, but for `FUne`.
    FOeq,
    FUne,
    FOlt,
    FOle,
    FOgt,
    FOge,
}

impl Compare {
    pub const fn name(self) -> &'static str {
        match self {
            Compare::Eq => "icmp eq",
            Compare::Ne => "icmp ne",
            Compare::Slt => "icmp slt",
            Compare::Sle => "icmp sle",
            Compare::Sgt => "icmp sgt",
            Compare::Sge => "icmp sge",
            Compare::Ult => "icmp ult",
            Compare::FOeq => "fcmp oeq",
            Compare::FUne => "fcmp une",
            Compare::FOlt => "fcmp olt",
            Compare::FOle => "fcmp ole",
            Compare::FOgt => "fcmp ogt",
            Compare::FOge => "fcmp oge",
        }
    }

    /// The result for constants; None is left to LLVM.
    pub fn fold(self, ints: Option<(i64, i64)>, floats: Option<(f64, f64)>) -> Option<bool> {
        match self {
            Compare::Eq => ints.map(|(x, y)| x == y),
            Compare::Ne => ints.map(|(x, y)| x != y),
            Compare::Slt => ints.map(|(x, y)| x < y),
            Compare::Sle => ints.map(|(x, y)| x <= y),
            Compare::Sgt => ints.map(|(x, y)| x > y),
            Compare::Sge => ints.map(|(x, y)| x >= y),
            Compare::FOeq => floats.map(|(x, y)| x == y),
            Compare::FUne => floats.map(|(x, y)| x != y),
            Compare::FOlt => floats.map(|(x, y)| x < y),
            Compare::FOle => floats.map(|(x, y)| x <= y),
            Compare::FOgt => floats.map(|(x, y)| x > y),
            Compare::FOge => floats.map(|(x, y)| x >= y),
            // Both have the sign of their width: the order of unsigned numbers is that of their
            // bits, at any width.
            Compare::Ult => ints.map(|(x, y)| (x as u64) < (y as u64)),
        }
    }
}

/// Conversions from one type to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Convert {
    Trunc,
    ZExt,
    SExt,
    FPToSI,
    SIToFP,
    IntToPtr,
}

impl Convert {
    pub const fn name(self) -> &'static str {
        match self {
            Convert::Trunc => "trunc",
            Convert::ZExt => "zext",
            Convert::SExt => "sext",
            Convert::FPToSI => "fptosi",
            Convert::SIToFP => "sitofp",
            Convert::IntToPtr => "inttoptr",
        }
    }
}
