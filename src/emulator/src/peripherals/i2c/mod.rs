//! The I2C bus of the board: its wires, bit by bit, switches (TCA9548) on it, and the devices behind those.
//!
//! A device is a [`Device`] and a row in [`DEVICES`]. It may hold SDA low when it is cut off in the
//! middle of a byte, as real ones do.

mod devices;
mod si5324;
mod tca6424a;

use std::any::Any;

use kairos_contracts::chips::tca6424a::BUS_ADDRESS as TCA6424A;

pub use self::si5324::Si5324;
use self::tca6424a::Tca6424a;
use crate::machine::signals::Signals;
use crate::machine::time::Cycles;

/// Addresses of the switches: two as a Kasli has them, with an EEPROM on each of its cards, and one
/// as a ZC706 has it.
const SWITCHES: [u8; 3] = [0x70, 0x71, 0x74];

/// A model of a device: it takes bytes and gives bytes.
pub trait Device: Any {
    /// A transfer to or from it begins.
    fn addressed(&mut self) {}

    /// Takes a byte.
    fn take(&mut self, byte: u8, now: Cycles);

    /// Gives a byte.
    fn give(&mut self, now: Cycles) -> u8;

    /// What it drives besides the bus.
    fn drive(&self, _signals: &mut Signals) {}
}

/// What not every board has on the bus. The rows of [`DEVICES`] take it.
#[derive(Default)]
pub struct Fitted {
    /// The clock synthesiser.
    pub synthesiser: Option<Si5324>,
    /// Cards that have their EEPROM already.
    pub cards: u8,
}

/// A device of the board: its name, its place on the bus, and how it is made.
pub struct Row {
    /// Type of the chip.
    pub name: &'static str,
    /// Address of its switch, one of `SWITCHES`.
    pub switch: u8,
    /// Channel of the switch, 0 to 7.
    pub channel: u8,
    /// Its address, 7 bits.
    pub address: u8,
    make: fn(&mut Fitted) -> Option<Box<dyn Device>>,
}

fn eeprom(_: &mut Fitted) -> Option<Box<dyn Device>> {
    Some(Box::<devices::Eeprom>::default())
}

/// That of a card, which no other card has.
fn card(fitted: &mut Fitted) -> Option<Box<dyn Device>> {
    fitted.cards += 1;
    Some(Box::new(devices::Eeprom::with_identity(fitted.cards)))
}

/// What boards of this kind have.
#[rustfmt::skip]
pub const DEVICES: &[Row] = &[
    Row { name: "PCF8574A", switch: 0x74, channel: 2, address: 0x3e, make: |_| Some(Box::<devices::Expander>::default()) },
    Row { name: "24AA02", switch: 0x74, channel: 2, address: 0x50, make: eeprom },
    Row { name: "TCA6424A", switch: 0x74, channel: 5, address: TCA6424A, make: |_| Some(Box::<Tca6424a>::default()) },
    Row { name: "Si5324", switch: 0x74, channel: 4, address: 0x68, make: |fitted| Some(Box::new(fitted.synthesiser.take()?)) },
    Row { name: "24AA02E48", switch: 0x70, channel: 0, address: 0x50, make: card },
    Row { name: "24AA02E48", switch: 0x70, channel: 1, address: 0x50, make: card },
    Row { name: "24AA02E48", switch: 0x70, channel: 2, address: 0x50, make: card },
    Row { name: "24AA02E48", switch: 0x70, channel: 3, address: 0x50, make: card },
    Row { name: "24AA02E48", switch: 0x70, channel: 4, address: 0x50, make: card },
    Row { name: "24AA02E48", switch: 0x70, channel: 5, address: 0x50, make: card },
    Row { name: "24AA02E48", switch: 0x70, channel: 6, address: 0x50, make: card },
    Row { name: "24AA02E48", switch: 0x70, channel: 7, address: 0x50, make: card },
    Row { name: "24AA02E48", switch: 0x71, channel: 4, address: 0x50, make: card },
    Row { name: "24AA02E48", switch: 0x71, channel: 5, address: 0x50, make: card },
    Row { name: "24AA02E48", switch: 0x71, channel: 6, address: 0x50, make: card },
    Row { name: "24AA02E48", switch: 0x71, channel: 7, address: 0x50, make: card },
];

/// A device in its place.
struct Socket {
    switch: u8,
    channel: u8,
    address: u8,
    device: Box<dyn Device>,
}

/// The register that a transfer goes to: the first byte written says which, and it moves on with each byte.
#[derive(Default)]
pub struct Pointer {
    at: u8,
    set: bool,
}

impl Pointer {
    fn addressed(&mut self) {
        self.set = false;
    }

    /// Takes a byte; returns the register that it is for, unless it says which.
    fn take(&mut self, byte: u8) -> Option<u8> {
        if self.set {
            return Some(self.advance());
        }
        (self.at, self.set) = (byte, true);
        None
    }

    /// The register now; the next byte goes to the one behind it.
    fn advance(&mut self) -> u8 {
        let at = self.at;
        self.at = at.wrapping_add(1);
        at
    }
}

/// Who has been addressed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Selected {
    Switch(usize),
    Socket(usize),
}

