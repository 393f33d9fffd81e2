"""The EEPROM of a card."""

import pytest

from kairos.devices.sinara import Identity, decoded
from tests.support.vectors import vectors


def image(head: bytes, serial: str = "54105ec60001") -> bytes:
    tail = bytes.fromhex(serial)
    return head + b"\xff" * (256 - len(head) - len(tail)) + tail


@vectors("sinara_eeprom")
def test_identity_of_card_is_decoded(vector):
    written = image(bytes.fromhex(vector["bytes"]))
    wanted = Identity("54-10-5e-c6-00-01", "Urukul", 9, "1.5", 0, "Technosystem", True)
    assert decoded(written) == wanted
    changed = written[:20] + b"x" + written[21:]
    assert not decoded(changed).sound


def test_erased_eeprom_has_only_its_serial_number():
    assert decoded(image(b"")) == Identity("54-10-5e-c6-00-01")
    with pytest.raises(ValueError, match="256 bytes, not 255"):
        decoded(bytes(255))
