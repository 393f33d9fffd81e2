//! Integer widths: of host integers without one, and of those still undetermined after inference.

use super::{Kind, Ty, Types};
use crate::host::HostValue;

/// Range of constants accepted where 32 bits are needed: signed, or an unsigned word.
pub const WORD: std::ops::RangeInclusive<i64> = i32::MIN as i64..=u32::MAX as i64;

impl Types {
    /// The integer type of undetermined width that holds a plain integer.
    pub fn plain_integer(value: i64) -> Kind {
        match i32::try_from(value) {
            Ok(_) => Kind::IntOpen,
            Err(_) => Kind::IntWide,
        }
    }

    /// Gives the integers in a type their default width where it is undetermined.
    pub fn default_width(&mut self, ty: Ty) {
        let kind = match self.kind(ty) {
            Kind::IntOpen => Kind::Int32,
            Kind::IntWide => Kind::Int64,
            Kind::List(elt) | Kind::Range(elt) | Kind::Array(elt, _) | Kind::View(elt, _) => {
                return self.default_width(*elt);
            }
            Kind::Tuple(elements) | Kind::Lazy(_, elements) => {
                return elements.clone().iter().for_each(|&elt| self.default_width(elt))
            }
            _ => return,
        };
        let fixed = self.new_type(kind);
        self.unify(ty, fixed).expect("the width is open");
    }

    /// Gives the elements of a list without elements a default type; returns whether they had none.
    pub fn default_elements(&mut self, elt: Ty) -> bool {
        match *self.kind(elt) {
            Kind::Var => {
                let any = self.new_type(Kind::Int32);
                self.unify(elt, any).expect("the type is open");
                true
            }
            Kind::List(inner) => self.default_elements(inner),
            _ => false,
        }
    }

    /// Checks that the integers of a host value fit into type `ty`; otherwise returns the error
    /// text.
    pub fn fits(&self, ty: Ty, value: &HostValue) -> Result<(), String> {
        match (self.kind(ty), value) {
            (Kind::Int32, HostValue::Int(value)) if !WORD.contains(value) => Err(format!(
                "the integer {value} does not fit into numpy.int32, which is needed here"
            )),
            (Kind::Tuple(types), HostValue::Tuple(values, _)) => types
                .iter()
                .zip(values.iter())
                .try_for_each(|(&ty, value)| self.fits(ty, value)),
            (&Kind::Range(elt), HostValue::Range(members)) => {
                members.iter().try_for_each(|member| self.fits(elt, member))
            }
            _ => Ok(()),
        }
    }
}

/// The type that holds all numbers of a host list and its nested lists; None if it holds anything
/// else, or nothing.
pub fn common_number(values: &[HostValue]) -> Option<Kind> {
    let mut common: Option<Kind> = None;
    for value in values {
        let kind = match value {
            HostValue::Int(value) => Types::plain_integer(*value),
            HostValue::Int32(_) => Kind::Int32,
            HostValue::Int64(_) => Kind::Int64,
            HostValue::Float(_) => Kind::Float,
            HostValue::List(_, elements) if elements.is_empty() => continue,
            HostValue::List(_, elements) => common_number(elements)?,
            _ => return None,
        };
        common = Some(match common {
            Some(known) if known == kind => known,
            Some(known) => wider(known, kind),
            None => kind,
        });
    }
    common
}

/// The common type of two numbers in one list.
fn wider(a: Kind, b: Kind) -> Kind {
    let any = |kind: Kind| a == kind || b == kind;
    let order = [Kind::Float, Kind::Int64];
    if let Some(kind) = order.into_iter().find(|kind| any(kind.clone())) {
        return kind;
    }
    match (any(Kind::IntWide), any(Kind::Int32)) {
        (true, true) => Kind::Int64,
        (true, false) => Kind::IntWide,
        (false, true) => Kind::Int32,
        (false, false) => Kind::IntOpen,
    }
}
