//! List comprehensions.

use crate::diagnostic::Result;
use crate::emit::{int, Emitter};
use crate::ir::*;
use crate::syntax::*;

/// Elements for which a list whose length is not known has room at first.
const ROOM: i64 = 16;

/// A list that grows: slots of its data pointer, its length, and the number of elements for which it has room.
struct Growing {
    elt: Ty,
    data: Value,
    length: Value,
    room: Value,
    /// Whether the room is enough for all elements.
    is_enough: bool,
}

impl<'p> Emitter<'_, 'p> {
    /// `[element for target in iter if test …]`
    pub(super) fn comprehension(&mut self, whole: &'p Expr, element: &'p Expr, clauses: &'p [Clause]) -> Result<Value> {
        let first = self.expr(&clauses[0].iter)?;
        self.build.span = whole.span;
        if let [Clause { target, iter, tests }] = clauses {
            if tests.is_empty() {
                return self.as_long_as(first, iter, target, element);
            }
        }
        let list = self.growing(self.ir_type_of(element), &first, clauses);
        self.clauses(Some(first), clauses, &mut |this| {
            let value = this.expr(element)?;
            this.build.span = whole.span;
            this.append(&list, value);
            Ok(())
        })?;
        self.build.span = whole.span;
        let length = self.build.load(Ty::I32, &list.length);
        let data = self.build.load(Ty::Ptr, &list.data);
        Ok(self.list_of_data(data, length))
    }

    /// `[element for target in iter]`. The length is determined once, at the start.
    fn as_long_as(&mut self, iterable: Value, iter: &'p Expr, target: &'p Expr, element: &'p Expr) -> Result<Value> {
        let elements = self.elements(&iterable, self.type_of(iter));
        let length = self.kept_length(&elements);
        let elt = self.ir_type_of(element);
        let (list, data) = self.reserve_list(&elt, length);
        self.each_numbered(&elements, |this, index, value| {
            this.assign(target, value, this.type_of(target))?;
            let value = this.expr(element)?;
            let index = this.build.convert(index, &Ty::I32);
            let to = this.build.element(&data, &elt, index);
            this.build.store(value, &to);
            Ok(())
        })?;
        Ok(list)
    }

    /// An empty list with room for the elements of these clauses, or for some of them.
    fn growing(&mut self, elt: Ty, first: &Value, clauses: &'p [Clause]) -> Growing {
        let elements = self.elements(first, self.type_of(&clauses[0].iter));
        let is_enough = clauses.len() == 1 && !elements.is_unlimited();
        let room = match is_enough {
            true => self.build.convert(elements.length.clone(), &Ty::I32),
            false => int(ROOM),
        };
        let start = self.build.alloca(elt.clone(), room.clone());
        let slots = [(Ty::Ptr, start), (Ty::I32, int(0)), (Ty::I32, room)];
        let [data, length, room] = slots.map(|(ty, value)| {
            let slot = self.build.slot(ty);
            self.build.store(value, &slot);
            slot
        });
        Growing {
            elt,
            data,
            length,
            room,
            is_enough,
        }
    }

    fn append(&mut self, list: &Growing, value: Value) {
        let length = self.build.load(Ty::I32, &list.length);
        if !list.is_enough {
            let room = self.build.load(Ty::I32, &list.room);
            let [grow, put] = ["list is full", "list has room"].map(|label| self.build.new_block(label));
            let has_room = self.build.compare(Compare::Slt, length.clone(), room.clone());
            self.build.branch(has_room, put, grow);
            self.build.block = grow;
            let twice = self.build.convert(room, &Ty::I64);
            let twice = self.build.binary(Binary::Add, twice.clone(), twice);
            let room = self.checked_length(twice);
            let data = self.build.alloca(list.elt.clone(), room.clone());
            let from = self.build.load(Ty::Ptr, &list.data);
            self.move_elements(&list.elt, &from, length.clone(), &data);
            self.build.store(data, &list.data);
            self.build.store(room, &list.room);
            self.build.jump(put);
            self.build.block = put;
        }
        let data = self.build.load(Ty::Ptr, &list.data);
        let to = self.build.element(&data, &list.elt, length.clone());
        self.build.store(value, &to);
        let more = self.build.binary(Binary::Add, length, int(1));
        self.build.store(more, &list.length);
    }
}
