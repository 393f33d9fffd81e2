"""The SD card loses power during a write: afterwards it holds either the old or the new value."""

import shutil

import pytest

from tests.support import sd_card
from tests.support.raw_management import Management

CASES = {"line": (b"10.0.2.15", b"10.0.2.15/24"), "line to file": (b"1", b"\xa5" * 1500), "new": (None, b"\x5a" * 1500)}


def attempt(start_device, directory, card, cut, action):
    """Returns the result of `action` on a device whose card fails after `cut` written sectors (0: never)."""
    device = start_device(directory, gateware=False, sd=card, settings=[f"sd_cut_after={cut}"])
    try:
        with Management(device) as client:
            return action(client)
    finally:
        device.close()


def sectors(write):
    """Returns the number of sectors of a write: the smallest cut that comes too late. write(cut)
    returns whether the write succeeded."""
    low, high = 0, 1
    while not write(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if write(middle) else (middle, high)
    return low


@pytest.mark.parametrize("every", [48, pytest.param(1, marks=pytest.mark.long)], ids=["some sectors", "every sector"])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * (name != "line to file")) for name in CASES]
)
def test_power_loss_during_a_write_keeps_old_or_new_value(start_device, tmp_path, name, every):
    """Cuts after each of the first and last 12 sectors, which contain the journal and the journalled
    sectors, and after every `every`-th of the others, which are new and not yet referenced."""
    old, new = CASES[name]
    key = b"test_key"
    fresh = sd_card.make(tmp_path / "fresh", [(b"CONFIG  TXT", b"other=stays\n")])
    if old is not None:
        assert attempt(start_device, tmp_path, fresh, 0, lambda client: client.config_write(key, old))
    card = tmp_path / "card"

    def write(cut):
        shutil.copy(fresh, card)
        return attempt(start_device, tmp_path, card, cut, lambda client: client.config_write(key, new))

    count = sectors(write)
    assert count > 4
    for cut in [n for n in range(1, count + 2) if n <= 12 or n > count - 12 or n % every == 0]:
        done = write(cut)
        assert done == (cut > count)
        value, other = attempt(
            start_device, tmp_path, card, 0, lambda client: (client.config_read(key), client.config_read(b"other"))
        )
        assert value == new or (value == old and not done), f"after {cut} sectors: {value!r}"
        assert other == b"stays"
