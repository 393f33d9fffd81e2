//! The host's side of the wire formats of `src/proto`. In functions that read, `read` is a Python
//! function that returns exactly the requested number of bytes, or raises.

use kairos_contracts::session::Request;
use kairos_proto::bitstream::{Bitstream, Chip};
use kairos_proto::boards::Boards;
use kairos_proto::boot_image as images;
use kairos_proto::descriptor::Descriptor;
use kairos_proto::exception::host::{read_report as read_exceptions, Exception, Reader};
use kairos_proto::exception::{Extent, Frame};
use kairos_proto::management;
use kairos_proto::netboot;
use kairos_proto::rpc::host::{self, Described};
use kairos_proto::rpc::{Sink, Source};
use kairos_proto::session::host::{header, read_call as read_rpc, read_header, Begun, Raised, Runtime};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::errors::{MismatchError, ProtocolError};
use crate::stream::{Inbox, Stream};
use crate::values::{DecodeError, Decoded, Objects, Part, Returned, Types};

/// A message being written.
pub struct Out(pub Vec<u8>);

impl Sink for Out {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

/// The same message, shared with the value that is written to it.
struct Counted<'a, 'py>(Vec<u8>, &'a Returned<'a, 'py>);

impl Sink for Counted<'_, '_> {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
        self.1.written.set(self.0.len());
    }
}

impl Counted<'_, '_> {
    /// Returns all bytes, with the large blocks inserted.
    fn joined<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let blocks = self.1.blocks.borrow();
        let total = self.0.len() + blocks.iter().map(|(_, block)| block.as_bytes().len()).sum::<usize>();
        PyBytes::new_with(py, total, |room| {
            let (mut room, mut from) = (room, 0);
            let ends = blocks.iter().map(|(place, block)| (*place, block.as_bytes()));
            for (place, block) in ends.chain([(self.0.len(), &b""[..])]) {
                for piece in [&self.0[from..place], block] {
                    let (own, rest) = room.split_at_mut(piece.len());
                    own.copy_from_slice(piece);
                    room = rest;
                }
                from = place;
            }
            Ok(())
        })
    }
}

fn message<'py>(py: Python<'py>, bytes: &[u8]) -> Bound<'py, PyBytes> {
    PyBytes::new(py, bytes)
}

// Sessions

