//! Cards.
//!
//! Generated from `src/contracts/cards/*.toml` by `src/contracts/generate.py`: do not edit.

/// Kinds of cards with models; a card's name begins with its kind.
pub const KINDS: [&str; 13] = [
    "ad53xx",
    "ad9834",
    "ddsbus",
    "fastino",
    "grabber",
    "hmc542b",
    "mirny",
    "novogorny",
    "phaser",
    "sampler",
    "shuttler",
    "urukul",
    "zotino",
];
