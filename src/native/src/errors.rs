//! Python exceptions raised by the wire formats.

use pyo3::create_exception;
use pyo3::exceptions::PyException;

create_exception!(
    kairos._native.wire,
    ProtocolError,
    PyException,
    "The device sent what the protocol does not allow."
);
create_exception!(
    kairos._native.wire,
    MismatchError,
    PyException,
    "A value is not of the type that the device wants."
);
