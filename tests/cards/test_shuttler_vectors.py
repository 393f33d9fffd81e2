"""Shuttler: the phase of an output in its logic, its result from gain and offset, and words to its ADC."""

import pytest
from kairos_gateware.contracts import shuttler as facts
from kairos_gateware.phy.differences import Elapsed
from kairos_gateware.phy.shuttler import Waveform
from kairos_gateware.phy.shuttler_samples import LATENCY as SAMPLE_LATENCY
from kairos_gateware.phy.shuttler_samples import _Output
from kairos_gateware.rtio.link import FreeRunning
from kairos_gateware.testbenches.simulator import run_simulation
from migen import Module, Signal

from kairos.coredevice.tests.traffic import devices, run
from tests.support.vectors import GROUPS, vectors

SPI = 1
LATENCY = 2
"""Cycles from a load to the angle in the vectors."""


@pytest.fixture(scope="module")
def adc():
    entries = {"spi": ("spi2.SPIMaster", {"channel": SPI}), "adc": ("shuttler.ADC", {"spi_device": "spi"})}
    return devices(entries).get("adc")


def sent(traffic):
    return [f"{data:08x}" for address, data in traffic.on(SPI) if address == 0]


@vectors("shuttler_phase")
def test_phase_of_an_output_follows_its_loads(vector):
    loads = vector["loads"] if isinstance(vector["loads"], list) else GROUPS["shuttler_phase"][0]["loads"]
    words = {cycle: [int(each, 16) for each in coefficients] for cycle, *coefficients in loads}
    dut, trigger, clear, found = Module(), Signal(), Signal(), []
    dut.submodules.elapsed = elapsed = Elapsed(FreeRunning(), facts.FRACTION_BITS)
    dut.submodules.waveform = waveform = Waveform(trigger, clear, elapsed)
    tone = waveform.words[1][-5:]

    def bench():
        yield clear.eq(vector["clear"])
        for cycle in range(20 - LATENCY):
            if cycle in words:
                c0, c1, c2 = words[cycle]
                for signal, word in zip(tone, [c0, c1, c1 >> 16, c2, c2 >> 16], strict=True):
                    yield signal.eq(word & 0xFFFF)
            yield trigger.eq(cycle in words)
            yield
            found.append((yield waveform.running) >> 16)
        yield

    run_simulation(dut, bench())
    # The load is seen one cycle after it here
    angles = [int(angle, 16) for angle in vector["angle"].split()]
    assert [f"{angle:04x}" for angle in found[1:]] == [
        f"{angle:04x}" for angle in angles[LATENCY : LATENCY + len(found) - 1]
    ]


@vectors("shuttler_adc")
def test_adc_channels_and_words_are_those_of_the_card(adc, vector):
    if "ch0" in vector:
        assert sent(run(adc.read_ch, vector["channel"], data=[0x800000]))[0] == f"10{vector['ch0']}00"
    elif "code" in vector:
        assert run(adc.read_ch, 0, data=[int(vector["code"], 16)]).value == vector["volt"]
    elif "write16" in vector:
        assert sent(run(adc.single_conversion)) == [vector["write16"].split()[-1]]
    else:
        assert sent(run(adc.read_data, data=[0])) == [vector["read24"].split()[-1]]


@vectors("shuttler_dac")
def test_code_of_the_dac_follows_from_gain_and_offset(vector):
    """A constant level. The card's own arithmetic with a negative offset is doubtful: here it is signed."""
    dut, trigger = Module(), Signal()
    dut.submodules.elapsed = elapsed = Elapsed(FreeRunning(), facts.FRACTION_BITS)
    dut.submodules.waveform = waveform = Waveform(trigger, Signal(), elapsed)
    gain, offset = (Signal((facts.LEVEL_BITS, True), name=name) for name in ("gain", "offset"))
    dut.submodules.output = output = _Output(waveform, gain, offset, elapsed)
    found = []

    def bench():
        for signal, word in ((gain, int(vector["gain"], 16)), (offset, int(vector["offset"], 16))):
            yield signal.eq(word - (word >> 15 << 16))
        yield waveform.words[0][0].eq(vector["x"] & 0xFFFF)
        yield trigger.eq(1)
        yield
        yield trigger.eq(0)
        for _ in range(SAMPLE_LATENCY + 4):
            yield
        found.append((yield output.code) & 0x3FFF)

    run_simulation(dut, bench())
    assert [f"{code:04x}" for code in found] == [vector["dac14"]]
    assert int(vector["result"], 16) >> 2 == found[0]
