//! Values of remote procedure calls as Python objects: built by a [`Builder`] from what the device
//! sends, and read through [`Encodable`] when they are sent to it.

use std::cell::{Cell, RefCell};

use kairos_contracts::rpc::{tag, word};
use kairos_proto::rpc::host::{width, Builder, Described, Encodable, Malformed, Next, Plain, Row};
use pyo3::exceptions::{PyException, PyOSError, PyUnicodeEncodeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::errors::{MismatchError, ProtocolError};
use crate::stream::Stream;

/// Size in bytes from which on a block is not copied into the message but sent in place.
const LARGE: usize = 1 << 16;
/// Maximum number of Python objects that a message makes. An element of an array is none; in a list, it is one.
const OBJECTS_MAX: u64 = 1 << 23;

/// The reason why a value cannot be read or written.
pub enum DecodeError {
    Python(PyErr),
    Malformed(Malformed),
}

impl From<PyErr> for DecodeError {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<Malformed> for DecodeError {
    fn from(error: Malformed) -> Self {
        Self::Malformed(error)
    }
}

impl From<DecodeError> for PyErr {
    fn from(error: DecodeError) -> Self {
        match error {
            DecodeError::Python(error) => error,
            DecodeError::Malformed(error) => ProtocolError::new_err(error.to_string()),
        }
    }
}

/// Passes on a value, or the error for one that Python refuses to create from what the device sent,
/// for instance an array of too many dimensions.
fn possible<T>(py: Python<'_>, made: PyResult<T>) -> Result<T, DecodeError> {
    made.map_err(|error| {
        DecodeError::Python(match error.is_instance_of::<PyException>(py) {
            true => ProtocolError::new_err(format!("it sent a value that cannot exist ({})", error.value(py))),
            false => error,
        })
    })
}

/// Python types of the values.
pub struct Types {
    int32: Py<PyAny>,
    int64: Py<PyAny>,
    bool_: Py<PyAny>,
    object: Py<PyAny>,
    ndarray: Py<PyAny>,
    fraction: Py<PyAny>,
    range: Py<PyAny>,
    empty: Py<PyAny>,
    frombuffer: Py<PyAny>,
    contiguous: Py<PyAny>,
    /// NumPy's type of the elements of a block.
    blocks: [(u8, Py<PyAny>); 4],
}

impl Types {
    pub fn get(py: Python<'_>) -> PyResult<&'static Self> {
        static TYPES: PyOnceLock<Types> = PyOnceLock::new();
        TYPES.get_or_try_init(py, || {
            let numpy = py.import("numpy")?;
            let of = |name: &str| numpy.getattr(name).map(Bound::unbind);
            let dtype = |name: &str| numpy.call_method1("dtype", (name,)).map(Bound::unbind);
            Ok(Self {
                int32: of("int32")?,
                int64: of("int64")?,
                bool_: of("bool_")?,
                object: dtype("O")?,
                ndarray: of("ndarray")?,
                fraction: py.import("fractions")?.getattr("Fraction")?.unbind(),
                range: py.import("builtins")?.getattr("range")?.unbind(),
                empty: of("empty")?,
                frombuffer: of("frombuffer")?,
                contiguous: of("ascontiguousarray")?,
                blocks: [
                    (tag::BOOL, dtype("?")?),
                    (tag::INT32, dtype("<i4")?),
                    (tag::INT64, dtype("<i8")?),
                    (tag::FLOAT, dtype("<f8")?),
                ],
            })
        })
    }

    fn block(&self, element: u8) -> Option<&Py<PyAny>> {
        self.blocks
            .iter()
            .find(|(tag, _)| *tag == element)
            .map(|(_, dtype)| dtype)
    }
}

/// Builds Python objects.
pub struct Objects<'py> {
    pub py: Python<'py>,
    pub types: &'static Types,
    /// Returns the object with an id.
    pub retrieve: Bound<'py, PyAny>,
    /// Objects that the message may still make.
    left: u64,
}

impl<'py> Objects<'py> {
    /// `retrieve` returns the object with an id.
    pub fn new(retrieve: Bound<'py, PyAny>) -> PyResult<Self> {
        let py = retrieve.py();
        Ok(Self {
            py,
            types: Types::get(py)?,
            retrieve,
            left: OBJECTS_MAX,
        })
    }

    /// Counts objects before they are made.
    fn spend(&mut self, count: u64) -> PyResult<()> {
        self.left = self
            .left
            .checked_sub(count)
            .ok_or_else(|| ProtocolError::new_err(format!("it sends a message with more than {OBJECTS_MAX} values")))?;
        Ok(())
    }
}

/// A tagged value in Python.
pub enum Decoded<'py> {
    Value(Bound<'py, PyAny>),
    Keyword(Bound<'py, PyAny>, Bound<'py, PyAny>),
}

impl<'py> Decoded<'py> {
    /// The value; an error for a keyword argument outside of arguments.
    pub fn value(self) -> Result<Bound<'py, PyAny>, DecodeError> {
        match self {
            Self::Value(value) => Ok(value),
            Self::Keyword(..) => Err(Malformed::Unknown(tag::KEYWORD).into()),
        }
    }
}

impl<'py> Builder<Stream<'py>> for Objects<'py> {
    type Value = Decoded<'py>;
    type Error = DecodeError;

    fn plain(&mut self, value: Plain) -> Result<Decoded<'py>, DecodeError> {
        self.spend(1)?;
        let py = self.py;
        Ok(Decoded::Value(match value {
            Plain::None => py.None().into_bound(py),
            Plain::Bool(value) => PyBool::new(py, value).to_owned().into_any(),
            Plain::Int32(value) => self.types.int32.bind(py).call1((value,))?,
            Plain::Int64(value) => self.types.int64.bind(py).call1((value,))?,
            Plain::Float(value) => PyFloat::new(py, value).into_any(),
            Plain::Fraction(numerator, denominator) => {
                possible(py, self.types.fraction.bind(py).call1((numerator, denominator)))?
            }
            Plain::Object(id) => self.retrieve.call1((id,))?,
        }))
    }

    fn bytes(&mut self, tag: u8, length: u32, source: &mut Stream<'py>) -> Result<Decoded<'py>, DecodeError> {
        self.spend(1)?;
        let bytes = source.take(length.into())?;
        Ok(Decoded::Value(match tag {
            tag::STR => PyString::new(self.py, &String::from_utf8_lossy(bytes.as_bytes())).into_any(),
            _ => PyByteArray::new(self.py, bytes.as_bytes()).into_any(),
        }))
    }

    fn block(
        &mut self,
        row: Row,
        element: u8,
        count: u64,
        source: &mut Stream<'py>,
    ) -> Result<Decoded<'py>, DecodeError> {
        self.spend(if matches!(row, Row::Array(_)) { 1 } else { 1 + count })?;
        let size = width(element).unwrap_or(1) as u64;
        let data = source.take(count.saturating_mul(size))?;
        let made = || -> PyResult<Bound<'py, PyAny>> {
            let frombuffer = self.types.frombuffer.bind(self.py);
            // Any byte but 0 is true.
            let elements = match (element, self.types.block(element)) {
                (tag::BOOL, _) | (_, None) => frombuffer.call1((data, "u1"))?.call_method1("__ne__", (0,))?,
                (_, Some(dtype)) => frombuffer.call1((data, dtype.bind(self.py)))?,
            };
            match (row, element) {
                (Row::Array(shape), tag::BOOL) => elements.call_method1("reshape", (PyTuple::new(self.py, shape)?,)),
                (Row::Array(shape), _) => {
                    let own = elements.call_method0("copy")?;
                    own.call_method1("reshape", (PyTuple::new(self.py, shape)?,))
                }
                // Elements of an int64 list remain NumPy values; as Python numbers they would become
                // 32-bit when passed to a kernel again.
                (_, tag::INT64) => elements
                    .try_iter()?
                    .collect::<PyResult<Vec<_>>>()
                    .and_then(|all| PyList::new(self.py, all))
                    .map(Bound::into_any),
                _ => elements.call_method0("tolist"),
            }
        };
        Ok(Decoded::Value(possible(self.py, made())?))
    }

    fn row(
        &mut self,
        row: Row,
        count: u64,
        next: &mut Next<'_, Self, Decoded<'py>, DecodeError>,
    ) -> Result<Decoded<'py>, DecodeError> {
        self.spend(1)?;
        // The count comes from the device and may be wrong, so the initial capacity is limited.
        let mut values = Vec::with_capacity(count.min(1 << 16) as usize);
        for _ in 0..count {
            values.push(next(self)?.value()?);
        }
        let py = self.py;
        Ok(Decoded::Value(match row {
            Row::Tuple => PyTuple::new(py, values)?.into_any(),
            Row::List => PyList::new(py, values)?.into_any(),
            Row::Array(shape) => {
                let made = || -> PyResult<Bound<'py, PyAny>> {
                    let kind = self.types.object.bind(py);
                    let array = self.types.empty.bind(py).call1((values.len(), kind))?;
                    for (index, value) in values.into_iter().enumerate() {
                        array.set_item(index, value)?;
                    }
                    array.call_method1("reshape", (PyTuple::new(py, shape)?,))
                };
                possible(py, made())?
            }
            Row::Range => {
                let made = || -> PyResult<Bound<'py, PyAny>> {
                    let int = |value: &Bound<'py, PyAny>| value.call_method0("__int__");
                    let parts = values.iter().map(int).collect::<PyResult<Vec<_>>>()?;
                    self.types.range.bind(py).call1(PyTuple::new(py, parts)?)
                };
                possible(py, made())?
            }
            Row::Keyword => match <[_; 2]>::try_from(values) {
                Ok([name, value]) => return Ok(Decoded::Keyword(name, value)),
                Err(_) => return Err(Malformed::Truncated.into()),
            },
        }))
    }
}

