//! The pulse core's compiler and model of `src/pulse`, for `kairos.pulse`. Words, samples and values
//! are passed as bytes, which NumPy reads in place.

use kairos_contracts::pulse::PARAMETERS;
use kairos_pulse::compile::{Error, Gate, Image as Tables, Limits, Owned, Pulse, Sequence, Shape, Step};
use kairos_pulse::model::{Block, Config, Coupling, FrameCommit, Machine, Recording as Shown, FIELDS, OFFSETS};
use kairos_pulse::units::Rates;
use kairos_pulse::{word, Word};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

create_exception!(
    kairos._native.pulse,
    PulseError,
    PyException,
    "A gate or sequence cannot be compiled."
);

fn rejected(error: Error) -> PyErr {
    PulseError::new_err(error.to_string())
}

fn bytes_of(words: &[Word]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_bytes()).collect()
}

pub(super) fn words_of(bytes: &[u8]) -> PyResult<Vec<Word>> {
    let chunks = bytes.chunks_exact(32);
    if !chunks.remainder().is_empty() {
        return Err(PyValueError::new_err("words have 32 bytes each"));
    }
    chunks
        .map(|chunk| Ok(Word::from_bytes(&chunk.try_into()?)))
        .collect::<PyResult<_>>()
}

/// ("constant", value), ("steps", values), ("spline", knots), ("mixed", shapes), ("samples",
/// values, tolerance).
fn shape(object: &Bound<PyAny>) -> PyResult<Shape> {
    let kind: String = object.get_item(0)?.extract()?;
    let content = object.get_item(1)?;
    Ok(match kind.as_str() {
        "constant" => Shape::Constant(content.extract()?),
        "steps" => Shape::Steps(content.extract()?),
        "spline" => Shape::Spline(content.extract()?),
        "mixed" => Shape::Mixed(content.try_iter()?.map(|item| shape(&item?)).collect::<PyResult<_>>()?),
        "samples" => Shape::Samples {
            values: content.extract()?,
            tolerance: object.get_item(2)?.extract()?,
        },
        _ => return Err(PyValueError::new_err(format!("unknown kind of shape: {kind}"))),
    })
}

/// Reads the attributes of a pulse of `kairos.pulse.gates`.
fn pulse(object: &Bound<PyAny>) -> PyResult<Pulse> {
    let mask = |name: &str| object.get_item(name)?.extract::<u8>();
    let mut shapes: [Shape; PARAMETERS] = Default::default();
    for (to, item) in shapes.iter_mut().zip(object.get_item("shapes")?.try_iter()?) {
        *to = shape(&item?)?;
    }
    Ok(Pulse {
        channel: mask("channel")?,
        cycles: object.get_item("cycles")?.extract()?,
        shapes,
        wait: object.get_item("wait")?.extract()?,
        sync: mask("sync")?,
        enable: mask("enable")?,
        feed_forward: mask("feed_forward")?,
        gpo: mask("gpo")?,
        clear: mask("clear")?,
        at_end: mask("at_end")?,
        forward: object.get_item("forward")?.extract()?,
        invert: object.get_item("invert")?.extract()?,
        own: mask("own")?,
    })
}

fn gates(objects: &Bound<PyAny>) -> PyResult<Vec<Gate>> {
    let gate = |object: PyResult<Bound<PyAny>>| {
        let object = object?;
        let pulses = object.get_item(1)?.try_iter()?.map(|item| pulse(&item?));
        Ok(Gate {
            name: object.get_item(0)?.extract()?,
            pulses: pulses.collect::<PyResult<_>>()?,
        })
    };
    objects.try_iter()?.map(gate).collect()
}

/// Statistics of a gate on a channel: name, channel, cycles, segments, entries of the map, words
/// streamed, whether it is in the tables, error.
type GateRow = (String, u8, u64, usize, usize, usize, bool, f64);

/// An entry of the tables: channel, parameter, address, and the word that writes it.
type OwnedRow<'py> = (u8, u8, u16, Bound<'py, PyBytes>);

/// A gate set, placed in the tables.
#[pyclass(module = "kairos._native.pulse")]
struct Image(Tables);