/// Encodes a request without a payload, or the header of another one.
#[pyfunction]
fn session_header(py: Python<'_>, kind: u8) -> PyResult<Bound<'_, PyBytes>> {
    let kind = Request::try_from(kind).map_err(|number| PyValueError::new_err(format!("no request {number}")))?;
    Ok(message(py, &header(kind)))
}

/// Encodes a LoadKernel up to its library of `length` bytes.
#[pyfunction]
fn load_kernel_header(py: Python<'_>, length: usize) -> PyResult<Bound<'_, PyBytes>> {
    let length = host::length(length).ok_or_else(|| PyValueError::new_err("a kernel library is below 2 GB"))?;
    Ok(message(py, &[&header(Request::LoadKernel)[..], &length].concat()))
}

/// Encodes a SubkernelUpload up to its library of `length` bytes.
#[pyfunction]
fn subkernel_header(py: Python<'_>, number: u32, destination: u8, length: usize) -> PyResult<Bound<'_, PyBytes>> {
    let length = host::length(length).ok_or_else(|| PyValueError::new_err("a kernel library is below 2 GB"))?;
    let bytes = [
        &header(Request::SubkernelUpload)[..],
        &number.to_le_bytes(),
        &[destination],
        &length,
    ];
    Ok(message(py, &bytes.concat()))
}

/// Encodes an RpcReply up to its value.
#[pyfunction]
fn rpc_reply_header<'py>(py: Python<'py>, return_tag: &[u8]) -> Bound<'py, PyBytes> {
    let length = (return_tag.len() as u32).to_le_bytes();
    message(py, &[&header(Request::RpcReply)[..], &length, return_tag].concat())
}

/// Encodes an RpcException. `keys`: of name, message, file and function in the string table.
#[pyfunction]
fn rpc_exception(py: Python<'_>, keys: [u32; 4], params: [i64; 3], line: i32, column: i32) -> Bound<'_, PyBytes> {
    let [name, message_key, file, function] = keys;
    let raised = Raised {
        name,
        message: message_key,
        param: params,
        file,
        line,
        column,
        function,
    };
    message(py, &[&header(Request::RpcException)[..], &raised.encode()].concat())
}

/// Reads up to the type of the next message and returns it. ProtocolError if there is none.
#[pyfunction]
fn read_type(read: Bound<'_, PyAny>) -> PyResult<u8> {
    match read_header(&mut Stream::new(read))? {
        Begun::Message(kind) => Ok(kind as u8),
        Begun::Unknown(number) => Ok(number),
        Begun::NotASession => Err(ProtocolError::new_err(
            "the device sent data that is not of the kernel session protocol",
        )),
    }
}

/// Reads the rest of a SystemInfo: (runtime id, identifier, whether it ended properly) of a soft core,
/// of others only the id.
#[pyfunction]
#[allow(clippy::type_complexity, reason = "a tuple for Python")]
fn read_system_info(read: Bound<'_, PyAny>) -> PyResult<(Vec<u8>, bool, Option<(String, bool)>)> {
    let mut stream = Stream::new(read);
    let (mut id, mut word, mut flag) = ([0; Runtime::LENGTH], [0; 4], [0]);
    stream.read(&mut id)?;
    let runtime = Runtime::of(&id);
    let mut more = None;
    if runtime == Runtime::SoftCore {
        stream.read(&mut word)?;
        let identifier = stream.text(u32::from_le_bytes(word))?;
        stream.read(&mut flag)?;
        more = Some((identifier, flag != [0]));
    }
    Ok((id.to_vec(), runtime != Runtime::Other, more))
}

/// Reads a text with its length.
#[pyfunction]
fn read_text(read: Bound<'_, PyAny>) -> PyResult<String> {
    let mut stream = Stream::new(read);
    let mut length = [0; 4];
    stream.read(&mut length)?;
    stream.text(u32::from_le_bytes(length))
}

/// Reads a call after the header of an RpcRequest: (whether it is asynchronous, service, arguments,
/// keyword arguments, return tag). `retrieve` returns the object with an id.
#[pyfunction]
#[allow(clippy::type_complexity, reason = "a tuple for Python")]
fn read_call<'py>(
    read: Bound<'py, PyAny>,
    retrieve: Bound<'py, PyAny>,
) -> PyResult<(bool, u32, Bound<'py, PyList>, Bound<'py, PyDict>, Bound<'py, PyBytes>)> {
    let py = read.py();
    let (args, kwargs) = (PyList::empty(py), PyDict::new(py));
    let mut builder = Objects::new(retrieve)?;
    let call = read_rpc(&mut Stream::new(read), &mut builder, |value| {
        argument(value, &args, &kwargs)
    })?;
    let tag = PyBytes::new(py, &call.return_tag.value()?.extract::<Vec<u8>>()?);
    Ok((call.is_async, call.service, args, kwargs, tag))
}

fn argument<'py>(
    value: Decoded<'py>,
    args: &Bound<'py, PyList>,
    kwargs: &Bound<'py, PyDict>,
) -> Result<(), DecodeError> {
    let taken = match value {
        Decoded::Value(value) => args.append(value),
        Decoded::Keyword(name, value) => kwargs.set_item(name, value),
    };
    Ok(taken?)
}

/// Reads arguments up to the end mark, as (positional list, keyword dictionary).
#[pyfunction]
fn read_arguments<'py>(
    read: Bound<'py, PyAny>,
    retrieve: Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyDict>)> {
    let (args, kwargs) = (PyList::empty(read.py()), PyDict::new(read.py()));
    let (mut stream, mut builder) = (Stream::new(read), Objects::new(retrieve)?);
    while let Some(value) = host::read(&mut stream, &mut builder).map_err(PyErr::from)? {
        argument(value, &args, &kwargs)?;
    }
    Ok((args, kwargs))
}

