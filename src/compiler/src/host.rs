//! What the compiler asks of the Python process it compiles for.
//!
//! The binding answers from real Python objects, tests from tables. A handle is a key of the
//! embedding map: it names one host object for the whole compilation, and it is the number that the
//! device sends back in remote calls.

use std::rc::Rc;

use crate::language::Builtin;

/// Key of a host object in the embedding map.
pub type Handle = u32;

/// Numbers from here on are no host's: classes of which kernels make objects.
const MADE: Handle = 3 << 30;

/// The class of the objects that kernels make of a host class.
pub fn made_class(class: Handle) -> Handle {
    MADE | class
}

/// Whether the objects of a class are those that kernels make.
pub fn is_made(class: Handle) -> bool {
    class >= MADE
}

/// A host value as a kernel can see it.
#[derive(Clone, Debug, PartialEq)]
pub enum HostValue {
    None,
    Bool(bool),
    /// A plain integer, which takes the width that its use needs.
    Int(i64),
    Int32(i32),
    Int64(i64),
    Float(f64),
    Str(Rc<str>),
    Bytes(Rc<[u8]>),
    /// Bytes that can change; these are read once.
    ByteArray(Handle, Rc<[u8]>),
    /// Elements are read once, when the list is first met.
    List(Handle, Rc<[HostValue]>),
    /// A NumPy array: type of the elements, and its shape. [`Host::memory`] has the elements.
    Array(Handle, HostType, Rc<[i32]>),
    /// A NumPy array of strings: its shape, its elements in row-major order.
    Texts(Handle, Rc<[i32]>, Rc<[HostValue]>),
    Tuple(Rc<[HostValue]>),
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
    /// Something no kernel can use; the text names its type.
    Opaque(Rc<str>),
}

impl HostValue {
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Int(_) | Self::Int32(_) | Self::Int64(_) | Self::Float(_))
    }
}

/// An exception class: its key in the string table (`"N:module.Name"`) and its plain name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExceptionClass {
    pub key: i32,
    pub name: Rc<str>,
}

/// A type annotation of a host function.
#[derive(Clone, Debug, PartialEq)]
pub enum HostType {
    /// `TVar`: inference finds it.
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
    /// A type of the language that this compiler does not have yet.
    Unsupported(String),
}

/// A class of host objects.
#[derive(Clone, Debug)]
pub struct ClassInfo {
    pub handle: Handle,
    /// `module.Class`
    pub name: Rc<str>,
    /// `kernel_invariants` of the object asked about.
    pub invariants: Vec<String>,
    /// Those of them that the object has no attribute for.
    pub missing: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct ParamInfo {
    pub name: Rc<str>,
    pub annotation: Option<HostType>,
    pub default: Option<HostValue>,
}

/// A host function, with what its decorators say.
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
        /// Not the user's own: installed, or part of Kairos.
        library: bool,
        /// The satellite that runs it; 0 is where the caller runs.
        destination: u8,
    },
    /// Called on the host.
    Rpc { is_async: bool },
    /// A function of the firmware.
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

/// Name of a class, and the function `__init__` of its objects.
pub type Constructor = (Rc<str>, Option<Handle>);

/// Of what `isinstance` asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstanceOf {
    Class(Handle),
    /// A type that is no class of the program's: `int32`, `list`, …
    Language(&'static str),
}

/// The questions. An `Err` is a sentence for the user; the compiler adds the place.
pub trait Host {
    /// A module global seen by a function.
    fn global(&mut self, function: Handle, name: &str) -> Result<Option<HostValue>, String>;
    /// All module globals of a function, to guess at misspellings.
    fn global_names(&mut self, function: Handle) -> Vec<String>;
    /// `getattr(object, name)`; None if there is no such attribute.
    fn attribute(&mut self, object: Handle, name: &str) -> Result<Option<HostValue>, String>;
    fn attribute_names(&mut self, object: Handle) -> Vec<String>;
    /// What objects of a class have behind `owner` in its order of classes, which is one of them or
    /// a method of one; a method of theirs has the receiver 0.
    fn super_attribute(&mut self, owner: Handle, class: Handle, name: &str) -> Result<Option<HostValue>, String>;
    /// Whether objects of a class are instances of another one; of a type of the language, by its word.
    fn is_instance(&mut self, of: InstanceOf, class: Handle) -> Result<bool, String>;
    fn class_of(&mut self, object: Handle) -> Result<ClassInfo, String>;
    /// What a class is called, and the function that sets up its objects, if there is one; None if
    /// this is no class.
    fn constructor(&mut self, class: Handle) -> Result<Option<Constructor>, String>;
    /// What objects of a class have from the class itself; a method of theirs has the receiver 0.
    fn class_attribute(&mut self, class: Handle, name: &str) -> Result<Option<HostValue>, String>;
    fn function(&mut self, function: Handle) -> Result<FunctionInfo, String>;
    /// The type that the text of an annotation in a function stands for.
    fn annotation(&mut self, function: Handle, text: &str) -> Result<HostType, String>;
    /// Elements of an array in row-major order, as the device has them in memory.
    fn memory(&mut self, array: Handle) -> Result<Rc<[u8]>, String>;
    /// Key of a text in the string table, entered if new.
    fn store_str(&mut self, text: &str) -> i32;
    /// Handle of the host's `print`.
    fn print_function(&mut self) -> Handle;
    /// Handle of a function that puts values into a text, a template of `str.format`.
    fn text_function(&mut self, template: &str) -> Handle;
    /// Handle of a function that calls another one with arguments of which those with a template
    /// are made of so many values.
    fn call_with_texts(&mut self, function: Handle, templates: &[Option<(Rc<str>, usize)>]) -> Handle;
}
