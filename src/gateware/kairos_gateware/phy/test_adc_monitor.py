"""Probes of ADCs beside the SPI PHYs that read them: transfers as the cards' drivers make them, and others, which must
have no effect."""

import pytest
from migen import *

from kairos_gateware.contracts.measured import MEASURED
from kairos_gateware.moninj.moninj import MonitorInjector
from kairos_gateware.phy.kinds import make_phys
from kairos_gateware.testbenches.simulator import run_simulation
from kairos_gateware.variant import MONITORED, ChannelSpec

ADC, PGIA, CNV = range(3)
END, INPUT = 2, 4
SAMPLER = [
    ChannelSpec("adc", "spi_master", {"cs_width": 0, "mosi": 0, "high": 1, "monitor": MONITORED.index("sampler")}),
    ChannelSpec("pgia", "spi_master", {"cs_width": 1, "adc": ADC}),
    ChannelSpec("cnv", "ttl_out", {"serialised": 1, "adc": ADC}),
]
NOVOGORNY = [ChannelSpec("adc", "spi_master", {"cs_width": 2, "monitor": MONITORED.index("novogorny")})]
CODES = [0x1111 * (n + 1) for n in range(8)]
"""Of the channels of a Sampler, which sends the highest pair first."""


class Bench(Module):
    """The PHYs of a card, whose ADC sends the bits of `answer` beside its clock, and the monitor."""

    def __init__(self, specs):
        self.phys = make_phys(specs)
        phys = {number: ResetInserter()(phy) for number, phy in self.phys.items()}
        self.submodules += list(phys.values())
        self.resets = [phy.reset for phy in phys.values()]
        self.submodules.monitor = MonitorInjector({ADC: phys[ADC]})
        self.answer, self.length = 0, 0

    def event(self, number, address, data, cycles=0):
        link = self.phys[number].channel.output
        yield link.address.eq(address)
        yield link.data.eq(data)
        yield link.stb.eq(1)
        yield
        yield link.stb.eq(0)
        for _ in range(cycles):
            yield

    def transfer(self, number, cs, length, data=0, answer=None, flags=END):
        """Makes a transfer, during which the ADC sends `answer`."""
        if answer is not None:
            flags |= INPUT
            self.answer, self.length = answer, length
        yield from self.event(number, 1, flags | length - 1 << 8 | cs << 24, 1)
        yield from self.event(number, 0, data << 32 - length, (length + 1) * 2 + 1)

    def convert(self):
        """A pulse of CNV; 1 ns of a cycle, as at its ends, are enough."""
        yield from self.event(CNV, 0, 1, 3)
        yield from self.event(CNV, 0, 0, 3)

    def reset(self):
        """Resets the PHYs, as before an experiment."""
        for level in (1, 0):
            for signal in self.resets:
                yield signal.eq(level)
            yield

    def send(self):
        """The ADC: a bit for each period of the clock, which is idle between the transfers."""
        pads = {pad.name: pad for pad in self.phys[ADC].pads}
        clock, miso, sent, before = pads["adc_clk"], pads["adc_miso"], 0, 0
        while True:
            level = (yield clock.o) & 1
            if self.length == 0:
                sent = 0
            elif before and not level:
                sent += 1
                if sent == self.length:
                    sent = self.length = 0
            yield miso.i.eq(0xFF if self.length and self.answer >> self.length - 1 - sent & 1 else 0)
            before = level
            yield


def probed(specs, *steps):
    """The fields of the probes by channel after these steps, of those that are not 0. A step is the name of a method
    of `Bench` with its arguments."""
    bench = Bench(specs)
    found = {}

    def play():
        for name, *arguments in steps:
            yield from getattr(bench, name)(*arguments)
        monitor = bench.monitor
        for channel in [*range(8), 8, 255]:
            yield monitor.channel.eq(ADC)
            yield monitor.probe.eq(channel)
            yield monitor.update.eq(1)
            yield
            yield monitor.update.eq(0)
            yield
            yield
            if word := (yield monitor.value):
                found[channel] = fields(word)
        bench.ended = True

    def adc():
        sending = bench.send()
        value = None
        while not hasattr(bench, "ended"):
            value = yield sending.send(value)

    run_simulation(bench, [play(), adc()])
    return found


