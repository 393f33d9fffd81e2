//! The I2C bus of the board, bit by bit: its wires, the switches (TCA9548) on it, and the devices
//! behind them.
//!
//! A device is a [`Device`] and a row in [`DEVICES`]. As on hardware, it may hold SDA low if a
//! transfer is cut off in the middle of a byte.

mod devices;
mod mcp23017;
mod si5324;
mod si549;
mod tca6424a;

use std::any::Any;

use kairos_contracts::chips::kasli_soc::{CHANNEL, EXPANDERS, SWITCH};
use kairos_contracts::chips::si549::BUS_ADDRESS as SI549;
use kairos_contracts::chips::tca6424a::BUS_ADDRESS as TCA6424A;

use self::mcp23017::Mcp23017;
pub use self::si5324::Si5324;
pub use self::si549::Si549;
use self::tca6424a::Tca6424a;
use crate::machine::signals::Signals;
use crate::machine::time::Cycles;

/// Addresses of the switches: two as on a Kasli, with an EEPROM on each of its cards, and one as on
/// a ZC706.
const SWITCHES: [u8; 3] = [0x70, 0x71, 0x74];

/// A model of a device, byte by byte.
pub trait Device: Any {
    /// Called when a transfer to or from the device begins.
    fn addressed(&mut self) {}

    /// Receives a byte.
    fn take(&mut self, byte: u8, now: Cycles);

    /// Returns the next byte to be sent.
    fn give(&mut self, now: Cycles) -> u8;

    /// Drives the device's outputs other than the bus.
    fn drive(&self, _signals: &mut Signals) {}
}

/// Optional devices on the buses, taken by the rows of [`DEVICES`].
#[derive(Default)]
pub struct Fitted {
    /// The clock synthesiser.
    pub synthesiser: Option<Si5324>,
    /// The oscillator on a bus of its own.
    pub oscillator: Option<Si549>,
    /// Number of card EEPROMs created so far.
    pub cards: u8,
    /// The I/O expanders of a Kasli-SoC.
    pub expanders: bool,
}

/// A device of the board: its name, its address, and its constructor.
pub struct Row {
    /// Type of the chip.
    pub name: &'static str,
    /// Address of its switch, one of `SWITCHES`.
    pub switch: u8,
    /// Channel of the switch, 0 to 7.
    pub channel: u8,
    /// Device address, 7 bits.
    pub address: u8,
    make: fn(&mut Fitted) -> Option<Box<dyn Device>>,
}

fn eeprom(_: &mut Fitted) -> Option<Box<dyn Device>> {
    Some(Box::<devices::Eeprom>::default())
}

/// Creates the I/O expander of a Kasli-SoC with this number.
fn expander<const NUMBER: u8>(fitted: &mut Fitted) -> Option<Box<dyn Device>> {
    fitted.expanders.then(|| Box::new(Mcp23017::new(NUMBER)) as _)
}

/// Creates the EEPROM of a card, with a unique identity.
fn card(fitted: &mut Fitted) -> Option<Box<dyn Device>> {
    fitted.cards += 1;
    Some(Box::new(devices::Eeprom::with_identity(fitted.cards)))
}

/// The devices of the supported boards.
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
    Row { name: "MCP23017", switch: SWITCH, channel: CHANNEL, address: EXPANDERS[0][0], make: expander::<0> },
    Row { name: "MCP23017", switch: SWITCH, channel: CHANNEL, address: EXPANDERS[0][1], make: expander::<1> },
    Row { name: "24AA02E48", switch: 0x71, channel: 4, address: 0x50, make: card },
    Row { name: "24AA02E48", switch: 0x71, channel: 5, address: 0x50, make: card },
    Row { name: "24AA02E48", switch: 0x71, channel: 6, address: 0x50, make: card },
    Row { name: "24AA02E48", switch: 0x71, channel: 7, address: 0x50, make: card },
];

