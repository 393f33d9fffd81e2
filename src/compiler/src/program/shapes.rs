//! Shapes: objects of one class whose attributes have different types.
//!
//! Objects of a class share one layout, and their methods are compiled once for all of them, as long as every attribute that
//! is used has one type. When inference meets one that has not, it begins anew with that class divided by this attribute: each
//! group of objects is then as good as a class of its own.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::Context;
use crate::host::{Handle, HostValue};

/// Numbers of the shapes that are no classes of the host.
const FIRST: Handle = 1 << 31;

/// How classes are divided.
#[derive(Debug, Default)]
pub struct Shapes {
    /// Attributes, by class, that tell the shapes of its objects.
    dividing: HashMap<Handle, Vec<Rc<str>>>,
    /// Number of the shape, by class and the types of these attributes.
    known: HashMap<(Handle, String), Handle>,
    /// Objects whose shape is being found out.
    open: HashSet<Handle>,
    /// An attribute of a class that was found to have several types.
    pub conflict: Option<(Handle, Rc<str>)>,
}

impl Shapes {
    /// Divides a class by the attribute that was found to have several types; false if there is none.
    pub fn divide(&mut self) -> bool {
        let Some((class, name)) = self.conflict.take() else {
            return false;
        };
        let dividing = self.dividing.entry(class).or_default();
        if dividing.contains(&name) {
            return false;
        }
        dividing.push(name);
        self.known.clear();
        true
    }
}

impl Context<'_> {
    /// The shape of an object of `class`: the class itself, if it is not divided.
    pub(super) fn shape(&mut self, object: Handle, class: Handle) -> Result<Handle, String> {
        let Some(dividing) = self.shapes.dividing.get(&class).cloned() else {
            return Ok(class);
        };
        if !self.shapes.open.insert(object) {
            return Ok(class);
        }
        let mut key = String::new();
        for name in &dividing {
            let part = match self.host.attribute(object, name)? {
                Some(value) => self.description(object, &value)?,
                None => "none".into(),
            };
            key += &part;
            key.push(';');
        }
        self.shapes.open.remove(&object);
        let next = match self.shapes.known.keys().any(|(known, _)| *known == class) {
            true => FIRST + self.shapes.known.len() as Handle,
            false => class,
        };
        Ok(*self.shapes.known.entry((class, key)).or_insert(next))
    }

    /// What tells the type of an attribute's value from others.
    fn description(&mut self, object: Handle, value: &HostValue) -> Result<String, String> {
        Ok(match value {
            HostValue::Function(function) => format!("function {function}"),
            HostValue::Method { function, receiver } if *receiver == object => format!("own {function}"),
            HostValue::Method { function, receiver } => format!("method {function} of {}", self.group(*receiver)?),
            HostValue::Object(object) => format!("instance of {}", self.group(*object)?),
            HostValue::Namespace(handle, _) => format!("namespace {handle}"),
            HostValue::Exception(class) => format!("exception {}", class.key),
            HostValue::Builtin(builtin) => builtin.name().into(),
            HostValue::Tuple(values) => {
                let parts = values.iter().map(|value| self.description(object, value));
                format!("({})", parts.collect::<Result<Vec<_>, _>>()?.join(", "))
            }
            HostValue::List(_, values) if values.iter().any(|value| !value.is_number()) => {
                format!("list of {}", self.description(object, &values[0])?)
            }
            value => {
                let ty = self.type_of(value)?;
                self.program.types.default_width(ty);
                self.program.types.name(ty)
            }
        })
    }

    fn group(&mut self, object: Handle) -> Result<Handle, String> {
        if let Some(&known) = self.program.objects.get(&object) {
            return Ok(known);
        }
        let class = self.host.class_of(object)?.handle;
        self.shape(object, class)
    }
}
