//! The compiler's view of the host, implemented by a Python object.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use kairos_compiler::host::*;
use kairos_compiler::language::Builtin;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyInt, PyTuple};

/// A Python object with the methods of [`Host`].
pub struct Bridge<'py> {
    object: Bound<'py, PyAny>,
    /// Names visible in functions and attributes of objects that were looked up before, since each use
    /// looks them up again.
    globals: Names,
    attributes: Names,
    /// The texts of source files, by the address of the Python object, which is kept: that of a file comes with
    /// each of its functions.
    texts: Texts<'py>,
    /// An exception that ends the process rather than the compilation: an interrupt, an exit.
    ended: RefCell<Option<PyErr>>,
}

type Names = HashMap<(Handle, Box<str>), Option<HostValue>>;

type Answer<'py> = Bound<'py, PyAny>;

/// The text of a Python exception, as a sentence for the user.
fn text(error: PyErr, py: Python) -> String {
    let value = error.value(py);
    let name = value.get_type().name().map_or("error".into(), |name| name.to_string());
    match name.as_str() {
        "QuotingError" => value.to_string(),
        _ => format!("{name}: {value}"),
    }
}

impl<'py> Bridge<'py> {
    pub fn new(object: Bound<'py, PyAny>) -> Bridge<'py> {
        let (globals, attributes, texts, ended) = Default::default();
        Bridge {
            object,
            globals,
            attributes,
            texts,
            ended,
        }
    }

    /// Returns the result of a compilation, unless an interrupt or an exit occurred in the host.
    pub fn finish<T>(self, result: T) -> PyResult<T> {
        self.ended.into_inner().map_or(Ok(result), Err)
    }

    fn ask<A: pyo3::call::PyCallArgs<'py>>(&self, method: &str, args: A) -> Result<Answer<'py>, String> {
        self.object.call_method1(method, args).map_err(|error| {
            let py = self.object.py();
            if !error.is_instance_of::<PyException>(py) {
                self.ended.borrow_mut().get_or_insert(error.clone_ref(py));
            }
            text(error, py)
        })
    }

    fn read<T>(&self, answer: PyResult<T>) -> Result<T, String> {
        answer.map_err(|error| text(error, self.object.py()))
    }

    fn names(&self, method: &str, handle: Handle) -> Vec<String> {
        self.ask(method, (handle,))
            .ok()
            .and_then(|names| names.extract().ok())
            .unwrap_or_default()
    }

    fn optional(&self, answer: Answer<'py>) -> Result<Option<HostValue>, String> {
        if answer.is_none() {
            return Ok(None);
        }
        self.read(host_value(&answer)).map(Some)
    }
}

impl Host for Bridge<'_> {
    fn global(&mut self, function: Handle, name: &str) -> Result<Option<HostValue>, String> {
        let place = (function, name.into());
        if let Some(known) = self.globals.get(&place) {
            return Ok(known.clone());
        }
        let answer = self.ask("global_value", (function, name))?;
        let value = self.optional(answer)?;
        self.globals.insert(place, value.clone());
        Ok(value)
    }

    fn global_names(&mut self, function: Handle) -> Vec<String> {
        self.names("global_names", function)
    }

    fn attribute(&mut self, object: Handle, name: &str) -> Result<Option<HostValue>, String> {
        let place = (object, name.into());
        if let Some(known) = self.attributes.get(&place) {
            return Ok(known.clone());
        }
        let answer = self.ask("attribute", (object, name))?;
        let value = self.optional(answer)?;
        self.attributes.insert(place, value.clone());
        Ok(value)
    }

    fn attribute_names(&mut self, object: Handle) -> Vec<String> {
        self.names("attribute_names", object)
    }

    fn super_attribute(&mut self, owner: Handle, class: Handle, name: &str) -> Result<Option<HostValue>, String> {
        let answer = self.ask("super_attribute", (owner, class, name))?;
        self.optional(answer)
    }

    fn is_instance(&mut self, of: InstanceOf, class: Handle) -> Result<bool, String> {
        let answer = match of {
            InstanceOf::Class(own) => self.ask("is_instance", (own, class)),
            InstanceOf::Language(word) => self.ask("is_instance", (word, class)),
        }?;
        self.read(answer.extract())
    }

    fn class_of(&mut self, object: Handle) -> Result<ClassInfo, String> {
        let answer = self.ask("class_of", (object,))?;
        type Parts = (u32, String, Vec<String>, Vec<String>, Vec<String>);
        let (handle, name, invariants, missing, data): Parts = self.read(answer.extract())?;
        Ok(ClassInfo {
            handle,
            name: name.into(),
            invariants,
            missing,
            data,
        })
    }

    fn caught(&mut self, key: Option<i32>) -> Option<Caught> {
        let answer = self.ask("caught", (key,)).ok();
        let (keys, number): (Option<Vec<i32>>, u32) = answer
            .and_then(|answer| answer.extract().ok())
            .unwrap_or((key.map(|key| vec![key]), u32::MAX));
        keys.map(|keys| Caught {
            keys: keys.into(),
            number,
            others: key.is_none(),
        })
    }

