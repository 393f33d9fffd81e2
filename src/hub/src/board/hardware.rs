//! Hardware of a board, detected at startup: registers and buffers in mapped memory, buses.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use kairos_batch::{Device, Permission};
use kairos_contracts::memory::PL_DESCRIPTOR;
use kairos_endpoint::buses::{self, Bus, Kind};
use kairos_endpoint::clocks::{self, Clock};
use kairos_endpoint::memory::{Window, Word, WORD};
use kairos_endpoint::uio;
use kairos_proto::descriptor::{announced_length, Descriptor, HEADER};

use super::settings::{Access, Block, BoardSettings, Mapping, Memory};
use crate::names::quoted;
use crate::registers::{Gateware, Register};

/// The hardware of a board.
#[derive(Debug)]
pub struct Hardware {
    pub gateware: Gateware,
    /// By address in a batch; addresses are synthetic: [`WORD`] times the index.
    words: Vec<Word>,
    windows: Vec<Window>,
    buffers: BTreeMap<String, Buffer>,
    root: PathBuf,
}

/// Memory that is read or written as a block.
#[derive(Clone, Debug)]
pub struct Buffer {
    pub window: Window,
    pub access: Access,
}

impl Hardware {
    /// Opens all configured hardware. The error names what is missing.
    pub fn open(settings: &BoardSettings) -> Result<Self, String> {
        let mut found = Collection::default();
        for memory in &settings.memory {
            match memory {
                Memory::Gateware { file } => found.add_gateware(&settings.root, file)?,
                Memory::Block(block) => found.add(&settings.root, block)?,
            }
        }
        Ok(Self {
            gateware: Gateware::new(identification(&settings.root), found.registers),
            words: found.words,
            windows: found.windows,
            buffers: found.buffers,
            root: settings.root.clone(),
        })
    }

    /// The path of a window that has disappeared: a driver was unloaded, or a file removed.
    pub fn missing(&self) -> Option<&Path> {
        let gone = self.windows.iter().find(|window| !window.is_there());
        gone.map(Window::path)
    }

    pub fn buffers(&self) -> impl Iterator<Item = (&str, &Buffer)> {
        self.buffers.iter().map(|(name, buffer)| (name.as_str(), buffer))
    }

    pub fn buffer(&self, name: &str) -> Option<&Buffer> {
        self.buffers.get(name)
    }

    /// The buses present at this moment; adapters can be added and removed.
    pub fn buses(&self) -> Vec<Bus> {
        buses::find(&self.root)
    }

    /// The clocks that the kernel reports.
    pub fn clocks(&self) -> Vec<Clock> {
        clocks::read(&self.root)
    }

    /// The device file of a bus. The error explains why there is none.
    pub fn bus(&self, kind: Kind, name: &str) -> Result<PathBuf, String> {
        let buses = self.buses();
        match buses.iter().find(|bus| bus.kind == kind && bus.name == name) {
            Some(Bus { path: Some(path), .. }) => Ok(path.clone()),
            Some(_) => Err(format!(
                "there is no device file for {name}: load the kernel module i2c-dev or spidev"
            )),
            None => {
                let names: Vec<_> = buses
                    .iter()
                    .filter(|bus| bus.kind == kind)
                    .map(|bus| bus.name.as_str())
                    .collect();
                let known = if names.is_empty() {
                    "none".into()
                } else {
                    names.join(", ")
                };
                Err(format!("there is no bus {}; the buses are {known}", quoted(name)))
            }
        }
    }

    /// Register access for a batch whose permissions were checked.
    pub fn registers(&self) -> Mapped<'_> {
        Mapped(&self.words)
    }
}

/// Registers, accessed by their addresses in a batch.
pub struct Mapped<'a>(&'a [Word]);

impl Device for Mapped<'_> {
    fn read(&mut self, address: u32) -> u32 {
        self.0[address as usize / WORD].read()
    }

    fn write(&mut self, address: u32, value: u32) {
        self.0[address as usize / WORD].write(value);
    }

    // The check rejects programs that use channels.
    fn probe(&mut self, _: u32, _: u8) -> u64 {
        0
    }

    fn inject(&mut self, _: u32, _: u8, _: u8) {}
}

/// The hardware found so far.
#[derive(Default)]
struct Collection {
    registers: BTreeMap<String, Register>,
    words: Vec<Word>,
    windows: Vec<Window>,
    buffers: BTreeMap<String, Buffer>,
}

impl Collection {
    fn register(&mut self, name: String, words: Vec<Word>, width: u16, permission: Permission) {
        let address = (self.words.len() * WORD) as u32;
        self.words.extend(words);
        self.registers.insert(
            name,
            Register {
                address,
                width,
                permission,
            },
        );
    }

