//! Formats of the device's services besides kernel sessions: requests of the management service,
//! dumps of the analyzer, messages of monitor and injector, names of channels.

use kairos_contracts::moninj::Report;
use kairos_proto::analyzer::Dump;
use kairos_proto::device_map::{self, DeviceMap};
use kairos_proto::management::{self, GREETING};
use kairos_proto::moninj::{self, Message};
use kairos_proto::paths::{Frequencies, Measured, Measurement};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::wire::Out;

/// Converts an error of a decoder to a ValueError with its text.
fn value_error(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

// Management

/// Returns the greeting of the management service for a board.
#[pyfunction]
fn management_greeting(py: Python<'_>, destination: u8) -> Bound<'_, PyBytes> {
    PyBytes::new(py, &[&GREETING[..], &[destination]].concat())
}

/// Encodes a request to replace the boot image. `checksum`: CRC-32 of the image.
#[pyfunction]
fn flash_request<'py>(py: Python<'py>, image: &[u8], checksum: u32) -> Bound<'py, PyBytes> {
    let mut out = Out(Vec::with_capacity(image.len() + 16));
    management::Request::encode_flash(&mut out, image, checksum);
    PyBytes::new(py, &out.0)
}

/// Encodes a request to measure a path.
#[pyfunction]
fn measure_request(py: Python<'_>, path: u8, size: u32, trials: u32) -> Bound<'_, PyBytes> {
    let measurement = Measurement {
        kind: path.into(),
        size,
        trials,
    };
    let mut out = Out(Vec::new());
    management::Request::encode(&mut out, management::Kind::Measure, &[], &measurement.to_bytes());
    PyBytes::new(py, &out.0)
}

/// Decodes the content of a reply to a measurement: clocks of processor and logic in Hz, and three
/// numbers of cycles per trial (`paths.toml`). ValueError if it is invalid.
#[pyfunction]
fn read_measurement(content: &[u8]) -> PyResult<(u32, u32, Vec<[u32; 3]>)> {
    let measured = Measured::new(content)
        .ok_or_else(|| PyValueError::new_err(format!("{} bytes that are not a valid measurement", content.len())))?;
    let Frequencies { processor, logic } = measured.frequencies;
    let samples = measured
        .samples()
        .map(|sample| [sample.time, sample.first, sample.last]);
    Ok((processor, logic, samples.collect()))
}

// Analyzer

/// Message type, channel, timestamp, counter, address, data.
type Event = (u8, u32, u64, u64, u32, u64);

/// Decodes a dump: RTIO channel of the log, the flag for DDS events, bytes ever recorded, whether
/// messages were lost, and the messages. ValueError if it is invalid or incomplete.
#[pyfunction]
fn read_analyzer_dump(bytes: &[u8]) -> PyResult<(u8, bool, u64, bool, Vec<Event>)> {
    let dump = Dump::new(bytes).map_err(value_error)?;
    let events = dump
        .events()
        .map(|event| {
            (
                event.kind as u8,
                event.channel,
                event.timestamp,
                event.counter,
                event.address,
                event.data,
            )
        })
        .collect();
    let head = dump.head;
    Ok((head.log_channel, dump.is_one_hot, head.total_bytes, head.error, events))
}

// Monitor and injector

/// Encodes a request about a probe or override of a channel. `value`: whether to start a watch, or
/// the value to inject.
#[pyfunction]
fn moninj_request(py: Python<'_>, kind: u8, channel: u32, number: u8, value: u8) -> PyResult<Bound<'_, PyBytes>> {
    let kind =
        moninj::Request::try_from(kind).map_err(|number| PyValueError::new_err(format!("no request {number}")))?;
    let (bytes, length) = Message {
        enable: value != 0,
        level: value,
        ..Message::about(kind, channel, number)
    }
    .encode();
    Ok(PyBytes::new(py, &bytes[..length]))
}

/// Type, channel, probe or override, and value.
type Reported = (u8, u32, u8, u64);

/// Decodes the reports of a device, which are received in pieces of any size.
#[pyclass(module = "kairos._native.wire")]
#[derive(Default)]
struct ReportDecoder(moninj::Decoder);

#[pymethods]
impl ReportDecoder {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Returns the reports that these bytes complete. ValueError for one of unknown type.
    fn decode(&mut self, mut received: &[u8]) -> PyResult<Vec<Reported>> {
        let mut reports = Vec::new();
        let unknown = |kind: moninj::UnknownType| value_error(format_args!("report of unknown type {}", kind.0));
        while let Some(report) = self.0.next::<Report>(&mut received).map_err(unknown)? {
            let value = match report.kind {
                Report::Probe => report.reading,
                Report::Override => report.level.into(),
            };
            reports.push((report.kind as u8, report.channel, report.number, value));
        }
        Ok(reports)
    }
}

// Names of channels

/// Encodes a map of channels to names, the value of the configuration key `device_map`.
#[pyfunction]
fn write_device_map<'py>(py: Python<'py>, entries: Vec<(u32, String)>) -> Bound<'py, PyBytes> {
    let mut out = Out(Vec::new());
    device_map::encode(
        &mut out,
        entries.iter().map(|(channel, name)| (*channel, name.as_str())),
    );
    PyBytes::new(py, &out.0)
}

/// Decodes such a map. ValueError if it is invalid.
#[pyfunction]
fn read_device_map(bytes: &[u8]) -> PyResult<Vec<(u32, &str)>> {
    Ok(DeviceMap::new(bytes).map_err(value_error)?.entries().collect())
}

/// Adds these functions to the module `wire`.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(management_greeting, module)?)?;
    module.add_function(wrap_pyfunction!(flash_request, module)?)?;
    module.add_function(wrap_pyfunction!(measure_request, module)?)?;
    module.add_function(wrap_pyfunction!(read_measurement, module)?)?;
    module.add_function(wrap_pyfunction!(read_analyzer_dump, module)?)?;
    module.add_function(wrap_pyfunction!(moninj_request, module)?)?;
    module.add_class::<ReportDecoder>()?;
    module.add_function(wrap_pyfunction!(write_device_map, module)?)?;
    module.add_function(wrap_pyfunction!(read_device_map, module)?)
}
