//! Queries of the compiler to the Python process that it compiles for.
//!
//! The binding answers from real Python objects, tests from tables. A handle is a key of the
//! embedding map: it identifies one host object for the whole compilation, and the device sends it
//! back in remote calls.

use std::rc::Rc;

use crate::language::Builtin;

/// Key of a host object in the embedding map.
pub type Handle = u32;

/// Handles from here on are not the host's: classes whose objects kernels create.
const FIRST_KERNEL_CLASS: Handle = 3 << 30;

/// The class of objects that kernels create from a host class.
pub fn kernel_class(class: Handle) -> Handle {
    FIRST_KERNEL_CLASS | class
}

/// Whether objects of a class are created by kernels.
pub fn is_kernel_class(class: Handle) -> bool {
    class >= FIRST_KERNEL_CLASS
}

/// The names of a named tuple's elements.
pub type Fields = Rc<[Rc<str>]>;

/// A host value as a kernel can see it.
#[derive(Clone, Debug, PartialEq)]
pub enum HostValue {
    None,
    Bool(bool),
    /// A plain integer; inference chooses its width.
    Int(i64),
    Int32(i32),
    Int64(i64),
    Float(f64),
    Str(Rc<str>),
    Bytes(Rc<[u8]>),
    /// A mutable byte string, read once.
    ByteArray(Handle, Rc<[u8]>),
    /// Elements are read once, when the list is first used.
    List(Handle, Rc<[HostValue]>),
    /// A NumPy array: element type and shape. [`Host::memory`] returns the elements.
    Array(Handle, HostType, Rc<[i32]>),
    /// A NumPy array of strings: shape, and elements in row-major order.
    Texts(Handle, Rc<[i32]>, Rc<[HostValue]>),
    /// A tuple, with the names of its elements if it has any.
    Tuple(Rc<[HostValue]>, Option<Fields>),
    /// Start, stop and step.
    Range(Rc<[HostValue; 3]>),
    /// An instance of any class.
    Object(Handle),
    Function(Handle),
    Method {
        function: Handle,
        receiver: Handle,
    },
    /// A module or a class: something whose attributes are constants.
    Namespace(Handle, Rc<str>),
    /// A class derived from `Exception`.
    Exception(ExceptionClass),
    /// A name of the kernel language, reached through a host object: `np.int32`, `experiment.delay`.
    Builtin(Builtin),
    /// A value that kernels cannot use; the text names its type.
    Opaque(Rc<str>),
}

impl HostValue {
    /// Whether it is a single number or truth value.
    pub fn is_scalar(&self) -> bool {
        self.is_number() || matches!(self, Self::Bool(_))
    }

    pub fn is_number(&self) -> bool {
        matches!(self, Self::Int(_) | Self::Int32(_) | Self::Int64(_) | Self::Float(_))
    }
}

/// An exception class: its key in the string table (`"N:module.Name"`) and its plain name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExceptionClass {
    pub key: i32,
    pub name: Rc<str>,
    /// Whether `except Exception` catches it.
    pub is_ordinary: bool,
}

/// A type annotation of a host function.
#[derive(Clone, Debug, PartialEq)]
pub enum HostType {
    /// `TVar`: determined by inference.
    Var,
    /// `TNone`, `None`
    None,
    /// `TBool`, `bool`
    Bool,
    /// `TInt32`, `numpy.int32`
    Int32,
    /// `TInt64`, `numpy.int64`
    Int64,
    /// `TFloat`, `float`
    Float,
    /// `TStr`, `str`
    Str,
    /// `TBytes`, `bytes`
    Bytes,
    /// `TByteArray`, `bytearray`
    ByteArray,
    List(Box<HostType>),
    /// Element type and number of dimensions.
    Array(Box<HostType>, u8),
    Tuple(Vec<HostType>),
    Range(Box<HostType>),
    /// A type of the language that this compiler does not support yet.
    Unsupported(String),
}

/// In [`ClassInfo::data`]: all attributes.
pub const EVERY_NUMBER: &str = "*";

