//! Types of the kernel language and their unification.
//!
//! A type is an index into a table of nodes; unifying two types links one to the other. An integer
//! whose width is not known yet is a node of its own kind, which later becomes `int32` or `int64`.

mod callable;
mod rules;
mod width;

use std::collections::HashMap;
use std::rc::Rc;

use kairos_contracts::rpc::tag;

use crate::host::{is_kernel_class, ExceptionClass, Fields, Handle, HostType};
use crate::language::Builtin;
pub use callable::Callable;
pub use rules::tuple_index;
pub use width::{common_number, WORD};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ty(u32);

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Var,
    /// An integer of undetermined width: 32 bits unless its use needs 64.
    IntOpen,
    /// An integer of undetermined width that needs 64 bits unless its use says 32.
    IntWide,
    None,
    Bool,
    Int32,
    Int64,
    Float,
    Str,
    Bytes,
    ByteArray,
    List(Ty),
    /// A NumPy array: element type and number of dimensions.
    Array(Ty, u8),
    /// A strided array, such as a slice or a transpose: as `Array`, with a stride for each
    /// dimension.
    View(Ty, u8),
    Tuple(Rc<[Ty]>),
    Range(Ty),
    /// An iterable that is never materialised, with the types that it consists of.
    Lazy(Lazy, Rc<[Ty]>),
    /// An instance of a host class.
    Instance(Handle),
    /// A function of the host program (compiled, remote or a syscall): known at compile time,
    /// without a run-time value.
    Function(Handle),
    /// A method: function and class of the receiver. Its value is the receiver.
    Method {
        function: Handle,
        class: Handle,
    },
    /// The result of `super()`: an object of `class`, whose attributes are looked up after `owner`
    /// in its method resolution order. `owner` is a class or a method of one. The value is the
    /// object.
    Super {
        owner: Handle,
        class: Handle,
    },
    /// A nested function, by its number in the program. Its value is a pointer to the variables
    /// that it captures.
    Closure(usize),
    /// One of several functions whose types were joined, by their numbers. Its value is the number
    /// and the function's own value.
    Choice(Rc<[Callable]>),
    Namespace(Handle, Rc<str>),
    Builtin(Builtin),
    ExceptionClass(ExceptionClass),
    /// A caught or constructed exception.
    Exception,
}

/// An iterable that is consumed in place and never stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lazy {
    /// `zip` of the parts.
    Zip,
    /// `zip` of the parts, which must have equal lengths.
    StrictZip,
    /// `enumerate` of the first part, numbered by the second.
    Enumerate,
    Reversed,
    /// A generator expression; the part is its element type.
    Generator,
}

impl Lazy {
    pub fn name(self) -> &'static str {
        match self {
            Lazy::Zip | Lazy::StrictZip => "zip",
            Lazy::Enumerate => "enumerate",
            Lazy::Reversed => "reversed",
            Lazy::Generator => "generator",
        }
    }
}

/// Two types that cannot be unified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch;

/// `int32`; its index is the same in every type table.
pub const INT32: Ty = Ty(0);
/// `str`, likewise.
pub const STR: Ty = Ty(1);

#[derive(Debug)]
pub struct Types {
    nodes: Vec<Node>,
    /// Increases when a type that existed before the current visit is linked: inference has
    /// converged when it no longer changes.
    pub version: usize,
    /// Number of the first type created in the current visit.
    visit_start: u32,
    class_names: HashMap<Handle, Rc<str>>,
    /// Types of the functions that were joined with others.
    callables: Vec<Ty>,
    /// The names of the elements of tuples, by the tuple's node.
    fields: HashMap<Ty, Fields>,
    /// The last two classes whose objects failed to unify.
    apart: Option<[Handle; 2]>,
}

#[derive(Debug)]
enum Node {
    Link(Ty),
    Kind(Kind),
}

impl Default for Types {
    fn default() -> Types {
        Types {
            nodes: vec![Node::Kind(Kind::Int32), Node::Kind(Kind::Str)],
            version: 0,
            visit_start: 0,
            class_names: Default::default(),
            callables: vec![],
            fields: HashMap::new(),
            apart: None,
        }
    }
}

impl Types {
    pub fn new_type(&mut self, kind: Kind) -> Ty {
        self.nodes.push(Node::Kind(kind));
        Ty(self.nodes.len() as u32 - 1)
    }

    pub fn var(&mut self) -> Ty {
        self.new_type(Kind::Var)
    }

    pub fn name_class(&mut self, class: Handle, name: Rc<str>) {
        self.class_names.insert(class, name);
    }

