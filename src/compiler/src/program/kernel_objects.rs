//! Objects created by kernels. Those of a class have one layout and separate instances of its
//! methods, apart from host objects of the class. Their attributes are those of the class itself
//! (methods, constants) and those that kernels assign to.

use std::collections::HashSet;
use std::rc::Rc;

use super::{Attribute, Attributes, Class, Context};
use crate::host::{kernel_class, Handle, HostValue};
use crate::types::{Kind, Ty};

/// Receiver in methods returned by the host for a class: the object on which the method is looked
/// up.
const OWN: Handle = 0;

impl Context<'_> {
    /// The class of the objects that a call of `namespace` creates, and its `__init__`, if any;
    /// None if the namespace is not a class.
    pub fn constructor(&mut self, namespace: Handle) -> Result<Option<(Handle, Option<Handle>)>, String> {
        let class = kernel_class(namespace);
        if let Some(known) = self.program.classes.get(&class) {
            return Ok(Some((class, known.constructor)));
        }
        let Some((name, constructor)) = self.host.constructor(namespace)? else {
            return Ok(None);
        };
        let shown = format!("{name} made in a kernel").into();
        self.program.types.name_class(class, shown);
        let known = Class {
            host_class: namespace,
            name,
            invariants: HashSet::new(),
            data: HashSet::new(),
            instances: vec![],
            attributes: Attributes::default(),
            constructor,
        };
        self.program.classes.insert(class, known);
        self.program.kernel_class_order.push(class);
        Ok(Some((class, constructor)))
    }

    /// Type of an attribute of objects created by kernels; a type variable if nothing is known yet.
    pub(super) fn kernel_class_attribute(&mut self, class: Handle, name: &Rc<str>) -> Result<Ty, String> {
        let ty = match self
            .host
            .class_attribute(self.program.classes[&class].host_class, name)?
        {
            Some(HostValue::Method {
                function,
                receiver: OWN,
            }) => self.program.types.new_type(Kind::Method { function, class }),
            Some(value) => {
                let ty = self.type_of(&value)?;
                self.program.types.default_width(ty);
                self.program.initial_values.insert((class, name.clone()), value);
                ty
            }
            None => self.program.types.var(),
        };
        let assigned = self.program.kernel_class_assigned.contains(&(class, name.clone()));
        if self.program.types.is_var(ty) && !assigned {
            return Ok(ty); // a function visited later may assign to it
        }
        let known = self.program.classes.get_mut(&class).expect("some object is of it");
        known.attributes.push(Attribute { name: name.clone(), ty });
        self.program.types.version += 1;
        Ok(ty)
    }
}
