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
    pub memory: Vec<Memory>,
}

/// A part of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Memory {
    /// The gateware of a core device, whose descriptor lists its registers.
    Gateware {
        file: PathBuf,
    },
    Block(Block),
}

/// Registers, or a buffer of samples, or one with registers in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// In register names, between the names of the board and the register.
    pub name: String,
    pub mapping: Mapping,
    pub registers: Vec<RegisterEntry>,
    /// Access to the memory as a buffer.
    pub buffer: Option<Access>,
}

/// Where a block is mapped from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mapping {
    /// `address`: offset in the file; `size` in bytes.
    File { file: PathBuf, address: u64, size: usize },
    /// A region of a UIO device, by its name in the device tree.
    Uio { name: String, region: u64 },
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

/// A part of memory as written: which keys go together, `read` knows.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MemoryEntry {
    block: Option<String>,
    file: Option<PathBuf>,
    uio: Option<String>,
    #[serde(default)]
    region: u64,
    #[serde(default)]
    gateware: bool,
    #[serde(default)]
    address: u64,
    size: Option<usize>,
    #[serde(default)]
    registers: Vec<RegisterEntry>,
    buffer: Option<Access>,
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
        let mut parts: Vec<Memory> = Vec::new();
        for entry in self.memory {
            let memory = entry.read().map_err(|error| format!("board {}: {error}", self.name))?;
            if parts.iter().any(|other| other.name() == memory.name()) {
                return Err(format!(
                    "board {}: two memory regions have the name '{}'",
                    self.name,
                    memory.name()
                ));
            }
            parts.push(memory);
        }
        Ok(BoardSettings {
            root: folder.join(self.root),
            name: self.name,
            memory: parts,
        })
    }
}

impl Memory {
    fn name(&self) -> &str {
        match self {
            Self::Gateware { .. } => "",
            Self::Block(block) => &block.name,
        }
    }
}

impl MemoryEntry {
    fn read(self) -> Result<Memory, String> {
        if !self.gateware {
            return self.read_block().map(Memory::Block);
        }
        let says_more = self.block.is_some() || self.uio.is_some() || self.size.is_some();
        if says_more || self.address != 0 || !self.registers.is_empty() || self.buffer.is_some() {
            return Err("memory with gateware = true takes no other key but file".into());
        }
        Ok(Memory::Gateware {
            file: file_or_default(self.file),
        })
    }

    fn read_block(self) -> Result<Block, String> {
        let name = self.block.unwrap_or_default();
        if !is_name(&name) {
            return Err(format!(
                "'{name}' is not a block name: block = \"…\" may contain letters, digits and _"
            ));
        }
        let wrong = |text: String| Err(format!("memory {name}: {text}"));
        let mapping = match (self.uio, self.file, self.size) {
            (Some(_), Some(_), _) => return wrong("file and uio exclude each other".into()),
            (Some(_), None, Some(_)) => return wrong("size is determined by the driver of a UIO device".into()),
            (Some(_), None, None) if self.address != 0 => {
                return wrong("address is determined by the driver of a UIO device".into());
            }
            (Some(device), None, None) => Mapping::Uio {
                name: device,
                region: self.region,
            },
            (None, _, None) => return wrong("size is missing".into()),
            (None, file, Some(size)) => Mapping::File {
                file: file_or_default(file),
                address: self.address,
                size,
            },
        };
        if self.registers.is_empty() && self.buffer.is_none() {
            return wrong("it has neither registers nor buffer = \"r\", \"w\" or \"rw\"".into());
        }
        if let Err(error) = check(&self.registers, self.size) {
            return wrong(error);
        }
        Ok(Block {
            name,
            mapping,
            registers: self.registers,
            buffer: self.buffer,
        })
    }
}

/// size: in bytes, if it is known.
fn check(registers: &[RegisterEntry], size: Option<usize>) -> Result<(), String> {
    for (index, register) in registers.iter().enumerate() {
        let RegisterEntry {
            name, offset, width, ..
        } = register;
        if !is_name(name) {
            return Err(format!("'{name}' is not a register name"));
        }
        if registers[..index].iter().any(|other| other.name == *name) {
            return Err(format!("two registers have the name {name}"));
        }
        if !(1..=32).contains(width) {
            return Err(format!("register {name}: width must be 1 to 32"));
        }
        let beyond = size.is_some_and(|size| *offset >= size);
        if beyond || !offset.is_multiple_of(WORD) {
            return Err(format!(
                "register {name}: offset {offset:#x} is not a {WORD}-byte word within it"
            ));
        }
    }
    Ok(())
}

fn file_or_default(file: Option<PathBuf>) -> PathBuf {
    file.unwrap_or_else(|| "/dev/mem".into())
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
