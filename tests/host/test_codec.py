"""Values of the kernel session, compared with the bytes in the protocol description and with a
separate encoder of the device side, written from that description."""

import io
import struct
from fractions import Fraction

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kairos.coredevice.exceptions import RPCReturnValueError
from kairos.session import codec


class Stream(io.BytesIO):
    """Bytes that raise an exception when read past their end."""

    def read(self, count):
        data = super().read(count)
        assert len(data) == count, "decoder reads past the end"
        return data


def decode(data, objects=None):
    stream = Stream(bytes(data))
    value = codec.decode_value(stream, (objects or {}).__getitem__)
    assert io.BytesIO.read(stream) == b"", "decoder leaves bytes behind"
    return value


# The device side. A type is its tag string; `device_value` and `host_bytes` follow the table of values.


def device_value(tag: bytes, value) -> bytes:
    """Returns the tagged bytes that a device sends for `value` of type `tag`."""
    first = tag[:1]
    if first in b"tla":
        if first == b"t":
            body, rest = bytes([len(value)]), tag[2:]
            for element in value:
                one, rest = codec.split_tag(rest)
                body += device_value(one, element)
        elif first == b"l":
            body = struct.pack("<I", len(value)) + device_elements(tag[1:], value)
        else:
            body = tag[1:2] + b"".join(struct.pack("<I", n) for n in value.shape)
            body += device_elements(tag[2:], list(value.flat))
        return first + body
    if first == b"r":
        return first + b"".join(device_value(tag[1:], part) for part in (value.start, value.stop, value.step))
    return first + scalar(first, value)


def device_elements(tag, elements):
    if tag in (b"b", b"i", b"I", b"f"):
        return tag + b"".join(scalar(tag, element) for element in elements)
    return tag[:1] + b"".join(device_value(tag, element) for element in elements)


def scalar(tag, value):
    match tag:
        case b"n":
            return b""
        case b"b":
            return b"\1" if value else b"\0"
        case b"i":
            return struct.pack("<i", value)
        case b"I":
            return struct.pack("<q", value)
        case b"f":
            return struct.pack("<d", value)
        case b"s":
            return struct.pack("<I", len(value.encode())) + value.encode()
        case b"B" | b"A":
            return struct.pack("<I", len(value)) + value
    raise AssertionError(tag)


def device_reads(tag: bytes, stream):
    """Decodes an untagged reply of type `tag` like a device."""
    first = tag[:1]
    if first == b"t":
        rest, values = tag[2:], []
        for _ in range(tag[1]):
            one, rest = codec.split_tag(rest)
            values.append(device_reads(one, stream))
        return tuple(values)
    if first == b"l":
        (length,) = struct.unpack("<I", stream.read(4))
        return [device_reads(tag[1:], stream) for _ in range(length)]
    if first == b"a":
        shape = struct.unpack(f"<{tag[1]}I", stream.read(4 * tag[1]))
        count = int(numpy.prod(shape, dtype=object))
        return shape, [device_reads(tag[2:], stream) for _ in range(count)]
    if first == b"r":
        return range(*(device_reads(tag[1:], stream) for _ in range(3)))
    if first in b"sBA":
        (length,) = struct.unpack("<I", stream.read(4))
        data = stream.read(length)
        return data.decode() if first == b"s" else data
    if first == b"n":
        return None
    layout = {b"b": "<?", b"i": "<i", b"I": "<q", b"f": "<d"}[first]
    return struct.unpack(layout, stream.read(struct.calcsize(layout)))[0]


INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
SCALARS = {
    b"n": st.none(),
    b"b": st.booleans(),
    b"i": INT32,
    b"I": INT64,
    b"f": st.floats(allow_nan=False),
    b"s": TEXT,
    b"B": st.binary(),
    b"A": st.binary(),
    b"ri": st.builds(range, INT32, INT32, st.integers(1, 9)),
}
DTYPES = {b"b": "?", b"i": "<i4", b"I": "<i8", b"f": "<f8"}


def tags():
    return st.recursive(
        st.sampled_from(sorted(SCALARS)),
        lambda inner: st.one_of(
            inner.map(lambda tag: b"l" + tag),
            st.lists(inner, max_size=4).map(lambda elements: b"t" + bytes([len(elements)]) + b"".join(elements)),
            st.tuples(st.integers(1, 3), st.sampled_from(sorted(DTYPES))).map(lambda a: b"a" + bytes([a[0]]) + a[1]),
        ),
        max_leaves=6,
    )


def values(tag):
    if tag in SCALARS:
        return SCALARS[tag]
    if tag[:1] == b"l":
        return st.lists(values(tag[1:]), max_size=5)
    if tag[:1] == b"t":
        rest, elements = tag[2:], []
        for _ in range(tag[1]):
            one, rest = codec.split_tag(rest)
            elements.append(values(one))
        return st.tuples(*elements)
    shape = st.lists(st.integers(0, 3), min_size=tag[1], max_size=tag[1])
    return shape.flatmap(
        lambda dims: st.lists(SCALARS[tag[2:]], min_size=int(numpy.prod(dims)), max_size=int(numpy.prod(dims))).map(
            lambda flat: numpy.array(flat, dtype=DTYPES[tag[2:]]).reshape(dims)
        )
    )


TYPED = tags().flatmap(lambda tag: st.tuples(st.just(tag), values(tag)))


