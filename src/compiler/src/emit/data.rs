//! Data in the library: strings, host objects and lists.

use std::rc::Rc;

use super::ModuleBuilder;
use crate::diagnostic::Result;
use crate::host::{is_kernel_class, Handle, HostValue};
use crate::ir::*;
use crate::program::Content;
use crate::types::Kind;

/// Symbol of the elements of a host list or array.
pub(crate) fn data_symbol(list: Handle) -> String {
    format!("list.{list}.data")
}

impl<'p> ModuleBuilder<'p> {
    /// A constant string value: `{data, length}`.
    pub(crate) fn string(&mut self, text: &[u8]) -> Value {
        let length = Value::int(Ty::I32, text.len() as i64);
        Value::record(vec![self.string_data(text), length])
    }

    /// A pointer to a constant `{data, length}`.
    pub(crate) fn string_record(&mut self, text: &[u8]) -> Value {
        let value = self.string(text);
        let ValueKind::Struct(members) = &value.kind else {
            unreachable!("made as a record")
        };
        let ValueKind::Global(data) = &members[0].kind else {
            unreachable!("points to its data")
        };
        let name: Rc<str> = format!("{data}.slice").into();
        if self.records.insert(name.clone()) {
            self.global(name.clone(), true, Init::Value(value));
        }
        Value::global(name)
    }

    fn string_data(&mut self, text: &[u8]) -> Value {
        if let Some(name) = self.strings.get(text) {
            return Value::global(name.clone());
        }
        let name: Rc<str> = format!("str.{}", self.strings.len()).into();
        let bytes: Rc<[u8]> = text.into();
        self.strings.insert(bytes.clone(), name.clone());
        self.texts.insert(name.clone(), bytes);
        self.global(name.clone(), true, Init::Bytes(text.to_vec()));
        Value::global(name)
    }

    /// A global with the constants among the elements of a list display; the others are zero there.
    pub(crate) fn literal(&mut self, elt: &Ty, values: &[Value]) -> Value {
        self.literals += 1;
        let name: Rc<str> = format!("literal.{}", self.literals).into();
        let init = match constants_in_memory(values, elt) {
            Some(memory) => Init::Memory(memory),
            None => {
                let known = |value: &Value| match value.is_constant() {
                    true => value.clone(),
                    false => Value::zero(elt.clone()),
                };
                Init::Array(elt.clone(), values.iter().map(known).collect())
            }
        };
        self.global(name.clone(), true, init);
        Value::global(name)
    }

    pub(crate) fn global(&mut self, name: impl Into<Rc<str>>, constant: bool, init: Init) {
        self.module.globals.push(Global {
            name: name.into(),
            constant,
            exported: false,
            patched: false,
            init,
        });
    }

    /// A host value as an operand of type `ty`, which inference determined.
    pub(crate) fn constant(&mut self, value: &HostValue, ty: &Ty) -> Value {
        let number = |value: i64| match ty {
            Ty::F64 => Value::float(value as f64),
            _ => Value::int(ty.clone(), value),
        };
        match value {
            HostValue::Bool(value) if *ty == Ty::I1 => Value::bool(*value),
            HostValue::Bool(value) => number((*value).into()),
            HostValue::Int(value) | HostValue::Int64(value) => number(*value),
            HostValue::Int32(value) => number((*value).into()),
            HostValue::Float(value) => Value::float(*value),
            HostValue::Str(text) => self.string(text.as_bytes()),
            HostValue::Bytes(bytes) => self.string(bytes),
            HostValue::ByteArray(handle, bytes) => {
                let length = Value::int(Ty::I32, bytes.len() as i64);
                Value::record(vec![Value::global(data_symbol(*handle)), length])
            }
            HostValue::Tuple(elements, _) => self.constants(elements, ty),
            HostValue::Range(members) => self.constants(&members[..], ty),
            HostValue::List(handle, _) => Value::global(format!("list.{handle}")),
            HostValue::Array(handle, _, shape) | HostValue::Texts(handle, shape, _) => {
                let numbers = |values: &[i32]| {
                    Value::record(values.iter().map(|&value| Value::int(Ty::I32, value.into())).collect())
                };
                let Some(place) = self.program.shared.get(handle) else {
                    return Value::record(vec![Value::global(data_symbol(*handle)), numbers(shape)]);
                };
                let storage = self.program.lists[&place.storage].ty;
                let (elt, _) = self.program.types.array_parts(storage).expect("an array");
                let first = place.first * self.ir_type(elt).layout().0;
                let mut members = vec![Value::within(data_symbol(place.storage), first), numbers(shape)];
                members.extend(place.strides.as_deref().map(numbers));
                Value::record(members)
            }
            HostValue::Object(handle) => Value::global(self.object_symbol(*handle)),
            HostValue::Method { receiver, function } => {
                let (receiver, function) = (*receiver, *function);
                let class = self.program.objects[&receiver];
                let object = Value::global(self.object_symbol(receiver));
                self.function_constant(&Kind::Method { function, class }, object, ty)
            }
            HostValue::Function(handle) => self.function_constant(&Kind::Function(*handle), Value::unit(), ty),
            _ => Value::unit(),
        }
    }