/// Reads a tagged value.
#[pyfunction]
fn read_value<'py>(read: Bound<'py, PyAny>, retrieve: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let value = host::read(&mut Stream::new(read), &mut Objects::new(retrieve)?)?;
    let value = value.ok_or(DecodeError::Malformed(host::Malformed::End))?;
    Ok(value.value()?)
}

/// Encodes a value for the device, without tags. MismatchError if it does not have the type `tags`.
#[pyfunction]
fn encode_value<'py>(tags: &[u8], value: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let py = value.py();
    let whole = Returned {
        value: value.clone(),
        tags,
        types: Types::get(py)?,
        written: Default::default(),
        blocks: Default::default(),
    };
    let mut out = Counted(Vec::new(), &whole);
    host::write(&mut out, tags, &Part { value, whole: &whole }).map_err(PyErr::from)?;
    out.joined(py)
}

/// Splits a tag string after the first value.
#[pyfunction]
fn split_tag<'py>(py: Python<'py>, tags: &[u8]) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    let (one, rest) = host::split(tags).map_err(|error| ProtocolError::new_err(error.to_string()))?;
    Ok((message(py, one), message(py, rest)))
}

/// Describes a type in words.
#[pyfunction]
fn describe_tag(tags: &[u8]) -> String {
    Described(tags).to_string()
}

/// A text of a report: text, or a key of the host's string table.
#[derive(IntoPyObject)]
enum Text {
    Device(String),
    Host(u32),
}

type SourceLocation = (Text, i32, i32, Text);

/// Converts a report to tuples.
#[derive(Default)]
struct Report {
    exceptions: Vec<(u32, Text, [i64; 3], SourceLocation)>,
    extents: Vec<(u32, u32)>,
    frames: Vec<(u32, u32)>,
}

impl<'py> Reader<Stream<'py>> for Report {
    type Text = Text;
    type Error = PyErr;

    fn text(&mut self, length: u32, source: &mut Stream<'py>) -> PyResult<Text> {
        source.text(length).map(Text::Device)
    }

    fn host_text(&mut self, key: u32) -> PyResult<Text> {
        Ok(Text::Host(key))
    }

    fn exception(&mut self, e: Exception<Text>) -> PyResult<()> {
        self.exceptions
            .push((e.id, e.message, e.param, (e.file, e.line, e.column, e.function)));
        Ok(())
    }

    fn extent(&mut self, extent: Extent) -> PyResult<()> {
        self.extents.push((extent.initial, extent.current));
        Ok(())
    }

    fn frame(&mut self, frame: Frame) -> PyResult<()> {
        self.frames.push((frame.address, frame.stack_pointer));
        Ok(())
    }

    fn too_many(&mut self, count: u32, what: &str) -> PyErr {
        ProtocolError::new_err(format!("it announces a report with {count} {what}"))
    }
}

/// Reads a report after the header of a KernelException: exceptions (id, message, parameters, (file,
/// line, column, function)), the first and last of the frames of each, the frames (address, stack
/// pointer), and the bits of asynchronous errors.
#[pyfunction]
#[allow(clippy::type_complexity, reason = "a tuple for Python")]
fn read_report(
    read: Bound<'_, PyAny>,
) -> PyResult<(
    Vec<(u32, Text, [i64; 3], SourceLocation)>,
    Vec<(u32, u32)>,
    Vec<(u32, u32)>,
    u8,
)> {
    let mut report = Report::default();
    let errors = read_exceptions(&mut Stream::new(read), &mut report)?;
    Ok((report.exceptions, report.extents, report.frames, errors))
}

// Management

/// Encodes a management request. `key` and `data` are ignored for requests without them; a proof is
/// passed as data.
#[pyfunction]
fn management_request<'py>(py: Python<'py>, kind: u8, key: &[u8], data: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let kind =
        management::Kind::try_from(kind).map_err(|number| PyValueError::new_err(format!("no request {number}")))?;
    let mut out = Out(Vec::with_capacity(data.len() + key.len() + 16));
    management::Request::encode(&mut out, kind, key, data);
    Ok(message(py, &out.0))
}