#[pymethods]
impl Image {
    /// Packs gates, each (name, pulses), for a core with this clock (Hz), channels and table sizes.
    #[new]
    fn new(
        objects: &Bound<PyAny>,
        clock: f64,
        samples_per_cycle: u32,
        channels: usize,
        room: [usize; 3],
    ) -> PyResult<Self> {
        let limits = Limits {
            channels,
            rates: Rates {
                clock,
                samples_per_cycle,
            },
            gates: room[0],
            map: room[1],
            pulses: room[2],
            ..Limits::default()
        };
        Tables::new(&gates(objects)?, limits).map(Self).map_err(rejected)
    }

    /// Returns the words that program the tables.
    fn programming<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &bytes_of(&self.0.programming()))
    }

    /// Returns the words that run a sequence, and the cycle in which the output of each starts. Steps
    /// are ("gates", names) or ("branch", names of each case).
    fn sequence<'py>(
        &mut self,
        py: Python<'py>,
        steps: &Bound<PyAny>,
        channels: u8,
        close: bool,
    ) -> PyResult<(Bound<'py, PyBytes>, Vec<u64>)> {
        let step = |object: PyResult<Bound<PyAny>>| {
            let object = object?;
            let content = object.get_item(1)?;
            Ok(match object.get_item(0)?.extract::<String>()?.as_str() {
                "branch" => Step::Branch(content.extract()?),
                _ => Step::Gates(content.extract()?),
            })
        };
        let steps = steps.try_iter()?.map(step).collect::<PyResult<_>>()?;
        let sequence = Sequence { steps, channels, close };
        let (starts, words): (Vec<u64>, Vec<Word>) = self.0.timed(&sequence).map_err(rejected)?.into_iter().unzip();
        Ok((PyBytes::new(py, &bytes_of(&words)), starts))
    }

    /// Places gates so that few words change this image into theirs.
    fn successor(&self, objects: &Bound<PyAny>) -> PyResult<Self> {
        self.0.successor(&gates(objects)?).map(Self).map_err(rejected)
    }

    /// Returns the words that change an older image into this one.
    fn changes<'py>(&self, py: Python<'py>, old: &Self) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &bytes_of(&self.0.changes(&old.0.channels)))
    }

    /// Returns the segments of a gate that are not shared; None if there is no such gate.
    fn owned<'py>(&self, py: Python<'py>, name: &str) -> Option<Vec<OwnedRow<'py>>> {
        let word = |o: &Owned| word::program_plut(1 << o.channel, o.address, &o.segment).to_bytes();
        let row = |o: Owned| (o.channel, o.parameter, o.address, PyBytes::new(py, &word(&o)));
        Some(self.0.owned(name)?.into_iter().map(row).collect())
    }

    /// Returns where a gate is on each channel: channel, id, first entry of the map; None if it is not in the tables.
    fn places(&self, name: &str) -> Option<Vec<(u8, u16, u16)>> {
        self.0.places(name)
    }

    /// Returns the statistics of each gate on each channel.
    fn gate_stats(&self) -> Vec<GateRow> {
        let rows = self.0.stats().gates.into_iter();
        rows.map(|g| {
            (
                g.name,
                g.channel,
                g.cycles,
                g.segments,
                g.entries,
                g.streamed,
                g.in_tables,
                g.error,
            )
        })
        .collect()
    }

    /// Returns the used entries of gate table, memory map and pulse table of each channel.
    fn table_stats(&self) -> Vec<[usize; 3]> {
        self.0.stats().tables
    }
}

/// The bit-exact model of the core.
#[pyclass(module = "kairos._native.pulse")]
struct Model {
    machine: Machine,
    channels: usize,
}

/// The result of a run: for each channel its samples (int16), and the values of the eight parameters
/// (int64, one parameter after another).
type Ran<'py> = (Vec<Bound<'py, PyBytes>>, Vec<Vec<Bound<'py, PyBytes>>>);