/// A class of host objects.
#[derive(Clone, Debug)]
pub struct ClassInfo {
    pub handle: Handle,
    /// `module.Class`
    pub name: Rc<str>,
    /// `kernel_invariants` of the queried object.
    pub invariants: Vec<String>,
    /// The invariants that the object has no attribute for.
    pub missing: Vec<String>,
    /// Attributes whose numbers are loaded from the library's data, since they differ from call to
    /// call; [`EVERY_NUMBER`]: all that are no invariants.
    pub data: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct ParamInfo {
    pub name: Rc<str>,
    pub annotation: Option<HostType>,
    pub default: Option<HostValue>,
}

/// A host function, with the information from its decorators.
#[derive(Clone, Debug)]
pub struct FunctionInfo {
    pub name: Rc<str>,
    /// `module.Class.name`
    pub qualified_name: Rc<str>,
    pub kind: FunctionKind,
    pub params: Vec<ParamInfo>,
    pub returns: Option<HostType>,
}

#[derive(Clone, Debug)]
pub enum FunctionKind {
    /// Compiled into the library.
    Compiled {
        file: Rc<str>,
        text: Rc<str>,
        line: u32,
        fast_math: bool,
        inline: Inline,
        /// Not the user's own code: installed, or part of Kairos.
        library: bool,
        /// The satellite that runs the function; 0 means where the caller runs.
        destination: u8,
    },
    /// Called on the host.
    Rpc { is_async: bool },
    /// A function implemented by the firmware.
    Syscall { symbol: Rc<str>, nounwind: bool },
    /// Must not be called from a kernel, for the reason given.
    Forbidden(String),
}

impl FunctionKind {
    /// The satellite that runs the function; None if it runs where it is called.
    pub fn destination(&self) -> Option<u8> {
        match self {
            FunctionKind::Compiled { destination, .. } if *destination > 0 => Some(*destination),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inline {
    Auto,
    Hint,
    Always,
}

/// Name of a class, and its `__init__` function if it has one.
pub type Constructor = (Rc<str>, Option<Handle>);

/// How the exceptions that an `except` clause catches are recognised.
#[derive(Clone, Debug)]
pub struct Caught {
    /// Keys of the class and of its subclasses, as far as the program knows them. For `Exception`, keys of
    /// the classes that are none of its subclasses, such as `KeyboardInterrupt`.
    pub keys: Rc<[i32]>,
    /// The number of these classes among those that the kernel catches. An exception of the host comes with
    /// a bit for each number that holds for it, in the place of the parameters.
    pub number: u32,
    /// Whether all other exceptions are caught, as by `Exception`.
    pub others: bool,
}

/// An array that is a view of memory that it shares with others.
#[derive(Clone, Debug)]
pub struct View {
    /// The array of one dimension that contains it.
    pub storage: Handle,
    /// Position of its first element there.
    pub first: u32,
    /// Distance between neighbours in each dimension, in elements; None: contiguous in row-major order.
    pub strides: Option<Rc<[i32]>>,
}

/// The class argument of an `isinstance` test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstanceOf {
    Class(Handle),
    /// A type of the language that is not a class of the program: `int32`, `list`, …
    Language(&'static str),
}

/// Queries to the Python process. An `Err` is a sentence for the user; the compiler adds the
/// position.
pub trait Host {
    /// A module global seen by a function.
    fn global(&mut self, function: Handle, name: &str) -> Result<Option<HostValue>, String>;
    /// All module globals of a function, for suggesting corrections of misspelt names.
    fn global_names(&mut self, function: Handle) -> Vec<String>;
    /// `getattr(object, name)`; None if there is no such attribute.
    fn attribute(&mut self, object: Handle, name: &str) -> Result<Option<HostValue>, String>;
    fn attribute_names(&mut self, object: Handle) -> Vec<String>;
    /// Looks up an attribute as `super()` does: in the classes after `owner` in the method
    /// resolution order of `class`. `owner` is one of these classes or a method of one. Methods
    /// found have receiver 0.
    fn super_attribute(&mut self, owner: Handle, class: Handle, name: &str) -> Result<Option<HostValue>, String>;
    /// Whether objects of a class are instances of another class, or of a language type given by
    /// name.
    fn is_instance(&mut self, of: InstanceOf, class: Handle) -> Result<bool, String>;
    fn class_of(&mut self, object: Handle) -> Result<ClassInfo, String>;
    /// The exceptions that `except` with the class of this key, or with `Exception`, catches; None: all.
    fn caught(&mut self, key: Option<i32>) -> Option<Caught>;
    /// Name of a class and its `__init__`, if it defines one; None if the object is not a class.
    fn constructor(&mut self, class: Handle) -> Result<Option<Constructor>, String>;
    /// An attribute that objects inherit from the class itself; methods found have receiver 0.
    fn class_attribute(&mut self, class: Handle, name: &str) -> Result<Option<HostValue>, String>;
    fn function(&mut self, function: Handle) -> Result<FunctionInfo, String>;
    /// The type that an annotation, given as text, evaluates to in the scope of a function.
    fn annotation(&mut self, function: Handle, text: &str) -> Result<HostType, String>;
    /// Elements of an array in row-major order, in the device's memory layout.
    fn memory(&mut self, array: Handle) -> Result<Rc<[u8]>, String>;
    /// Those of the arrays that share memory, with their places in it: storages, of which
    /// [`Host::memory`] returns the elements. `strided`: whether arrays that are not contiguous
    /// may be among them.
    fn shared(&mut self, arrays: &[Handle], strided: bool) -> Result<Vec<(Handle, View)>, String>;
    /// Key of a string in the string table, which is added if new.
    fn store_str(&mut self, text: &str) -> i32;
    /// Handle of the host's `print`.
    fn print_function(&mut self) -> Handle;
    /// Handle of a function that formats values with a `str.format` template.
    fn text_function(&mut self, template: &str) -> Handle;
    /// Handle of a function that calls another one; each argument with a template is formatted from
    /// the given number of values.
    fn call_with_texts(&mut self, function: Handle, templates: &[Option<(Rc<str>, usize)>]) -> Handle;
}
