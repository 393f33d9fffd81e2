//! A whole program as inference finds it: the functions reachable from the entry, and the host data they touch.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::diagnostic::Diagnostic;
use crate::host::{FunctionInfo, Handle, Host, HostType, HostValue};
use crate::names::Names;
use crate::source::Sources;
use crate::syntax::{ExprId, Function};
use crate::types::{Kind, Ty, Types};

/// Index of a function of the program.
pub type FunctionId = usize;

/// One function, for one class of receiver.
#[derive(Debug)]
pub struct FunctionInstance {
    pub handle: Handle,
    /// For methods: the class of `self` that this instance is for.
    pub class: Option<Handle>,
    /// Unique in the program; also the symbol in the library.
    pub symbol: String,
    pub info: Rc<FunctionInfo>,
    pub ast: Rc<Function>,
    pub names: Rc<Names>,
    pub locals: Vec<Ty>,
    pub returns: Ty,
    /// Type of every expression.
    pub types: Vec<Ty>,
    pub facts: HashMap<ExprId, Fact>,
}

/// What inference found out about an expression besides its type.
#[derive(Clone, Debug)]
pub enum Fact {
    /// A constant of the host, read at compile time.
    Constant(HostValue),
    /// A call and how its arguments meet its parameters.
    Call(CallTarget, Vec<ArgSource>),
}

#[derive(Clone, Debug)]
pub enum CallTarget {
    Compiled(FunctionId),
    Rpc(Handle),
    Syscall(Handle),
}

/// Where the value of a parameter comes from.
#[derive(Clone, Debug)]
pub enum ArgSource {
    /// The object the method was looked up on.
    Receiver,
    Positional(usize),
    Keyword(usize),
    Default(HostValue),
}

/// A class of host objects, as far as the program uses it.
#[derive(Debug)]
pub struct Class {
    pub name: Rc<str>,
    pub invariants: Vec<String>,
    pub instances: Vec<Handle>,
    /// In the order of first use, which is the order in memory.
    pub attributes: Vec<Attribute>,
}

#[derive(Debug)]
pub struct Attribute {
    pub name: Rc<str>,
    pub ty: Ty,
}

impl Class {
    pub fn attribute(&self, name: &str) -> Option<usize> {
        self.attributes.iter().position(|attribute| &*attribute.name == name)
    }

    pub fn is_invariant(&self, name: &str) -> bool {
        self.invariants.iter().any(|known| known == name)
    }
}

/// A host list or array that a kernel can reach.
#[derive(Debug)]
pub struct HostList {
    pub ty: Ty,
    /// In row-major order, if it is an array.
    pub elements: Rc<[HostValue]>,
}

#[derive(Debug, Default)]
pub struct Program {
    pub types: Types,
    pub functions: Vec<FunctionInstance>,
    pub function_index: HashMap<(Handle, Option<Handle>), FunctionId>,
    pub classes: HashMap<Handle, Class>,
    /// Classes in the order of discovery.
    pub class_order: Vec<Handle>,
    /// Class of every instance.
    pub objects: HashMap<Handle, Handle>,
    /// Values of attributes that were looked at, by object and name.
    pub attribute_values: HashMap<(Handle, Rc<str>), HostValue>,
    /// Names of attributes that some function assigns to, of whatever class.
    pub assigned: HashSet<Rc<str>>,
    pub lists: HashMap<Handle, HostList>,
    pub function_infos: HashMap<Handle, Rc<FunctionInfo>>,
    pub entry: Option<Entry>,
}

impl Program {
    /// Whether an attribute keeps its value while the kernel runs.
    pub fn never_changes(&self, class: &Class, attribute: &str) -> bool {
        class.is_invariant(attribute) || !self.assigned.contains(attribute)
    }
}

/// The call that the library performs.
#[derive(Debug)]
pub struct Entry {
    pub function: FunctionId,
    pub args: Vec<HostValue>,
    /// Host function that receives the result.
    pub set_result: Option<Handle>,
    pub writeback: bool,
}

/// What every pass may need.
pub struct Context<'a> {
    pub host: &'a mut dyn Host,
    pub sources: Sources,
    pub program: Program,
    pub warnings: Vec<Diagnostic>,
}

