//! A host without Python: one source text, and objects given as tables.
//!
//! The fuzz target `kernel` includes this file, so the host must answer for any text.

use std::collections::HashMap;
use std::rc::Rc;

use kairos_compiler::host::*;
use kairos_compiler::language::Builtin;
use kairos_compiler::llvm::Machine;
use kairos_compiler::lower::Target;
use kairos_compiler::{check, compile, Output, Request};

type Attributes = Vec<(String, HostValue)>;

/// Handle of the module `np`.
const NUMPY: Handle = 900;
/// Handle of `print`.
const PRINT: Handle = 999;
/// First handle of objects, and of their classes.
const OBJECTS: Handle = 100;
const CLASSES: Handle = 200;

/// Handles of functions count from 1 in the order of their `def`; at most 90.
#[derive(Default)]
pub struct TestHost {
    text: String,
    functions: Vec<(String, u32)>,
    globals: HashMap<String, HostValue>,
    /// Attributes and kernel invariants of each object.
    objects: Vec<(Attributes, Vec<String>)>,
    strings: Vec<String>,
    print_as_rpc: bool,
}

impl TestHost {
    pub fn new(text: &str) -> TestHost {
        let lines = text.lines().enumerate();
        let defs = lines.filter_map(|(index, line)| {
            let name = line.trim_start().strip_prefix("def ")?.split('(').next()?;
            Some((name.trim().to_string(), index as u32 + 1))
        });
        let mut host = TestHost {
            text: text.into(),
            functions: defs.take(90).collect(),
            print_as_rpc: true,
            ..TestHost::default()
        };
        for index in 0..host.functions.len() {
            host.globals
                .insert(host.functions[index].0.clone(), HostValue::Function(index as u32 + 1));
        }
        host
    }

    #[allow(dead_code)]
    pub fn global(mut self, name: &str, value: HostValue) -> TestHost {
        self.globals.insert(name.into(), value);
        self
    }

    /// Adds an object under a global name.
    #[allow(dead_code)]
    pub fn object(mut self, name: &str, attributes: &[(&str, HostValue)], invariants: &[&str]) -> TestHost {
        let attributes = attributes
            .iter()
            .map(|(name, value)| (name.to_string(), value.clone()))
            .collect();
        self.objects
            .push((attributes, invariants.iter().map(|name| name.to_string()).collect()));
        let handle = OBJECTS + self.objects.len() as u32 - 1;
        self.globals.insert(name.into(), HostValue::Object(handle));
        self
    }

    /// Makes `print` write to the device's log.
    #[allow(dead_code)]
    pub fn standalone(mut self) -> TestHost {
        self.print_as_rpc = false;
        self
    }

    /// A call of the first function.
    fn request(&self) -> Request {
        Request {
            function: HostValue::Function(1),
            args: vec![],
            kwargs: vec![],
            set_result: None,
            writeback: false,
            print_as_rpc: self.print_as_rpc,
        }
    }

    /// Compiles a call of the first function.
    pub fn compile(mut self) -> Result<Output, String> {
        let request = self.request();
        compile(&mut self, request, Target { ref_period: 1e-9 }).map_err(|rejection| rejection.to_string())
    }

    /// Whether a function has a decorator of this name above its `def` in this line (from 0).
    fn is_decorated(&self, line: usize, name: &str) -> bool {
        let above = self.text.lines().take(line).collect::<Vec<_>>();
        let decorators = above.iter().rev().map(|line| line.trim_start());
        let mut decorators = decorators.take_while(|line| line.starts_with('@'));
        decorators.any(|line| line[1..].split('(').next() == Some(name))
    }

    /// The parameters on the line of a `def`.
    fn params(&self, head: &str) -> Vec<ParamInfo> {
        let list = head.split_once('(').and_then(|(_, rest)| rest.rsplit_once(')'));
        let names = list.map_or("", |(list, _)| list).split(',').map(str::trim);
        let param = |text: &str| {
            let (rest, default) = text
                .split_once('=')
                .map_or((text, None), |(rest, value)| (rest, Some(value)));
            let (name, annotation) = rest.split_once(':').map_or((rest, None), |(name, of)| (name, Some(of)));
            ParamInfo {
                name: name.trim().into(),
                annotation: annotation.and_then(|text| host_type(text.trim())),
                default: default.map(|value| match value.trim().parse() {
                    Ok(number) => HostValue::Int(number),
                    Err(_) => HostValue::Str(value.trim().into()),
                }),
            }
        };
        names.filter(|text| !text.is_empty()).map(param).collect()
    }
}