/// Reads a management reply: its type and content. Without content if the type is unknown.
#[pyfunction]
fn read_management_reply<'py>(read: Bound<'py, PyAny>) -> PyResult<(u8, Bound<'py, PyBytes>)> {
    let py = read.py();
    let mut stream = Stream::new(read);
    let (mut kind, mut word) = ([0], [0; 4]);
    stream.read(&mut kind)?;
    let Ok(reply) = management::Reply::try_from(kind[0]) else {
        return Ok((kind[0], message(py, b"")));
    };
    let length = match management::reply::behind(reply) {
        management::reply::Behind::Bytes(length) => length as u64,
        management::reply::Behind::Counted => {
            stream.read(&mut word)?;
            u32::from_le_bytes(word).into()
        }
    };
    Ok((kind[0], stream.take(length)?))
}

// Network boot

/// Encodes the offer of a file, without its proof.
#[pyfunction]
fn netboot_offer(py: Python<'_>, kind: u8, length: u32, digest: netboot::Digest) -> PyResult<Bound<'_, PyBytes>> {
    let kind =
        netboot::Kind::try_from(kind).map_err(|number| PyValueError::new_err(format!("no kind of file {number}")))?;
    let (bytes, end) = netboot::Request::Offer(netboot::Offer { kind, length, digest }).encode();
    Ok(message(py, &bytes[..end]))
}

/// Encodes the request to boot, without its proof.
#[pyfunction]
fn netboot_boot(py: Python<'_>) -> Bound<'_, PyBytes> {
    let (bytes, end) = netboot::Request::Boot.encode();
    message(py, &bytes[..end])
}

/// Reads an answer of the loader: its type and content. Hello: version, whether requests need a
/// proof, nonce. Have: number of bytes. Refused: the reason.
#[pyfunction]
fn read_netboot_answer<'py>(read: Bound<'py, PyAny>) -> PyResult<(u8, Bound<'py, PyAny>)> {
    let py = read.py();
    let mut text = [0; netboot::TEXT_MAX];
    let answer = netboot::Answered::read(&mut Stream::new(read), &mut text)?;
    let said = match answer {
        netboot::Answered::Hello { version, hello } => (version, hello.authenticated, PyBytes::new(py, &hello.nonce))
            .into_pyobject(py)?
            .into_any(),
        netboot::Answered::Reply(netboot::Reply::Have(bytes)) => bytes.into_pyobject(py)?.into_any(),
        netboot::Answered::Reply(netboot::Reply::Refused(reason)) => reason.into_pyobject(py)?.into_any(),
        _ => py.None().into_bound(py),
    };
    Ok((answer.number(), said))
}

// Boot images

/// A partition: name, whether it configures the PL, load address, entry point (0: none), data.
type Partition<'py> = (String, bool, u32, u32, Bound<'py, PyBytes>);

/// Assembles a boot image of partitions, the loader first. ValueError if they do not fit.
#[pyfunction]
fn boot_image<'py>(py: Python<'py>, partitions: Vec<Partition<'py>>) -> PyResult<Bound<'py, PyBytes>> {
    let named: Vec<_> = partitions
        .iter()
        .map(|(name, logic, load, entry, data)| images::Named {
            name,
            partition: images::Partition {
                destination: match logic {
                    true => images::Destination::Logic,
                    false => images::Destination::Memory,
                },
                load: *load,
                entry: *entry,
                data: data.as_bytes(),
            },
        })
        .collect();
    let mut out = Out(Vec::new());
    images::encode(&mut out, &named).map_err(|unfit| PyValueError::new_err(unfit.to_string()))?;
    Ok(message(py, &out.0))
}

/// Returns the reason why no device can boot from an image; None if it is valid.
#[pyfunction]
fn unbootable(image: &[u8]) -> Option<String> {
    let checked = images::check(image, images::Machine::default());
    checked.err().map(|error| error.to_string())
}

/// Returns the name of the chip that a bitstream is for. ValueError if it does not say.
#[pyfunction]
fn chip(bitstream: &[u8]) -> PyResult<String> {
    let (_, idcode) = Bitstream::read(bitstream).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(Chip(idcode).to_string())
}