/// The result of a host function, and the type that the device expects.
pub struct Returned<'a, 'py> {
    pub value: Bound<'py, PyAny>,
    pub tags: &'a [u8],
    pub types: &'static Types,
    /// Bytes written so far, and large blocks with their positions among them, so that they are copied only once.
    pub written: Cell<usize>,
    pub blocks: RefCell<Vec<(usize, Bound<'py, PyBytes>)>>,
}

/// A result, or a part of it.
pub struct Part<'a, 'py> {
    pub value: Bound<'py, PyAny>,
    pub whole: &'a Returned<'a, 'py>,
}

impl Part<'_, '_> {
    fn instance(&self, class: &Py<PyAny>) -> PyResult<bool> {
        self.value.is_instance(class.bind(self.value.py()))
    }

    /// `why`: the reason, if it is not the type itself.
    fn mismatch(&self, tags: &[u8], why: &str) -> DecodeError {
        let text = || -> PyResult<String> {
            let root = &self.whole.value;
            let mut text = format!(
                "type mismatch: cannot serialize {} as {}",
                root.repr()?.to_string_lossy(),
                Described(self.whole.tags)
            );
            if !self.value.is(root) || !why.is_empty() {
                text += &format!(
                    " ({} is not {}{why})",
                    self.value.repr()?.to_string_lossy(),
                    Described(tags)
                );
            }
            Ok(text)
        };
        DecodeError::Python(text().map_or_else(|error| error, MismatchError::new_err))
    }

