//! A whole program as inference finds it: the functions reachable from the entry, and the host data
//! that they use.

mod classes;
mod constant_folding;
mod kernel_objects;
mod shapes;
mod shared;
mod stored;
mod subkernels;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::diagnostic::Diagnostic;
use crate::host::{is_kernel_class, ClassInfo, FunctionInfo, FunctionKind, Handle, Host, HostType, HostValue, View};
use crate::names::Names;
use crate::source::{Sources, Span};
use crate::syntax::{ExprId, Function};
use crate::types::{common_number, Callable, Kind, Ty, Types};
use crate::warnings::Warnings;
pub use classes::{Attribute, Attributes, Class};
pub use shapes::{Iterable, Shapes};
pub use shared::Strided;
pub use subkernels::Subkernel;

/// Index of a function of the program.
pub type FunctionId = usize;

/// A compiled function, specialised for one class of receiver.
#[derive(Debug)]
pub struct FunctionInstance {
    pub handle: Handle,
    /// For methods, the class of `self` that this instance is compiled for.
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
    /// The first call found.
    pub called_from: Option<(FunctionId, Span)>,
    pub facts: HashMap<ExprId, Fact>,
    pub nested: Option<Nested>,
}

/// Data of a nested function. Its value is a pointer to its environment: the addresses of the
/// captured variables, then the values of its defaults.
#[derive(Debug)]
pub struct Nested {
    /// Types of the defaults, which belong to the last parameters.
    pub defaults: Vec<Ty>,
    pub called: bool,
}

impl FunctionInstance {
    /// Whether nothing calls the function. It is then neither typed nor compiled.
    pub fn is_dead(&self) -> bool {
        self.nested.as_ref().is_some_and(|nested| !nested.called)
    }
}

/// A result of inference about an expression, other than its type.
#[derive(Clone, Debug)]
pub enum Fact {
    /// A constant of the host, read at compile time.
    Constant(HostValue),
    /// A call, and where the value of each parameter comes from.
    Call(CallTarget, Vec<ArgSource>),
    /// A call of one of several functions, with the call of each.
    Choice(Vec<(Callable, CallTarget, Vec<ArgSource>)>),
    /// The program function that a function expression defines.
    Function(FunctionId),
    /// For the target of a loop: the type of the assigned element, which may differ from the
    /// target's type.
    Element(Ty),
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
    /// A value that the host formats into a string, which is this positional argument; the second
    /// number is the position of the value in the string.
    Within(usize, usize),
    Keyword(usize),
    Default(HostValue),
    /// A default of a nested function, by its number among the defaults.
    Kept(usize),
}

/// A host list or array reachable by a kernel.
#[derive(Debug)]
pub struct HostList {
    pub ty: Ty,
    pub content: Content,
    /// The lengths of an array's dimensions, or that of a bytearray.
    pub shape: Rc<[i32]>,
}

impl HostList {
    /// The elements of a list; empty for an array, which is not kept as single values.
    pub fn elements(&self) -> &[HostValue] {
        match &self.content {
            Content::Elements(elements) => elements,
            Content::Memory(_) => &[],
        }
    }
}

/// The contents of a host list or array.
#[derive(Debug)]
pub enum Content {
    Elements(Rc<[HostValue]>),
    /// Elements of an array in row-major order: not as single values, since there may be millions.
    Memory(Rc<[u8]>),
}

#[derive(Debug, Default)]
pub struct Program {
    pub types: Types,
    pub functions: Vec<FunctionInstance>,
    pub function_index: HashMap<(Handle, Option<Handle>), FunctionId>,
    pub classes: HashMap<Handle, Class>,
    /// Classes in the order of discovery.
    pub class_order: Vec<Handle>,
    /// The class of every object.
    pub objects: HashMap<Handle, Handle>,
    /// Values of attributes read so far, by object and name.
    pub attribute_values: HashMap<(Handle, Rc<str>), HostValue>,
    /// Names of attributes that any function assigns to, regardless of class.
    pub assigned: HashSet<Rc<str>>,
    /// Classes instantiated by kernels, in the order of discovery.
    pub kernel_class_order: Vec<Handle>,
    /// Initial attribute values of their objects, taken from the class, by class and name.
    pub initial_values: HashMap<(Handle, Rc<str>), HostValue>,
    /// Attributes of their objects that any function assigns to.
    pub kernel_class_assigned: HashSet<(Handle, Rc<str>)>,
    pub lists: HashMap<Handle, HostList>,
    /// Arrays that are parts of a storage, which is in `lists` in their place.
    pub shared: HashMap<Handle, View>,
    pub function_infos: HashMap<Handle, Rc<FunctionInfo>>,
    pub entry: Option<Entry>,
    /// Names of messages between boards.
    pub messages: Vec<Rc<str>>,
    /// Objects whose attributes are still to be compared; None if no comparison is in progress.
    unchecked: Option<Vec<Handle>>,
}