/// An RTIO channel: number, kind, name, and the parameters that differ from their defaults.
type DescribedChannel<'a> = (u32, u8, &'a str, Vec<(&'a str, u32)>);
/// A gateware: `variant;version`, frequency of the RTIO clock in Hz and fine bits, channels, `board;revision`, build.
type Gateware<'a> = (&'a str, Option<(u32, u8)>, Vec<DescribedChannel<'a>>, &'a str, &'a str);

/// Decodes the descriptor of a gateware. ValueError if the bytes are none.
#[pyfunction]
fn read_descriptor(bytes: &[u8]) -> PyResult<Gateware<'_>> {
    let found = Descriptor::new(bytes).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok((
        found.identification(),
        found.clock().map(|clock| (clock.frequency, clock.fine_bits)),
        found
            .channels()
            .map(|c| (c.number, c.kind.0, c.name, c.parameters.collect()))
            .collect(),
        found.board(),
        found.build_id(),
    ))
}

/// Returns the boards that a loader supports, the default first: name, and the assumptions that no
/// public source confirms. None if the bytes are no loader.
#[pyfunction]
fn boards(loader: &[u8]) -> Option<Vec<(&str, &str)>> {
    let known = Boards::find(loader)?;
    Some(known.iter().map(|board| (board.name, board.assumed)).collect())
}

/// Returns the loader with board `index` selected. ValueError if it does not support that board.
#[pyfunction]
fn choose_board<'py>(py: Python<'py>, loader: &[u8], index: usize) -> PyResult<Bound<'py, PyBytes>> {
    let (at, chosen) = Boards::find(loader)
        .and_then(|known| known.choose(index))
        .ok_or_else(|| PyValueError::new_err(format!("the loader has no board {index}")))?;
    let mut changed = loader.to_vec();
    changed[at..at + chosen.len()].copy_from_slice(&chosen);
    Ok(message(py, &changed))
}

/// Adds these functions to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ProtocolError", module.py().get_type::<ProtocolError>())?;
    module.add("MismatchError", module.py().get_type::<MismatchError>())?;
    module.add_class::<Inbox>()?;
    module.add_function(wrap_pyfunction!(session_header, module)?)?;
    module.add_function(wrap_pyfunction!(load_kernel_header, module)?)?;
    module.add_function(wrap_pyfunction!(subkernel_header, module)?)?;
    module.add_function(wrap_pyfunction!(rpc_reply_header, module)?)?;
    module.add_function(wrap_pyfunction!(rpc_exception, module)?)?;
    module.add_function(wrap_pyfunction!(read_type, module)?)?;
    module.add_function(wrap_pyfunction!(read_system_info, module)?)?;
    module.add_function(wrap_pyfunction!(read_text, module)?)?;
    module.add_function(wrap_pyfunction!(read_call, module)?)?;
    module.add_function(wrap_pyfunction!(read_arguments, module)?)?;
    module.add_function(wrap_pyfunction!(read_value, module)?)?;
    module.add_function(wrap_pyfunction!(encode_value, module)?)?;
    module.add_function(wrap_pyfunction!(split_tag, module)?)?;
    module.add_function(wrap_pyfunction!(describe_tag, module)?)?;
    module.add_function(wrap_pyfunction!(read_report, module)?)?;
    module.add_function(wrap_pyfunction!(management_request, module)?)?;
    module.add_function(wrap_pyfunction!(read_management_reply, module)?)?;
    module.add_function(wrap_pyfunction!(netboot_offer, module)?)?;
    module.add_function(wrap_pyfunction!(netboot_boot, module)?)?;
    module.add_function(wrap_pyfunction!(read_netboot_answer, module)?)?;
    module.add_function(wrap_pyfunction!(boot_image, module)?)?;
    module.add_function(wrap_pyfunction!(unbootable, module)?)?;
    module.add_function(wrap_pyfunction!(chip, module)?)?;
    module.add_function(wrap_pyfunction!(read_descriptor, module)?)?;
    module.add_function(wrap_pyfunction!(boards, module)?)?;
    module.add_function(wrap_pyfunction!(choose_board, module)?)
}
