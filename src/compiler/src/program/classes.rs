//! Classes of objects as the program uses them.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::host::{Handle, EVERY_NUMBER};
use crate::types::Ty;

/// A class of host objects as used by the program, or those of its objects that share one shape.
#[derive(Debug)]
pub struct Class {
    pub host_class: Handle,
    pub name: Rc<str>,
    pub invariants: HashSet<String>,
    /// See [`ClassInfo::data`]; of any instance.
    pub data: HashSet<String>,
    pub instances: Vec<Handle>,
    /// In order of first use, which is the memory layout.
    pub attributes: Attributes,
    /// For classes instantiated by kernels: the function that initialises the object.
    pub constructor: Option<Handle>,
}

#[derive(Debug)]
pub struct Attribute {
    pub name: Rc<str>,
    pub ty: Ty,
}

/// The attributes of a class, found by name.
#[derive(Debug, Default)]
pub struct Attributes {
    list: Vec<Attribute>,
    numbers: HashMap<Rc<str>, usize>,
}

impl Attributes {
    pub fn push(&mut self, attribute: Attribute) {
        self.numbers.insert(attribute.name.clone(), self.list.len());
        self.list.push(attribute);
    }
}

impl std::ops::Deref for Attributes {
    type Target = [Attribute];

    fn deref(&self) -> &[Attribute] {
        &self.list
    }
}

impl Class {
    pub fn attribute(&self, name: &str) -> Option<usize> {
        self.attributes.numbers.get(name).copied()
    }

    pub fn is_invariant(&self, name: &str) -> bool {
        self.invariants.contains(name)
    }

    /// Whether the numbers of an attribute are loaded from the library's data.
    pub fn is_data(&self, name: &str) -> bool {
        self.data.contains(name) || self.data.contains(EVERY_NUMBER) && !self.is_invariant(name)
    }
}
