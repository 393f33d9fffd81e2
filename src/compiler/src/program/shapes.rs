//! Shapes: objects of one class whose attributes have different types.
//!
//! Objects of a class share one layout, and their methods are compiled once for all of them, as
//! long as each attribute in use has one type. When inference finds an attribute with several
//! types, it restarts with the class divided by this attribute: each group of objects is then
//! treated as a class of its own.
//!
//! Objects that are joined, in a list or a variable, are not divided by functions: when two shapes
//! are joined, inference restarts with their objects, and the objects that these hold, in one set.
//! A function attribute of such objects is a choice of several functions.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use super::Context;
use crate::host::{is_kernel_class, Handle, HostValue};
use crate::types::{Mismatch, Ty};

/// First handle of shapes, which are not classes of the host.
const FIRST: Handle = 1 << 31;

/// Number of joined sets, each found by a separate inference, after which whole classes are joined
/// instead.
const MOST_SETS: usize = 16;

/// How classes are divided into shapes.
#[derive(Debug, Default)]
pub struct Shapes {
    /// For each class, the attributes that distinguish the shapes of its objects.
    dividing: HashMap<Handle, Vec<Rc<str>>>,
    /// Handle of the shape, by class and description of the dividing attributes.
    known: HashMap<(Handle, String), Handle>,
    /// Objects whose shape is being determined.
    open: HashSet<Handle>,
    /// An attribute of a class found to have several types.
    pub conflict: Option<(Handle, Rc<str>)>,
    /// Objects joined with others of their class, with the set that each belongs to.
    together: HashMap<Handle, usize>,
    sets: usize,
    /// Classes all of whose objects are joined.
    whole: HashSet<Handle>,
    /// Objects in a host list whose elements have different types.
    listed: Vec<Handle>,
    /// Iterables found to have no elements, because nothing gives their elements a type.
    empty: HashSet<Iterable>,
    /// Whether some of them were found since the last inference.
    more_empty: bool,
}

/// An iterable of a loop: function, class of its receiver, and offset in the source.
pub type Iterable = (Handle, Option<Handle>, u32);

impl Shapes {
    /// Records that an iterable never has elements; inference is then repeated without the loop.
    pub fn note_empty(&mut self, iterable: Iterable) -> bool {
        let new = self.empty.insert(iterable);
        self.more_empty |= new;
        new
    }

    /// Whether loops over empty lists were found, so that inference must be repeated.
    pub fn is_incomplete(&self) -> bool {
        self.more_empty
    }

    /// Whether a function has loops over lists without elements.
    pub fn has_empty(&self, function: Handle) -> bool {
        self.empty.iter().any(|(known, ..)| *known == function)
    }

    pub fn is_empty(&self, iterable: &Iterable) -> bool {
        self.empty.contains(iterable)
    }

    /// Divides a class by the conflicting attribute; false if there is none, or it divides the
    /// class already.
    fn divide(&mut self) -> bool {
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

    /// The set that an object of `class` belongs to, if it was joined with others.
    pub(super) fn set(&self, object: Handle, class: Handle) -> Option<usize> {
        match self.whole.contains(&class) {
            true => Some(0),
            false => self.together.get(&object).copied(),
        }
    }

    /// Joins objects of `class` into one set; false if they already are.
    fn put_together(&mut self, class: Handle, objects: &[Handle]) -> bool {
        let sets: HashSet<_> = objects.iter().map(|&object| self.set(object, class)).collect();
        if sets.len() == 1 && !sets.contains(&None) {
            return false;
        }
        self.known.clear();
        self.sets += 1;
        if self.sets > MOST_SETS {
            return self.whole.insert(class);
        }
        let joined = self.together.values_mut().filter(|set| sets.contains(&Some(**set)));
        joined.for_each(|set| *set = self.sets);
        self.together.extend(objects.iter().map(|&object| (object, self.sets)));
        true
    }
}

impl Context<'_> {
    /// Chooses other shapes for the objects, or leaves out loops over empty lists, so that inference
    /// can be retried; false if nothing changed.
    pub fn reshape(&mut self) -> bool {
        let listed = std::mem::take(&mut self.shapes.listed);
        let more_empty = std::mem::take(&mut self.shapes.more_empty);
        if self.shapes.divide() || self.join(listed).unwrap_or(false) {
            // Shapes may have other handles now.
            self.shapes.empty.clear();
            return true;
        }
        more_empty
    }

