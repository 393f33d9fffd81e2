//! The Urukul in a bench file.

use serde::Deserialize;

use super::{Chip, Options, Revision, ServoBus, Urukul, CHANNELS, INPUTS};
use crate::assemble::outputs::OutputKinds;
use crate::numbers::Natural;
use crate::section::{CardModel, Rejected, Section as BenchSection, Settings};

/// A Urukul in a bench file. Missing values are those of the device database, or else defaults.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Section {
    /// `ad9910` or `ad9912`.
    dds: Option<Chip>,
    /// 8 or 9.
    proto_rev: Option<Revision>,
    /// Hz of the card's oscillator.
    oscillator_hz: Option<Natural>,
    /// Hz of the clock at the SMA connector; 0: none.
    sma_hz: Option<Natural>,
    /// Hz of the clock at the MMCX connector; 0: none.
    mmcx_hz: Option<Natural>,
    /// Delay of the synchronisation clock against the reference clock at each chip, in ps.
    sync_skew_ps: Option<[Natural; CHANNELS]>,
}

impl BenchSection for Section {
    fn model(settings: &Settings<Self>) -> Result<CardModel, Rejected> {
        let hz = |clock: fn(&Self) -> Option<Natural>, default| settings.get(clock).map_or(default, |hz| hz.0);
        let skew = settings.in_file.and_then(|section| section.sync_skew_ps);
        let options = Options {
            servo: match (settings.has("nu_clk"), settings.has("nu_cs")) {
                (false, _) => None,
                (true, true) => Some(ServoBus::Selects),
                (true, false) => Some(ServoBus::Counts),
            },
            chip: settings.get(|section| section.dds).unwrap_or(Chip::Ad9910),
            revision: settings.get(|section| section.proto_rev).unwrap_or(Revision::Nine),
            clocks: [
                hz(|section| section.oscillator_hz, 100e6),
                hz(|section| section.sma_hz, 0.0),
                hz(|section| section.mmcx_hz, 125e6),
            ],
            sync_skew_ps: skew.map_or([300.0; CHANNELS], |skew| skew.map(|ps| ps.0)),
        };
        Ok(CardModel::new(Urukul::new(options), &INPUTS, OutputKinds::tones(CHANNELS)).answering(&["miso"]))
    }
}
