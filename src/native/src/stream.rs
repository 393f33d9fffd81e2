//! Sources of bytes in Python: a function that returns the requested number, or a connection.

use kairos_contracts::memory::DDR_END;
use kairos_proto::rpc::Source;
use pyo3::exceptions::PyEOFError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::ProtocolError;

/// Maximum length of a message in bytes: a device has no more memory. A length is checked before
/// anything is allocated.
const MESSAGE_MAX: u64 = DDR_END as u64;
/// Maximum length in bytes of the texts of a message about the device or an exception.
const TEXTS_MAX: u32 = 1 << 20;

/// Buffered bytes of a connection: called with a number, it returns that many. `more`, called with
/// the number of missing bytes, returns at least that many, or raises. Without the buffer, each of
/// the dozen pieces of a call of a host function would be a Python call.
#[pyclass(module = "kairos._native.wire")]
pub struct Inbox {
    more: Option<Py<PyAny>>,
    bytes: Py<PyBytes>,
    position: usize,
}

#[pymethods]
impl Inbox {
    #[new]
    fn new(py: Python<'_>, more: Py<PyAny>) -> Self {
        let bytes = PyBytes::new(py, &[]).unbind();
        Self {
            more: Some(more),
            bytes,
            position: 0,
        }
    }

    fn __call__<'py>(slf: &Bound<'py, Self>, count: usize) -> PyResult<Bound<'py, PyBytes>> {
        Self::fill(slf, count)?;
        let mut own = slf.borrow_mut();
        let bytes = own.bytes.bind(slf.py()).clone();
        let from = own.position;
        own.position += count;
        if from == 0 && count == bytes.as_bytes().len() {
            return Ok(bytes);
        }
        Ok(PyBytes::new(slf.py(), &bytes.as_bytes()[from..from + count]))
    }

    // A reference cycle: the function belongs to the connection, which owns the inbox.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.more)
    }

    fn __clear__(&mut self) {
        self.more = None;
    }
}

impl Inbox {
    /// Reads until `count` bytes are buffered.
    fn fill(slf: &Bound<'_, Self>, count: usize) -> PyResult<()> {
        let py = slf.py();
        loop {
            let own = slf.borrow();
            let left = own.bytes.bind(py).as_bytes().len() - own.position;
            if left >= count {
                return Ok(());
            }
            let Some(more) = own.more.as_ref().map(|more| more.clone_ref(py)) else {
                return Err(PyEOFError::new_err("the connection has been closed"));
            };
            let missing = count - left;
            drop(own); // the function may block for long, and the user may interrupt it
            let came = more.call1(py, (missing,))?.into_bound(py).cast_into::<PyBytes>()?;
            if came.as_bytes().is_empty() {
                return Err(PyEOFError::new_err("unexpected end of data"));
            }
            let mut own = slf.borrow_mut();
            let rest = &own.bytes.bind(py).as_bytes()[own.position..];
            own.bytes = match rest {
                [] => came,
                rest => PyBytes::new(py, &[rest, came.as_bytes()].concat()),
            }
            .unbind();
            own.position = 0;
        }
    }

    /// As `__call__`, without creating a bytes object.
    fn read(slf: &Bound<'_, Self>, buffer: &mut [u8]) -> PyResult<()> {
        Self::fill(slf, buffer.len())?;
        let mut own = slf.borrow_mut();
        let from = own.position;
        own.position += buffer.len();
        buffer.copy_from_slice(&own.bytes.bind(slf.py()).as_bytes()[from..own.position]);
        Ok(())
    }
}

/// Bytes of one message from a Python function that returns the requested number, which may be an [`Inbox`].
pub struct Stream<'py> {
    read: Bound<'py, PyAny>,
    inbox: Option<Bound<'py, Inbox>>,
    /// Bytes that the message may still have.
    left: u64,
    /// Bytes that further texts of it may have.
    text_left: u32,
}

impl<'py> Stream<'py> {
    pub fn new(read: Bound<'py, PyAny>) -> Self {
        let inbox = read.cast::<Inbox>().ok().cloned();
        Self {
            read,
            inbox,
            left: MESSAGE_MAX,
            text_left: TEXTS_MAX,
        }
    }

    /// Counts bytes of the message before they are read.
    fn spend(&mut self, count: u64) -> PyResult<()> {
        self.left = self.left.checked_sub(count).ok_or_else(|| {
            let text = format!("it announces {count} bytes, more than its memory has, or sends a message without end");
            ProtocolError::new_err(text)
        })?;
        Ok(())
    }

    /// The next `count` bytes. ProtocolError if there cannot be as many.
    pub fn take(&mut self, count: u64) -> PyResult<Bound<'py, PyBytes>> {
        self.spend(count)?;
        self.call(count)
    }

    fn call(&mut self, count: u64) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.read.call1((count,))?.cast_into::<PyBytes>()?;
        if bytes.as_bytes().len() as u64 != count {
            return Err(PyEOFError::new_err("unexpected end of data"));
        }
        Ok(bytes)
    }

    /// Reads a text; invalid UTF-8 is replaced. ProtocolError if it is too long, or those of the message are together.
    pub fn text(&mut self, length: u32) -> PyResult<String> {
        self.text_left = self.text_left.checked_sub(length).ok_or_else(|| {
            let text = format!("it announces a text of {length} bytes, where at most {TEXTS_MAX} in all are sensible");
            ProtocolError::new_err(text)
        })?;
        Ok(String::from_utf8_lossy(self.take(length.into())?.as_bytes()).into_owned())
    }
}

impl Source for Stream<'_> {
    type Error = PyErr;

    fn read(&mut self, buffer: &mut [u8]) -> PyResult<()> {
        self.spend(buffer.len() as u64)?;
        if let Some(inbox) = &self.inbox {
            return Inbox::read(inbox, buffer);
        }
        buffer.copy_from_slice(self.call(buffer.len() as u64)?.as_bytes());
        Ok(())
    }
}