/// What the addressed device does with the bits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Not addressed: waits for a start.
    Idle,
    /// Takes a byte: bits so far; the first byte is the address.
    Take { bits: u32, byte: u8, address: bool },
    /// Pulls SDA low during the ninth clock.
    Acknowledge { read: bool },
    /// Gives a byte: bits given.
    Give { bits: u32, byte: u8 },
    /// Looks whether the master acknowledges.
    Listen,
}

/// The bus and its devices.
pub struct I2c {
    scl: bool,
    /// Level that the master lets SDA have.
    sda: bool,
    phase: Phase,
    selected: Option<Selected>,
    /// A device pulls SDA low.
    pulled: bool,
    /// Channels that each switch lets through.
    switches: [u8; SWITCHES.len()],
    sockets: Vec<Socket>,
    now: Cycles,
}

impl I2c {
    /// A bus at rest, with the devices that this board has.
    pub fn new(fitted: &mut Fitted) -> Self {
        let socket = |row: &Row| {
            Some(Socket {
                switch: row.switch,
                channel: row.channel,
                address: row.address,
                device: (row.make)(fitted)?,
            })
        };
        let sockets = DEVICES.iter().filter_map(socket).collect();
        Self {
            scl: true,
            sda: true,
            phase: Phase::Idle,
            selected: None,
            pulled: false,
            switches: [0; SWITCHES.len()],
            sockets,
            now: 0,
        }
    }

    /// The device of this type, if there is one.
    pub fn device<D: Device>(&mut self) -> Option<&mut D> {
        let mut all = self.sockets.iter_mut();
        all.find_map(|socket| (&mut *socket.device as &mut dyn Any).downcast_mut())
    }

    /// What devices drive besides the bus.
    pub fn drive(&self, signals: &mut Signals) {
        for socket in &self.sockets {
            socket.device.drive(signals);
        }
    }

    /// Levels of SCL and SDA.
    pub fn levels(&self) -> (bool, bool) {
        (self.scl, self.sda && !self.pulled)
    }

    /// From `now` on the master lets the lines have these levels.
    pub fn set(&mut self, scl: bool, sda: bool, now: Cycles) {
        self.now = now;
        let (before, level) = (self.levels(), sda && !self.pulled);
        let clock = (self.scl, scl);
        (self.scl, self.sda) = (scl, sda);
        match clock {
            (true, true) if before.1 && !level => {
                self.phase = Phase::Take {
                    bits: 0,
                    byte: 0,
                    address: true,
                }
            }
            (true, true) if !before.1 && level => (self.phase, self.selected) = (Phase::Idle, None),
            (false, true) => self.rising(level),
            (true, false) => self.falling(),
            _ => {}
        }
    }

    fn rising(&mut self, sda: bool) {
        match &mut self.phase {
            Phase::Take { bits, byte, .. } => {
                *byte = *byte << 1 | u8::from(sda);
                *bits += 1;
            }
            Phase::Listen if sda => self.phase = Phase::Idle,
            _ => {}
        }
    }

    fn falling(&mut self) {
        self.pulled = false;
        match self.phase {
            Phase::Take { bits: 8, byte, address } => {
                let read = address && byte & 1 != 0;
                let accepted = if address { self.select(byte) } else { self.take(byte) };
                self.pulled = accepted;
                self.phase = match accepted {
                    true => Phase::Acknowledge { read },
                    false => Phase::Idle,
                };
            }
            Phase::Acknowledge { read: true } | Phase::Listen => {
                let byte = self.give();
                self.phase = Phase::Give { bits: 0, byte };
                self.give_bit();
            }
            Phase::Acknowledge { read: false } => {
                self.phase = Phase::Take {
                    bits: 0,
                    byte: 0,
                    address: false,
                }
            }
            Phase::Give { bits: 8, .. } => self.phase = Phase::Listen,
            Phase::Give { .. } => self.give_bit(),
            _ => {}
        }
    }

    fn give_bit(&mut self) {
        if let Phase::Give { bits, byte } = &mut self.phase {
            self.pulled = *byte & 0x80 == 0;
            *byte <<= 1;
            *bits += 1;
        }
    }

    /// The address byte: whether a device has it.
    fn select(&mut self, byte: u8) -> bool {
        let address = byte >> 1;
        let open = |socket: &Socket| {
            let mut switches = SWITCHES.iter().zip(self.switches);
            switches.any(|(at, channels)| *at == socket.switch && channels >> socket.channel & 1 != 0)
        };
        let has = |socket: &Socket| socket.address == address && open(socket);
        let switch = SWITCHES.iter().position(|at| *at == address);
        self.selected = match self.sockets.iter().position(has) {
            _ if switch.is_some() => switch.map(Selected::Switch),
            Some(n) => {
                self.sockets[n].device.addressed();
                Some(Selected::Socket(n))
            }
            None => None,
        };
        self.selected.is_some()
    }

    fn take(&mut self, byte: u8) -> bool {
        match self.selected {
            Some(Selected::Switch(n)) => self.switches[n] = byte,
            Some(Selected::Socket(n)) => self.sockets[n].device.take(byte, self.now),
            None => {}
        }
        self.selected.is_some()
    }

    fn give(&mut self) -> u8 {
        match self.selected {
            Some(Selected::Switch(n)) => self.switches[n],
            Some(Selected::Socket(n)) => self.sockets[n].device.give(self.now),
            None => 0xff,
        }
    }
}