fn host_type(text: &str) -> Option<HostType> {
    Some(match text {
        "TNone" => HostType::None,
        "TBool" => HostType::Bool,
        "TInt32" => HostType::Int32,
        "TInt64" => HostType::Int64,
        "TFloat" => HostType::Float,
        "TStr" => HostType::Str,
        "TBytes" => HostType::Bytes,
        "TByteArray" => HostType::ByteArray,
        "TList" => HostType::List(HostType::Int32.into()),
        "TArray" => HostType::Array(HostType::Float.into(), 2),
        "TTuple" => HostType::Tuple(vec![HostType::Int32, HostType::Str]),
        "TRange32" => HostType::Range(HostType::Int32.into()),
        _ => return None,
    })
}

/// Checks and compiles any text, with host values of all kinds available; returns the assembly or
/// the error.
#[allow(dead_code)]
pub fn any_text(text: &str) -> String {
    let host = || {
        let elements: Rc<[HostValue]> = [HostValue::Int(1), HostValue::Int(1 << 40)].into();
        let attributes = [
            ("k", HostValue::Int(3)),
            ("wide", HostValue::Int64(1 << 40)),
            ("real", HostValue::Float(0.5)),
            ("flag", HostValue::Bool(true)),
            ("none", HostValue::None),
            ("name", HostValue::Str("µs".into())),
            ("data", HostValue::Bytes([1, 2, 255].into())),
            ("bytes", HostValue::ByteArray(800, [1, 2, 255].into())),
            ("list", HostValue::List(801, elements.clone())),
            ("empty", HostValue::List(802, [].into())),
            ("array", HostValue::Array(803, HostType::Int32, [2, 2].into())),
            (
                "texts",
                HostValue::Texts(804, [1].into(), [HostValue::Str("a".into())].into()),
            ),
            ("pair", HostValue::Tuple(elements, None)),
            ("span", HostValue::Range(Rc::new([0, 5, 2].map(HostValue::Int)))),
            ("other", HostValue::Object(OBJECTS + 1)),
            ("opaque", HostValue::Opaque("complex".into())),
        ];
        let other = [("k", HostValue::Float(1.0)), ("other", HostValue::Object(OBJECTS))];
        let error = ExceptionClass {
            key: 18,
            name: "ValueError".into(),
            is_ordinary: true,
        };
        let mut host = TestHost::new(text)
            .object("self", &attributes, &["k"])
            .object("other", &other, &[]);
        host.globals
            .insert("np".into(), HostValue::Namespace(NUMPY, "module numpy".into()));
        host.globals.insert("MyError".into(), HostValue::Exception(error));
        host
    };
    if host().functions.is_empty() {
        return String::new();
    }
    let (mut checked, request) = (host(), host().request());
    let (sources, found) = check(&mut checked, request);
    for one in &found {
        let rendered = one.render(&sources);
        assert!(
            rendered.starts_with("error") || rendered.starts_with("warning"),
            "{rendered}"
        );
        if let Some(span) = one.span {
            let file = sources.file(span.file);
            assert!(file.editor_position(span.start) <= file.editor_position(span.end));
        }
    }
    let machine = Machine {
        triple: "armv7-unknown-linux-gnueabihf".into(),
        data_layout: String::new(),
        variables: false,
    };
    match host().compile() {
        Ok(output) => {
            let printed = [output.ast(), output.types(), output.module.to_string()];
            assert!(printed.iter().all(|text| !text.is_empty()));
            assert!(found.iter().all(|one| one.warning), "check refuses what is compiled");
            output.llvm(&machine)
        }
        Err(text) => {
            assert!(text.starts_with("error: "), "{text}");
            text
        }
    }
}

impl Host for TestHost {
    fn global(&mut self, _function: Handle, name: &str) -> Result<Option<HostValue>, String> {
        Ok(self.globals.get(name).cloned())
    }

    fn global_names(&mut self, _function: Handle) -> Vec<String> {
        let mut names: Vec<_> = self.globals.keys().cloned().collect();
        names.sort();
        names
    }

