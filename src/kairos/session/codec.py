"""Values on the wire of the kernel session: what kernels send to host functions, and what those answer.

From the device every value carries tags (one byte each); to the device the tag string goes first and the values follow
without tags. All numbers are little endian and nothing is padded. The grammar of tags:

    value := n | b | i | I | f | s | B | A | O | F | t count value... | l value | a rank value | r value | k value
"""

import struct
from dataclasses import dataclass
from fractions import Fraction

import numpy

from ..exceptions import RPCReturnValueError

__all__ = ["Keyword", "decode_arguments", "decode_value", "encode_reply", "split_tag", "ProtocolError"]

_FIXED = {"b": "?", "i": "<i", "I": "<q", "f": "<d"}
_DTYPES = {"b": numpy.dtype("?"), "i": numpy.dtype("<i4"), "I": numpy.dtype("<i8"), "f": numpy.dtype("<f8")}
_NAMES = {
    "n": "None",
    "b": "bool",
    "i": "int32",
    "I": "int64",
    "f": "float",
    "s": "str",
    "B": "bytes",
    "A": "bytearray",
    "F": "Fraction",
    "O": "host object",
    "k": "keyword argument",
}


class ProtocolError(Exception):
    """The device sent what the protocol does not allow."""


@dataclass
class Keyword:
    """A keyword argument of a call."""

    name: str
    value: object


_END = object()


# Device to host


def decode_arguments(stream, retrieve_object):
    """Arguments of an RPC request up to the end mark, as (positional list, keyword dictionary).

    `stream` has ``read(n)``; `retrieve_object` turns an object id into the host object.
    """
    args, kwargs = [], {}
    while (value := _decode(stream, retrieve_object)) is not _END:
        if isinstance(value, Keyword):
            kwargs[value.name] = value.value
        else:
            args.append(value)
    return args, kwargs


def decode_value(stream, retrieve_object):
    """One tagged value; ProtocolError if there is an end mark or an unknown tag instead."""
    value = _decode(stream, retrieve_object)
    if value is _END:
        raise ProtocolError("a value was expected where the device sent the end of arguments")
    return value


def _u32(stream) -> int:
    return int.from_bytes(stream.read(4), "little")


def _text(stream) -> str:
    return stream.read(_u32(stream)).decode("utf-8", errors="replace")


def _decode(stream, retrieve):
    tag = chr(stream.read(1)[0])
    match tag:
        case "\0":
            return _END
        case "n":
            return None
        case "b":
            return stream.read(1) != b"\0"
        case "i":
            return numpy.int32(struct.unpack("<i", stream.read(4))[0])
        case "I":
            return numpy.int64(struct.unpack("<q", stream.read(8))[0])
        case "f":
            return struct.unpack("<d", stream.read(8))[0]
        case "s":
            return _text(stream)
        case "B" | "A":
            return bytearray(stream.read(_u32(stream)))
        case "O":
            return retrieve(_u32(stream))
        case "t":
            return tuple(decode_value(stream, retrieve) for _ in range(stream.read(1)[0]))
        case "l":
            length = _u32(stream)
            elements = _elements(stream, length, retrieve)
            if isinstance(elements, list):
                return elements
            # Elements of an int64 list stay NumPy values, so that they are not taken for 32-bit ones when quoted again.
            return list(elements) if elements.dtype == _DTYPES["I"] else elements.tolist()
        case "a":
            shape = tuple(_u32(stream) for _ in range(stream.read(1)[0]))
            elements = _elements(stream, int(numpy.prod(shape, dtype=object)), retrieve)
            if isinstance(elements, list):
                array = numpy.empty(len(elements), dtype=object)
                array[:] = elements
                elements = array
            return elements.reshape(shape)
        case "r":
            return range(*(int(decode_value(stream, retrieve)) for _ in range(3)))
        case "k":
            name = _text(stream)
            return Keyword(name, decode_value(stream, retrieve))
        case "F":
            return Fraction(*struct.unpack("<qq", stream.read(16)))
    raise ProtocolError(f"unknown RPC tag 0x{ord(tag):02x} from the device")


def _elements(stream, length, retrieve):
    tag = chr(stream.read(1)[0])
    if tag in _DTYPES:
        dtype = _DTYPES[tag]
        data = stream.read(length * dtype.itemsize)
        if tag == "b":
            return numpy.frombuffer(data, dtype="u1") != 0
        return numpy.frombuffer(data, dtype=dtype).copy()
    return [decode_value(stream, retrieve) for _ in range(length)]


# Host to device


