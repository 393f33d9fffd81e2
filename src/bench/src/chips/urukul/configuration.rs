//! Options of an Urukul: its chips, the protocol revision of its logic, and the layout of its
//! configuration word.

use kairos_contracts::chips::urukul as words;
use kairos_contracts::chips::WideField;
use serde::Deserialize;

use super::super::ad9910::Ad9910;
use super::super::ad9912::Ad9912;
use super::super::dds::Dds;
use super::{CHANNELS, SYNC_EDGE};

/// The components of a card and its external clocks.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The type of its DDS chips.
    pub chip: Chip,
    /// 8 or 9.
    pub revision: Revision,
    /// Hz of its oscillator, and at the connectors SMA and MMCX; 0: no clock.
    pub clocks: [f64; 3],
    /// In the mode EN_NU: the bus of a servo to each chip that is not masked.
    pub servo: Option<ServoBus>,
    /// Delay of the synchronisation clock against the reference clock at each chip, in ps.
    pub sync_skew_ps: [f64; CHANNELS],
}

/// The type of a servo's bus to the chips.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServoBus {
    /// The bus has a chip select, which delimits messages.
    Selects,
    /// The bus has none: the chips are always selected and count bits.
    Counts,
}

/// The type of a DDS chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Chip {
    /// With eight profiles and a RAM.
    Ad9910,
    /// With a frequency word of 48 bits.
    Ad9912,
}

impl Chip {
    pub fn make(self) -> Box<dyn Dds> {
        match self {
            Self::Ad9910 => Box::new(Ad9910::new(SYNC_EDGE)),
            Self::Ad9912 => Box::new(Ad9912::new()),
        }
    }

    /// Divider of the reference, by the card's divider setting; 0 is the card's default for this
    /// chip.
    pub fn dividers(self) -> [f64; 4] {
        match self {
            Self::Ad9910 => [4.0, 1.0, 2.0, 4.0],
            Self::Ad9912 => [1.0, 1.0, 2.0, 4.0],
        }
    }
}

/// Protocol revision of the logic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "u64")]
pub enum Revision {
    /// Configuration of 24 bits.
    Eight,
    /// Configuration of 52 bits.
    Nine,
}

impl TryFrom<u64> for Revision {
    type Error = String;

    fn try_from(number: u64) -> Result<Self, String> {
        match number {
            8 => Ok(Self::Eight),
            9 => Ok(Self::Nine),
            other => Err(format!("proto_rev of an Urukul is 8 or 9, not {other}")),
        }
    }
}

/// Fields of the configuration that both revisions have.
pub struct Fields {
    pub rf_sw: WideField,
    pub io_update: WideField,
    pub mask_nu: WideField,
    pub profile: WideField,
    pub clk_sel: [WideField; 2],
    pub clk_div: WideField,
    pub rst: WideField,
    pub io_rst: WideField,
    pub sync_sel: WideField,
    /// Lines to the chips: OSK, DRCTL, DRHOLD.
    pub lines: Option<[WideField; 3]>,
    /// Attenuator enables.
    pub att_en: Option<WideField>,
    pub width: u32,
    /// Whether each channel has its own `io_update` and `profile`.
    pub each: bool,
}

impl Revision {
    pub fn fields(self) -> Fields {
        macro_rules! fields {
            ($module:ident, $word:ident, $each:expr, $lines:expr, $att_en:expr) => {{
                use words::$module as f;
                Fields {
                    rf_sw: f::RF_SW,
                    io_update: f::IO_UPDATE,
                    mask_nu: f::MASK_NU,
                    profile: f::PROFILE,
                    clk_sel: [f::CLK_SEL0, f::CLK_SEL1],
                    clk_div: f::CLK_DIV,
                    rst: f::RST,
                    io_rst: f::IO_RST,
                    sync_sel: f::SYNC_SEL,
                    lines: $lines,
                    att_en: $att_en,
                    width: words::$word.width,
                    each: $each,
                }
            }};
        }
        match self {
            Self::Eight => fields!(cfg8, CFG8, false, None, None),
            Self::Nine => {
                use words::cfg9::{ATT_EN, DRCTL, DRHOLD, OSK};
                fields!(cfg9, CFG9, true, Some([OSK, DRCTL, DRHOLD]), Some(ATT_EN))
            }
        }
    }

    pub fn number(self) -> u64 {
        match self {
            Self::Eight => 8,
            Self::Nine => 9,
        }
    }
}
