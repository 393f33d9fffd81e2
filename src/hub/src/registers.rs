//! The registers of a gateware by name, `block/register`, from its descriptor.

use std::collections::BTreeMap;

use kairos_batch::{Exported, Permission};
use kairos_contracts::descriptor::ChannelKind;
use kairos_proto::descriptor::{Descriptor, Error};
use tonic::Status;

/// A register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// Of registers with more than 32 bits: address of the high word, which the low word follows.
    pub address: u32,
    /// Width in bits.
    pub width: u16,
    pub permission: Permission,
}

impl Register {
    /// Whether the register has two words.
    pub fn is_wide(&self) -> bool {
        self.width > 32
    }

    /// Describes the restriction of a register that cannot be both read and written.
    pub fn only(&self) -> &'static str {
        match (self.permission.read, self.permission.write) {
            (true, _) => "is read-only",
            (false, true) => "is write-only",
            (false, false) => "is reserved for the firmware",
        }
    }

    /// INVALID_ARGUMENT if the value does not fit into the register; `name` is for the message.
    pub fn takes(&self, name: &str, value: u64) -> Result<(), Status> {
        match self.width < 64 && value >> self.width != 0 {
            true => Err(Status::invalid_argument(format!(
                "{value} does not fit into the {} bits of {name}",
                self.width
            ))),
            false => Ok(()),
        }
    }

    /// Addresses of the words, the high one first.
    pub fn words(&self) -> impl Iterator<Item = u32> + use<> {
        let (address, count) = (self.address, 1 + u32::from(self.is_wide()));
        (0..count).map(move |word| address + 4 * word)
    }
}

/// An RTIO channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channel {
    pub name: String,
    /// Includes the board in bits 23..16.
    pub number: u32,
    /// [`ChannelKind`] as a number.
    pub kind: u8,
    /// Parameters that differ from their defaults.
    pub parameters: BTreeMap<String, u32>,
}

impl Channel {
    /// The name of the kind as in the descriptor's contract, such as `ttl_inout`.
    pub fn kind_name(&self) -> String {
        let Ok(kind) = ChannelKind::try_from(self.kind) else {
            return self.kind.to_string();
        };
        let mut name = String::new();
        for letter in format!("{kind:?}").chars() {
            if letter.is_uppercase() && !name.is_empty() {
                name.push('_');
            }
            name.push(letter.to_ascii_lowercase());
        }
        name
    }

    /// Whether the channel is of that kind.
    pub fn is(&self, kind: ChannelKind) -> bool {
        self.kind == kind as u8
    }

    /// Whether the channel is a TTL, which has overrides.
    pub fn is_ttl(&self) -> bool {
        self.is(ChannelKind::TtlOut) || self.is(ChannelKind::TtlInout)
    }
}

/// A gateware: identification, registers and channels.
#[derive(Clone, Debug, Default)]
pub struct Gateware {
    /// `variant;version`; empty without gateware. For a computer with Linux: `model;Linux version`.
    pub identification: String,
    registers: BTreeMap<String, Register>,
    /// Permissions of words, by address.
    words: BTreeMap<u32, Permission>,
    channels: Vec<Channel>,
    /// Machine units per second; 0 without RTIO.
    machine_hertz: f64,
    /// Whether it belongs to a core device, whose batches can use its I2C bus.
    is_core_device: bool,
}

impl Gateware {
    /// Parses a descriptor; an empty one means no gateware.
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
        let channels = descriptor.channels().map(|channel| Channel {
            name: channel.name.into(),
            number: channel.number,
            kind: channel.kind.0,
            parameters: channel.parameters.map(|(name, value)| (name.into(), value)).collect(),
        });
        Ok(Self {
            is_core_device: true,
            channels: channels.collect(),
            machine_hertz: descriptor.clock().map_or(0.0, |clock| {
                f64::from(clock.frequency) * f64::from(clock.fine_bits).exp2()
            }),
            ..Self::new(descriptor.identification().into(), registers.collect())
        })
    }

    /// A gateware with the given registers.
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
            ..Self::default()
        }
    }

    pub fn registers(&self) -> impl Iterator<Item = (&str, &Register)> {
        self.registers.iter().map(|(name, register)| (name.as_str(), register))
    }

    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    pub fn machine_hertz(&self) -> f64 {
        self.machine_hertz
    }

    /// The register named `block/register`.
    pub fn register(&self, name: &str) -> Option<&Register> {
        self.registers.get(name)
    }
}

impl Exported for Gateware {
    fn permission(&self, address: u32) -> Option<Permission> {
        self.words.get(&address).copied()
    }

    fn has_bus(&self) -> bool {
        self.is_core_device
    }

    fn has_channel(&self, number: u32) -> bool {
        number >> 16 == 0 && self.channels.iter().any(|channel| channel.number == number)
    }
}