def same(a, b):
    if isinstance(a, numpy.ndarray):
        return a.shape == b.shape and a.dtype == b.dtype and bool(numpy.all(a == b))
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return a == b


@given(TYPED)
def test_values_encoded_by_device_are_decoded(typed):
    tag, value = typed
    assert same(value, decode(device_value(tag, value)))


@given(TYPED)
def test_encoded_reply_is_read_by_device(typed):
    tag, value = typed
    stream = Stream(codec.encode_reply(tag, value))
    got = device_reads(tag, stream)
    assert io.BytesIO.read(stream) == b""
    plain = lambda v: (  # noqa: E731
        (v.shape, v.ravel().tolist())
        if isinstance(v, numpy.ndarray)
        else type(v)(plain(x) for x in v)
        if isinstance(v, list | tuple)
        else v
    )
    assert got == plain(value)


@given(TYPED, st.binary(max_size=8))
def test_tag_is_split_at_its_end(typed, rest):
    tag, _ = typed
    assert codec.split_tag(tag + rest) == (tag, rest)


@given(st.binary(max_size=60))
def test_decode_of_any_bytes_never_crashes(data):
    class Short(Exception):
        pass

    class Source(io.BytesIO):
        def read(self, count):
            chunk = super().read(count)
            if len(chunk) < count:
                raise Short
            return chunk

    try:
        codec.decode_arguments(Source(data), {}.__getitem__)
    except (Short, codec.ProtocolError, KeyError, ValueError, ZeroDivisionError):
        pass


# Test vectors of the description.


def test_example_call_of_the_specification_is_decoded():
    this = object()
    stream = Stream(bytes.fromhex("4f03000000 66000000000000f83f 00 01000000 69"))
    args, kwargs = codec.decode_arguments(stream, {3: this}.__getitem__)
    assert args == [this, 1.5] and kwargs == {}
    assert stream.read(5) == b"\1\0\0\0i"
    assert codec.encode_reply(b"i", 3) == bytes.fromhex("03000000")


def test_list_of_strings_repeats_the_element_tag():
    assert decode(bytes.fromhex("6c02000000 73 7301000000 61 7302000000 6263")) == ["a", "bc"]


def test_keyword_arguments_of_a_call_are_decoded():
    data = b"i" + struct.pack("<i", 1) + b"k\x03\0\0\0sep" + b"s\0\0\0\0" + b"\0"
    args, kwargs = codec.decode_arguments(Stream(data), None)
    assert args == [1] and kwargs == {"sep": ""}


def test_decoded_values_have_expected_types():
    assert type(decode(b"i\1\0\0\0")) is numpy.int32
    assert type(decode(b"I" + b"\1" + bytes(7))) is numpy.int64
    assert type(decode(b"l\1\0\0\0i\1\0\0\0")[0]) is int
    assert type(decode(b"l\1\0\0\0I\1" + bytes(7))[0]) is numpy.int64
    assert type(decode(b"l\1\0\0\0b\1")[0]) is bool
    assert decode(b"B\2\0\0\0ab") == bytearray(b"ab")
    assert decode(b"b\2") is True


def test_tuple_of_58_elements_contains_a_colon():
    tag = b"t" + bytes([58]) + b"i" * 58
    assert codec.split_tag(tag + b"f") == (tag, b"f")
    assert decode(device_value(tag, tuple(range(58)))) == tuple(range(58))


def test_fraction_is_encoded_and_decoded():
    assert codec.encode_reply(b"F", Fraction(1, 3)) == struct.pack("<qq", 1, 3)
    assert decode(b"F" + struct.pack("<qq", 1, 3)) == Fraction(1, 3)


@pytest.mark.parametrize(
    ("tag", "value"),
    [
        (b"n", 0),
        (b"b", 1),
        (b"i", 2**31),
        (b"i", -(2**31) - 1),
        (b"i", numpy.int64(1)),
        (b"i", 1.0),
        (b"I", 2**63),
        (b"f", 1),
        (b"s", "a\0b"),
        (b"s", b"a"),
        (b"li", (1, 2)),
        (b"li", [1, "a"]),
        (b"t\2ii", (1,)),
        (b"t\2ii", [1, 2]),
        (b"a\1i", numpy.zeros((2, 2), dtype="i4")),
        (b"a\1f", numpy.zeros(2, dtype="f4")),
        (b"a\1i", [1, 2]),
        (b"ri", [1, 2, 3]),
        (b"ri", range(2**40)),
    ],
)
def test_value_of_wrong_type_is_rejected(tag, value):
    with pytest.raises(RPCReturnValueError, match="type mismatch: cannot serialize"):
        codec.encode_reply(tag, value)


def test_type_error_names_value_and_type():
    with pytest.raises(RPCReturnValueError, match=r"cannot serialize \[1, 'a'\] as list\(int32\) \('a' is not int32\)"):
        codec.encode_reply(b"li", [1, "a"])


@pytest.mark.parametrize("tag", [b"O", b"kO", b"lO"])
def test_object_returned_to_kernel_is_rejected(tag):
    with pytest.raises(IOError):
        codec.encode_reply(tag, [object()] if tag[:1] == b"l" else object())


def test_unknown_tag_is_rejected_with_its_byte():
    with pytest.raises(codec.ProtocolError, match="0x7a"):
        decode(b"z")