impl Context<'_> {
    /// Type of a host value. Objects and lists inside it become part of the program. `Err` is a sentence for the user.
    pub fn type_of(&mut self, value: &HostValue) -> Result<Ty, String> {
        let kind = match value {
            HostValue::None => Kind::None,
            HostValue::Bool(_) => Kind::Bool,
            HostValue::Int32(_) => Kind::Int32,
            HostValue::Int64(_) => Kind::Int64,
            HostValue::Float(_) => Kind::Float,
            HostValue::Str(_) => Kind::Str,
            HostValue::List(handle, elements) => return self.type_of_list(*handle, elements),
            HostValue::Array(handle, elt, shape, elements) => {
                if let Some(known) = self.program.lists.get(handle) {
                    return Ok(known.ty);
                }
                let ty = HostType::Array(Box::new(elt.clone()), shape.len() as u8);
                let ty = self.program.types.annotation(&ty)?;
                let elements = elements.clone();
                self.program.lists.insert(*handle, HostList { ty, elements });
                return Ok(ty);
            }
            HostValue::Tuple(elements) => Kind::Tuple(
                elements
                    .iter()
                    .map(|element| self.type_of(element))
                    .collect::<Result<_, _>>()?,
            ),
            HostValue::Range(members) => Kind::Range(self.type_of(&members[0])?),
            HostValue::Object(handle) => Kind::Instance(self.register(*handle)?),
            HostValue::Function(handle) => Kind::Function(*handle),
            HostValue::Method { function, receiver } => Kind::Method {
                function: *function,
                class: self.register(*receiver)?,
            },
            HostValue::Namespace(handle, name) => Kind::Namespace(*handle, name.clone()),
            HostValue::Exception(class) => Kind::ExceptionClass(class.clone()),
            HostValue::Builtin(name) => Kind::Builtin(*name),
            HostValue::Opaque(name) => return Err(format!("a host value of type {name} cannot be used in a kernel")),
        };
        Ok(self.program.types.new_type(kind))
    }

    fn type_of_list(&mut self, handle: Handle, elements: &Rc<[HostValue]>) -> Result<Ty, String> {
        if let Some(known) = self.program.lists.get(&handle) {
            return Ok(known.ty);
        }
        let elt = self.program.types.var();
        let ty = self.program.types.new_type(Kind::List(elt));
        self.program.lists.insert(
            handle,
            HostList {
                ty,
                elements: elements.clone(),
            },
        );
        for element in elements.iter() {
            let found = self.type_of(element)?;
            self.program.types.unify(elt, found).map_err(|_| {
                let types = &self.program.types;
                let (first, other) = (types.name(elt), types.name(found));
                format!("a host list has elements of different types: {first} and {other}")
            })?;
        }
        Ok(ty)
    }

    /// Makes a host object part of the program; returns its class.
    fn register(&mut self, object: Handle) -> Result<Handle, String> {
        if let Some(&class) = self.program.objects.get(&object) {
            return Ok(class);
        }
        let info = self.host.class_of(object)?;
        self.program.objects.insert(object, info.handle);
        self.program.types.name_class(info.handle, info.name.clone());
        let order = &mut self.program.class_order;
        let class = self.program.classes.entry(info.handle).or_insert_with(|| {
            order.push(info.handle);
            let (name, invariants) = (info.name, info.invariants.clone());
            Class {
                name,
                invariants,
                instances: vec![],
                attributes: vec![],
            }
        });
        class.invariants.retain(|name| info.invariants.contains(name));
        class.instances.push(object);
        let known: Vec<_> = class
            .attributes
            .iter()
            .map(|attribute| (attribute.name.clone(), attribute.ty))
            .collect();
        for (name, ty) in known {
            self.check_attribute(object, &name, ty)?;
        }
        Ok(info.handle)
    }

    /// Type of an attribute of all instances of a class; None if a host object does not have it.
    pub fn attribute(&mut self, class: Handle, name: &Rc<str>) -> Result<Option<Ty>, String> {
        let info = &self.program.classes[&class];
        if let Some(index) = info.attribute(name) {
            return Ok(Some(info.attributes[index].ty));
        }
        let instances = info.instances.clone();
        if self.host.attribute(instances[0], name)?.is_none() {
            return Ok(None);
        }
        let ty = self.program.types.var();
        let class = self.program.classes.get_mut(&class).expect("looked up above");
        class.attributes.push(Attribute { name: name.clone(), ty });
        for object in instances {
            self.check_attribute(object, name, ty)?;
        }
        Ok(Some(ty))
    }

    /// Reads an attribute of one object and unifies its type with that of the class.
    fn check_attribute(&mut self, object: Handle, name: &Rc<str>, ty: Ty) -> Result<(), String> {
        let value = self.host.attribute(object, name)?;
        let value = value.ok_or_else(|| format!("host object does not have an attribute '{name}'"))?;
        let found = self.type_of(&value)?;
        self.program.attribute_values.insert((object, name.clone()), value);
        self.program.types.unify(ty, found).map_err(|_| {
            let types = &self.program.types;
            format!(
                "host object has an attribute '{name}' of type {}, which is different from previously inferred type {} \
                 for the same attribute",
                types.name(found),
                types.name(ty)
            )
        })
    }

    /// The record of a host function, asked for once.
    pub fn function_info(&mut self, handle: Handle) -> Result<Rc<FunctionInfo>, String> {
        if let Some(known) = self.program.function_infos.get(&handle) {
            return Ok(known.clone());
        }
        let info = Rc::new(self.host.function(handle)?);
        self.program.function_infos.insert(handle, info.clone());
        Ok(info)
    }
}