#[pymethods]
impl Model {
    /// `crosstalk`: latency of the compensation in cycles; None if there is none.
    #[new]
    fn new(
        clock: f64,
        samples_per_cycle: u32,
        channels: usize,
        trigger_channels: u8,
        emulator_frames: bool,
        crosstalk: Option<usize>,
    ) -> PyResult<Self> {
        if !(1..=8).contains(&channels) || samples_per_cycle == 0 {
            return Err(PyValueError::new_err(
                "a core has 1 to 8 channels, and at least one sample in a cycle",
            ));
        }
        let config = Config {
            channels,
            rates: Rates {
                clock,
                samples_per_cycle,
            },
            trigger_channels,
            crosstalk,
            frame_commit: if emulator_frames {
                FrameCommit::Emulator
            } else {
                FrameCommit::Continuous
            },
            ..Config::default()
        };
        Ok(Self {
            machine: Machine::new(config),
            channels,
        })
    }

    /// Adds words to the stream.
    fn feed(&mut self, words: &[u8]) -> PyResult<()> {
        self.machine.feed(words_of(words)?);
        Ok(())
    }

    /// Sets the compensation for the channel at an offset: factors as 18-bit words, delay in cycles.
    /// `zero`: the value that means no delay.
    fn couple(&mut self, channel: usize, offset: isize, factor: (i32, i32), delay: u8, zero: u8) -> PyResult<()> {
        let rejected = |text: &str| Err(PyValueError::new_err(text.to_string()));
        let Some(crosstalk) = &mut self.machine.crosstalk else {
            return rejected("this core has no crosstalk compensation");
        };
        let place = OFFSETS.iter().position(|&of| of == offset);
        let (Some(place), true) = (place, channel < self.channels) else {
            return rejected("a neighbour is at offset -2, -1, 1 or 2 of a channel of the core");
        };
        let fits = |part: i32| (-(1 << 17)..1 << 17).contains(&part);
        if !fits(factor.0) || !fits(factor.1) || delay > 63 || zero > 63 {
            return rejected("factors must be in -1 ≤ x < 1, delays in 0 to 63 cycles");
        }
        crosstalk.couplings[channel][place] = Coupling { factor, delay };
        crosstalk.zero = zero;
        Ok(())
    }

    /// Runs until all parts wait, for at most `limit` cycles.
    fn run_until_idle(&mut self, py: Python, limit: u64) {
        py.detach(|| self.machine.run_until_idle(limit));
    }

    /// Runs to the first cycle in which an engine runs, until all wait, or for `limit` cycles.
    fn begin(&mut self, py: Python, limit: u64) {
        py.detach(|| self.machine.begin(limit));
    }

    /// Runs a cycle with the trigger.
    fn trigger(&mut self) {
        self.machine.step(true, &mut vec![Vec::new(); self.channels]);
    }

    /// Passes a measurement's result to the channels of the mask.
    fn result(&mut self, channels: u8, state: u8) {
        self.machine.result(channels, state);
    }

    /// Runs cycles without a trigger; returns samples and parameters as requested.
    fn run<'py>(&mut self, py: Python<'py>, cycles: u64, samples: bool, parameters: bool) -> Ran<'py> {
        let mut out = vec![Vec::new(); if samples { self.channels } else { 0 }];
        let mut values: Vec<[Vec<i64>; PARAMETERS]> =
            vec![Default::default(); if parameters { self.channels } else { 0 }];
        py.detach(|| {
            let mut see = |c: usize, block: &Block| {
                for (to, run) in values.get_mut(c).into_iter().flatten().zip(&block.values) {
                    to.extend((0..block.cycles as usize).map(|cycle| run.at(cycle)));
                }
            };
            self.machine.run(cycles, &mut see, &mut out);
        });
        let flat =
            |samples: &Vec<i16>| PyBytes::new(py, &samples.iter().flat_map(|y| y.to_ne_bytes()).collect::<Vec<_>>());
        let wide =
            |values: &Vec<i64>| PyBytes::new(py, &values.iter().flat_map(|y| y.to_ne_bytes()).collect::<Vec<_>>());
        (
            out.iter().map(flat).collect(),
            values
                .iter()
                .map(|of_channel| of_channel.iter().map(wide).collect())
                .collect(),
        )
    }

    /// Whether all engines selected by the trigger wait for it.
    fn armed(&self) -> bool {
        self.machine.armed()
    }

    /// Whether all words have been executed.
    fn fed(&self) -> bool {
        self.machine.is_fed()
    }

    /// Cycles since the start.
    fn cycle(&self) -> u64 {
        self.machine.cycle()
    }

    /// States of a channel's engines.
    fn states(&self, channel: usize) -> PyResult<Vec<u8>> {
        if channel >= self.channels {
            return Err(PyValueError::new_err(format!("the core has no channel {channel}")));
        }
        Ok(self.machine.channel(channel).states().map(|state| state as u8).to_vec())
    }

    /// Error bits, channels with an underrun and their parameters, channels limited to full scale.
    fn status(&self) -> (u32, u8, Vec<u8>, u8) {
        let status = &self.machine.status;
        (
            status.errors,
            status.underrun_channels,
            status.underrun_parameters.to_vec(),
            status.saturated,
        )
    }
}