def fields(word):
    """Its fields but `valid`, which is set."""
    values = {}
    for name, width in MEASURED:
        values[name] = word & (1 << width) - 1
        word >>= width
    assert word == 0 and values.pop("valid") == 1
    return tuple(values.values())


def pair(n):
    """The transfer of a pair of channels."""
    return "transfer", ADC, 0, 32, 0, CODES[2 * n + 1] << 16 | CODES[2 * n]


def gains(setting, cs=1, flags=END, length=16):
    return "transfer", PGIA, cs, length, setting, None, flags


CONVERSION = ("convert",)


def measured(channels, setting=0):
    return {n: (CODES[n], setting >> 2 * n & 3, 0) for n in channels}


def test_sampler_probes_hold_codes_and_gains_of_the_last_sample():
    everything = [pair(n) for n in (3, 2, 1, 0)]
    assert probed(SAMPLER, CONVERSION, *everything) == measured(range(8))
    # Each sample has the settings that were sent before it; those of others, not for the card, change nothing.
    settings = [gains(0xE41B), gains(0xFFFF, cs=0), gains(0xFFFF, flags=0), gains(0xFF, length=8)]
    found = probed(SAMPLER, CONVERSION, *everything, *settings, CONVERSION, pair(3), pair(2), gains(0xAAAA))
    assert found == measured(range(4)) | measured(range(4, 8), 0xE41B)


def test_sampler_words_without_a_place_after_a_conversion_are_not_shown():
    assert probed(SAMPLER, pair(3)) == {}
    assert probed(SAMPLER, CONVERSION, *[pair(3)] * 6)[7] == (CODES[7], 0, 0)
    # After the last pair and after words of other lengths nobody knows what is sent.
    assert probed(SAMPLER, CONVERSION, pair(3), ("transfer", ADC, 0, 16, 0, 5), pair(1)) == measured([6, 7])
    # A word that is clocked out and not read has its place.
    assert probed(SAMPLER, CONVERSION, ("transfer", ADC, 0, 32), pair(2)) == measured([4, 5])


def test_reset_of_the_phys_keeps_measurements_and_gains():
    steps = [gains(0x5555), CONVERSION, pair(3), ("reset",)]
    assert probed(SAMPLER, *steps) == measured([6, 7], 0x5555)
    assert probed(SAMPLER, *steps, pair(2)) == measured([6, 7], 0x5555), "the conversion is forgotten"
    assert probed(SAMPLER, *steps, CONVERSION, pair(3)) == measured([6, 7], 0x5555)


def test_novogorny_probes_hold_results_by_their_channels():
    def result(channel, code, softspan, cs=1, length=24):
        return "transfer", ADC, cs, length, 0, code << 8 | channel << 3 | softspan

    steps = [
        result(5, 0x1234, 7),
        ("transfer", ADC, 2, 16, 0xE41B),
        result(0, 0x8001, 3),
        result(7, 0xFFFF, 0),
        # The amplifiers' answer, a shorter transfer, control words
        result(1, 1, 1, cs=2),
        result(2, 2, 2, length=16),
        ("transfer", ADC, 1, 8, 0xBF),
    ]
    assert probed(NOVOGORNY, *steps) == {5: (0x1234, 0, 7), 0: (0x8001, 3, 3), 7: (0xFFFF, 3, 0)}


@pytest.mark.parametrize("kind", ["spi_master", "ttl_out"])
def test_channel_of_no_monitored_sampler_is_refused(kind):
    for specs in ([ChannelSpec("spi", "spi_master")], NOVOGORNY, []):
        with pytest.raises(ValueError, match="other: parameter `adc` must be the number of the monitored bus"):
            make_phys([*specs, ChannelSpec("other", kind, {"adc": ADC})])
