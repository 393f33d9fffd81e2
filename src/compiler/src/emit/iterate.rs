//! Iteration over iterables. Elements of ranges, `zip`, `enumerate` and `reversed` are not stored
//! in memory but computed one by one.

use super::array::Array;
use super::{int, Emitter};
use crate::diagnostic::Result;
use crate::ir::*;
use crate::language::Exception;
use crate::types::{self, Kind, Lazy};

/// An iterable.
pub(crate) struct Elements {
    /// Number of elements, unsigned.
    pub length: Value,
    /// Element type; None if the elements are tuples or rows composed on access.
    pub elt: Option<types::Ty>,
    source: Source,
}

enum Source {
    /// Contiguous in memory: address and element type.
    Memory(Value, Ty),
    Bytes(Value),
    Text(Value),
    Array(Array),
    Range {
        start: Value,
        step: Value,
    },
    /// Iterates over the parts in parallel; `strict`: they must have equal lengths.
    Zip {
        parts: Vec<Elements>,
        strict: bool,
    },
    /// The second value is the number of the first element.
    Enumerate(Box<Elements>, Value),
    Reversed(Box<Elements>),
}

impl Elements {
    /// The elements of an array, or its rows, whose type differs from the element type.
    pub fn of_array(array: Array) -> Elements {
        Elements {
            length: array.shape[0].clone(),
            elt: (array.shape.len() == 1).then_some(array.elt),
            source: Source::Array(array),
        }
    }

    /// Whether the number of elements may exceed the memory.
    pub fn is_unlimited(&self) -> bool {
        match &self.source {
            Source::Memory(..) | Source::Bytes(_) | Source::Text(_) | Source::Array(_) => false,
            Source::Range { .. } => true,
            Source::Zip { parts, .. } => parts.iter().all(Elements::is_unlimited),
            Source::Enumerate(inner, _) | Source::Reversed(inner) => inner.is_unlimited(),
        }
    }
}

impl Emitter<'_, '_> {
    /// The elements of a value of type `ty`.
    pub(crate) fn elements(&mut self, value: &Value, ty: types::Ty) -> Elements {
        if let Some(array) = self.array_parts(value, ty) {
            return Elements::of_array(array);
        }
        match self.module.program.types.kind(ty) {
            Kind::List(elt) => {
                let (data, length) = self.list_parts(value);
                Elements {
                    length,
                    elt: Some(*elt),
                    source: Source::Memory(data, self.module.ir_type(*elt)),
                }
            }
            Kind::Range(elt) => {
                let [start, stop, step] = [0, 1, 2].map(|index| self.build.extract(value, index));
                Elements {
                    length: self.range_length(&start, &stop, &step),
                    elt: Some(*elt),
                    source: Source::Range { start, step },
                }
            }
            Kind::Tuple(members) => {
                let place = self.build.slot(self.module.ir_type(ty));
                self.build.store(value.clone(), &place);
                Elements {
                    length: int(members.len() as i64),
                    elt: Some(members[0]),
                    source: Source::Memory(place, self.module.ir_type(members[0])),
                }
            }
            Kind::Bytes | Kind::ByteArray => {
                let [data, length] = [0, 1].map(|index| self.build.extract(value, index));
                Elements {
                    length,
                    elt: Some(types::INT32),
                    source: Source::Bytes(data),
                }
            }
            Kind::Str => Elements {
                length: self.text_length(value),
                elt: Some(types::STR),
                source: Source::Text(value.clone()),
            },
            Kind::Lazy(lazy, parts) => self.lazy_elements(value, *lazy, parts),
            _ => unreachable!("inference admits iterables"),
        }
    }

    fn lazy_elements(&mut self, value: &Value, lazy: Lazy, parts: &[types::Ty]) -> Elements {
        let inner = self.build.extract(value, 0);
        match lazy {
            Lazy::Generator => unreachable!("its elements are lowering's"),
            Lazy::Reversed => {
                let inner = self.elements(&inner, parts[0]);
                Elements {
                    length: inner.length.clone(),
                    elt: inner.elt,
                    source: Source::Reversed(Box::new(inner)),
                }
            }
            Lazy::Enumerate => {
                let inner = self.elements(&inner, parts[0]);
                let start = self.build.extract(value, 1);
                Elements {
                    length: inner.length.clone(),
                    elt: None,
                    source: Source::Enumerate(Box::new(inner), start),
                }
            }
            Lazy::Zip | Lazy::StrictZip => {
                let strict = lazy == Lazy::StrictZip;
                let parts = parts.iter().enumerate().map(|(index, &ty)| {
                    let part = self.build.extract(value, index);
                    self.elements(&part, ty)
                });
                let parts: Vec<Elements> = parts.collect();
                let lengths = parts.iter().map(|part| part.length.clone()).collect();
                Elements {
                    // As in Python, a length mismatch is detected only when the shorter part ends.
                    length: self.extreme_length(lengths, strict),
                    elt: None,
                    source: Source::Zip { parts, strict },
                }
            }
        }
    }

    /// The smallest or largest of some unsigned numbers.
    fn extreme_length(&mut self, lengths: Vec<Value>, largest: bool) -> Value {
        let wide = lengths.iter().any(|length| length.ty == Ty::I64);
        let mut extreme: Option<Value> = None;
        for length in lengths {
            let length = if wide { self.unsigned(length) } else { length };
            extreme = Some(match extreme {
                None => length,
                Some(extreme) => {
                    let less = self.build.compare(Compare::Ult, length.clone(), extreme.clone());
                    let (if_less, else_) = if largest { (extreme, length) } else { (length, extreme) };
                    self.build.select(less, if_less, else_)
                }
            });
        }
        extreme.expect("zip has an argument")
    }

