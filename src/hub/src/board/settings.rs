//! `[[board]]` in hub.toml: this computer, if it has hardware of its own.

use std::path::{Path, PathBuf};

use kairos_endpoint::memory::WORD;
use serde::Deserialize;

/// Settings of a computer with Linux.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardSettings {
    pub name: String,
    /// The folder that stands for `/`.
    pub root: PathBuf,
    pub memory: Vec<MemoryEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardEntry {
    pub name: String,
    #[serde(default = "default_root")]
    root: PathBuf,
    #[serde(default)]
    memory: Vec<MemoryEntry>,
}

fn default_root() -> PathBuf {
    "/".into()
}

/// A part of memory: registers, or a buffer of samples.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryEntry {
    /// The block in register names, between the names of the board and the register.
    pub block: Option<String>,
    /// The mapped file; `/dev/mem` by default.
    pub file: Option<PathBuf>,
    /// Instead of a file: the name of a UIO device as in the device tree; `region` selects one of
    /// its regions.
    pub uio: Option<String>,
    #[serde(default)]
    pub region: u64,
    /// Instead of listed registers: the gateware of a core device, which has a descriptor.
    #[serde(default)]
    pub gateware: bool,
    /// Offset in the file.
    #[serde(default)]
    pub address: u64,
    /// Size in bytes.
    pub size: Option<usize>,
    #[serde(default)]
    pub registers: Vec<RegisterEntry>,
    /// Access to the memory as a buffer.
    pub buffer: Option<Access>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegisterEntry {
    pub name: String,
    /// Offset in bytes from the start of the memory.
    pub offset: usize,
    #[serde(default = "default_width")]
    pub width: u16,
    #[serde(default)]
    pub access: Access,
}

fn default_width() -> u16 {
    32
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum Access {
    #[serde(rename = "r")]
    Read,
    #[serde(rename = "w")]
    Write,
    #[default]
    #[serde(rename = "rw")]
    Both,
}

impl Access {
    pub fn may_read(self) -> bool {
        self != Self::Write
    }

    pub fn may_write(self) -> bool {
        self != Self::Read
    }
}

impl BoardEntry {
    /// Validates the entry. The error is a line for the user.
    pub fn read(self, folder: &Path) -> Result<BoardSettings, String> {
        let mut blocks: Vec<&str> = Vec::new();
        for memory in &self.memory {
            let block = memory
                .check()
                .map_err(|error| format!("board {}: {error}", self.name))?;
            if blocks.contains(&block) {
                return Err(format!(
                    "board {}: two memory regions have the name '{block}'",
                    self.name
                ));
            }
            blocks.push(block);
        }
        Ok(BoardSettings {
            root: folder.join(self.root),
            name: self.name,
            memory: self.memory,
        })
    }
}

impl MemoryEntry {
    /// Checks that the entry is consistent; returns its block.
    fn check(&self) -> Result<&str, String> {
        if self.gateware {
            let says_more = self.block.is_some() || self.uio.is_some() || self.size.is_some();
            return match says_more || self.address != 0 || !self.registers.is_empty() || self.buffer.is_some() {
                true => Err("memory with gateware = true takes no other key but file".into()),
                false => Ok(""),
            };
        }
        let block = self.block.as_deref().unwrap_or_default();
        if !is_name(block) {
            return Err(format!(
                "'{block}' is not a block name: block = \"…\" may contain letters, digits and _"
            ));
        }
        let wrong = |text: String| Err(format!("memory {block}: {text}"));
        match (&self.uio, &self.file, self.size) {
            (Some(_), Some(_), _) => return wrong("file and uio exclude each other".into()),
            (Some(_), None, Some(_)) => return wrong("size is determined by the driver of a UIO device".into()),
            (Some(_), None, None) if self.address != 0 => {
                return wrong("address is determined by the driver of a UIO device".into());
            }
            (None, _, None) => return wrong("size is missing".into()),
            _ => {}
        }
        if self.registers.is_empty() && self.buffer.is_none() {
            return wrong("it has neither registers nor buffer = \"r\", \"w\" or \"rw\"".into());
        }
        for (index, register) in self.registers.iter().enumerate() {
            let RegisterEntry {
                name, offset, width, ..
            } = register;
            if !is_name(name) {
                return wrong(format!("'{name}' is not a register name"));
            }
            if self.registers[..index].iter().any(|other| other.name == *name) {
                return wrong(format!("two registers have the name {name}"));
            }
            if !(1..=32).contains(width) {
                return wrong(format!("register {name}: width must be 1 to 32"));
            }
            let beyond = self.size.is_some_and(|size| *offset >= size);
            if beyond || !offset.is_multiple_of(WORD) {
                return wrong(format!(
                    "register {name}: offset {offset:#x} is not a {WORD}-byte word within it"
                ));
            }
        }
        Ok(block)
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
