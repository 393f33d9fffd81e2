"""Declared transfers: their words on the bus, computed once on the host."""

import pytest

from kairos.compiler.tests.jit import Compiled
from kairos.coredevice import spi2 as spi
from kairos.coredevice.core import Core
from kairos.coredevice.parts.spi import Transfer
from kairos.language import TInt32, delay_mu, kernel

CHANNEL = 9


class Devices:
    """A device manager with a core and a bus."""

    def __init__(self):
        self.core = Core(self, host=None, ref_period=1e-9)
        self.bus = spi.SPIMaster(self, CHANNEL)

    def get(self, name):
        return getattr(self, name)


class Card:
    short = Transfer(length=8, div=3, cs="select", flags=0)
    long = Transfer(length=32, div=2, cs=2)
    status = Transfer(length=24, div=16, cs="select", flags=spi.SPI_END | spi.SPI_INPUT)
    reversed = Transfer(length=8, div=2, cs=1, flags=spi.SPI_LSB_FIRST)

    def __init__(self, devices, select):
        self.core, self.bus, self.select = devices.core, devices.bus, select

    @kernel
    def message(self, head, data):
        self.short.send(head)
        self.long.send(data)

    @kernel
    def repeated(self, data):
        self.short.prepare()
        for _ in range(3):
            self.short.put(data)
        delay_mu(self.short.duration_mu)

    @kernel
    def ask(self) -> TInt32:
        return self.status.exchange(0x123456)

    @kernel
    def backwards(self):
        self.reversed.send(0x81)

    @kernel
    def by_hand_after_declared(self):
        self.short.send(1)
        self.bus.write(2)


def outputs(method, *args):
    result = Compiled(method, args, method.__self__.core).run()
    assert result.exception is None, result.exception
    return [(time, target - (CHANNEL << 8), data & 0xFFFFFFFF) for _, (time, target, data) in result.calls], result.now


@pytest.fixture
def card():
    return Card(Devices(), 0x85)


def test_declared_transfers_are_chained_without_gaps(card):
    short, long = 0x85 << 24 | 1 << 16 | 7 << 8, 2 << 24 | 31 << 8 | spi.SPI_END
    # A coarse cycle for each configuration, and (length + 1) * div + 1 for each transfer.
    times = [0, 8, 8 + 28 * 8, 16 + 28 * 8]
    words = [(1, short), (0, 0xAB << 24), (1, long), (0, 0x12345678)]
    sent, now = outputs(card.message, 0xAB, 0x12345678)
    assert sent == [(time, *word) for time, word in zip(times, words, strict=True)] and now == times[-1] + 67 * 8
    assert card.short.duration_mu == 28 * 8


def test_prepared_transfer_is_repeated_without_configuration(card):
    sent, now = outputs(card.repeated, 5)
    assert [time for time, *_ in sent] == [0, 8, 232, 456] and now == 456 + 2 * 224
    assert [data for _, address, data in sent if address == spi.SPI_DATA_ADDR] == [5 << 24] * 3


def test_lsb_first_data_is_not_shifted(card):
    assert outputs(card.backwards)[0][1][2] == 0x81


def test_transfer_by_hand_advances_by_declared_duration(card):
    assert outputs(card.by_hand_after_declared)[1] == 8 + 2 * 224


def test_each_instance_has_its_own_transfers():
    devices = Devices()
    one, other = Card(devices, 1), Card(devices, 2)
    assert one.short is one.short and one.short is not other.short
    assert (one.short.config ^ other.short.config) == 3 << 24


@pytest.mark.parametrize(
    "wrong, text",
    [
        ({"length": 33}, "length of an SPI transfer is between 1 and 32, not 33"),
        ({"length": 0}, "length"),
        ({"div": 1}, "div of an SPI transfer is between 2 and 257, not 1"),
        ({"cs": 256}, "cs of an SPI transfer is between 0 and 255, not 256"),
    ],
)
def test_invalid_transfer_declaration_is_rejected(wrong, text):
    class Wrong(Card):
        transfer = Transfer(**{"length": 8, "div": 2, "cs": 1} | wrong)

    with pytest.raises(ValueError, match=text):
        _ = Wrong(Devices(), 0).transfer


@pytest.mark.parametrize("length, div, cs", [(1, 2, 0), (32, 257, 255), (24, 16, 4)])
def test_declared_transfer_equals_manual_configuration(card, length, div, cs):
    class Declared(Card):
        transfer = Transfer(length, div, cs, spi.SPI_CS_POLARITY | spi.SPI_END)

    declared = Declared(Devices(), 0)
    flags = spi.SPI_CS_POLARITY | spi.SPI_END
    assert outputs(declared.transfer.prepare) == outputs(declared.bus.set_config_mu, flags, length, div, cs)


@pytest.mark.parametrize("length, div", [(0, 8), (33, 8), (8, 1), (8, 258)])
def test_invalid_bus_configuration_raises_an_exception(card, length, div):
    result = Compiled(card.bus.set_config_mu, (0, length, div, 0), card.core).run()
    assert result.exception is not None and result.calls == ()
