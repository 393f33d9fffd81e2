//! The host's side of a session: writes requests and reads messages of the device.

use kairos_contracts::rpc::tag;
use kairos_contracts::session::{Reply, Request, RPC_EXCEPTION_LENGTH, RUNTIME_ID, SYNC_BYTE, SYNC_LENGTH};

use super::SYNC;
use crate::rpc::host::Builder;
use crate::rpc::{self, Source};

/// Bytes allowed between two messages before the stream is not recognised as a session.
const SKIPPED_MAX: usize = 4096;
/// Bytes before a message's payload: synchronisation and type.
pub const HEADER: usize = SYNC_LENGTH + 1;

/// The start of a request, up to its type.
pub const fn header(kind: Request) -> [u8; HEADER] {
    let mut bytes = [SYNC_BYTE; HEADER];
    bytes[SYNC_LENGTH] = kind as u8;
    bytes
}

/// An exception raised by a host function; texts are keys of the host's string table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Raised {
    pub name: u32,
    pub message: u32,
    pub param: [i64; 3],
    pub file: u32,
    pub line: i32,
    /// From 0; -1 if unknown.
    pub column: i32,
    pub function: u32,
}

impl Raised {
    /// Encodes the part after the header of an RpcException. [`crate::exception::Record::from_host`]
    /// decodes it.
    pub fn encode(&self) -> [u8; RPC_EXCEPTION_LENGTH] {
        let mut bytes = [0; RPC_EXCEPTION_LENGTH];
        let (keys, rest) = bytes.split_at_mut(8);
        let (params, place) = rest.split_at_mut(24);
        let put = |words: &mut [u8], values: &[u32]| {
            for (word, value) in words.chunks_exact_mut(4).zip(values) {
                word.copy_from_slice(&value.to_le_bytes());
            }
        };
        put(keys, &[self.name, self.message]);
        for (word, value) in params.chunks_exact_mut(8).zip(self.param) {
            word.copy_from_slice(&value.to_le_bytes());
        }
        put(place, &[self.file, self.line as u32, self.column as u32, self.function]);
        bytes
    }
}

/// The header of a message in the device's stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    Message(Reply),
    /// A message of an unknown type.
    Unknown(u8),
    /// Nothing resembles a message.
    NotASession,
}

/// Reads up to the type of the next message. Bytes before its synchronisation are skipped.
///
/// # Errors
/// Errors of the source.
pub fn read_header<S: Source>(source: &mut S) -> Result<Begun, S::Error> {
    let mut window = [0; SYNC_LENGTH];
    source.read(&mut window)?;
    let mut skipped = 0;
    while window != SYNC {
        if skipped == SKIPPED_MAX {
            return Ok(Begun::NotASession);
        }
        window.rotate_left(1);
        source.read(&mut window[SYNC_LENGTH - 1..])?;
        skipped += 1;
    }
    let mut kind = [0];
    source.read(&mut kind)?;
    Ok(Reply::try_from(kind[0]).map_or_else(Begun::Unknown, Begun::Message))
}

/// A call of a host function, without its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call<V> {
    /// Whether no reply is expected.
    pub is_async: bool,
    /// Id of the function.
    pub service: u32,
    /// Type tag of the reply.
    pub return_tag: V,
}

/// Reads a call after the header of an RpcRequest, passing the arguments to `argument`.
///
/// # Errors
/// Errors of the source or builder, malformed values.
pub fn read_call<S: Source, M: Builder<S>>(
    source: &mut S,
    builder: &mut M,
    mut argument: impl FnMut(M::Value) -> Result<(), M::Error>,
) -> Result<Call<M::Value>, M::Error> {
    let mut is_async = [0];
    source.read(&mut is_async)?;
    let service = source.read_word()?;
    while let Some(value) = rpc::host::read(source, builder)? {
        argument(value)?;
    }
    let length = source.read_word()?;
    Ok(Call {
        is_async: is_async != [0],
        service,
        return_tag: builder.bytes(tag::BYTES, length, source)?,
    })
}

/// The kind of device, by the runtime id in its SystemInfo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    /// A Zynq; nothing follows.
    Zynq,
    /// A soft core: an identifier (length u32, text) and a flag (whether the previous kernel ended
    /// properly) follow.
    SoftCore,
    Other,
}

impl Runtime {
    /// Length of an id in bytes.
    pub const LENGTH: usize = RUNTIME_ID.len();

    /// Identifies the runtime by its id.
    pub fn of(id: &[u8; Self::LENGTH]) -> Self {
        match id {
            id if id == RUNTIME_ID => Self::Zynq,
            id if id == kairos_contracts::session::RUNTIME_ID_SOFT => Self::SoftCore,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exception::{Record, Text};

    #[test]
    fn messages_after_other_bytes_are_found() {
        let begun = |mut bytes: &[u8]| read_header(&mut bytes);
        assert_eq!(
            begun(&super::super::reply::load_completed()),
            Ok(Begun::Message(Reply::LoadCompleted))
        );
        assert_eq!(begun(b"xZZZ\0ZZZZ\x0a"), Ok(Begun::Message(Reply::RpcRequest)));
        assert_eq!(begun(b"ZZZZZ"), Ok(Begun::Unknown(0x5a)));
        assert_eq!(begun(&[7; 5000]), Ok(Begun::NotASession));
        assert_eq!(begun(b"ZZZ"), Err("ended"));
        assert_eq!(header(Request::RunKernel), *b"ZZZZ\x06");
    }

    #[test]
    fn raised_exception_is_decoded_by_the_device() {
        let raised = Raised {
            name: 1,
            message: 2,
            param: [-3, 4, 5],
            file: 6,
            line: 7,
            column: -1,
            function: 8,
        };
        let expected = Record {
            id: 1,
            message: Text::host(2),
            param: [-3, 4, 5],
            file: Text::host(6),
            line: 7,
            column: u32::MAX,
            function: Text::host(8),
        };
        assert_eq!(Record::from_host(&raised.encode()), expected);
    }

    #[test]
    fn runtime_is_recognised_by_its_identifier() {
        let system_info = super::super::reply::system_info();
        let id = system_info.last_chunk().unwrap();
        assert_eq!(
            (Runtime::of(id), Runtime::of(b"AROR"), Runtime::of(b"what")),
            (Runtime::Zynq, Runtime::SoftCore, Runtime::Other)
        );
    }
}