    fn attribute(&mut self, object: Handle, name: &str) -> Result<Option<HostValue>, String> {
        if object == NUMPY {
            let mut all = Builtin::all();
            let found = all.find(|builtin| builtin.host_object() == Some(("numpy", name)));
            return Ok(found.map(HostValue::Builtin));
        }
        let Some((attributes, _)) = self.objects.get((object - OBJECTS) as usize) else {
            return Ok(None);
        };
        Ok(attributes
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.clone()))
    }

    fn attribute_names(&mut self, object: Handle) -> Vec<String> {
        let object = self.objects.get(object.wrapping_sub(OBJECTS) as usize);
        let attributes = object.into_iter().flat_map(|(attributes, _)| attributes);
        attributes.map(|(name, _)| name.clone()).collect()
    }

    fn super_attribute(&mut self, _owner: Handle, _class: Handle, _name: &str) -> Result<Option<HostValue>, String> {
        Ok(None) // these objects have one class each
    }

    fn is_instance(&mut self, of: InstanceOf, class: Handle) -> Result<bool, String> {
        Ok(of == InstanceOf::Class(class))
    }

    fn class_of(&mut self, object: Handle) -> Result<ClassInfo, String> {
        let invariants = self.objects[(object - OBJECTS) as usize].1.clone();
        Ok(ClassInfo {
            data: vec![],
            handle: object - OBJECTS + CLASSES,
            name: "test.Device".into(),
            invariants,
            missing: vec![],
        })
    }

    fn caught(&mut self, key: Option<i32>) -> Option<Caught> {
        key.map(|key| Caught {
            keys: [key].into(),
            number: 0,
            others: false,
        })
    }

    fn constructor(&mut self, _class: Handle) -> Result<Option<Constructor>, String> {
        Ok(None)
    }

    fn class_attribute(&mut self, _class: Handle, _name: &str) -> Result<Option<HostValue>, String> {
        Ok(None)
    }

    fn function(&mut self, function: Handle) -> Result<FunctionInfo, String> {
        if function == PRINT {
            let (name, kind): (Rc<str>, _) = ("print".into(), FunctionKind::Rpc { is_async: false });
            return Ok(FunctionInfo {
                name: name.clone(),
                qualified_name: name,
                kind,
                params: vec![],
                returns: None,
            });
        }
        let (name, line) = self.functions[function as usize - 1].clone();
        let above = line as usize - 1;
        let head = self.text.lines().nth(above).unwrap_or_default().to_string();
        let kind = if self.is_decorated(above, "rpc") {
            FunctionKind::Rpc { is_async: false }
        } else if self.is_decorated(above, "host_only") {
            FunctionKind::Forbidden("this function cannot be called as an RPC".into())
        } else if self.is_decorated(above, "syscall") {
            FunctionKind::Syscall {
                symbol: name.as_str().into(),
                nounwind: true,
            }
        } else {
            FunctionKind::Compiled {
                file: "test.py".into(),
                text: self.text.as_str().into(),
                line,
                fast_math: self.is_decorated(above, "fast"),
                inline: Inline::Auto,
                library: self.is_decorated(above, "library"),
                destination: u8::from(self.is_decorated(above, "subkernel")),
            }
        };
        let returns = head
            .split_once("->")
            .and_then(|(_, rest)| host_type(rest.trim_end_matches(':').trim()));
        Ok(FunctionInfo {
            name: name.as_str().into(),
            qualified_name: format!("test.{name}").into(),
            kind,
            params: self.params(&head),
            returns,
        })
    }

    fn annotation(&mut self, _function: Handle, text: &str) -> Result<HostType, String> {
        host_type(text).ok_or_else(|| format!("'{text}' is not an ARTIQ type"))
    }

    fn memory(&mut self, _array: Handle) -> Result<Rc<[u8]>, String> {
        Ok([1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0].into())
    }

    fn shared(&mut self, _arrays: &[Handle], _strided: bool) -> Result<Vec<(Handle, View)>, String> {
        Ok(vec![])
    }

    fn store_str(&mut self, text: &str) -> i32 {
        self.strings.push(text.into());
        22 + self.strings.len() as i32
    }

    fn text_function(&mut self, _template: &str) -> Handle {
        PRINT
    }

    fn call_with_texts(&mut self, function: Handle, _templates: &[Option<(Rc<str>, usize)>]) -> Handle {
        function
    }

    fn print_function(&mut self) -> Handle {
        PRINT
    }
}