    fn expect(&self, tags: &[u8], condition: bool) -> Result<(), DecodeError> {
        condition.then_some(()).ok_or_else(|| self.mismatch(tags, ""))
    }

    /// Converts a number that has the right type.
    fn number<T: for<'x> FromPyObject<'x, 'x>>(&self, tags: &[u8]) -> Result<T, DecodeError> {
        self.value
            .extract()
            .map_err(|_| self.mismatch(tags, ", it is out of range"))
    }
}

/// Iterates over the elements of a list.
pub struct Parts<'a, 'py> {
    items: Bound<'py, PyList>,
    index: usize,
    whole: &'a Returned<'a, 'py>,
}

impl<'a, 'py> Iterator for Parts<'a, 'py> {
    type Item = Part<'a, 'py>;

    fn next(&mut self) -> Option<Part<'a, 'py>> {
        let value = self.items.get_item(self.index).ok()?;
        self.index += 1;
        Some(Part {
            value,
            whole: self.whole,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.items.len().saturating_sub(self.index);
        (left, Some(left))
    }
}

impl ExactSizeIterator for Parts<'_, '_> {}

impl<'a, 'py> Encodable for Part<'a, 'py> {
    type Error = DecodeError;
    type Parts = Parts<'a, 'py>;

    fn plain(&self, tags: &[u8]) -> Result<Plain, DecodeError> {
        let (value, types) = (&self.value, self.whole.types);
        let is_int = || value.is_instance_of::<PyInt>();
        Ok(match tags[0] {
            tag::NONE => {
                self.expect(tags, value.is_none())?;
                Plain::None
            }
            tag::BOOL => {
                self.expect(tags, value.is_instance_of::<PyBool>() || self.instance(&types.bool_)?)?;
                Plain::Bool(value.is_truthy()?)
            }
            tag::INT32 => {
                self.expect(tags, is_int() || self.instance(&types.int32)?)?;
                Plain::Int32(self.number(tags)?)
            }
            tag::INT64 => {
                self.expect(
                    tags,
                    is_int() || self.instance(&types.int32)? || self.instance(&types.int64)?,
                )?;
                Plain::Int64(self.number(tags)?)
            }
            tag::FLOAT => {
                self.expect(tags, value.is_instance_of::<PyFloat>())?;
                Plain::Float(value.extract()?)
            }
            _ => {
                self.expect(tags, self.instance(&types.fraction)?)?;
                let part = |name: &str| {
                    let number = value.getattr(name)?;
                    number
                        .extract::<i64>()
                        .map_err(|_| self.mismatch(tags, ", it is out of range"))
                };
                Plain::Fraction(part("numerator")?, part("denominator")?)
            }
        })
    }

    fn bytes(&self, tags: &[u8], take: impl FnOnce(&[u8])) -> Result<(), DecodeError> {
        let value = &self.value;
        if tags[0] == tag::STR {
            let text = value.cast::<PyString>().map_err(|_| self.mismatch(tags, ""))?;
            let text =
                text.to_str()
                    .map_err(|error| match error.is_instance_of::<PyUnicodeEncodeError>(value.py()) {
                        true => self.mismatch(tags, ", it contains half a surrogate pair"),
                        false => error.into(),
                    })?;
            if text.contains('\0') {
                return Err(self.mismatch(tags, ", it contains a NUL character"));
            }
            take(text.as_bytes());
        } else if let Ok(bytes) = value.cast::<PyBytes>() {
            take(bytes.as_bytes());
        } else {
            let bytes = value.cast::<PyByteArray>().map_err(|_| self.mismatch(tags, ""))?;
            take(&bytes.to_vec());
        }
        Ok(())
    }

    fn parts(&self, tags: &[u8]) -> Result<Parts<'a, 'py>, DecodeError> {
        let (value, py) = (&self.value, self.value.py());
        let items = match tags[0] {
            tag::LIST => value.cast::<PyList>().map_err(|_| self.mismatch(tags, ""))?.clone(),
            tag::TUPLE => {
                let tuple = value.cast::<PyTuple>().map_err(|_| self.mismatch(tags, ""))?;
                if tuple.len() != usize::from(tags[1]) {
                    return Err(self.mismatch(tags, &format!(", it has {} elements", tuple.len())));
                }
                tuple.to_list()
            }
            tag::RANGE => {
                self.expect(tags, self.instance(&self.whole.types.range)?)?;
                let parts = ["start", "stop", "step"].map(|name| value.getattr(name));
                PyList::new(py, parts.into_iter().collect::<PyResult<Vec<_>>>()?)?
            }
            _ => PyList::new(py, value.getattr("flat")?.try_iter()?.collect::<PyResult<Vec<_>>>()?)?,
        };
        Ok(Parts {
            items,
            index: 0,
            whole: self.whole,
        })
    }

    fn shape(&self, tags: &[u8], mut take: impl FnMut(u32)) -> Result<(), DecodeError> {
        self.expect(tags, self.instance(&self.whole.types.ndarray)?)?;
        let shape: Vec<u64> = self.value.getattr("shape")?.extract()?;
        if shape.len() != usize::from(tags[1]) {
            return Err(self.mismatch(tags, &format!(", it has {} dimensions", shape.len())));
        }
        for extent in shape {
            take(i32::try_from(extent).map_err(|_| self.too_long(tags))? as u32);
        }
        Ok(())
    }

    fn block(&self, tags: &[u8], mut take: impl FnMut(&[u8])) -> Result<bool, DecodeError> {
        let (value, types, py) = (&self.value, self.whole.types, self.value.py());
        let own = value.getattr("dtype")?;
        let Some(wanted) = types.block(tags[2]).filter(|_| !own.eq(&types.object).unwrap_or(false)) else {
            return Ok(false);
        };
        let widens = tags[2] == tag::INT64 && own.eq(&types.int32)?;
        if !widens && !own.eq(wanted)? {
            return Err(self.mismatch(tags, &format!(", its elements are {own}")));
        }
        let whole = types.contiguous.bind(py).call1((value, wanted))?;
        let bytes = whole
            .call_method0("tobytes")?
            .cast_into::<PyBytes>()
            .map_err(PyErr::from)?;
        if bytes.as_bytes().len() < LARGE {
            take(bytes.as_bytes());
        } else {
            self.whole.blocks.borrow_mut().push((self.whole.written.get(), bytes));
        }
        Ok(true)
    }

    fn too_long(&self, tags: &[u8]) -> DecodeError {
        self.mismatch(tags, ", it is too long")
    }

    fn refused(&self, tags: &[u8]) -> DecodeError {
        let word = word(tags[0]).unwrap_or("value");
        PyOSError::new_err(format!("a {word} cannot be sent to the core device")).into()
    }
}
