//! A host without Python: one source text, and objects given as tables.

use std::collections::HashMap;
use std::rc::Rc;

use kairos_compiler::host::*;
use kairos_compiler::lower::Target;
use kairos_compiler::{compile, Output, Request};

type Attributes = Vec<(String, HostValue)>;

/// Handles: functions from 1 in the order of their `def`, objects from 100, their classes from 200, `print` 999.
#[derive(Default)]
pub struct TestHost {
    text: String,
    functions: Vec<(String, u32)>,
    globals: HashMap<String, HostValue>,
    /// Attributes and kernel invariants.
    objects: Vec<(Attributes, Vec<String>)>,
    strings: Vec<String>,
    print_as_rpc: bool,
}

impl TestHost {
    pub fn new(text: &str) -> TestHost {
        let lines = text.lines().enumerate();
        let defs = lines.filter_map(|(index, line)| {
            let name = line.trim_start().strip_prefix("def ")?.split('(').next()?;
            Some((name.to_string(), index as u32 + 1))
        });
        let mut host = TestHost {
            text: text.into(),
            functions: defs.collect(),
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
        let handle = 99 + self.objects.len() as u32;
        self.globals.insert(name.into(), HostValue::Object(handle));
        self
    }

    /// `print` writes to the device's log.
    #[allow(dead_code)]
    pub fn standalone(mut self) -> TestHost {
        self.print_as_rpc = false;
        self
    }

    /// Compiles a call of the first function.
    pub fn compile(mut self) -> Result<Output, String> {
        let function = HostValue::Function(1);
        let request = Request {
            function,
            args: vec![],
            kwargs: vec![],
            set_result: None,
            writeback: false,
            print_as_rpc: self.print_as_rpc,
        };
        compile(&mut self, request, Target { ref_period: 1e-9 }).map_err(|rejection| rejection.to_string())
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
        let attributes = &self.objects[object as usize - 100].0;
        Ok(attributes
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.clone()))
    }

    fn attribute_names(&mut self, object: Handle) -> Vec<String> {
        self.objects[object as usize - 100]
            .0
            .iter()
            .map(|(name, _)| name.clone())
            .collect()
    }

    fn super_attribute(&mut self, _owner: Handle, _class: Handle, _name: &str) -> Result<Option<HostValue>, String> {
        Ok(None) // these objects have one class each
    }

    fn is_instance(&mut self, of: InstanceOf, class: Handle) -> Result<bool, String> {
        Ok(of == InstanceOf::Class(class))
    }

    fn class_of(&mut self, object: Handle) -> Result<ClassInfo, String> {
        let invariants = self.objects[object as usize - 100].1.clone();
        Ok(ClassInfo {
            handle: object + 100,
            name: "test.Device".into(),
            invariants,
            missing: vec![],
        })
    }

    fn constructor(&mut self, _class: Handle) -> Result<Option<Constructor>, String> {
        Ok(None)
    }

    fn class_attribute(&mut self, _class: Handle, _name: &str) -> Result<Option<HostValue>, String> {
        Ok(None)
    }

    fn function(&mut self, function: Handle) -> Result<FunctionInfo, String> {
        if function == 999 {
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
        let head = self.text.lines().nth(line as usize - 1).unwrap();
        let list = head.split_once('(').unwrap().1.rsplit_once(')').unwrap().0;
        let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
        let params = names
            .map(|name| ParamInfo {
                name: name.into(),
                annotation: None,
                default: None,
            })
            .collect();
        let kind = FunctionKind::Compiled {
            file: "test.py".into(),
            text: self.text.as_str().into(),
            line,
            fast_math: false,
            inline: Inline::Auto,
            library: false,
            destination: 0,
        };
        let qualified_name = format!("test.{name}").into();
        Ok(FunctionInfo {
            name: name.into(),
            qualified_name,
            kind,
            params,
            returns: None,
        })
    }

    fn annotation(&mut self, _function: Handle, text: &str) -> Result<HostType, String> {
        match text {
            "TInt64" => Ok(HostType::Int64),
            "TFloat" => Ok(HostType::Float),
            _ => Err(format!("'{text}' is not an ARTIQ type")),
        }
    }

    fn memory(&mut self, _array: Handle) -> Result<Rc<[u8]>, String> {
        Err("this host has no arrays".into())
    }

    fn store_str(&mut self, text: &str) -> i32 {
        self.strings.push(text.into());
        22 + self.strings.len() as i32
    }

    fn text_function(&mut self, _template: &str) -> Handle {
        999
    }

    fn call_with_texts(&mut self, function: Handle, _templates: &[Option<(Rc<str>, usize)>]) -> Handle {
        function
    }

    fn print_function(&mut self) -> Handle {
        999
    }
}