    /// Reads an attribute of one object and unifies its type with that of the class. One that it
    /// lacks divides the class, as one of another type does.
    pub(super) fn check_attribute(&mut self, object: Handle, name: &Rc<str>, ty: Ty) -> Result<(), String> {
        let class = self.program.classes[&self.program.objects[&object]].host_class;
        let conflict = Some((class, name.clone()));
        let Some(value) = self.host.attribute(object, name)? else {
            self.shapes.conflict = conflict;
            return Err(format!("host object does not have an attribute '{name}'"));
        };
        let found = self.type_of(&value)?;
        // The initial value decides the width of a number, except for numbers in a list.
        if !matches!(value, HostValue::List(..)) {
            self.program.types.default_width(found);
        }
        self.program.attribute_values.insert((object, name.clone()), value);
        // Objects with different functions get shapes of their own, which keeps calls direct,
        // unless the objects were joined.
        let has_met = self.shapes.set(object, class).is_some();
        let differ = !has_met && self.program.types.differ_in_functions(ty, found);
        let unified = match differ {
            true => Err(Mismatch),
            false => self.program.types.unify(ty, found),
        };
        unified.map_err(|_| {
            let types = &self.program.types;
            self.shapes.conflict = conflict;
            format!(
                "host object has an attribute '{name}' of type {}, which is different from previously inferred type {} \
                 for the same attribute",
                types.name(found),
                types.name(ty)
            )
        })
    }

    /// Records the objects of a list whose elements have different types, `first` and `other`;
    /// returns the error text.
    pub(super) fn unlike_elements(&mut self, elements: &[HostValue], first: Ty, other: Ty) -> String {
        (elements.iter()).for_each(|element| objects_in(element, &mut self.shapes.listed));
        let types = &self.program.types;
        let (first, other) = (types.name(first), types.name(other));
        if first == other {
            return format!("a host list has objects of one class with attributes of different types: {first}");
        }
        format!("a host list has elements of different types: {first} and {other}")
    }

    /// Joins the objects found together in a host list or as values of one variable, and the
    /// objects that they hold in the same attribute.
    fn join(&mut self, mut met: Vec<Handle>) -> Result<bool, String> {
        let Some(apart) = self.program.types.take_apart() else {
            return Ok(false);
        };
        for class in apart.into_iter().filter(|&class| !is_kernel_class(class)) {
            met.extend(&self.program.classes[&class].instances);
        }
        let (mut waiting, mut seen, mut changed) = (vec![met], HashSet::new(), false);
        while let Some(objects) = waiting.pop() {
            let mut classes = BTreeMap::<Handle, Vec<Handle>>::new();
            for object in objects {
                classes
                    .entry(self.host.class_of(object)?.handle)
                    .or_default()
                    .push(object);
            }
            for (class, objects) in classes {
                if objects.iter().filter(|&&object| seen.insert(object)).count() == 0 {
                    continue;
                }
                changed |= objects.len() > 1 && self.shapes.put_together(class, &objects);
                for name in self.shapes.dividing.get(&class).cloned().unwrap_or_default() {
                    let mut held = vec![];
                    for &object in &objects {
                        if let Some(value) = self.host.attribute(object, &name)? {
                            objects_in(&value, &mut held);
                        }
                    }
                    waiting.push(held);
                }
            }
        }
        Ok(changed)
    }

    /// The shape of an object of `class`: the class itself if it is not divided.
    pub(super) fn shape(&mut self, object: Handle, class: Handle) -> Result<Handle, String> {
        let Some(dividing) = self.shapes.dividing.get(&class).cloned() else {
            return Ok(class);
        };
        if !self.shapes.open.insert(object) {
            return Ok(class);
        }
        let set = self.shapes.set(object, class);
        let mut key = set.map_or_else(String::new, |set| format!("set {set};"));
        for name in &dividing {
            let part = match self.host.attribute(object, name)? {
                Some(value) => self.description((object, set.is_some()), &value)?,
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

    /// A key that distinguishes the types of attribute values. Functions are not distinguished for
    /// an object that was joined with others.
    fn description(&mut self, of: (Handle, bool), value: &HostValue) -> Result<String, String> {
        let (object, has_met) = of;
        Ok(match value {
            HostValue::Function(_) | HostValue::Method { .. } if has_met => "function".into(),
            HostValue::Function(function) => format!("function {function}"),
            HostValue::Method { function, receiver } if *receiver == object => format!("own {function}"),
            HostValue::Method { function, receiver } => format!("method {function} of {}", self.group(*receiver)?),
            HostValue::Object(object) => format!("instance of {}", self.group(*object)?),
            HostValue::Namespace(handle, _) => format!("namespace {handle}"),
            HostValue::Exception(class) => format!("exception {}", class.key),
            HostValue::Builtin(builtin) => builtin.name().into(),
            HostValue::Tuple(values, _) => {
                let parts = values.iter().map(|value| self.description(of, value));
                format!("({})", parts.collect::<Result<Vec<_>, _>>()?.join(", "))
            }
            HostValue::List(_, values) if values.iter().any(|value| !value.is_number()) => {
                format!("list of {}", self.description(of, &values[0])?)
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

/// Collects the objects in a value.
fn objects_in(value: &HostValue, found: &mut Vec<Handle>) {
    match value {
        HostValue::Object(object) => found.push(*object),
        HostValue::List(_, values) | HostValue::Tuple(values, _) => {
            values.iter().for_each(|value| objects_in(value, found))
        }
        _ => {}
    }
}