    fn constructor(&mut self, class: Handle) -> Result<Option<Constructor>, String> {
        let answer = self.ask("constructor", (class,))?;
        let found: Option<(String, Option<Handle>)> = self.read(answer.extract())?;
        Ok(found.map(|(name, constructor)| (name.into(), constructor)))
    }

    fn class_attribute(&mut self, class: Handle, name: &str) -> Result<Option<HostValue>, String> {
        let answer = self.ask("class_attribute", (class, name))?;
        self.optional(answer)
    }

    fn function(&mut self, function: Handle) -> Result<FunctionInfo, String> {
        let answer = self.ask("function", (function,))?;
        let info = function_info(&answer, &mut self.texts);
        self.read(info)
    }

    fn annotation(&mut self, function: Handle, text: &str) -> Result<HostType, String> {
        let answer = self.ask("annotation", (function, text))?;
        self.read(host_type(&answer))
    }

    fn memory(&mut self, array: Handle) -> Result<Rc<[u8]>, String> {
        let answer = self.ask("memory", (array,))?;
        self.read(
            answer
                .cast::<PyBytes>()
                .map(|memory| memory.as_bytes().into())
                .map_err(PyErr::from),
        )
    }

    fn shared(&mut self, arrays: &[Handle], strided: bool) -> Result<Vec<(Handle, View)>, String> {
        let answer = self.ask("shared", (arrays.to_vec(), strided))?;
        type Row = (Handle, Handle, u32, Option<Vec<i32>>);
        let rows: Vec<Row> = self.read(answer.extract())?;
        let places = rows.into_iter().map(|(array, storage, first, strides)| {
            let strides = strides.map(Into::into);
            let place = View {
                storage,
                first,
                strides,
            };
            (array, place)
        });
        Ok(places.collect())
    }

    fn store_str(&mut self, text: &str) -> i32 {
        self.ask("store_str", (text,))
            .ok()
            .and_then(|key| key.extract().ok())
            .unwrap_or(-1)
    }

    fn text_function(&mut self, template: &str) -> Handle {
        self.ask("text_function", (template,))
            .ok()
            .and_then(|handle| handle.extract().ok())
            .unwrap_or(0)
    }

    fn call_with_texts(&mut self, function: Handle, templates: &[Option<(Rc<str>, usize)>]) -> Handle {
        let templates: Vec<Option<(&str, usize)>> = templates
            .iter()
            .map(|text| text.as_ref().map(|(template, count)| (&**template, *count)))
            .collect();
        self.ask("call_with_texts", (function, templates))
            .ok()
            .and_then(|handle| handle.extract().ok())
            .unwrap_or(0)
    }

    fn print_function(&mut self) -> Handle {
        self.ask("print_function", ())
            .ok()
            .and_then(|handle| handle.extract().ok())
            .unwrap_or(0)
    }
}

fn member<'py, T>(tuple: &Bound<'py, PyTuple>, index: usize) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py>,
    for<'a> <T as FromPyObject<'a, 'py>>::Error: Into<PyErr>,
{
    let item = tuple.get_item(index)?;
    item.extract::<T>().map_err(Into::into)
}

/// Converts a host value from its tuple. An element may also be a plain Python number.
pub fn host_value(value: &Bound<PyAny>) -> PyResult<HostValue> {
    if let Ok(number) = value.cast_exact::<PyInt>() {
        return number.extract().map(HostValue::Int);
    }
    if let Ok(number) = value.cast_exact::<PyFloat>() {
        return Ok(HostValue::Float(number.value()));
    }
    let tuple = value.cast::<PyTuple>()?;
    let kind: String = member(tuple, 0)?;
    let text = |index| member::<String>(tuple, index);
    let values =
        |index| -> PyResult<Vec<HostValue>> { tuple.get_item(index)?.try_iter()?.map(|v| host_value(&v?)).collect() };
    Ok(match kind.as_str() {
        "none" => HostValue::None,
        "bool" => HostValue::Bool(member(tuple, 1)?),
        "int" => HostValue::Int(member(tuple, 1)?),
        "int32" => HostValue::Int32(member(tuple, 1)?),
        "int64" => HostValue::Int64(member(tuple, 1)?),
        "float" => HostValue::Float(member(tuple, 1)?),
        "str" => HostValue::Str(text(1)?.into()),
        "bytes" => HostValue::Bytes(tuple.get_item(1)?.cast::<PyBytes>()?.as_bytes().into()),
        "bytearray" => {
            let content = tuple.get_item(2)?;
            HostValue::ByteArray(member(tuple, 1)?, content.cast::<PyBytes>()?.as_bytes().into())
        }
        "list" => HostValue::List(member(tuple, 1)?, values(2)?.into()),
        "array" => {
            let shape: Vec<i32> = member(tuple, 3)?;
            HostValue::Array(member(tuple, 1)?, host_type(&tuple.get_item(2)?)?, shape.into())
        }
        "texts" => {
            let shape: Vec<i32> = member(tuple, 2)?;
            HostValue::Texts(member(tuple, 1)?, shape.into(), values(3)?.into())
        }
        "tuple" => {
            let fields = (tuple.len() > 2).then(|| member::<Vec<String>>(tuple, 2)).transpose()?;
            let fields = fields.map(|names| names.into_iter().map(Rc::from).collect());
            HostValue::Tuple(values(1)?.into(), fields)
        }
        "range" => match <[HostValue; 3]>::try_from(values(1)?) {
            Ok(members) => HostValue::Range(members.into()),
            Err(_) => return Err(PyValueError::new_err("a range has three members")),
        },
        "object" => HostValue::Object(member(tuple, 1)?),
        "function" => HostValue::Function(member(tuple, 1)?),
        "method" => HostValue::Method {
            function: member(tuple, 1)?,
            receiver: member(tuple, 2)?,
        },
        "namespace" => HostValue::Namespace(member(tuple, 1)?, text(2)?.into()),
        "exception" => HostValue::Exception(ExceptionClass {
            key: member(tuple, 1)?,
            name: text(2)?.into(),
            is_ordinary: member(tuple, 3)?,
        }),
        "builtin" => match Builtin::named(&text(1)?) {
            Some(builtin) => HostValue::Builtin(builtin),
            None => HostValue::Opaque(text(1)?.into()),
        },
        "opaque" => HostValue::Opaque(text(1)?.into()),
        other => return Err(PyValueError::new_err(format!("unknown kind of host value: {other}"))),
    })
}