    /// A host function with its own value `own` as an operand of type `ty`, which is that of a
    /// single function or of a choice.
    fn function_constant(&self, kind: &Kind, own: Value, ty: &Ty) -> Value {
        match ty {
            Ty::Struct(members) if !members.is_empty() => {
                let own = if own.ty.is_unit() { Value::zero(Ty::Ptr) } else { own };
                Value::record(vec![self.callable_number(kind), own])
            }
            _ => own,
        }
    }

    /// The number that identifies a function in a value of type `Choice`.
    pub(crate) fn callable_number(&self, kind: &Kind) -> Value {
        let number = self.program.types.callable(kind);
        Value::int(Ty::I32, number.expect("it met others").into())
    }

    /// A tuple or range from the host.
    fn constants(&mut self, values: &[HostValue], ty: &Ty) -> Value {
        let Ty::Struct(members) = ty else {
            unreachable!("its type is a struct")
        };
        let members = values.iter().zip(members.iter());
        Value::record(members.map(|(value, ty)| self.constant(value, ty)).collect())
    }

    fn object_symbol(&self, object: Handle) -> String {
        format!("object.{object}")
    }

    /// Struct layout of the instances of a class: object id, then the attributes in order of first
    /// use.
    pub(crate) fn class_type(&mut self, class: Handle) -> Ty {
        if let Some(known) = self.class_types.get(&class) {
            return known.clone();
        }
        let attributes = self.program.classes[&class]
            .attributes
            .iter()
            .map(|attribute| self.ir_type(attribute.ty));
        let ty = Ty::Struct(std::iter::once(Ty::I32).chain(attributes).collect());
        self.class_types.insert(class, ty.clone());
        ty
    }

    /// The value of an attribute that is constant and equal for all instances of a class. Numbers that
    /// are to be data of the library are no constants.
    pub(crate) fn common_constant(&mut self, class: Handle, name: &Rc<str>) -> Option<Value> {
        match self.program.classes[&class].is_data(name) {
            true => self.constant_attribute(class, name).filter(|value| !is_number(value)),
            false => self.needed_constant(class, name),
        }
    }

    /// Like [`Self::common_constant`], but also numbers that were to be data: where the structure of the
    /// program depends on them.
    pub(crate) fn needed_constant(&mut self, class: Handle, name: &Rc<str>) -> Option<Value> {
        let value = self.constant_attribute(class, name)?;
        if is_number(&value) {
            self.used.insert((class, name.clone()));
        }
        Some(value)
    }

