//! The key `rtio_clock` (wire protocols, section 6), which selects the source of the RTIO clock.

use core::fmt;

use crate::si5324::Reference;

/// A value of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    pub name: &'static str,
    pub reference: Reference,
    /// Frequency of the RTIO core in Hz; `None` for that of the external clock, which passes
    /// through unchanged.
    pub output: Option<u32>,
}

const MHZ: u32 = 1_000_000;

const fn internal(name: &'static str, output: u32) -> Setting {
    Setting {
        name,
        reference: Reference::Crystal,
        output: Some(output * MHZ),
    }
}

const fn external(name: &'static str, input: u32) -> Setting {
    Setting {
        name,
        reference: Reference::External(input * MHZ),
        output: Some(125 * MHZ),
    }
}

const fn bypass(name: &'static str) -> Setting {
    Setting {
        name,
        reference: Reference::Bypass,
        output: None,
    }
}

/// The setting of a satellite: the clock of the upstream board, or the crystal while the link is
/// down.
const LINK: Setting = Setting {
    name: "link_125",
    reference: Reference::Link(125 * MHZ),
    output: Some(125 * MHZ),
};

/// All valid values.
pub const SETTINGS: [Setting; 11] = [
    internal("int_125", 125),
    internal("int_100", 100),
    internal("int_150", 150),
    bypass("ext0_bypass"),
    bypass("ext0_bypass_125"),
    bypass("ext0_bypass_100"),
    external("ext0_synth0_10to125", 10),
    external("ext0_synth0_80to125", 80),
    external("ext0_synth0_100to125", 100),
    external("ext0_synth0_125to125", 125),
    LINK,
];

/// Why a value is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The gateware was built for another frequency (Hz).
    Frequency(u32),
    /// The gateware takes its clock from the processing system.
    NoSynthesiser,
    /// The board is not a satellite.
    NoLink,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Frequency(frequency) => write!(f, "this gateware is built for {} MHz", frequency / MHZ),
            Self::NoSynthesiser => write!(f, "the RTIO clock of this gateware comes from the processing system"),
            Self::NoLink => write!(f, "this gateware has no link to an upstream board"),
        }
    }
}

/// The setting with this name. Trailing white space is ignored.
pub fn parse(text: &str) -> Option<Setting> {
    let name = text.trim_end();
    SETTINGS.into_iter().find(|setting| setting.name == name)
}

/// The default setting; `None` if no setting has the gateware's frequency. `linked`: the
/// synthesiser receives the clock of a link to an upstream board.
pub fn default(frequency: u32, linked: bool) -> Option<Setting> {
    if linked && LINK.output == Some(frequency) {
        return Some(LINK);
    }
    SETTINGS
        .into_iter()
        .find(|setting| setting.reference == Reference::Crystal && setting.output == Some(frequency))
}

impl Setting {
    /// Whether gateware for `frequency` (Hz) supports this clock. `linked`: there is a link to an
    /// upstream board.
    pub fn check(&self, frequency: u32, synthesiser: bool, linked: bool) -> Result<(), Refused> {
        match self.output {
            Some(output) if output != frequency => Err(Refused::Frequency(frequency)),
            _ if !synthesiser && self.reference != Reference::Crystal => Err(Refused::NoSynthesiser),
            _ if !linked && matches!(self.reference, Reference::Link(_)) => Err(Refused::NoLink),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_of_rtio_clock_is_parsed_or_rejected() {
        assert_eq!(parse("int_125\r\n").unwrap().output, Some(125_000_000));
        assert_eq!(
            parse("ext0_synth0_10to125").unwrap().reference,
            Reference::External(10_000_000)
        );
        assert_eq!(parse("ext0_bypass_100").unwrap().reference, Reference::Bypass);
        for unknown in ["", "i", "e", "INT_125", "ext0_synth0_10to100", " int_125"] {
            assert_eq!(parse(unknown), None, "{unknown}");
        }
        for setting in SETTINGS {
            assert_eq!(parse(setting.name), Some(setting));
        }
    }

    #[test]
    fn setting_is_accepted_only_if_gateware_supports_it() {
        assert_eq!(default(125_000_000, false), parse("int_125"));
        assert_eq!(default(125_000_000, true), parse("link_125"));
        assert_eq!(default(100_000_000, true), parse("int_100"));
        assert_eq!(default(99, false), None);
        let link = |linked| parse("link_125").unwrap().check(125_000_000, true, linked);
        assert_eq!((link(true), link(false)), (Ok(()), Err(Refused::NoLink)));
        let check = |name, frequency, synthesiser| parse(name).unwrap().check(frequency, synthesiser, false);
        assert_eq!(check("int_125", 125_000_000, false), Ok(()));
        assert_eq!(
            check("int_100", 125_000_000, true),
            Err(Refused::Frequency(125_000_000))
        );
        assert_eq!(check("ext0_bypass", 100_000_000, true), Ok(()));
        assert_eq!(
            check("ext0_synth0_10to125", 125_000_000, false),
            Err(Refused::NoSynthesiser)
        );
        assert_eq!(check("ext0_bypass", 125_000_000, false), Err(Refused::NoSynthesiser));
    }
}
