//! Reference results for tests of the pulse core's logic: the outputs of engines for segments that
//! arrive in given cycles, and the segments that a stream of words produces. The tests compare both
//! with the verilated core, cycle by cycle.

use super::pulse::words_of;
use kairos_contracts::pulse::{PARAMETERS, TONES, VALUE_BITS};
use kairos_pulse::model::{Config, Machine, Segments, Sequencer, Status, Underrun};
use kairos_pulse::word::{self, RunFormat};
use kairos_pulse::{Segment, Word};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Numbers that describe a segment from a sequencer: mask of parameters, 0x100 if it is present, and its 216 bits.
const SEGMENT_NUMBERS: usize = 5;
const PRESENT: u64 = 0x100;
/// Numbers that describe a channel's output in a cycle: values, frames of both tones, levels, states.
const SHOWN: usize = PARAMETERS + TONES + 2;

/// The reference core with these settings, named as in `Config`.
fn config(settings: &Bound<PyDict>) -> PyResult<Config> {
    let mut config = Config {
        channels: 1,
        ..Config::default()
    };
    for (name, value) in settings {
        let number: u64 = value.extract()?;
        match name.extract::<String>()?.as_str() {
            "channels" => config.channels = number.clamp(1, 8) as usize,
            "samples_per_cycle" => config.rates.samples_per_cycle = number as u32,
            "segment_fifo" => config.segment_fifo = number as usize,
            "glut_bits" => config.glut_bits = number as usize,
            "mlut_bits" => config.mlut_bits = number as usize,
            "plut_bits" => config.plut_bits = number as usize,
            "wide" => {
                config.run_format = if number != 0 {
                    RunFormat::Wide
                } else {
                    RunFormat::Counted
                }
            }
            "trigger_strict" => config.trigger_strict = number != 0,
            "trigger_channels" => config.trigger_channels = number as u8,
            "hold" => config.underrun = if number != 0 { Underrun::Hold } else { Underrun::Mute },
            "misalign_limit" => config.misalign_limit = number,
            name => return Err(PyKeyError::new_err(format!("the model has no setting {name}"))),
        }
    }
    Ok(config)
}

/// Segments and errors from a sequencer, in order.
#[derive(Default)]
struct SegmentWords(Vec<u64>);

impl Segments for SegmentWords {
    fn has_room(&self, _: u8) -> bool {
        true
    }

    fn push(&mut self, parameters: u8, segment: Segment) {
        self.0.push(PRESENT | u64::from(parameters));
        self.0.extend(segment.to_word().0);
    }
}

/// Returns the segments that a channel's sequencer produces for the words of a stream, in order, each
/// as `SEGMENT_NUMBERS` numbers; and the bits of its errors. `results`: the measurement results that the
/// branches consume, in order.
#[pyfunction]
fn execute<'py>(
    py: Python<'py>,
    words: &[u8],
    channel: u8,
    results: Vec<u8>,
    settings: &Bound<PyDict>,
) -> PyResult<(Bound<'py, PyBytes>, u32)> {
    let config = config(settings)?;
    let (mut sequencer, mut status, mut segments) =
        (Sequencer::new(&config), Status::default(), SegmentWords::default());
    let mut results = results.into_iter();
    for word in words_of(words)? {
        if word::channels(&word) >> channel & 1 != 0 {
            sequencer.input.push(word);
        }
        while !sequencer.is_idle() {
            if sequencer.waits_for_result() {
                // The logic received no result for this branch, so nothing after it is executed.
                let Some(result) = results.next() else {
                    return Ok((numbers(py, &segments.0), status.errors));
                };
                sequencer.result(result);
            }
            sequencer.finish(1, &mut segments, &mut status);
        }
    }
    Ok((numbers(py, &segments.0), status.errors))
}

