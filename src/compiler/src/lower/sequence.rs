//! Elements, slices and comprehensions, and assignments to elements, slices and patterns.

use crate::diagnostic::Result;
use crate::emit::array::{Array, Choice, Operand};
use crate::emit::{int, Emitter};
use crate::ir::*;
use crate::language::Exception;
use crate::syntax::*;
use crate::types::{self, tuple_index, Kind};

impl<'p> Emitter<'_, 'p> {
    /// `value[start:stop:step]`
    pub(super) fn slice(
        &mut self,
        whole: &'p Expr,
        value: &'p Expr,
        bounds: &'p [Option<Box<Expr>>; 3],
    ) -> Result<Value> {
        let object = self.expr(value)?;
        let bounds = self.slice_bounds(bounds)?;
        self.build.span = whole.span;
        let elt = match *self.kind_of(value) {
            Kind::List(elt) => self.module.ir_type(elt),
            Kind::Str => return self.string_slice(object, bounds),
            Kind::Bytes => return self.byte_slice(&object, bounds, false),
            Kind::ByteArray => return self.byte_slice(&object, bounds, true),
            _ => {
                let array = self.array_parts(&object, self.type_of(value));
                return Ok(self.array_slice(array.expect("inference admits lists, strings, arrays"), bounds));
            }
        };
        let (from, own) = self.list_parts(&object);
        let bounds = self.bounds(own, bounds);
        let (result, data) = self.reserve_list(&elt, bounds.length.clone());
        self.each_sliced(bounds, |this, index, place| {
            let source = this.build.element(&from, &elt, place);
            let value = this.build.load(elt.clone(), &source);
            let to = this.build.element(&data, &elt, index);
            this.build.store(value, &to);
            Ok(())
        })?;
        Ok(result)
    }

    /// Evaluates the bounds of a slice (i64).
    pub(super) fn slice_bounds(&mut self, bounds: &'p [Option<Box<Expr>>; 3]) -> Result<[Option<Value>; 3]> {
        let mut values = [None, None, None];
        for (value, bound) in values.iter_mut().zip(bounds) {
            if let Some(bound) = bound {
                let given = self.expr(bound)?;
                *value = Some(self.build.convert(given, &Ty::I64));
            }
        }
        Ok(values)
    }

    /// `array[i, start:stop, …]`; checks the bounds.
    pub(super) fn slices(&mut self, whole: &'p Expr, value: &'p Expr, dims: &'p [Dimension]) -> Result<Array> {
        let object = self.expr(value)?;
        let mut chosen = vec![];
        for dimension in dims {
            chosen.push(match dimension {
                Dimension::At(index) => Ok(self.expr(index)?),
                Dimension::Slice(bounds) => Err(self.slice_bounds(bounds)?),
            });
        }
        self.build.span = whole.span;
        let array = self
            .array_parts(&object, self.type_of(value))
            .expect("checked by inference");
        let mut choices = vec![];
        for (chosen, length) in chosen.into_iter().zip(&array.shape) {
            choices.push(match chosen {
                Ok(position) => Choice::At(self.position(position, length)),
                Err([None, None, None]) => Choice::Whole,
                Err(bounds) => Choice::Slice(self.bounds(length.clone(), bounds)),
            });
        }
        let together = matches!(self.kind_of(whole), Kind::Array(..));
        Ok(self.array_part(&array, choices, together))
    }

    /// An index (i32) into a dimension of the given length; raises IndexError if out of range.
    fn position(&mut self, index: Value, length: &Value) -> Value {
        let length = self.build.convert(length.clone(), &index.ty);
        let position = self.checked_index(index, length);
        self.build.convert(position, &Ty::I32)
    }

    /// `array[i]` or `array[i, j]`; checks the bounds. For a single element the result has no
    /// dimensions, only an address.
    pub(super) fn indexed(&mut self, whole: &'p Expr, array: Array, index: &'p Expr) -> Result<Array> {
        let indices = match &index.kind {
            ExprKind::Tuple(indices) => indices.iter().collect(),
            _ => vec![index],
        };
        let mut positions = vec![];
        for index in indices {
            positions.push(self.expr(index)?);
        }
        self.build.span = whole.span;
        let mut part = array;
        for position in positions {
            let position = self.position(position, &part.shape[0].clone());
            part = self.row(&part, position);
        }
        Ok(part)
    }

    /// Copies an array into a part of an array, or a number into each of its elements.
    pub(super) fn assign_part(&mut self, part: &Array, (found, ty): (Value, types::Ty)) -> Result<()> {
        match self.operand(found, ty) {
            Operand::Array(from) => {
                self.copy_array(&from, part);
                Ok(())
            }
            Operand::Number(value, _) => self.fill_from(part, &[], |_, _| Ok(value.clone())),
        }
    }

    /// `value[start:stop:step] = found`. The lengths must be equal: neither lists nor arrays can be
    /// resized.
    pub(super) fn assign_slice(
        &mut self,
        target: &'p Expr,
        value: &'p Expr,
        bounds: &'p [Option<Box<Expr>>; 3],
        (found, found_ty): (Value, types::Ty),
    ) -> Result<()> {
        let object = self.expr(value)?;
        let bounds = self.slice_bounds(bounds)?;
        self.build.span = target.span;
        let ty = self.type_of(value);
        if let Some(array) = self.array_parts(&object, ty) {
            let view = self.array_view(array, bounds);
            return self.assign_part(&view, (found, found_ty));
        }
        let (elt, [(data, own), (from, count)]) = match *self.kind_of(value) {
            Kind::List(elt) => (
                self.module.ir_type(elt),
                [&object, &found].map(|list| self.list_parts(list)),
            ),
            _ => (
                Ty::I8,
                [&object, &found].map(|bytes| (self.build.extract(bytes, 0), self.build.extract(bytes, 1))),
            ),
        };
        let bounds = self.bounds(own, bounds);
        let same = self.build.compare(Compare::Eq, bounds.length.clone(), count.clone());
        let text = "attempt to assign sequence of size {0} to slice of size {1}";
        self.require(
            same,
            Exception::ValueError,
            text,
            &[count.clone(), bounds.length.clone()],
        );
        // Copied first, since the value may be the same list.
        let copy = self.build.alloca(elt.clone(), count.clone());
        self.copy_elements(&elt, &from, count, &copy, int(0));
        self.each_sliced(bounds, |this, index, place| {
            let source = this.build.element(&copy, &elt, index);
            let value = this.build.load(elt.clone(), &source);
            let to = this.build.element(&data, &elt, place);
            this.build.store(value, &to);
            Ok(())
        })
    }

    /// `[a, b] = value`
    pub(super) fn assign_list(&mut self, targets: &'p [Expr], value: Value, elt: types::Ty) -> Result<()> {
        let (data, length) = self.list_parts(&value);
        let wanted = int(targets.len() as i64);
        let same = self.build.compare(Compare::Eq, length, wanted.clone());
        let text = "list must be {0} elements long to decompose";
        self.require(same, Exception::ValueError, text, &[wanted]);
        let ty = self.module.ir_type(elt);
        let members: Vec<Value> = (0..targets.len())
            .map(|index| {
                let from = self.build.element(&data, &ty, int(index as i64));
                self.build.load(ty.clone(), &from)
            })
            .collect();
        let mut pairs = targets.iter().zip(members);
        pairs.try_for_each(|(target, member)| self.assign(target, member, elt))
    }

    pub(super) fn subscript(&mut self, expr: &'p Expr, value: &'p Expr, index: &'p Expr) -> Result<Value> {
        match self.kind_of(value) {
            Kind::Tuple(elements) => {
                let tuple = self.expr(value)?;
                let ExprKind::Int(index) = index.kind else {
                    unreachable!("checked by inference")
                };
                let index = tuple_index(index, elements.len()).expect("checked by inference");
                Ok(self.build.extract(&tuple, index))
            }
            Kind::Range(_) => {
                let range = self.expr(value)?;
                let index = self.expr(index)?;
                self.build.span = expr.span;
                let [start, stop, step] = [0, 1, 2].map(|index| self.build.extract(&range, index));
                let ty = start.ty.clone();
                let length = self.range_length(&start, &stop, &step);
                let index = self.build.convert(index, &ty);
                let position = self.checked_index(index, length);
                let offset = self.build.binary(Binary::Mul, position, step);
                Ok(self.build.binary(Binary::Add, start, offset))
            }
            Kind::Array(..) | Kind::View(..) => {
                let array = self.expr(value)?;
                let array = self.array_parts(&array, self.type_of(value)).expect("it is one");
                let part = self.indexed(expr, array, index)?;
                if part.shape.is_empty() {
                    let ty = self.ir_type_of(expr);
                    return Ok(self.build.load(ty, &part.data));
                }
                Ok(self.array_value(part))
            }
            Kind::Str => {
                let text = self.expr(value)?;
                let place = self.expr(index)?;
                self.build.span = value.span.to(index.span);
                Ok(self.indexed_text(&text, place))
            }
            Kind::Bytes | Kind::ByteArray => {
                let from = self.element_of_bytes(value, index)?;
                Ok(self.load_byte(&from))
            }
            _ => {
                let from = self.element_address(value, index)?;
                let ty = self.ir_type_of(expr);
                Ok(self.build.load(ty, &from))
            }
        }
    }

    /// Address of a byte of a `bytes` or `bytearray` value.
    pub(super) fn element_of_bytes(&mut self, value: &'p Expr, index: &'p Expr) -> Result<Value> {
        let bytes = self.expr(value)?;
        let position = self.expr(index)?;
        self.build.span = value.span.to(index.span);
        Ok(self.byte_address(&bytes, position))
    }

    /// Address of a list element; checks the bounds.
    pub(super) fn element_address(&mut self, value: &'p Expr, index: &'p Expr) -> Result<Value> {
        let Kind::List(elt) = *self.kind_of(value) else {
            unreachable!("inference admits lists")
        };
        let list = self.expr(value)?;
        let position = self.expr(index)?;
        self.build.span = value.span.to(index.span);
        let (data, length) = self.list_parts(&list);
        // Compared in 64 bits: truncating the index first could make it valid by accident.
        let length = self.build.convert(length, &position.ty.clone());
        let position = self.checked_index(position, length);
        let position = self.build.convert(position, &Ty::I32);
        let elt = self.module.ir_type(elt);
        Ok(self.build.element(&data, &elt, position))
    }
}