    pub fn annotation(&mut self, annotation: &HostType) -> Result<Ty, String> {
        let kind = match annotation {
            HostType::Var => Kind::Var,
            HostType::None => Kind::None,
            HostType::Bool => Kind::Bool,
            HostType::Int32 => Kind::Int32,
            HostType::Int64 => Kind::Int64,
            HostType::Float => Kind::Float,
            HostType::Str => Kind::Str,
            HostType::Bytes => Kind::Bytes,
            HostType::ByteArray => Kind::ByteArray,
            HostType::List(elt) => Kind::List(self.annotation(elt)?),
            HostType::Array(elt, dims) => Kind::Array(self.annotation(elt)?, *dims),
            HostType::Range(elt) => Kind::Range(self.annotation(elt)?),
            HostType::Tuple(elts) => {
                Kind::Tuple(elts.iter().map(|elt| self.annotation(elt)).collect::<Result<_, _>>()?)
            }
            HostType::Unsupported(name) => return Err(format!("the type {name} is not supported yet")),
        };
        Ok(self.new_type(kind))
    }

    fn find(&self, mut ty: Ty) -> Ty {
        while let Node::Link(next) = self.nodes[ty.0 as usize] {
            ty = next;
        }
        ty
    }

    pub fn kind(&self, ty: Ty) -> &Kind {
        match &self.nodes[self.find(ty).0 as usize] {
            Node::Kind(kind) => kind,
            Node::Link(_) => unreachable!("find returns a root"),
        }
    }

