"""Songbird: words of a tone, conversions, and what its driver sends to the card."""

import pytest
from numpy import int64

from kairos.coredevice.songbird import volt_to_mu
from kairos.coredevice.tests.traffic import devices, run
from tests.support.vectors import vectors

SPI, CLEAR, RESET, TRIGGER, AMPLITUDE, PHASE = 2, 3, 4, 5, 8, 9
ENTRIES = {
    "spi": ("spi2.SPIMaster", {"channel": SPI}),
    "songbird": ("songbird.Songbird", {"spi_device": "spi", "channel": CLEAR}),
    "tone": ("songbird.DDS", {"channel": AMPLITUDE, "config_device": "songbird", "dds_no": 1}),
}


@pytest.fixture(scope="module")
def get():
    return devices(ENTRIES).get


def signed(text):
    value = int(text, 16)
    return value - (value >> 31 << 32)


@vectors("songbird")
def test_words_and_conversions_are_those_of_the_card(get, vector):
    tone = get("tone")
    if "phase" in vector:
        arguments = [signed(vector[name]) for name in ("phase", "ftw", "chirp")]
        done = run(tone.set_phase, *arguments, vector["shift"])
        assert done.on(PHASE) == [(n, int(word, 16)) for n, word in enumerate(vector["words"])]
        assert done.now == 6 * 8
    for frequency, rate, word in vector.get("frequency_to_mu", ()):
        core = {"core": ("core.Core", {"host": None, "ref_period": 1e-9 if rate == 2.5e9 else 1.25e-9})}
        other = devices(ENTRIES | core).get("tone")
        assert other.frequency_to_mu(frequency) == word
    for volts, word in vector.get("volt_to_mu", ()):
        assert f"{volt_to_mu(volts):04x}" == word


def test_amplitude_has_the_words_of_a_spline(get):
    done = run(get("tone").set_ampl, 0x1234, -2, int64(0x123456789ABC), int64(-1))
    words = [0x1234, 0xFFFE, 0xFFFF, 0x9ABC, 0x5678, 0x1234, 0xFFFF, 0xFFFF, 0xFFFF]
    assert done.on(AMPLITUDE) == list(enumerate(words)) and done.now == 9 * 8
    with pytest.raises(Exception, match="Shift must be between 0 and 15"):
        run(get("tone").set_phase, 0, 0, 0, 16)


def test_triggers_and_clears_are_masks_of_tones(get):
    songbird, tone = get("songbird"), get("tone")
    assert run(songbird.trigger, 5).outputs == [(0, TRIGGER, 0, 5), (8, TRIGGER, 1, 5)]
    assert run(tone.trigger_c).outputs == [(0, TRIGGER, 1, 2)]
    songbird.cleared = 8
    assert run(tone.clear).on(CLEAR) == [(0, 10)]
    assert run(tone.clear, False).on(CLEAR) == [(0, 8)]


def test_init_configures_the_dac_and_reports_missing_parts(get):
    init = get("songbird").init
    done = run(init, data=[0, 2 << 16, 2 << 16])
    assert done.on(RESET) == [(0, 1), (0, 0)]
    messages = [word[-1] for word in done.words(SPI)]
    assert messages[:4] == [0x01010000, 0x02000000, 0x03010000, 0x04030000] and len(messages) == 12 + 3
    assert messages[-3:] == [0x81000000, 0x82000000, 0x83000000]
    assert all(word[:3] == (1, 32, 256) for word in done.words(SPI))
    for data, text in [
        ([1 << 16], "LTC2000 reset not deasserted"),
        ([0, 0], "LTC2000 clock not present"),
        ([0, 2 << 16, 0], "LTC2000 DCKI not present"),
    ]:
        with pytest.raises(Exception, match=text):
            run(init, data=data)
