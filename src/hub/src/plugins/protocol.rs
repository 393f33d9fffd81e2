//! The protocol of a plugin: its file is compiled when the hub starts, so that the hub knows its
//! methods and describes them by reflection.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use prost::Message as _;
use protox::file::{
    ChainFileResolver, DescriptorSetFileResolver, File, FileResolver, GoogleFileResolver, IncludeFileResolver,
};
use protox::Compiler;

use crate::access::Role;
use crate::{roles, v1};

/// The protocol of a plugin.
#[derive(Clone, Debug, Default)]
pub struct Protocol {
    /// The encoded file and its imports, for reflection.
    pub files: Vec<u8>,
    /// The same by the names of the files, without comments.
    contents: BTreeMap<String, Vec<u8>>,
    /// The role that each path requires.
    pub methods: BTreeMap<String, Role>,
}

impl Protocol {
    /// Compiles a file, which may import the hub's (`kairos/hub/v1/hub.proto`). Methods without a
    /// role require `operate`.
    pub fn compile(file: &Path) -> Result<Self, String> {
        let shown = |error: &dyn std::fmt::Display| line(&file.display(), error);
        let (Some(folder), Some(name)) = (file.parent(), file.file_name().and_then(|name| name.to_str())) else {
            return Err(shown(&"is no file"));
        };
        let mut files = ours().map_err(|error| shown(&error))?;
        files.add(IncludeFileResolver::new(folder.into()));
        Self::of_files(files, name).map_err(|error| shown(&error))
    }

    /// Compiles the text of a file that imports nothing but the hub's protocol.
    pub fn of(name: &str, text: &str) -> Result<Self, String> {
        let shown = |error: &dyn std::fmt::Display| line(&name, error);
        let file = File::from_source(name, text).map_err(|error| shown(&error))?;
        let mut files = ours().map_err(|error| shown(&error))?;
        files.add(Alone(file));
        Self::of_files(files, name).map_err(|error| shown(&error))
    }

    fn of_files(files: ChainFileResolver, name: &str) -> Result<Self, String> {
        let mut compiler = Compiler::with_file_resolver(files);
        compiler
            .include_imports(true)
            .include_source_info(true)
            // Otherwise the option `role` would be unknown to a file that does not import it.
            .open_file("kairos/hub/v1/hub.proto")
            .and_then(|compiler| compiler.open_file(name))
            .map_err(|error| error.to_string())?;
        let known = |package: &str| package != "kairos.hub.v1" && !package.starts_with("google.");
        let found = roles::methods(&compiler.descriptor_pool(), known)?;
        if found.is_empty() {
            return Err("it defines no service".into());
        }
        let methods = found.into_iter().map(|(path, role)| {
            let role = match role {
                1 => Role::View,
                3 => Role::Administer,
                _ => Role::Operate,
            };
            (path, role)
        });
        let contents = compiler.file_descriptor_set().file.into_iter().map(|mut file| {
            file.source_code_info = None;
            (file.name().to_owned(), file.encode_to_vec())
        });
        Ok(Self {
            methods: methods.collect(),
            contents: contents.collect(),
            files: compiler.encode_file_descriptor_set(),
        })
    }

    /// The name of a file that has another content in the other protocol: reflection, which knows files by their
    /// names, would hide one of them.
    pub fn clash(&self, other: &Self) -> Option<&str> {
        let differs =
            |(name, content): &(&String, &Vec<u8>)| other.contents.get(*name).is_some_and(|one| one != *content);
        Some(self.contents.iter().find(differs)?.0)
    }

    /// Full names of the services.
    pub fn services(&self) -> BTreeSet<&str> {
        self.methods.keys().filter_map(|path| service(path)).collect()
    }
}

/// A one-line error message for a file.
fn line(file: &dyn std::fmt::Display, error: &dyn std::fmt::Display) -> String {
    format!("{file}: {error}").replace(['\n', '\r'], " ")
}

/// Resolves the files that every protocol may import.
fn ours() -> Result<ChainFileResolver, String> {
    let mut files = ChainFileResolver::new();
    files.add(DescriptorSetFileResolver::decode(v1::FILES).map_err(|error| error.to_string())?);
    files.add(GoogleFileResolver::new());
    Ok(files)
}

/// A file that exists in memory only.
struct Alone(File);

impl FileResolver for Alone {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        match name == self.0.name() {
            true => Ok(self.0.clone()),
            false => Err(protox::Error::file_not_found(name)),
        }
    }
}

/// The service of a method path.
pub fn service(path: &str) -> Option<&str> {
    Some(path.strip_prefix('/')?.split_once('/')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compile(text: &str) -> Result<Protocol, String> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pll.proto");
        std::fs::write(&file, text).unwrap();
        Protocol::compile(&file)
    }

    #[test]
    fn methods_state_the_required_role() {
        let protocol = compile(
            "syntax = 'proto3'; package lab.pll.v1; import 'kairos/hub/v1/hub.proto'; message M {}\n\
             service Pll { rpc Lock(M) returns (M);\n\
             rpc State(M) returns (M) { option (kairos.hub.v1.role) = ROLE_LOOK; } }",
        )
        .unwrap();
        let methods = [
            ("/lab.pll.v1.Pll/Lock", Role::Operate),
            ("/lab.pll.v1.Pll/State", Role::View),
        ];
        let found: Vec<_> = protocol
            .methods
            .iter()
            .map(|(path, role)| (path.as_str(), *role))
            .collect();
        assert_eq!(found, methods);
        assert_eq!(protocol.services(), BTreeSet::from(["lab.pll.v1.Pll"]));
    }

    #[test]
    fn files_of_one_name_clash_unless_they_are_the_same() {
        let text = "syntax = 'proto3'; package lab.a; message M {} service A { rpc Do(M) returns (M); }";
        let (one, other) = (
            compile(text).unwrap(),
            compile(&text.replace("lab.a", "lab.b")).unwrap(),
        );
        assert_eq!(one.clash(&other), Some("pll.proto"));
        let commented = compile(&format!("// again\n{text}")).unwrap();
        assert_eq!(one.clash(&commented), None);
    }

    #[test]
    fn invalid_protocol_is_reported_in_one_line() {
        for (text, expected) in [
            ("syntax = 'proto3';", "no service"),
            ("nonsense", "pll.proto"),
            ("syntax = 'proto3'; import 'none.proto';", "none.proto"),
        ] {
            let error = compile(text).expect_err(text);
            assert!(error.contains(expected) && !error.contains('\n'), "{error}");
        }
    }
}