    pub fn is_var(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), Kind::Var)
    }

    pub fn is_int(&self, ty: Ty) -> bool {
        self.is_open(ty) || matches!(self.kind(ty), Kind::Int32 | Kind::Int64)
    }

    /// Whether this is an integer of undetermined width.
    pub fn is_open(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), Kind::IntOpen | Kind::IntWide)
    }

    /// Whether a type is numeric, including bool.
    pub fn is_numeric(&self, ty: Ty) -> bool {
        self.is_int(ty) || matches!(self.kind(ty), Kind::Float | Kind::Bool)
    }

    /// Whether a bool is given where an integer is wanted, which Python allows.
    pub fn is_truth_as_integer(&self, wanted: Ty, given: Ty) -> bool {
        self.is_int(wanted) && *self.kind(given) == Kind::Bool
    }

    /// Whether values of a type are bytes.
    pub fn is_bytes(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), Kind::Bytes | Kind::ByteArray)
    }

    /// Unifies two types.
    pub fn unify(&mut self, a: Ty, b: Ty) -> Result<(), Mismatch> {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            return Ok(());
        }
        match (self.kind(a).clone(), self.kind(b).clone()) {
            // The newer of two equal types is linked to the older one, so that types known to
            // earlier visits remain.
            (Kind::Var, Kind::Var) | (Kind::IntOpen, Kind::IntOpen) | (Kind::IntWide, Kind::IntWide) => {
                self.link(a.max(b), a.min(b));
            }
            (Kind::Var, _) if !self.occurs(a, b) => self.link(a, b),
            (_, Kind::Var) if !self.occurs(b, a) => self.link(b, a),
            (Kind::IntOpen, Kind::IntWide) | (Kind::IntOpen | Kind::IntWide, Kind::Int32 | Kind::Int64) => {
                self.link(a, b);
            }
            (Kind::IntWide, Kind::IntOpen) | (Kind::Int32 | Kind::Int64, Kind::IntOpen | Kind::IntWide) => {
                self.link(b, a);
            }
            (Kind::List(x), Kind::List(y)) | (Kind::Range(x), Kind::Range(y)) => return self.unify(x, y),
            (Kind::Array(x, m), Kind::Array(y, n)) | (Kind::View(x, m), Kind::View(y, n)) if m == n => {
                return self.unify(x, y);
            }
            (Kind::Lazy(a, x), Kind::Lazy(b, y)) if a == b && x.len() == y.len() => {
                return x.iter().zip(y.iter()).try_for_each(|(&x, &y)| self.unify(x, y));
            }
            (Kind::Tuple(x), Kind::Tuple(y)) if x.len() == y.len() => {
                self.join_fields(a, b);
                return x.iter().zip(y.iter()).try_for_each(|(&x, &y)| self.unify(x, y));
            }
            (x, y) if x == y => {}
            (Kind::Instance(x), Kind::Instance(y)) => {
                self.apart = Some([x, y]);
                return Err(Mismatch);
            }
            _ => return self.join_functions(a, b),
        }
        Ok(())
    }

    /// A tuple whose elements may have names.
    pub fn named_tuple(&mut self, members: Rc<[Ty]>, fields: Option<Fields>) -> Ty {
        let ty = self.new_type(Kind::Tuple(members));
        if let Some(fields) = fields {
            self.fields.insert(ty, fields);
        }
        ty
    }

    /// The position of the element of a tuple that has this name.
    pub fn field(&self, ty: Ty, name: &str) -> Option<usize> {
        let fields = self.fields.get(&self.find(ty))?;
        fields.iter().position(|field| **field == *name)
    }

    /// Tuples that meet keep the names of their elements only if all of those with names have the same.
    fn join_fields(&mut self, a: Ty, b: Ty) {
        if let (Some(one), Some(other)) = (self.fields.get(&a), self.fields.get(&b)) {
            if one != other {
                self.fields.insert(a, [].into());
                self.fields.insert(b, [].into());
            }
        }
    }

    /// Takes the last two classes whose objects failed to unify, if any.
    pub fn take_apart(&mut self) -> Option<[Handle; 2]> {
        self.apart.take()
    }

    fn link(&mut self, from: Ty, to: Ty) {
        // Linking a type created in this visit tells nothing new about types that existed before.
        self.version += usize::from(from.0 < self.visit_start);
        self.nodes[from.0 as usize] = Node::Link(to);
    }

    /// Begins a visit of all functions; `version` is unchanged at its end if nothing new was found.
    pub fn begin_visit(&mut self) {
        self.visit_start = self.nodes.len() as u32;
    }

    fn occurs(&self, var: Ty, inside: Ty) -> bool {
        let inside = self.find(inside);
        inside == var
            || match self.kind(inside) {
                Kind::List(elt) | Kind::Range(elt) | Kind::Array(elt, _) | Kind::View(elt, _) => self.occurs(var, *elt),
                Kind::Tuple(elts) | Kind::Lazy(_, elts) => elts.iter().any(|&elt| self.occurs(var, elt)),
                _ => false,
            }
    }

    /// Whether the type is fully determined.
    pub fn is_known(&self, ty: Ty) -> bool {
        match self.kind(ty) {
            Kind::Var | Kind::IntOpen | Kind::IntWide => false,
            Kind::List(elt) | Kind::Range(elt) | Kind::Array(elt, _) | Kind::View(elt, _) => self.is_known(*elt),
            Kind::Tuple(elts) | Kind::Lazy(_, elts) => elts.iter().all(|&elt| self.is_known(elt)),
            _ => true,
        }
    }

    /// The name of a type in diagnostics.
    pub fn name(&self, ty: Ty) -> String {
        match self.kind(ty) {
            Kind::Var => "?".into(),
            Kind::IntOpen | Kind::IntWide => "numpy.int?".into(),
            Kind::None => "NoneType".into(),
            Kind::Bool => "bool".into(),
            Kind::Int32 => "numpy.int32".into(),
            Kind::Int64 => "numpy.int64".into(),
            Kind::Float => "float".into(),
            Kind::Str => "str".into(),
            Kind::Bytes => "bytes".into(),
            Kind::ByteArray => "bytearray".into(),
            Kind::List(elt) => format!("list(elt={})", self.name(*elt)),
            Kind::Array(elt, dims) => format!("numpy.array(elt={}, num_dims={dims})", self.name(*elt)),
            Kind::View(elt, dims) => format!("numpy.array(elt={}, num_dims={dims}, strided)", self.name(*elt)),
            Kind::Range(elt) => format!("range(elt={})", self.name(*elt)),
            Kind::Tuple(elts) => {
                let names: Vec<_> = elts.iter().map(|&elt| self.name(elt)).collect();
                format!("({}{})", names.join(", "), if names.len() == 1 { "," } else { "" })
            }
            Kind::Lazy(lazy, _) => lazy.name().into(),
            Kind::Instance(class) => {
                format!("<instance {}>", self.class_names.get(class).map_or("?", |name| name))
            }
            Kind::Function(_) | Kind::Closure(_) | Kind::Choice(_) => "<function>".into(),
            Kind::Method { .. } => "<method>".into(),
            Kind::Super { .. } => "<super>".into(),
            Kind::Namespace(_, name) => format!("<{name}>"),
            Kind::Builtin(builtin) => format!("<function {}>", builtin.name()),
            Kind::ExceptionClass(class) => format!("<constructor {}>", class.name),
            Kind::Exception => "<exception>".into(),
        }
    }

    /// A value of the type in Python's words.
    pub fn words(&self, ty: Ty) -> String {
        let short = |ty: Ty| {
            let words = self.words(ty);
            let bare = words.strip_prefix("a ").or(words.strip_prefix("an ")).unwrap_or(&words);
            bare.to_string()
        };
        match self.kind(ty) {
            Kind::IntOpen | Kind::IntWide => "an int".into(),
            Kind::None => "None".into(),
            Kind::Int32 => "an int32".into(),
            Kind::Int64 => "an int64".into(),
            Kind::Bytes => "bytes".into(),
            Kind::Bool | Kind::Float | Kind::Str | Kind::ByteArray => format!("a {}", self.name(ty)),
            Kind::List(elt) if self.is_var(*elt) => "a list".into(),
            Kind::List(elt) => format!("a list of {}", short(*elt)),
            Kind::Array(elt, 1) | Kind::View(elt, 1) => format!("an array of {}", short(*elt)),
            Kind::Array(elt, dims) | Kind::View(elt, dims) => {
                format!("an array of {} with {dims} dimensions", short(*elt))
            }
            Kind::Range(_) => "a range".into(),
            Kind::Tuple(members) => {
                let names: Vec<_> = members.iter().map(|&member| short(member)).collect();
                format!(
                    "a tuple ({}{})",
                    names.join(", "),
                    if names.len() == 1 { "," } else { "" }
                )
            }
            Kind::Instance(class) => {
                format!("an object of {}", self.class_names.get(class).map_or("?", |name| name))
            }
            Kind::Function(_) | Kind::Closure(_) | Kind::Choice(_) | Kind::Method { .. } => "a function".into(),
            _ => self.name(ty),
        }
    }

    /// The tag of a type in remote calls; None if values cannot be sent.
    pub fn rpc_tag(&self, ty: Ty) -> Option<Vec<u8>> {
        let single = |byte: u8| Some(vec![byte]);
        let nested = |head: &[u8], elt: Ty| Some([head, &self.rpc_tag(elt)?].concat());
        match self.kind(ty) {
            Kind::None => single(tag::NONE),
            Kind::Bool => single(tag::BOOL),
            Kind::Int32 => single(tag::INT32),
            Kind::Int64 => single(tag::INT64),
            Kind::Float => single(tag::FLOAT),
            Kind::Str => single(tag::STR),
            Kind::Bytes => single(tag::BYTES),
            Kind::ByteArray => single(tag::BYTE_ARRAY),
            Kind::Instance(class) if is_kernel_class(*class) => None,
            Kind::Instance(_) => single(tag::OBJECT),
            Kind::List(elt) => nested(&[tag::LIST], *elt),
            // Of a strided array, a contiguous copy is sent.
            Kind::Array(elt, dims) | Kind::View(elt, dims) => nested(&[tag::ARRAY, *dims], *elt),
            Kind::Range(elt) => nested(&[tag::RANGE], *elt),
            Kind::Tuple(elts) => {
                let mut whole = vec![tag::TUPLE, elts.len() as u8];
                for &elt in elts.iter() {
                    whole.extend(self.rpc_tag(elt)?);
                }
                Some(whole)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untyped_integers_take_a_width_and_keep_it() {
        let mut types = Types::default();
        let open = types.new_type(Kind::IntOpen);
        let wide = types.new_type(Kind::Int64);
        let narrow = types.new_type(Kind::Int32);
        assert_eq!(types.unify(open, wide), Ok(()));
        assert_eq!(types.unify(open, narrow), Err(Mismatch));
        assert_eq!(types.name(open), "numpy.int64");
    }

    #[test]
    fn untyped_integers_take_the_wider_width_or_the_known_type() {
        let mut types = Types::default();
        let [a, b] = [Kind::IntOpen, Kind::IntWide].map(|kind| types.new_type(kind));
        assert_eq!(types.unify(a, b), Ok(()));
        assert_eq!(*types.kind(a), Kind::IntWide);
        let narrow = types.new_type(Kind::Int32);
        assert_eq!(types.unify(a, narrow), Ok(()));
        assert_eq!(types.name(b), "numpy.int32");
    }

    #[test]
    fn a_type_cannot_contain_itself() {
        let mut types = Types::default();
        let var = types.var();
        let list = types.new_type(Kind::List(var));
        assert_eq!(types.unify(var, list), Err(Mismatch));
    }

    /// Otherwise inference would not terminate for a program that takes the length of a value of
    /// unknown type.
    #[test]
    fn types_created_during_inference_do_not_count_as_changes() {
        let mut types = Types::default();
        let (known, open) = (types.new_type(Kind::Int64), types.var());
        types.begin_visit();
        for kind in [Kind::Var, Kind::IntOpen] {
            let made_up = types.new_type(kind);
            types.unify(known, made_up).unwrap();
        }
        assert_eq!(types.version, 0);
        let found = types.new_type(Kind::Float);
        types.unify(open, found).unwrap();
        assert_eq!(types.version, 1);
    }

    #[test]
    fn nested_types_have_nested_tags() {
        let mut types = Types::default();
        let (a, b) = (types.new_type(Kind::Int32), types.new_type(Kind::Float));
        let list = types.new_type(Kind::List(b));
        let tuple = types.new_type(Kind::Tuple([a, list].into()));
        assert_eq!(types.rpc_tag(tuple).unwrap(), b"t\x02ilf");
    }
}