    fn add(&mut self, root: &Path, block: &Block) -> Result<(), String> {
        let name = &block.name;
        let window = window(root, &block.mapping).map_err(|error| format!("memory {name}: {error}"))?;
        for register in &block.registers {
            let word = window.word(register.offset);
            let word = word.ok_or_else(|| format!("memory {name}: {} is not within its size", register.name))?;
            let permission = Permission {
                read: register.access.may_read(),
                write: register.access.may_write(),
            };
            self.register(
                format!("{name}/{}", register.name),
                vec![word],
                register.width,
                permission,
            );
        }
        if let Some(access) = block.buffer {
            let window = window.clone();
            self.buffers.insert(name.clone(), Buffer { window, access });
        }
        self.windows.push(window);
        Ok(())
    }

    /// Adds the registers of a core device's gateware, named by its descriptor.
    fn add_gateware(&mut self, root: &Path, file: &Path) -> Result<(), String> {
        programmed(root)?;
        let path = below(root, file);
        let wrong = |error: &dyn std::fmt::Display| format!("gateware in {}: {error}", path.display());
        let open = |start: usize, end: usize| Window::open(&path, start as u64, end - start);
        let memory = open(PL_DESCRIPTOR.start, PL_DESCRIPTOR.end).map_err(|error| wrong(&error))?;
        let bytes = descriptor(&memory).map_err(|error| wrong(&error))?;
        let descriptor = Descriptor::new(&bytes).map_err(|error| wrong(&error))?;
        for register in descriptor.registers() {
            let count = if register.width > 32 { 2 } else { 1 };
            let start = register.address as usize;
            let window = open(start, start + count * WORD).map_err(|error| wrong(&error))?;
            let words: Option<Vec<_>> = (0..count).map(|index| window.word(index * WORD)).collect();
            let words = words.ok_or_else(|| wrong(&format!("{} is not a word", register.name)))?;
            self.register(
                register.name.replacen('_', "/", 1),
                words,
                register.width,
                Permission::of(&register),
            );
        }
        self.windows.push(memory);
        Ok(())
    }
}

/// Reads a descriptor word by word, as its memory requires.
fn descriptor(memory: &Window) -> Result<Vec<u8>, String> {
    let read = |length: usize| {
        let bytes = memory.bytes(0, length.next_multiple_of(WORD));
        bytes.ok_or("its descriptor is longer than its memory")
    };
    let head = read(HEADER)?;
    let head = head.first_chunk().ok_or("it has no descriptor")?;
    Ok(read(announced_length(head).map_err(|error| error.to_string())?)?)
}

/// Checks that the PL is programmed, if the kernel can tell: accesses to an unprogrammed PL are
/// never answered and hang the computer.
fn programmed(root: &Path) -> Result<(), String> {
    match fs::read_to_string(below(root, "/sys/class/fpga_manager/fpga0/state")) {
        Ok(state) if state.trim() != "operating" => Err(format!("there is no gateware: fpga0 is '{}'", state.trim())),
        _ => Ok(()),
    }
}

fn window(root: &Path, mapping: &Mapping) -> Result<Window, String> {
    let (path, offset, size) = match mapping {
        Mapping::Uio { name, region: number } => {
            let regions = uio::find(root);
            let region = regions.iter().find(|one| one.name == *name && one.number == *number);
            let region = region.ok_or_else(|| {
                let known: Vec<_> = regions
                    .iter()
                    .map(|one| format!("{} {}", one.name, one.number))
                    .collect();
                format!(
                    "no driver provides region {number} of '{name}'; available: {}",
                    known.join(", ")
                )
            })?;
            (region.path.clone(), region.offset, region.size)
        }
        Mapping::File { file, address, size } => (below(root, file), *address, *size),
    };
    Window::open(&path, offset, size).map_err(|error| error.to_string())
}

/// Resolves a path against the folder that stands for `/`.
fn below(root: &Path, path: impl AsRef<Path>) -> PathBuf {
    let path = path.as_ref();
    root.join(path.strip_prefix("/").unwrap_or(path))
}

/// Identifies the computer: `MODEL;Linux VERSION`.
fn identification(root: &Path) -> String {
    let text = |path: &str| fs::read_to_string(below(root, path)).ok();
    let model = text("/proc/device-tree/model").or_else(|| text("/sys/class/dmi/id/product_name"));
    let release = text("/proc/sys/kernel/osrelease").unwrap_or_default();
    let clean = |text: &str| {
        text.trim_matches(|c: char| c == '\0' || c.is_whitespace())
            .replace(';', ",")
    };
    let model = model.map(|model| clean(&model)).filter(|model| !model.is_empty());
    format!(
        "{};Linux {}",
        model.unwrap_or_else(|| "computer".into()),
        clean(&release)
    )
}
