"""Descriptor: round trip, damage, and agreement with the device database."""

import json
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kairos_gateware.descriptor import KINDS, Descriptor, DescriptorError, Register, RtioChannel
from kairos_gateware.device_db import render
from kairos_gateware.variants import VARIANTS

_TEXT = st.text(max_size=20)
_U32 = st.integers(0, 2**32 - 1)
_REGISTERS = st.lists(st.builds(Register, _TEXT, _U32, st.integers(1, 512), st.booleans(), st.booleans()), max_size=8)
_CHANNELS = st.lists(
    st.builds(RtioChannel, _U32, st.sampled_from(sorted(KINDS)), _TEXT, st.dictionaries(_TEXT, _U32, max_size=3)),
    max_size=8,
)
_DESCRIPTORS = st.builds(Descriptor, _TEXT, _TEXT, _U32, st.integers(0, 255), _REGISTERS, _CHANNELS)


@given(_DESCRIPTORS)
def test_encoded_descriptor_decodes_to_the_same(descriptor):
    data = descriptor.to_bytes()
    assert len(data) % 4 == 0
    assert Descriptor.from_bytes(data) == descriptor
    assert Descriptor.from_bytes(data + b"\xff" * 9) == descriptor
    assert struct.pack(f"<{len(data) // 4}I", *descriptor.to_words()) == data
    assert json.loads(descriptor.to_json())["identification"] == descriptor.identification


def test_known_descriptor_has_the_documented_bytes():
    """The format, byte for byte, as specified in docs/interfaces.md section 3."""
    d = Descriptor(
        "a;1",
        "b",
        125_000_000,
        3,
        [Register("r", 0x4001_0000, 64, True, False)],
        [RtioChannel(7, "log", "l", {"k": 2})],
        synthesiser=1,
        board="c;2",
    )
    body = bytes.fromhex(
        "0100 0300 613b3100  0200 0100 62000000  0500 0800 40597307 03010000"
        "0600 0300 633b3200"
        "0300 0900 00000140 4000 0100 72000000"
        "0400 1100 07000000 ff000000 0100 01 6b 02000000 6c 000000 0000 0000"
    )
    assert d.to_bytes() == b"KAIR" + struct.pack("<HHII", 1, 0, 16 + len(body), zlib.crc32(body)) + body


@given(_DESCRIPTORS, st.data())
def test_damaged_byte_of_a_descriptor_is_detected(descriptor, data):
    content = bytearray(descriptor.to_bytes())
    position = data.draw(st.integers(12, len(content) - 1))
    content[position] ^= data.draw(st.integers(1, 255))
    with pytest.raises(DescriptorError):
        Descriptor.from_bytes(bytes(content))


def test_missing_or_truncated_descriptor_is_refused():
    with pytest.raises(DescriptorError, match="magic"):
        Descriptor.from_bytes(bytes(64))
    with pytest.raises(DescriptorError, match="damaged"):
        Descriptor.from_bytes(Descriptor("a", "b", 1, 3).to_bytes()[:-4])


def test_device_db_and_descriptor_name_the_same_channels():
    variant = VARIANTS["demo"]
    scope = {}
    exec(render(variant, "emulator://demo"), scope)
    db = scope["device_db"]
    assert db["core"]["arguments"] == {
        "host": "emulator://demo",
        "ref_period": 1e-9,
        "ref_multiplier": 8,
        "target": "cortexa9",
    }
    entries = {
        name: (entry["class"], entry["arguments"]["channel"])
        for name, entry in db.items()
        if "channel" in entry["arguments"]
    }
    assert entries == {
        **{f"ttl{i}": ("TTLInOut", i) for i in range(4)},
        **{f"ttl{i}": ("TTLOut", i) for i in range(4, 12)},
    }
