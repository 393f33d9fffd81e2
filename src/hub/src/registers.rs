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
}

/// A gateware: what it is, and its registers.
#[derive(Debug, Default)]
pub struct Gateware {
    /// `variant;version`; empty without gateware.
    pub identification: String,
    registers: BTreeMap<String, Register>,
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
        Ok(Self {
            identification: descriptor.identification().into(),
            registers: registers.collect(),
        })
    }

    pub fn registers(&self) -> impl Iterator<Item = (&str, &Register)> {
        self.registers.iter().map(|(name, register)| (name.as_str(), register))
    }

    /// The register called `block/register`.
    pub fn register(&self, name: &str) -> Option<&Register> {
        self.registers.get(name)
    }
}
