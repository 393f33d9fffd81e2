"""Encoding of values in the kernel session: arguments and results of host functions called by kernels.

The format is that of `src/proto/src/rpc/host.rs`. From the device every value carries tags (one
byte each); to the device the tag string is sent first and the values follow without tags.
"""

from .. import _native
from ..exceptions import RPCReturnValueError

__all__ = ["ProtocolError", "decode_arguments", "decode_value", "describe_tag", "encode_reply", "split_tag"]

_wire = _native.wire
ProtocolError = _wire.ProtocolError
describe_tag = _wire.describe_tag
split_tag = _wire.split_tag


def decode_arguments(stream, retrieve_object):
    """Decode the arguments of an RPC request up to the end mark, as (positional list, keyword
    dictionary).

    `stream` has ``read(n)``; `retrieve_object` turns an object id into the host object.
    """
    return _wire.read_arguments(stream.read, retrieve_object)


def decode_value(stream, retrieve_object):
    """Decode one tagged value; ProtocolError on an end mark or an unknown tag."""
    return _wire.read_value(stream.read, retrieve_object)


def encode_reply(tags: bytes, value) -> bytes:
    """Encode `value` as an untagged reply of the type `tags`; RPCReturnValueError if the type does
    not match."""
    try:
        return _wire.encode_value(tags, value)
    except _wire.MismatchError as error:
        raise RPCReturnValueError(str(error)) from None
