"""Searches for the synchronisation delays of an AD9910, with a model of the chip on its bus."""

import pytest

from kairos.compiler.tests.jit import Compiled

from .traffic import devices

SPI, UPDATE = 1, 2
ENTRIES = {
    "spi": ("spi2.SPIMaster", {"channel": SPI}),
    "update": ("ttl.TTLOut", {"channel": UPDATE}),
    "clock": ("ttl.TTLClockGen", {"channel": 3, "acc_width": 4}),
    "cpld": ("urukul.CPLD", {"spi_device": "spi", "io_update_device": "update", "sync_device": "clock"}),
    "alone": ("urukul.CPLD", {"spi_device": "spi", "io_update_device": "update"}),
    "dds": ("ad9910.AD9910", {"chip_select": 5, "cpld_device": "cpld", "pll_n": 32}),
    "shared": ("suservo.SharedDDS", {"cpld_device": "cpld", "pll_n": 32}),
    "unsynchronised": ("ad9910.AD9910", {"chip_select": 5, "cpld_device": "alone", "pll_n": 32}),
}
SYNC, STEP, FTW = 0x0A, 0x0C, 0x07


class Chip:
    """A model of an AD9910 for the searches: `edge` of SYNC_IN in steps of its delay, with a period
    of 13 steps; `phase` of SYNC_CLK's edges in ns, with a period of 4."""

    def __init__(self, edge=0, phase=0.5):
        self.edge, self.phase = edge, phase
        self.registers = {}
        self.message = []
        self.config = 0
        self.rises = []
        self.answers = []

    def output(self, time, target, data):
        channel, address = target >> 8, target & 0xFF
        if channel == UPDATE and data:
            self.rises.append(time)
        elif channel == SPI and address == 1:
            self.config = data & 0xFFFFFFFF
        elif channel == SPI:
            self.transfer(data & 0xFFFFFFFF, (self.config >> 8 & 31) + 1)

    def transfer(self, data, length):
        self.message.append(data >> 32 - length)
        if self.config & 4:
            self.answers.append(self.answer())
        if self.config & 2:
            if self.config >> 24 == 5 and not self.message[0] & 0x80:
                self.registers[self.message[0]] = self.message[1:]
            self.message = []

    def answer(self):
        if self.config >> 24 == 1:
            word = self.registers[SYNC][0]
            window, delay = word >> 28, word >> 3 & 31
            error = any(abs(delay - self.edge - 13 * n) <= window for n in range(-1, 4))
            return 9 << 16 | error << 5
        start, stop = self.rises[-2:]
        assert self.message[0] == 0x80 | FTW and self.registers[STEP] == [0, 0]
        return int((stop - self.phase) // 4 - (start - self.phase) // 4)


class Card(Chip):
    """The four chips of an Urukul that belongs to an SU-Servo, with these edges; MASK_NU selects
    the addressed one."""

    CONFIGURATION, ALL = 1, 3

    def __init__(self, edges):
        super().__init__()
        self.edges, self.chips, self.channel = edges, [{} for _ in edges], None

    def transfer(self, data, length):
        self.message.append(data >> 32 - length)
        cs = self.config >> 24
        if cs == self.CONFIGURATION and len(self.message) == 1:
            # The upper part of the configuration, from bit 28 on; the mask begins at bit 36.
            self.channel = (self.message[0] >> 8 & 0xF).bit_length() - 1
        if self.config & 4:
            registers, edge = self.chips[self.channel], self.edges[self.channel]
            window, delay = registers[SYNC][0] >> 28, registers[SYNC][0] >> 3 & 31
            error = any(abs(delay - edge - 13 * n) <= window for n in range(-1, 4))
            self.answers.append(9 << 16 | error << 4 + self.channel)
        if self.config & 2:
            if cs == self.ALL:
                self.chips[self.channel][self.message[0]] = self.message[1:]
            self.message = []


def search(method, chip, *args):
    """Return the result of a kernel whose outputs go to the chip."""
    compiled = Compiled(method, args, method.__self__.core)
    seen = 0
    calls = []

    def read(_timeout, _channel):
        nonlocal seen
        for name, values in calls[seen:]:
            if name == "rtio_output":
                chip.output(*values)
        seen = len(calls)
        return 0, chip.answers.pop(0)

    firmware = {"rtio_input_timestamped_data": read, "rtio_get_counter": lambda: 0}
    return compiled.run(firmware=firmware, calls=calls)


@pytest.mark.parametrize("edge, seed, found", [(0, 15, (19, 5)), (0, 5, (6, 5)), (5, 15, (12, 5)), (5, 8, (11, 5))])
def test_synchronisation_clock_delay_is_found(edge, seed, found):
    result = search(devices(ENTRIES).get("dds").tune_sync_delay, Chip(edge), seed)
    assert result.exception is None and result.value == found


def test_failed_delay_search_is_reported():
    result = search(devices(ENTRIES).get("unsynchronised").tune_sync_delay, Chip())
    assert result.message == "the Urukul of the AD9910 has no synchronisation clock"
    blurred = Chip()
    blurred.answer = lambda: 9 << 16 | 0xF << 4
    result = search(devices(ENTRIES).get("dds").tune_sync_delay, blurred)
    assert result.message == "no delay of the synchronisation clock is good for the AD9910"
    still = Chip()
    still.answer = lambda: 0
    result = search(devices(ENTRIES).get("dds").tune_io_update_delay, still)
    assert result.message == "no edge of SYNC_CLK was found at the AD9910"


@pytest.mark.parametrize("phase, delay", [(0.5, 3), (1.5, 0), (3.5, 2)])
def test_io_update_delay_is_found_for_any_phase(phase, delay):
    """With an edge of SYNC_CLK half a nanosecond after a unit, the delay is 1.5 ns and 2.5 ns from
    its neighbours."""
    result = search(devices(ENTRIES).get("dds").tune_io_update_delay, Chip(phase=phase))
    assert result.exception is None and result.value == delay


def test_servo_chips_have_their_own_delays():
    card = Card([0, 5, 3, 8])
    result = search(devices(ENTRIES).get("shared").tune_sync_delays, card)
    assert result.exception is None and result.value == (19, 12, 10, 15)
