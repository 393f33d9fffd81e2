"""The power of the SD card is cut after each sector of a write: afterwards there is the old value or the new one."""

import shutil

import pytest

from . import sd_card
from .raw_management import Management

CASES = {"line": (b"10.0.2.15", b"10.0.2.15/24"), "line to file": (b"1", b"\xa5" * 1500), "new": (None, b"\x5a" * 1500)}


def attempt(start_device, directory, card, cut, action):
    """What `action` says of a device whose card dies after `cut` written sectors (0: it does not)."""
    device = start_device(directory, gateware=False, sd=card, settings=[f"sd_cut_after={cut}"])
    try:
        with Management(device) as client:
            return action(client)
    finally:
        device.close()


@pytest.mark.parametrize("name", CASES)
def test_every_sector(start_device, tmp_path, name):
    old, new = CASES[name]
    key = b"test_key"
    fresh = sd_card.make(tmp_path / "fresh", [(b"CONFIG  TXT", b"other=stays\n")])
    if old is not None:
        assert attempt(start_device, tmp_path, fresh, 0, lambda client: client.config_write(key, old))
    card = tmp_path / "card"
    for cut in range(1, 500):
        shutil.copy(fresh, card)
        done = attempt(start_device, tmp_path, card, cut, lambda client: client.config_write(key, new))
        value, other = attempt(
            start_device, tmp_path, card, 0, lambda client: (client.config_read(key), client.config_read(b"other"))
        )
        assert value == new or (value == old and not done), f"after {cut} sectors: {value!r}"
        assert other == b"stays"
        if done:
            break
    assert done and cut > 4
