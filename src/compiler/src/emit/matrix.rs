//! Arrays from sequences, and matrix products.

use super::array::Array;
use super::{int, Emitter};
use crate::diagnostic::Result;
use crate::ir::*;
use crate::language::Exception;
use crate::syntax::BinOp;
use crate::types::{self, Kind};

impl<'p> Emitter<'_, 'p> {
    pub(crate) fn result_elements(&self, result: types::Ty) -> types::Ty {
        match *self.module.program.types.kind(result) {
            Kind::Array(elt, _) => elt,
            _ => result,
        }
    }

    /// `numpy.array(value)`
    pub(crate) fn array_of(&mut self, value: Value, ty: types::Ty, result: types::Ty) -> Result<Value> {
        let elt = self.result_elements(result);
        let mut shape = vec![];
        self.shape_of(&value, ty, &mut shape)?;
        let array = self.new_array(elt, shape);
        let place = self.build.slot(Ty::I32);
        self.build.store(int(0), &place);
        self.flatten(&value, ty, &array, 0, &place)?;
        Ok(self.array_value(array))
    }

    /// Appends the lengths of nested sequences, taken from the first element at each level.
    fn shape_of(&mut self, value: &Value, ty: types::Ty, shape: &mut Vec<Value>) -> Result<()> {
        let (inner, elements) = match *self.module.program.types.kind(ty) {
            Kind::List(inner) | Kind::Range(inner) => (inner, self.elements(value, ty)),
            Kind::Array(..) | Kind::View(..) => {
                let array = self.array_parts(value, ty).expect("it is one");
                shape.extend(array.shape);
                return Ok(());
            }
            _ => return Ok(()),
        };
        let length = self.kept_length(&elements);
        shape.push(length.clone());
        let dims = self.nesting(inner);
        if dims == 0 {
            return Ok(());
        }
        let slots: Vec<Value> = (0..dims).map(|_| self.build.slot(Ty::I32)).collect();
        for slot in &slots {
            self.build.store(int(0), slot);
        }
        let (some, after) = (self.build.new_block("first of sequence"), self.build.new_block("shape"));
        let any = self.build.compare(Compare::Sgt, length, int(0));
        self.build.branch(any, some, after);
        self.build.block = some;
        let first = self.element(&elements, Value::int(elements.length.ty.clone(), 0));
        let mut lengths = vec![];
        self.shape_of(&first, inner, &mut lengths)?;
        for (length, slot) in lengths.into_iter().zip(&slots) {
            self.build.store(length, slot);
        }
        self.build.jump(after);
        self.build.block = after;
        for slot in &slots {
            shape.push(self.build.load(Ty::I32, slot));
        }
        Ok(())
    }

    /// Nesting depth of sequences of a type.
    fn nesting(&self, ty: types::Ty) -> usize {
        match *self.module.program.types.kind(ty) {
            Kind::List(elt) | Kind::Range(elt) => 1 + self.nesting(elt),
            Kind::Array(_, dims) | Kind::View(_, dims) => dims.into(),
            _ => 0,
        }
    }

    /// Stores the innermost values of nested sequences from index `place` on; checks that the
    /// lengths match the shape.
    fn flatten(&mut self, value: &Value, ty: types::Ty, to: &Array, depth: usize, place: &Value) -> Result<()> {
        if self.nesting(ty) == 0 {
            let elt = self.module.ir_type(to.elt);
            let value = match &elt {
                Ty::I1 => self.truth(value.clone(), ty),
                _ => self.build.convert(value.clone(), &elt),
            };
            let at = self.build.load(Ty::I32, place);
            let target = self.build.element(&to.data, &elt, at.clone());
            self.build.store(value, &target);
            let next = self.build.binary(Binary::Add, at, int(1));
            self.build.store(next, place);
            return Ok(());
        }
        if let Some(array) = self.array_parts(value, ty) {
            return self.flatten_array(array, to, depth, place);
        }
        let elements = self.elements(value, ty);
        let inner = elements.elt.expect("arrays are no rows here");
        let length = self.kept_length(&elements);
        self.same_length(&to.shape[depth], &length);
        self.each(&elements, |this, element| {
            this.flatten(&element, inner, to, depth + 1, place)
        })
    }

    fn flatten_array(&mut self, array: Array, to: &Array, depth: usize, place: &Value) -> Result<()> {
        for (index, length) in array.shape.iter().enumerate() {
            self.same_length(&to.shape[depth + index], length);
        }
        let array = self.together(array);
        let elt = self.module.ir_type(array.elt);
        let count = self.product(&array.shape);
        self.counted(count, |this, index| {
            let from = this.build.element(&array.data, &elt, index);
            let value = this.build.load(elt.clone(), &from);
            this.flatten(&value, array.elt, to, depth + array.shape.len(), place)
        })
    }

    fn same_length(&mut self, wanted: &Value, found: &Value) {
        let same = self.build.compare(Compare::Eq, wanted.clone(), found.clone());
        let text = "arrays must be rectangular (lengths were {0} vs. {1})";
        self.require(same, Exception::ValueError, text, &[wanted.clone(), found.clone()]);
    }

    fn place(&mut self, data: &Value, elt: &Ty, row: &Value, width: &Value, column: &Value) -> Value {
        let start = self.build.binary(Binary::Mul, row.clone(), width.clone());
        let index = self.build.binary(Binary::Add, start, column.clone());
        self.build.element(data, elt, index)
    }

    fn at(&mut self, data: &Value, elt: &Ty, row: &Value, width: &Value, column: &Value) -> Value {
        let from = self.place(data, elt, row, width, column);
        self.build.load(elt.clone(), &from)
    }

    /// The product of vectors or matrices by routines for the element type.
    fn product_by_routine(
        &mut self,
        element: Element,
        [left, right]: [&Array; 2],
        [rows, inner, columns]: [Value; 3],
        product: Array,
    ) -> Result<Value> {
        let ty = self.module.ir_type(product.elt);
        let (a, b) = (left.data.clone(), right.data.clone());
        if product.shape.is_empty() {
            return Ok(self.call_routine(Routine::Dot(element), vec![a, b, inner], ty));
        }
        if right.shape.len() == 2 {
            let args = vec![product.data.clone(), a, b, rows, inner, columns];
            self.call_routine(Routine::MatMul(element), args, Ty::unit());
        } else {
            self.counted(rows, |this, row| {
                let from = this.row(left, row.clone()).data;
                let args = vec![from, b.clone(), inner.clone()];
                let sum = this.call_routine(Routine::Dot(element), args, ty.clone());
                let to = this.row(&product, row).data;
                this.build.store(sum, &to);
                Ok(())
            })?;
        }
        Ok(self.array_value(product))
    }

    /// `left @ right`. A vector counts as a matrix of one row or one column, whichever fits.
    pub(crate) fn matrix_product(&mut self, left: Array, right: Array, result: types::Ty) -> Result<Value> {
        let [left, right] = [left, right].map(|array| self.together(array));
        let rows = if left.shape.len() == 2 {
            left.shape[0].clone()
        } else {
            int(1)
        };
        let columns = if right.shape.len() == 2 {
            right.shape[1].clone()
        } else {
            int(1)
        };
        let inner = left.shape[left.shape.len() - 1].clone();
        let same = self.build.compare(Compare::Eq, inner.clone(), right.shape[0].clone());
        let text = "inner dimensions for matrix multiplication do not match ({0} vs. {1})";
        self.require(
            same,
            Exception::ValueError,
            text,
            &[inner.clone(), right.shape[0].clone()],
        );
        let elt = self.result_elements(result);
        let ty = self.module.ir_type(elt);
        let kept = [&left.shape[..left.shape.len() - 1], &right.shape[1..]].concat();
        let product = self.new_array(elt, kept);
        let (l, r) = (self.module.ir_type(left.elt), self.module.ir_type(right.elt));
        let element = Element::of(&ty).filter(|_| l == ty && r == ty && !self.build.function.fast_math);
        if let Some(element) = element {
            let lengths = [rows, inner, columns];
            return self.product_by_routine(element, [&left, &right], lengths, product);
        }
        let sum = self.build.slot(ty.clone());
        self.counted(rows, |this, row| {
            this.counted(columns.clone(), |this, column| {
                this.build.store(Value::zero(ty.clone()), &sum);
                this.counted(inner.clone(), |this, index| {
                    let a = this.at(&left.data, &l, &row, &inner, &index);
                    let b = this.at(&right.data, &r, &index, &columns, &column);
                    let term = this.arithmetic(BinOp::Mul, (a, left.elt), (b, right.elt), elt)?;
                    let before = this.build.load(ty.clone(), &sum);
                    let after = this.arithmetic(BinOp::Add, (before, elt), (term, elt), elt)?;
                    this.build.store(after, &sum);
                    Ok(())
                })?;
                let value = this.build.load(ty.clone(), &sum);
                let to = this.place(&product.data, &ty, &row, &columns, &column);
                this.build.store(value, &to);
                Ok(())
            })
        })?;
        if product.shape.is_empty() {
            return Ok(self.build.load(ty, &product.data));
        }
        Ok(self.array_value(product))
    }
}
