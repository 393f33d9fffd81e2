//! Requests of `kairos device paths`: a path between processors, memory and logic is to be
//! measured a number of times with a transfer of given size. The same twelve bytes are sent from
//! the host to the comms core, and on to the kernel core.

pub use kairos_contracts::paths::{
    Path, Refusal, MESSAGE_MAX, MESSAGE_MIN, SAMPLE_BYTES, SIZE_MAX, STREAM_UNIT, TOTAL_MAX, TRIALS_MAX,
};

use crate::bytes::words;
use crate::layout::{layouts, Layout};

kairos_contracts::paths_layouts!(layouts);

const _: () = assert!(Sample::LENGTH == SAMPLE_BYTES);

/// Bytes of a [`Measurement`].
pub const LENGTH: usize = 12;

/// A measurement request, unchecked; [`path`](Self::path) checks it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measurement {
    /// Number of the path, and three bytes that must be zero.
    pub kind: u32,
    /// Bytes moved by one trial; 0 for registers and requests.
    pub size: u32,
    pub trials: u32,
}

impl Measurement {
    pub const fn from_bytes(bytes: &[u8; LENGTH]) -> Self {
        let [kind, size, trials] = words(bytes);
        Self { kind, size, trials }
    }

    pub fn to_bytes(self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        for (place, number) in bytes.chunks_exact_mut(4).zip([self.kind, self.size, self.trials]) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// The path, if size and number of trials are valid for it; `None` if the request must be
    /// refused.
    pub fn path(&self) -> Option<Path> {
        let path = Path::try_from(u8::try_from(self.kind).ok()?).ok()?;
        let (least, most, unit) = match path {
            Path::RegisterWrite | Path::RegisterRead | Path::RegisterHandshake | Path::Request => (0, 0, 1),
            Path::LinesWrite | Path::LinesRead | Path::LinesHandshake => (0, 0, 1),
            Path::MessageToKernel | Path::MessageToComms => (MESSAGE_MIN, MESSAGE_MAX, 1),
            Path::Copy | Path::Clean => (1, SIZE_MAX, 1),
            Path::StreamFromMemory | Path::StreamToMemory | Path::CoherentFromMemory | Path::CoherentToMemory => {
                (STREAM_UNIT, SIZE_MAX, STREAM_UNIT)
            }
        };
        let fits = (least..=most).contains(&self.size) && self.size.is_multiple_of(unit);
        let often = (1..=TRIALS_MAX).contains(&self.trials) && self.size.saturating_mul(self.trials) <= TOTAL_MAX;
        (fits && often).then_some(path)
    }
}

/// The content of a reply to a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    pub frequencies: Frequencies,
    samples: &'a [[u8; SAMPLE_BYTES]],
}

impl<'a> Measured<'a> {
    /// Decodes the content; `None` if it has no sample, or an incomplete one.
    pub fn new(content: &'a [u8]) -> Option<Self> {
        let frequencies = Frequencies::decode(content).ok()?;
        let (samples, incomplete) = content[Frequencies::LENGTH..].as_chunks();
        (incomplete.is_empty() && !samples.is_empty()).then_some(Self { frequencies, samples })
    }

    /// The sample of each trial.
    pub fn samples(&self) -> impl Iterator<Item = Sample> + 'a {
        self.samples.iter().map(Sample::from_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_samples_are_rejected() {
        let content: [u8; 32] = core::array::from_fn(|n| n as u8);
        let measured = Measured::new(&content).unwrap();
        let Frequencies { processor, logic } = measured.frequencies;
        assert_eq!((processor, logic), (0x0302_0100, 0x0706_0504));
        assert!(measured
            .samples()
            .map(|sample| [sample.time, sample.first, sample.last])
            .eq([
                [0x0b0a_0908, 0x0f0e_0d0c, 0x1312_1110],
                [0x1716_1514, 0x1b1a_1918, 0x1f1e_1d1c]
            ]));
        for length in (0..20).chain(21..32) {
            assert!(Measured::new(&content[..length]).is_none(), "{length}");
        }
    }

    #[test]
    fn encoded_measurement_is_decoded() {
        let bytes = [5, 0, 0, 0, 0, 0, 16, 0, 0xe8, 3, 0, 0];
        let measurement = Measurement::from_bytes(&bytes);
        let expected = Measurement {
            kind: 5,
            size: 1 << 20,
            trials: 1000,
        };
        assert_eq!((measurement, measurement.to_bytes()), (expected, bytes));
        // This many trials of that size would take too long.
        assert_eq!(measurement.path(), None);
        assert_eq!(
            Measurement {
                trials: 32,
                ..measurement
            }
            .path(),
            Some(Path::StreamFromMemory)
        );
    }

    #[test]
    fn invalid_parameters_of_path_measurement_are_rejected() {
        for (kind, size, trials) in [
            (0, 0, 1),
            (13, 8, 1),
            (16, 0, 1),
            (0x101, 0, 1),
            (1, 4, 1),
            (1, 0, 0),
            (1, 0, 1001),
            (5, 0, 1),
            (5, 12, 1),
            (5, (1 << 20) + 8, 1),
            (9, 7, 1),
            (9, 4097, 1),
            (11, 0, 1),
        ] {
            assert_eq!(
                Measurement { kind, size, trials }.path(),
                None,
                "{kind} {size} {trials}"
            );
        }
        for (kind, size, trials) in [
            (1, 0, 1000),
            (15, 0, 1),
            (8, 8, 1),
            (10, 4096, 5),
            (11, 1, 1),
            (12, 1 << 20, 32),
        ] {
            assert!(
                Measurement { kind, size, trials }.path().is_some(),
                "{kind} {size} {trials}"
            );
        }
    }
}
