//! Cards.
//!
//! Generated from `src/contracts/cards/*.toml` by `src/contracts/generate.py`: do not edit.

/// Kinds of cards with models; a card's name begins with its kind.
pub const KINDS: [&str; 18] = [
    "ad53xx",
    "ad9834",
    "cxp",
    "dac34h84",
    "ddsbus",
    "fastino",
    "grabber",
    "hmc542b",
    "mirny",
    "mtdds",
    "novogorny",
    "phaser",
    "sampler",
    "shuttler",
    "songbird",
    "trf372017",
    "urukul",
    "zotino",
];
/// Kinds of which several can share a bus, each with a chip select.
pub const SHARING: [&str; 1] = ["ad53xx"];
/// Kinds whose waveforms the device makes.
pub const WAVEFORMS: [&str; 3] = ["mtdds", "shuttler", "songbird"];
/// Lines of a card at the channel of another one: the beginning of their functions, and the card's kind.
pub const ATTACHED: [(&str, &str); 1] = [("nu", "urukul")];

/// Calls a macro with the kinds of cards that have a section in a bench file, and their names for readers.
#[macro_export]
macro_rules! with_card_models {
    ($call:ident) => {
        $call! {
            ad53xx "AD53xx",
            ad9834 "AD9834",
            dac34h84 "DAC34H84",
            ddsbus "AD9914 bus",
            fastino "Fastino",
            hmc542b "HMC542B",
            mirny "Mirny",
            mtdds "Phaser as a satellite",
            novogorny "Novogorny",
            phaser "Phaser",
            sampler "Sampler",
            shuttler "Shuttler",
            songbird "Songbird",
            trf372017 "TRF372017",
            urukul "Urukul",
            zotino "Zotino",
        }
    };
}