fn host_type(value: &Bound<PyAny>) -> PyResult<HostType> {
    let tuple = value.cast::<PyTuple>()?;
    let kind: String = member(tuple, 0)?;
    let inner = |index| host_type(&tuple.get_item(index)?).map(Box::new);
    Ok(match kind.as_str() {
        "var" => HostType::Var,
        "none" => HostType::None,
        "bool" => HostType::Bool,
        "int32" => HostType::Int32,
        "int64" => HostType::Int64,
        "float" => HostType::Float,
        "str" => HostType::Str,
        "bytes" => HostType::Bytes,
        "bytearray" => HostType::ByteArray,
        "list" => HostType::List(inner(1)?),
        "array" => HostType::Array(inner(1)?, member(tuple, 2)?),
        "range" => HostType::Range(inner(1)?),
        "tuple" => HostType::Tuple(
            tuple
                .iter()
                .skip(1)
                .map(|elt| host_type(&elt))
                .collect::<PyResult<_>>()?,
        ),
        _ => HostType::Unsupported(kind),
    })
}

/// The texts of source files.
type Texts<'py> = HashMap<usize, (Bound<'py, PyAny>, Rc<str>)>;

fn source_text<'py>(text: Bound<'py, PyAny>, known: &mut Texts<'py>) -> PyResult<Rc<str>> {
    let address = text.as_ptr() as usize;
    if let Some((_, known)) = known.get(&address) {
        return Ok(known.clone());
    }
    let copy: Rc<str> = text.extract::<String>()?.into();
    known.insert(address, (text, copy.clone()));
    Ok(copy)
}

fn function_info<'py>(answer: &Bound<'py, PyAny>, texts: &mut Texts<'py>) -> PyResult<FunctionInfo> {
    let tuple = answer.cast::<PyTuple>()?;
    let optional_type = |value: Bound<PyAny>| {
        if value.is_none() {
            Ok(None)
        } else {
            host_type(&value).map(Some)
        }
    };
    let kind = tuple.get_item(2)?;
    let kind = kind.cast::<PyTuple>()?;
    let word: String = member(kind, 0)?;
    let kind = match word.as_str() {
        "compiled" => FunctionKind::Compiled {
            file: member::<String>(kind, 1)?.into(),
            text: source_text(kind.get_item(2)?, texts)?,
            line: member(kind, 3)?,
            fast_math: member(kind, 4)?,
            inline: match member::<u32>(kind, 5)? {
                0 => Inline::Auto,
                1 => Inline::Hint,
                _ => Inline::Always,
            },
            library: member(kind, 6)?,
            destination: member(kind, 7)?,
        },
        "rpc" => FunctionKind::Rpc {
            is_async: member(kind, 1)?,
        },
        "syscall" => FunctionKind::Syscall {
            symbol: member::<String>(kind, 1)?.into(),
            nounwind: member(kind, 2)?,
        },
        _ => FunctionKind::Forbidden(member(kind, 1)?),
    };
    let params = tuple.get_item(3)?.try_iter()?.map(|param| {
        let param = param?;
        let param = param.cast::<PyTuple>()?;
        let default = param.get_item(2)?;
        let default = if default.is_none() {
            None
        } else {
            Some(host_value(&default)?)
        };
        let annotation = optional_type(param.get_item(1)?)?;
        Ok(ParamInfo {
            name: member::<String>(param, 0)?.into(),
            annotation,
            default,
        })
    });
    Ok(FunctionInfo {
        name: member::<String>(tuple, 0)?.into(),
        qualified_name: member::<String>(tuple, 1)?.into(),
        kind,
        params: params.collect::<PyResult<_>>()?,
        returns: optional_type(tuple.get_item(4)?)?,
    })
}