/// Maximum number of host objects. Guards against attributes that create one on every access.
const MOST_OBJECTS: usize = 1 << 16;

impl Program {
    /// The functions that something calls.
    pub fn live(&self) -> impl Iterator<Item = &FunctionInstance> {
        self.functions.iter().filter(|function| !function.is_dead())
    }

    /// Whether an attribute is constant while the kernel runs.
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
    /// Whether it runs without a host.
    pub standalone: bool,
}

/// State shared by all passes.
pub struct Context<'a> {
    pub host: &'a mut dyn Host,
    pub sources: Sources,
    pub program: Program,
    pub warnings: Warnings,
    pub shapes: Shapes,
    pub strided: Strided,
}

impl Context<'_> {
    /// Type of a host value. Objects and lists inside it are added to the program. `Err` is a
    /// sentence for the user.
    pub fn type_of(&mut self, value: &HostValue) -> Result<Ty, String> {
        let kind = match value {
            HostValue::None => Kind::None,
            HostValue::Bool(_) => Kind::Bool,
            HostValue::Int(value) => Types::plain_integer(*value),
            HostValue::Int32(_) => Kind::Int32,
            HostValue::Int64(_) => Kind::Int64,
            HostValue::Float(_) => Kind::Float,
            HostValue::Str(_) => Kind::Str,
            HostValue::Bytes(_) => Kind::Bytes,
            HostValue::ByteArray(handle, memory) => {
                let ty = self.program.types.new_type(Kind::ByteArray);
                let content = Content::Memory(memory.clone());
                let shape = [memory.len() as i32].into();
                self.program
                    .lists
                    .entry(*handle)
                    .or_insert(HostList { ty, content, shape });
                return Ok(ty);
            }
            HostValue::List(handle, elements) => return self.type_of_list(*handle, elements, None),
            HostValue::Array(handle, elt, shape) => {
                if let Some(known) = self.program.lists.get(handle) {
                    return Ok(known.ty);
                }
                let elt = self.program.types.annotation(elt)?;
                let strided = self.strided.contains(*handle);
                let ty = self.program.types.part_of_array(elt, shape.len() as u8, strided);
                let content = Content::Memory(self.host.memory(*handle)?);
                let shape = shape.clone();
                self.program.lists.insert(*handle, HostList { ty, content, shape });
                return Ok(ty);
            }
            HostValue::Texts(handle, shape, elements) => {
                if let Some(known) = self.program.lists.get(handle) {
                    return Ok(known.ty);
                }
                let ty = HostType::Array(Box::new(HostType::Str), shape.len() as u8);
                let ty = self.program.types.annotation(&ty)?;
                let content = Content::Elements(elements.clone());
                let shape = shape.clone();
                self.program.lists.insert(*handle, HostList { ty, content, shape });
                return Ok(ty);
            }
            HostValue::Tuple(elements, fields) => {
                let members = elements.iter().map(|element| self.type_of(element));
                let members = members.collect::<Result<_, _>>()?;
                return Ok(self.program.types.named_tuple(members, fields.clone()));
            }
            HostValue::Range(members) => Kind::Range(
                self.program
                    .types
                    .new_type(common_number(&members[..]).expect("integers")),
            ),
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

    /// `number`: common type of the numbers in the enclosing list.
    fn type_of_list(&mut self, handle: Handle, elements: &Rc<[HostValue]>, number: Option<Ty>) -> Result<Ty, String> {
        if let Some(known) = self.program.lists.get(&handle) {
            return Ok(known.ty);
        }
        let number = number.or_else(|| common_number(elements).map(|kind| self.program.types.new_type(kind)));
        let flat = elements.iter().all(HostValue::is_number);
        let elt = number.filter(|_| flat).unwrap_or_else(|| self.program.types.var());
        let ty = self.program.types.new_type(Kind::List(elt));
        let list = HostList {
            ty,
            content: Content::Elements(elements.clone()),
            shape: [].into(),
        };
        self.program.lists.insert(handle, list);
        if flat && number.is_some() {
            return Ok(ty);
        }
        for element in elements.iter() {
            let found = match element {
                HostValue::List(handle, elements) => self.type_of_list(*handle, elements, number)?,
                element => self.type_of(element)?,
            };
            let unified = self.program.types.unify(elt, found);
            unified.map_err(|_| self.unlike_elements(elements, elt, found))?;
        }
        Ok(ty)
    }

    /// Adds a host object to the program; returns its class.
    fn register(&mut self, object: Handle) -> Result<Handle, String> {
        if let Some(&class) = self.program.objects.get(&object) {
            return Ok(class);
        }
        let info = self.host.class_of(object)?;
        let shape = self.shape(object, info.handle)?;
        self.program.objects.insert(object, shape);
        self.program.types.name_class(shape, info.name.clone());
        let order = &mut self.program.class_order;
        let mut first = false;
        let class = self.program.classes.entry(shape).or_insert_with(|| {
            order.push(shape);
            first = true;
            let (name, invariants) = (info.name.clone(), info.invariants.iter().cloned().collect());
            Class {
                host_class: info.handle,
                name,
                invariants,
                data: HashSet::new(),
                instances: vec![],
                attributes: Attributes::default(),
                constructor: None,
            }
        });
        class.instances.push(object);
        class.data.extend(info.data.iter().cloned());
        self.compare_invariants(shape, &info, first);
        if self.program.objects.len() > MOST_OBJECTS {
            return Err(format!(
                "the kernel reaches more than {MOST_OBJECTS} host objects; the last is a {}; perhaps one of its \
                 attributes makes a new one on every read",
                info.name
            ));
        }
        self.check_registered(object)?;
        Ok(shape)
    }

    /// Compares the attributes of a new object with those of its class. Objects discovered
    /// meanwhile are queued, because they may form a long chain.
    fn check_registered(&mut self, object: Handle) -> Result<(), String> {
        if let Some(waiting) = &mut self.program.unchecked {
            waiting.push(object);
            return Ok(());
        }
        self.program.unchecked = Some(vec![object]);
        let mut result = Ok(());
        while let Some(next) = self
            .program
            .unchecked
            .as_mut()
            .and_then(Vec::pop)
            .filter(|_| result.is_ok())
        {
            let class = &self.program.classes[&self.program.objects[&next]];
            let known = class
                .attributes
                .iter()
                .map(|attribute| (attribute.name.clone(), attribute.ty));
            let mut known = known.collect::<Vec<_>>().into_iter();
            result = known.try_for_each(|(name, ty)| self.check_attribute(next, &name, ty));
        }
        self.program.unchecked = None;
        result
    }

    /// Keeps only the invariants common to all objects of a class. Warns where objects differ, and
    /// of invariants that are not attributes.
    fn compare_invariants(&mut self, shape: Handle, info: &ClassInfo, first: bool) {
        let class = self.program.classes.get_mut(&shape).expect("just made");
        let mut warn = |text: String, help: &str| {
            self.warnings.add(*Diagnostic::global(text).help(help));
        };
        let name = &info.name;
        for missing in &info.missing {
            let text = format!("kernel_invariants of a {name} names '{missing}', which the object does not have");
            warn(text, "set the attribute on the host, or remove the name");
        }
        if first {
            return;
        }
        let help = "all objects of a class must name the same attributes; others are treated as variable";
        for added in info.invariants.iter().filter(|name| !class.is_invariant(name)) {
            warn(
                format!("'{added}' is a kernel invariant of one {name}, but not of an earlier one"),
                help,
            );
        }
        let mut lost: Vec<_> = class
            .invariants
            .iter()
            .filter(|name| !info.invariants.contains(name))
            .collect();
        lost.sort_unstable();
        for lost in lost {
            warn(
                format!("'{lost}' is not a kernel invariant of one {name}, but it is of an earlier one"),
                help,
            );
        }
        class.invariants.retain(|name| info.invariants.contains(name));
    }

    /// Type of an attribute, unified over all instances of a class; None if an instance lacks it.
    pub fn attribute(&mut self, class: Handle, name: &Rc<str>) -> Result<Option<Ty>, String> {
        let info = &self.program.classes[&class];
        if let Some(index) = info.attribute(name) {
            return Ok(Some(info.attributes[index].ty));
        }
        if is_kernel_class(class) {
            return self.kernel_class_attribute(class, name).map(Some);
        }
        let instances = info.instances.clone();
        let mut missing = 0;
        for &object in &instances {
            missing += usize::from(self.host.attribute(object, name)?.is_none());
        }
        if missing > 0 {
            if missing < instances.len() {
                self.shapes.conflict = Some((info.host_class, name.clone()));
            }
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

    /// The record of a host function; queried once and cached.
    pub fn function_info(&mut self, handle: Handle) -> Result<Rc<FunctionInfo>, String> {
        if let Some(known) = self.program.function_infos.get(&handle) {
            return Ok(known.clone());
        }
        let info = Rc::new(self.host.function(handle)?);
        self.program.function_infos.insert(handle, info.clone());
        Ok(info)
    }
}

impl Program {
    /// Moves an error in a library function to the user's call that led there.
    pub fn blame(&self, function: FunctionId, mut error: Box<Diagnostic>) -> Box<Diagnostic> {
        let is_library = |id: FunctionId| {
            matches!(
                self.functions[id].info.kind,
                FunctionKind::Compiled { library: true, .. }
            )
        };
        let mut id = function;
        while id < self.functions.len() && is_library(id) {
            let (Some((caller, call)), Some(place)) = (self.functions[id].called_from, error.span) else {
                break;
            };
            if !is_library(caller) {
                let here = std::mem::replace(&mut error.primary_note, "in this call".into());
                error.labels.insert(0, (place, here));
                error.span = Some(call);
            }
            id = caller;
        }
        error
    }
}