/// A device at its address, behind a channel of a switch or on the bus itself.
struct Socket {
    behind: Option<(u8, u8)>,
    address: u8,
    device: Box<dyn Device>,
}

/// The register address of a transfer: set by the first byte written, then incremented with each
/// byte.
#[derive(Default)]
pub struct Pointer {
    at: u8,
    set: bool,
}

impl Pointer {
    fn addressed(&mut self) {
        self.set = false;
    }

    /// Takes a byte; returns the register to which it is written, or `None` if it is the address.
    fn take(&mut self, byte: u8) -> Option<u8> {
        if self.set {
            return Some(self.advance());
        }
        (self.at, self.set) = (byte, true);
        None
    }

    /// Returns the current register address, and increments it.
    fn advance(&mut self) -> u8 {
        let at = self.at;
        self.at = at.wrapping_add(1);
        at
    }
}

/// The addressed device.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Selected {
    Switch(usize),
    Socket(usize),
}

/// State of the bus protocol in the addressed device.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Not addressed: waiting for a start condition.
    Idle,
    /// Receiving a byte: number of bits so far; the first byte is the address.
    Take { bits: u32, byte: u8, address: bool },
    /// Acknowledging: SDA is low during the ninth clock.
    Acknowledge { read: bool },
    /// Sending a byte: number of bits sent.
    Give { bits: u32, byte: u8 },
    /// Waiting for the master's acknowledge.
    Listen,
}

/// The bus and its devices.
pub struct I2c {
    scl: bool,
    /// SDA as driven by the master (true: released).
    sda: bool,
    phase: Phase,
    selected: Option<Selected>,
    /// Whether a device drives SDA low.
    pulled: bool,
    /// Enabled channels of each switch.
    switches: [u8; SWITCHES.len()],
    sockets: Vec<Socket>,
    now: Cycles,
}

impl I2c {
    /// Creates an idle bus with the devices of this board.
    pub fn new(fitted: &mut Fitted) -> Self {
        let socket = |row: &Row| {
            Some(Socket {
                behind: Some((row.switch, row.channel)),
                address: row.address,
                device: (row.make)(fitted)?,
            })
        };
        Self::with(DEVICES.iter().filter_map(socket).collect())
    }

    /// Creates the bus of the board's oscillator, if it has one.
    pub fn of_oscillator(fitted: &mut Fitted) -> Option<Self> {
        let socket = Socket {
            behind: None,
            address: SI549,
            device: Box::new(fitted.oscillator.take()?),
        };
        Some(Self::with(vec![socket]))
    }

    fn with(sockets: Vec<Socket>) -> Self {
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

    /// Returns the device of this type, if fitted.
    pub fn device<D: Device>(&mut self) -> Option<&mut D> {
        let mut all = self.sockets.iter_mut();
        all.find_map(|socket| (&mut *socket.device as &mut dyn Any).downcast_mut())
    }

    /// Drives the outputs of the devices other than the bus.
    pub fn drive(&self, signals: &mut Signals) {
        for socket in &self.sockets {
            socket.device.drive(signals);
        }
    }

    /// Levels of SCL and SDA.
    pub fn levels(&self) -> (bool, bool) {
        (self.scl, self.sda && !self.pulled)
    }

    /// Sets the levels that the master drives from `now` on.
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

    /// Handles the address byte: returns whether a device responds to it.
    fn select(&mut self, byte: u8) -> bool {
        let address = byte >> 1;
        let open = |socket: &Socket| {
            let mut switches = SWITCHES.iter().zip(self.switches);
            socket.behind.is_none_or(|(switch, channel)| {
                switches.any(|(at, channels)| *at == switch && channels >> channel & 1 != 0)
            })
        };
        let has = |socket: &Socket| socket.address == address && open(socket);
        let switched = self.sockets.iter().any(|socket| socket.behind.is_some());
        let switch = SWITCHES.iter().position(|at| *at == address && switched);
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