def split_tag(tags: bytes) -> tuple[bytes, bytes]:
    """The tag string of the first value in `tags`, and the rest."""
    if not tags:
        raise ProtocolError("the device sent an incomplete type tag")
    match chr(tags[0]):
        case "t":
            end = 2
            for _ in range(_tag_byte(tags, 1)):
                end += len(split_tag(tags[end:])[0])
        case "a":
            _tag_byte(tags, 1)
            end = 2 + len(split_tag(tags[2:])[0])
        case "l" | "r" | "k":
            end = 1 + len(split_tag(tags[1:])[0])
        case tag if tag in _NAMES:
            end = 1
        case tag:
            raise ProtocolError(f"unknown RPC tag 0x{ord(tag):02x} from the device")
    return tags[:end], tags[end:]


def _tag_byte(tags, index):
    if len(tags) <= index:
        raise ProtocolError("the device sent an incomplete type tag")
    return tags[index]


def describe_tag(tags: bytes) -> str:
    """The type of a tag string in words: ``list(int32)``."""
    first = chr(tags[0])
    if first in _NAMES:
        return _NAMES[first]
    if first == "t":
        rest, names = tags[2:], []
        for _ in range(tags[1]):
            element, rest = split_tag(rest)
            names.append(describe_tag(element))
        return f"({', '.join(names)}{',' if len(names) == 1 else ''})"
    if first == "a":
        return f"array({describe_tag(tags[2:])}, {tags[1]} dimensions)"
    return f"{'list' if first == 'l' else 'range'}({describe_tag(tags[1:])})"


def encode_reply(tags: bytes, value) -> bytes:
    """`value` as an untagged reply of the type `tags`; RPCReturnValueError if it is not of that type."""
    one, rest = split_tag(tags)
    if rest:
        raise ProtocolError(f"the device asks for more than one return value (tag {tags!r})")
    chunks: list[bytes] = []
    _encode(chunks, one, value, value, tags)
    return b"".join(chunks)


def _encode(chunks, tags, value, root, root_tags):
    def check(condition, why=""):
        if not condition:
            raise RPCReturnValueError(
                f"type mismatch: cannot serialize {root!r} as {describe_tag(root_tags)}"
                + (f" ({value!r} is not {describe_tag(tags)}{why})" if value is not root or why else "")
            )

    def size(count):
        check(count < 2**31, ", it is too long")
        chunks.append(count.to_bytes(4, "little"))

    first = chr(tags[0])
    match first:
        case "n":
            check(value is None)
        case "b":
            check(isinstance(value, bool | numpy.bool_))
            chunks.append(b"\1" if value else b"\0")
        case "i":
            check(isinstance(value, int | numpy.int32))
            check(-(2**31) <= value < 2**31, ", it is out of range")
            chunks.append(struct.pack("<i", value))
        case "I":
            check(isinstance(value, int | numpy.int32 | numpy.int64))
            check(-(2**63) <= value < 2**63, ", it is out of range")
            chunks.append(struct.pack("<q", value))
        case "f":
            check(isinstance(value, float))
            chunks.append(struct.pack("<d", value))
        case "s":
            check(isinstance(value, str))
            check("\0" not in value, ", it contains a NUL character")
            try:
                data = value.encode()
            except UnicodeEncodeError:
                check(False, ", it contains half a surrogate pair")
            size(len(data))
            chunks.append(data)
        case "B" | "A":
            check(isinstance(value, bytes | bytearray))
            size(len(value))
            chunks.append(bytes(value))
        case "F":
            check(isinstance(value, Fraction))
            try:
                chunks.append(struct.pack("<qq", value.numerator, value.denominator))
            except struct.error:
                check(False, ", it is out of range")
        case "t":
            check(isinstance(value, tuple))
            check(len(value) == tags[1], f", it has {len(value) if isinstance(value, tuple) else 0} elements")
            rest = tags[2:]
            for element in value:
                element_tags, rest = split_tag(rest)
                _encode(chunks, element_tags, element, root, root_tags)
        case "l":
            check(isinstance(value, list))
            size(len(value))
            for element in value:
                _encode(chunks, tags[1:], element, root, root_tags)
        case "a":
            check(isinstance(value, numpy.ndarray))
            check(value.ndim == tags[1], f", it has {getattr(value, 'ndim', 0)} dimensions")
            for dimension in value.shape:
                size(dimension)
            element = chr(tags[2])
            if element in _DTYPES and value.dtype != object:
                widens = element == "I" and value.dtype == numpy.int32
                check(widens or value.dtype == _DTYPES[element], f", its elements are {value.dtype}")
                chunks.append(numpy.ascontiguousarray(value, dtype=_DTYPES[element]).tobytes())
            else:
                for item in value.flat:
                    _encode(chunks, tags[2:], item, root, root_tags)
        case "r":
            check(isinstance(value, range))
            for part in (value.start, value.stop, value.step):
                _encode(chunks, tags[1:], part, root, root_tags)
        case _:
            raise OSError(f"a {_NAMES.get(first, first)} cannot be sent to the core device")
