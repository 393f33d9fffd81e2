//! The registers of the camera on the bench: those of its connection, which each camera has, and its own, which its
//! description lists.

use std::collections::BTreeMap;

use kairos_contracts::chips::coaxpress as facts;

/// Its own registers: columns, rows, format of the pixels, images sent.
pub const WIDTH: u32 = 0x8000;
pub const HEIGHT: u32 = 0x8004;
pub const FORMAT: u32 = 0x8008;
pub const FRAMES: u32 = 0x800c;
/// Where the text at [`facts::XML_URL`] is, and the description.
const URL: u32 = 0x2000;
const XML: u32 = 0x10_0000;
/// Revision 2.1 of the standard; it knows 2.1, 2.0 and 1.1.
const REVISION: u32 = 2 << 16 | 1;
const VERSIONS: u32 = 0b1110;
/// One connection.
const ONE: u32 = 1 << 16;

/// Whether a register can be written, with which values.
#[derive(Clone, Copy)]
enum Access {
    Fixed,
    Any,
    /// Formats of pixels.
    Formats,
    /// The configuration of one connection, at a rate up to the proposed one.
    Connection,
}

/// The registers.
pub struct Registers {
    words: BTreeMap<u32, (u32, Access)>,
    /// Texts by their addresses.
    texts: Vec<(u32, Vec<u8>)>,
    size: [usize; 2],
    format: u32,
    rates: Rates,
}

/// Numbers of rates (`RATES`).
#[derive(Debug, Clone, Copy)]
pub struct Rates {
    /// After power-up, and a reset of the connection.
    pub discovery: usize,
    /// The highest one, which the camera proposes.
    pub highest: usize,
}

/// The code of a rate.
fn code(rate: usize) -> u32 {
    facts::RATES[rate][1]
}

/// A code of an answer that is an error.
pub type Refused = u32;

impl Registers {
    /// After power-up. size: columns and rows; format: of the pixels.
    pub fn new(size: [usize; 2], format: u32, rates: Rates) -> Self {
        let xml = description(size);
        let mut url = format!("Local:camera.xml;{XML:x};{:x}", xml.len()).into_bytes();
        url.push(0);
        let mut registers = Self {
            words: BTreeMap::new(),
            texts: vec![(URL, url), (XML, xml.into_bytes())],
            size,
            format,
            rates,
        };
        registers.reset();
        registers
    }

    /// The state of the connection as after power-up.
    fn reset(&mut self) {
        use Access::{Any, Connection, Fixed, Formats};
        let format = self.words.get(&FORMAT).map_or(self.format, |(value, _)| *value);
        self.words = BTreeMap::from([
            (facts::STANDARD, (facts::STANDARD_VALUE, Fixed)),
            (facts::REVISION, (REVISION, Fixed)),
            (facts::XML_URL, (URL, Fixed)),
            (facts::CONNECTION_ID, (0, Any)),
            (facts::MASTER_ID, (0, Any)),
            (facts::STREAM_PACKET_SIZE, (0, Any)),
            (facts::CONNECTION_CONFIG, (ONE | code(self.rates.discovery), Connection)),
            (
                facts::CONNECTION_CONFIG_DEFAULT,
                (ONE | code(self.rates.highest), Fixed),
            ),
            (facts::VERSIONS, (VERSIONS, Fixed)),
            (facts::VERSION, (1 << 16 | 1, Any)),
            (WIDTH, (self.size[0] as u32, Fixed)),
            (HEIGHT, (self.size[1] as u32, Fixed)),
            (FORMAT, (format, Formats)),
            (FRAMES, (0, Fixed)),
        ]);
    }

    /// A register; 0 if there is none.
    pub fn get(&self, address: u32) -> u32 {
        self.words.get(&address).map_or(0, |(value, _)| *value)
    }

    /// The number of the rate that is configured.
    pub fn rate(&self) -> usize {
        let configured = self.get(facts::CONNECTION_CONFIG) & 0xffff;
        let known = facts::RATES.iter().position(|[_, code]| *code == configured);
        known.unwrap_or(self.rates.discovery)
    }

    /// Sets a register that the grabber cannot write.
    pub fn set(&mut self, address: u32, value: u32) {
        if let Some((word, _)) = self.words.get_mut(&address) {
            *word = value;
        }
    }

    /// Bytes from an address on.
    pub fn read(&self, address: u32, length: u32) -> Result<Vec<u8>, Refused> {
        if length == 0 || length > facts::MOST_DATA {
            return Err(facts::ANSWER_DATA_ERROR);
        }
        for (start, text) in &self.texts {
            if let Some(from) = address.checked_sub(*start).filter(|from| (*from as usize) < text.len()) {
                let mut bytes = text[from as usize..].to_vec();
                // Beyond its end there are zeros.
                bytes.resize(length as usize, 0);
                return Ok(bytes);
            }
        }
        let words = (address..).step_by(4).take(length.div_ceil(4) as usize);
        let mut bytes = Vec::new();
        for address in words {
            let (value, _) = self.words.get(&address).ok_or(facts::ANSWER_ADDRESS)?;
            bytes.extend(value.to_be_bytes());
        }
        bytes.truncate(length as usize);
        Ok(bytes)
    }

    /// Writes a word.
    pub fn write(&mut self, address: u32, data: &[u8]) -> Result<(), Refused> {
        let Some(value) = data.try_into().ok().map(u32::from_be_bytes) else {
            return Err(facts::ANSWER_DATA_ERROR);
        };
        if address == facts::CONNECTION_RESET {
            self.reset();
            return Ok(());
        }
        let (word, access) = self.words.get_mut(&address).ok_or(facts::ANSWER_ADDRESS)?;
        let valid = match access {
            Access::Fixed => return Err(facts::ANSWER_READ_ONLY),
            Access::Any => true,
            Access::Formats => (facts::MONO8..facts::MONO8 + 5).contains(&value),
            Access::Connection => (0..=self.rates.highest).any(|rate| value == ONE | code(rate)),
        };
        if !valid {
            return Err(facts::ANSWER_DATA_ERROR);
        }
        *word = value;
        Ok(())
    }
}

/// The camera's description.
fn description(size: [usize; 2]) -> String {
    let register = |name: &str, address: u32, access: &str| {
        format!("  <IntReg Name=\"{name}\"><Address>{address:#x}</Address><Length>4</Length><AccessMode>{access}</AccessMode></IntReg>\n")
    };
    let own = [
        register("Width", WIDTH, "RO"),
        register("Height", HEIGHT, "RO"),
        register("PixelFormat", FORMAT, "RW"),
        register("FrameCount", FRAMES, "RO"),
    ];
    format!(
        "<?xml version=\"1.0\"?>\n<RegisterDescription ModelName=\"Bench{}x{}\" VendorName=\"Kairos\">\n{}</RegisterDescription>\n",
        size[0],
        size[1],
        own.concat()
    )
}