    /// The value that an attribute has in all objects of a class, if it is one.
    pub(crate) fn value_of_all(&self, class: Handle, name: &Rc<str>) -> Option<&'p HostValue> {
        self.shared(class, name).0
    }

    /// Whether an attribute of every object of a class is a method of that object.
    pub(crate) fn is_method_of_all(&self, class: Handle, name: &Rc<str>) -> bool {
        self.shared(class, name).1
    }

    /// What the objects of a class have in common in an attribute. It is asked for at each use, and there may
    /// be many objects.
    fn shared(&self, class: Handle, name: &Rc<str>) -> (Option<&'p HostValue>, bool) {
        let key = (class, name.clone());
        if let Some(&known) = self.shared.borrow().get(&key) {
            return known;
        }
        let program = self.program;
        let objects = &program.classes[&class].instances;
        let value = |object: Handle| program.attribute_values.get(&(object, name.clone()));
        let mut values = objects.iter().map(|&object| value(object));
        let first = values.next().flatten();
        let same = first.filter(|_| values.all(|other| other == first));
        let own =
            |&object: &Handle| matches!(value(object), Some(HostValue::Method { receiver, .. }) if *receiver == object);
        let found = (same, objects.iter().all(own));
        self.shared.borrow_mut().insert(key, found);
        found
    }

    fn constant_attribute(&mut self, class: Handle, name: &Rc<str>) -> Option<Value> {
        let info = &self.program.classes[&class];
        if is_kernel_class(class) {
            return self.kernel_class_constant(class, name);
        }
        if !self.program.never_changes(info, name) {
            return None;
        }
        let first = self.value_of_all(class, name)?;
        let scalar = matches!(
            first,
            HostValue::Bool(_)
                | HostValue::Int(_)
                | HostValue::Int32(_)
                | HostValue::Int64(_)
                | HostValue::Float(_)
                | HostValue::Object(_)
                | HostValue::Array(..)
                | HostValue::Texts(..)
                | HostValue::Str(_)
                | HostValue::Bytes(_)
                | HostValue::ByteArray(..)
        );
        let ty = info.attributes[info.attribute(name).expect("found by inference")].ty;
        scalar.then(|| self.constant(first, &self.ir_type(ty)))
    }

    /// The class's value of an attribute of objects created by kernels, if nothing assigns to it.
    fn kernel_class_constant(&mut self, class: Handle, name: &Rc<str>) -> Option<Value> {
        let place = (class, name.clone());
        let value = self.program.initial_values.get(&place)?;
        if self.program.kernel_class_assigned.contains(&place) {
            return None;
        }
        let info = &self.program.classes[&class];
        let ty = info.attributes[info.attribute(name).expect("found by inference")].ty;
        Some(self.constant(value, &self.ir_type(ty)))
    }

    /// Emits all host lists and objects that the program can reach.
    pub(crate) fn host_data(&mut self) -> Result<()> {
        let program = self.program;
        let mut lists: Vec<_> = program.lists.iter().collect();
        lists.sort_by_key(|(handle, _)| **handle);
        for (handle, list) in lists {
            let data: Rc<str> = data_symbol(*handle).into();
            let elements = match &list.content {
                Content::Elements(elements) => elements,
                Content::Memory(memory) => {
                    self.global(data, false, Init::Memory(memory.clone()));
                    continue;
                }
            };
            let (Kind::List(elt) | Kind::Array(elt, _)) = program.types.kind(list.ty) else {
                continue;
            };
            let elt = self.ir_type(*elt);
            let length = Value::int(Ty::I32, elements.len() as i64);
            let init = match numbers_in_memory(elements, &elt) {
                Some(memory) => Init::Memory(memory),
                None => Init::Array(
                    elt.clone(),
                    elements.iter().map(|element| self.constant(element, &elt)).collect(),
                ),
            };
            self.global(data.clone(), false, init);
            if let Kind::Array(..) = program.types.kind(list.ty) {
                continue;
            }
            let header = Value::record(vec![Value::global(data), length]);
            self.global(format!("list.{handle}"), false, Init::Value(header));
        }
        let mut objects: Vec<_> = program
            .objects
            .iter()
            .map(|(&object, &class)| (object, class))
            .collect();
        objects.sort();
        for (object, class) in objects {
            let info = &program.classes[&class];
            let mut members = vec![Value::int(Ty::I32, object.into())];
            for attribute in info.attributes.iter() {
                let value = &program.attribute_values[&(object, attribute.name.clone())];
                members.push(self.constant(value, &self.ir_type(attribute.ty)));
            }
            let constant = info
                .attributes
                .iter()
                .all(|attribute| program.never_changes(info, &attribute.name));
            let global = Global {
                name: self.object_symbol(object).into(),
                constant,
                exported: false,
                patched: self.has_data(class),
                init: Init::Value(Value::record(members)),
            };
            self.note_scalars(object, class, &global);
            self.module.globals.push(global);
        }
        Ok(())
    }

    /// The value of a host list, array or bytearray.
    pub(super) fn sequence(&self, handle: Handle) -> Value {
        let list = &self.program.lists[&handle];
        let number = |length: i32| Value::int(Ty::I32, length.into());
        let size = match self.program.types.kind(list.ty) {
            Kind::List(_) => return Value::global(format!("list.{handle}")),
            Kind::Array(..) => Value::record(list.shape.iter().copied().map(number).collect()),
            _ => number(list.shape[0]),
        };
        Value::record(vec![Value::global(data_symbol(handle)), size])
    }
}

fn is_number(value: &Value) -> bool {
    value.as_int().is_some() || value.as_float().is_some()
}

/// Memory image of a long list of numbers; None if it is short or contains anything else.
fn numbers_in_memory(elements: &[HostValue], ty: &Ty) -> Option<Rc<[u8]>> {
    let integer = |value: &HostValue| match value {
        HostValue::Int(value) | HostValue::Int64(value) => Some(*value),
        HostValue::Int32(value) => Some((*value).into()),
        _ => None,
    };
    let size = match ty {
        Ty::I32 => 4,
        Ty::I64 | Ty::F64 => 8,
        _ => return None,
    };
    if elements.len() * size < FILLED {
        return None;
    }
    let mut memory = Vec::with_capacity(elements.len() * size);
    for element in elements {
        match (ty, element) {
            (Ty::I32, value) => memory.extend((integer(value)? as i32).to_le_bytes()),
            (Ty::I64, value) => memory.extend(integer(value)?.to_le_bytes()),
            (_, HostValue::Float(value)) => memory.extend(value.to_le_bytes()),
            (_, value) => memory.extend((integer(value)? as f64).to_le_bytes()),
        }
    }
    Some(memory.into())
}

/// Memory image of the constants of a long list of numbers; None if it is short or of other elements.
fn constants_in_memory(values: &[Value], elt: &Ty) -> Option<Rc<[u8]>> {
    let size = elt.layout().0 as usize;
    if !matches!(elt, Ty::I32 | Ty::I64 | Ty::F64) || values.len() * size < FILLED {
        return None;
    }
    let bytes = |value: &Value| match (value.as_int(), value.as_float()) {
        (Some(number), _) => number.to_le_bytes(),
        (_, Some(number)) => number.to_le_bytes(),
        _ => [0; 8],
    };
    Some(
        values
            .iter()
            .flat_map(|value| bytes(value).into_iter().take(size))
            .collect(),
    )
}