/// Computes the outputs of channels for segments that arrive in given cycles.
///
/// `given`: for each cycle and channel the segments, as `SEGMENT_NUMBERS` numbers each; they reach the engines
/// `delay` cycles later. `triggers`: whether each cycle has a trigger. Returns `SHOWN` numbers for
/// each cycle and channel, in the cycle in which the model has them; the samples of each channel
/// (int16) if requested; errors; parameters that ran out of segments; the cycle of the first
/// underrun or misalignment of each channel, or -1; and the parameters whose FIFOs are full at the
/// end.
#[pyfunction]
#[allow(clippy::type_complexity)]
fn replay<'py>(
    py: Python<'py>,
    given: &[u8],
    triggers: &[u8],
    delay: usize,
    samples: bool,
    settings: &Bound<PyDict>,
) -> PyResult<(Bound<'py, PyBytes>, Vec<Bound<'py, PyBytes>>, u32, Vec<(u8, i64, u8)>)> {
    let config = config(settings)?;
    let channels = config.channels;
    let cycles = triggers.len();
    let given: Vec<u64> = given
        .chunks_exact(8)
        .map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap_or_default()))
        .collect();
    if cycles == 0 || !given.len().is_multiple_of(cycles * channels * SEGMENT_NUMBERS) {
        return Err(PyValueError::new_err(
            "the number of segments does not match cycles and channels",
        ));
    }
    let row = given.len() / cycles;
    let mut machine = Machine::new(config);
    let mut shown = Vec::with_capacity(cycles * channels * SHOWN);
    let mut out = vec![Vec::new(); if samples { channels } else { 0 }];
    for (cycle, &trigger) in triggers.iter().enumerate() {
        let now = cycle
            .checked_sub(delay)
            .map_or(&[][..], |from| &given[from * row..(from + 1) * row]);
        for (c, segments) in now.chunks_exact((row / channels).max(1)).enumerate() {
            for segment in segments
                .chunks_exact(SEGMENT_NUMBERS)
                .filter(|segment| segment[0] & PRESENT != 0)
            {
                let body = Segment::from_word(&Word(segment[1..].try_into().unwrap_or_default()));
                if !machine.give(c, segment[0] as u8, body) {
                    return Err(PyValueError::new_err(format!(
                        "a segment FIFO of channel {c} overflows in cycle {cycle}"
                    )));
                }
            }
        }
        for c in 0..channels {
            let channel = machine.channel(c);
            let now = channel.shown();
            let bit = |at: usize, on: bool| u64::from(on) << at;
            let levels = [now.sync, now.feed_forward, now.enable, now.gpo];
            let levels = levels.iter().flatten().enumerate().map(|(at, &on)| bit(at, on)).sum();
            let runs = channel.states().contains(&kairos_contracts::pulse::State::Run);
            shown.extend(
                now.values
                    .iter()
                    .chain(&now.applied)
                    .map(|&v| v as u64 & ((1 << VALUE_BITS) - 1)),
            );
            shown.extend([levels, bit(0, channel.armed()) | bit(1, runs)]);
        }
        machine.step(trigger != 0, &mut out);
    }
    let status = &machine.status;
    let stops = (0..channels).map(|c| {
        (
            status.underrun_parameters[c],
            status.first_cycle[c].map_or(-1, |n| n as i64),
            (0..PARAMETERS)
                .filter(|p| !machine.channel(c).has_room(1 << p))
                .fold(0, |full, p| full | 1 << p),
        )
    });
    let samples = out
        .iter()
        .map(|y| PyBytes::new(py, &y.iter().flat_map(|y| y.to_le_bytes()).collect::<Vec<_>>()));
    Ok((numbers(py, &shown), samples.collect(), status.errors, stops.collect()))
}

fn numbers<'py>(py: Python<'py>, all: &[u64]) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &all.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<_>>())
}

pub fn add(module: &Bound<PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(execute, module)?)?;
    module.add_function(wrap_pyfunction!(replay, module)?)
}