/// A recording of the outputs of cores, and the samples computed from it.
#[pyclass(module = "kairos._native.pulse")]
struct Recording {
    shown: Shown,
    outputs: usize,
}

impl Recording {
    fn has(&self, output: usize) -> PyResult<()> {
        if output >= self.outputs {
            return Err(PyValueError::new_err(format!("the recording has no output {output}")));
        }
        Ok(())
    }
}

#[pymethods]
impl Recording {
    /// Reads 64-bit words; `cores`: the core of each output, numbered from 0.
    #[new]
    fn new(words: &[u8], cores: Vec<usize>, samples_per_cycle: u32) -> PyResult<Self> {
        let chunks = words.chunks_exact(8);
        let whole = chunks.remainder().is_empty();
        let words: Vec<u64> = chunks
            .map(|chunk| chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)))
            .collect();
        let shown = Shown::new(&words, &cores, samples_per_cycle).filter(|_| whole);
        let shown = shown.ok_or_else(|| PyValueError::new_err("this is not the recording of a pulse core"))?;
        let outputs = cores.len();
        Ok(Self { shown, outputs })
    }

    /// The cycles of an output's first and last change.
    fn span(&self, output: usize) -> PyResult<Option<(u64, u64)>> {
        self.has(output)?;
        Ok(self.shown.span(output))
    }

    /// Returns the samples (int16) of some cycles, of the real or the imaginary part, and whether one was limited to
    /// full scale.
    fn samples<'py>(
        &self,
        py: Python<'py>,
        output: usize,
        begin: u64,
        cycles: u64,
        imaginary: bool,
    ) -> PyResult<(Bound<'py, PyBytes>, bool)> {
        self.has(output)?;
        let mut samples = Vec::new();
        let limited = py.detach(|| match imaginary {
            false => self.shown.samples(output, begin, cycles, &mut samples),
            true => self.shown.imaginary(output, begin, cycles, &mut samples),
        });
        let bytes: Vec<u8> = samples.iter().flat_map(|sample| sample.to_ne_bytes()).collect();
        Ok((PyBytes::new(py, &bytes), limited))
    }

    /// Returns the fields (int64) of some cycles, one field after another.
    fn fields<'py>(
        &self,
        py: Python<'py>,
        output: usize,
        begin: u64,
        cycles: u64,
    ) -> PyResult<Vec<Bound<'py, PyBytes>>> {
        self.has(output)?;
        let mut values: [Vec<u8>; FIELDS] = Default::default();
        py.detach(|| {
            self.shown.fields(output, begin, cycles, |cycles, fields| {
                for (to, field) in values.iter_mut().zip(fields) {
                    (0..cycles).for_each(|_| to.extend(field.to_ne_bytes()));
                }
            });
        });
        Ok(values.iter().map(|field| PyBytes::new(py, field)).collect())
    }

    /// Returns the changes of a field: cycles (int64), and the values from then on (int64).
    fn changes<'py>(&self, py: Python<'py>, output: usize, field: usize) -> PyResult<[Bound<'py, PyBytes>; 2]> {
        self.has(output)?;
        let (mut times, mut values) = (Vec::new(), Vec::new());
        py.detach(|| {
            self.shown.changes(output, field, |cycle, value| {
                times.extend((cycle as i64).to_ne_bytes());
                values.extend(value.to_ne_bytes());
            })
        });
        Ok([PyBytes::new(py, &times), PyBytes::new(py, &values)])
    }
}

pub fn add(module: &Bound<PyModule>) -> PyResult<()> {
    module.add("PulseError", module.py().get_type::<PulseError>())?;
    module.add_class::<Image>()?;
    module.add_class::<Recording>()?;
    module.add_class::<Model>()
}