    /// Raises ValueError if some parts have an element at this index and others do not.
    fn ends_together(&mut self, parts: &[Elements], index: &Value) {
        let mut goes_on = vec![];
        for part in parts {
            let length = match index.ty {
                Ty::I64 => self.unsigned(part.length.clone()),
                _ => part.length.clone(),
            };
            goes_on.push(self.build.compare(Compare::Ult, index.clone(), length));
        }
        let first = goes_on[0].clone();
        let ended = self.build.not(first.clone());
        for (number, other) in goes_on.into_iter().enumerate().skip(1) {
            let others = match number {
                1 => "argument 1".into(),
                _ => format!("arguments 1-{number}"),
            };
            let other_ended = self.build.not(other.clone());
            let not_longer = self.build.binary(Binary::Or, first.clone(), other_ended);
            let not_shorter = self.build.binary(Binary::Or, ended.clone(), other);
            for (fine, word) in [(not_longer, "longer"), (not_shorter, "shorter")] {
                let text = format!("zip() argument {} is {word} than {others}", number + 1);
                self.require(fine, Exception::ValueError, &text, &[]);
            }
        }
    }

    /// Zero-extends an unsigned number to 64 bits.
    pub(crate) fn unsigned(&mut self, number: Value) -> Value {
        if number.ty == Ty::I64 {
            return number;
        }
        let wide = self.build.convert(number, &Ty::I64);
        self.build
            .binary(Binary::And, wide, Value::int(Ty::I64, u32::MAX.into()))
    }

    /// The element at an index, which must be below the length.
    pub(crate) fn element(&mut self, elements: &Elements, index: Value) -> Value {
        match &elements.source {
            Source::Memory(data, ty) => {
                let index = self.build.convert(index, &Ty::I32);
                let from = self.build.element(data, ty, index);
                self.build.load(ty.clone(), &from)
            }
            Source::Bytes(data) => {
                let index = self.build.convert(index, &Ty::I32);
                self.byte(data, index)
            }
            Source::Text(text) => {
                let index = self.build.convert(index, &Ty::I32);
                self.character_at(text, index)
            }
            Source::Array(array) => {
                let index = self.build.convert(index, &Ty::I32);
                self.array_element(array, index)
            }
            Source::Range { start, step } => {
                let index = self.build.convert(index, &start.ty);
                let offset = self.build.binary(Binary::Mul, index, step.clone());
                self.build.binary(Binary::Add, start.clone(), offset)
            }
            Source::Zip { parts, strict } => {
                if *strict {
                    self.ends_together(parts, &index);
                }
                let members = parts.iter().map(|part| self.element(part, index.clone()));
                let members = members.collect();
                self.build.aggregate(members)
            }
            Source::Enumerate(inner, start) => {
                let offset = self.build.convert(index.clone(), &start.ty);
                let number = self.build.binary(Binary::Add, start.clone(), offset);
                let element = self.element(inner, index);
                self.build.aggregate(vec![number, element])
            }
            Source::Reversed(inner) => {
                let index = self.build.convert(index, &inner.length.ty);
                let one = Value::int(index.ty.clone(), 1);
                let last = self.build.binary(Binary::Sub, inner.length.clone(), one);
                let index = self.build.binary(Binary::Sub, last, index);
                self.element(inner, index)
            }
        }
    }

    /// Runs `body` for each element. The body may leave the loop.
    pub(crate) fn each(
        &mut self,
        elements: &Elements,
        body: impl FnOnce(&mut Self, Value) -> Result<()>,
    ) -> Result<()> {
        self.each_numbered(elements, |this, _, value| body(this, value))
    }

    /// As [`Self::each`], with the index, which has the type of the length.
    pub(crate) fn each_numbered(
        &mut self,
        elements: &Elements,
        body: impl FnOnce(&mut Self, Value, Value) -> Result<()>,
    ) -> Result<()> {
        let [head, inside, after] =
            ["each element", "element", "all elements"].map(|label| self.build.new_block(label));
        let counter = self.build.slot(elements.length.ty.clone());
        self.build.store(Value::int(elements.length.ty.clone(), 0), &counter);
        self.build.jump(head);
        let index = self.next_element(elements, &counter, [head, inside, after]);
        let value = self.element(elements, index.clone());
        body(self, index.clone(), value)?;
        self.count(&counter, index, head);
        self.build.block = after;
        Ok(())
    }

    /// Emits the head of a loop: continues inside with the index, or after the loop.
    pub(crate) fn next_element(
        &mut self,
        elements: &Elements,
        counter: &Value,
        [head, inside, after]: [BlockId; 3],
    ) -> Value {
        self.build.block = head;
        let index = self.build.load(elements.length.ty.clone(), counter);
        let more = self.build.compare(Compare::Ult, index.clone(), elements.length.clone());
        self.build.branch(more, inside, after);
        self.build.block = inside;
        index
    }

    /// Emits the end of a loop: increments the counter and jumps to the head.
    pub(crate) fn count(&mut self, counter: &Value, index: Value, head: BlockId) {
        let one = Value::int(index.ty.clone(), 1);
        let next = self.build.binary(Binary::Add, index, one);
        self.build.store(next, counter);
        self.build.jump(head);
    }

    /// Number of elements (i32), checked where they are to be stored in memory.
    pub(crate) fn kept_length(&mut self, elements: &Elements) -> Value {
        if !elements.is_unlimited() {
            return self.build.convert(elements.length.clone(), &Ty::I32);
        }
        let wide = self.unsigned(elements.length.clone());
        self.checked_length(wide)
    }
}
