//! The registers of a gateware by name: `block/register`, as its descriptor has them.

use std::collections::BTreeMap;

use kairos_batch::Permission;
use kairos_proto::descriptor::{Descriptor, Error};

/// A register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// Of one of more than 32 bits: of the high word, behind which stands the low one.
    pub address: u32,
    /// Width in bits.
    pub width: u16,
    pub permission: Permission,
}

impl Register {
    /// Whether it has two words.
    pub fn is_wide(&self) -> bool {
        self.width > 32
    }

    /// Addresses of its words, the high one first.
    pub fn words(&self) -> impl Iterator<Item = u32> + use<> {
        let (address, count) = (self.address, 1 + u32::from(self.is_wide()));
        (0..count).map(move |word| address + 4 * word)
    }
}

/// A gateware: what it is, and its registers.
#[derive(Clone, Debug, Default)]
pub struct Gateware {
    /// `variant;version`; empty without gateware. Of a computer with Linux: `model;Linux version`.
    pub identification: String,
    registers: BTreeMap<String, Register>,
    /// What may be done with the word at an address.
    words: BTreeMap<u32, Permission>,
}

impl Gateware {
    /// From the bytes of a descriptor; no bytes are no gateware.
    pub fn read(descriptor: &[u8]) -> Result<Self, Error> {
        if descriptor.is_empty() {
            return Ok(Self::default());
        }
        let descriptor = Descriptor::new(descriptor)?;
        let registers = descriptor.registers().map(|register| {
            let known = Register {
                address: register.address,
                width: register.width,
                permission: Permission::of(&register),
            };
            (register.name.replacen('_', "/", 1), known)
        });
        Ok(Self::new(descriptor.identification().into(), registers.collect()))
    }

    /// From registers by name.
    pub fn new(identification: String, registers: BTreeMap<String, Register>) -> Self {
        let words = registers
            .values()
            .flat_map(|register| register.words().map(|address| (address, register.permission)))
            .filter(|(_, permission)| permission.read || permission.write)
            .collect();
        Self {
            identification,
            registers,
            words,
        }
    }

    pub fn registers(&self) -> impl Iterator<Item = (&str, &Register)> {
        self.registers.iter().map(|(name, register)| (name.as_str(), register))
    }

    /// What a batch may do at an address; `None` if nothing.
    pub fn permission(&self, address: u32) -> Option<Permission> {
        self.words.get(&address).copied()
    }

    /// The register called `block/register`.
    pub fn register(&self, name: &str) -> Option<&Register> {
        self.registers.get(name)
    }
}
