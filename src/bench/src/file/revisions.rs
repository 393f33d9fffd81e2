//! Hardware revisions of cards, as a bench file and a device database write them.

use serde::Deserialize;

/// Hardware revision of a Mirny: 0 to 3.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "u32")]
pub struct MirnyRevision(u32);

impl MirnyRevision {
    /// The value read from the card.
    pub fn number(self) -> u32 {
        self.0
    }
}

impl TryFrom<u32> for MirnyRevision {
    type Error = String;

    fn try_from(number: u32) -> Result<Self, String> {
        match number {
            0..=3 => Ok(Self(number)),
            _ => Err(format!("hw_rev of a Mirny is 0 to 3, not {number}")),
        }
    }
}

/// Hardware revision of a Sampler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum SamplerRevision {
    /// v2.1: full scale 10 V.
    First,
    /// Full scale 10.24 V.
    Later,
}

impl TryFrom<String> for SamplerRevision {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let number = |part: &str| part.parse::<u32>().ok();
        let parts = text.strip_prefix('v').and_then(|numbers| numbers.split_once('.'));
        match parts.and_then(|(major, minor)| number(major).zip(number(minor))) {
            Some((2, 1)) => Ok(Self::First),
            Some(_) => Ok(Self::Later),
            None => Err(format!("hw_rev of a Sampler is v2.1, v2.2 or a later one, not {text}")),
        }
    }
}
