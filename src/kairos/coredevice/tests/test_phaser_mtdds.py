"""A Phaser as a satellite: what its drivers send, and which checks of the card fail."""

import pytest

from .traffic import KernelError, devices, run

SPI_DAC, SPI_LO, SPI_ATTENUATOR, CARD, TONE = 1, 2, 3, 4, 5
READ = 0x10
ENTRIES = {
    "spi_dac": ("spi2.SPIMaster", {"channel": SPI_DAC}),
    "spi_lo": ("spi2.SPIMaster", {"channel": SPI_LO}),
    "spi_att": ("spi2.SPIMaster", {"channel": SPI_ATTENUATOR}),
    "dac": ("dac34h84.DAC34H84", {"spi_device": "spi_dac", "input_sample_rate": 250e6}),
    "lo": ("trf372017.TRF372017", {"spi_device": "spi_lo", "refclk": 125e6}),
    "outside": ("trf372017.TRF372017", {"spi_device": "spi_lo", "refclk": 125e6, "use_external_lo": True}),
    "att": ("hmc542b.HMC542B", {"spi_device": "spi_att"}),
    "card": ("phaser.PhaserMTDDS", {"channel": CARD, "sysclk": 125e6, "dac_device": "dac"}),
    "tone0": ("phaser.PhaserDDS", {"channel": TONE, "bandwidth": 250e6}),
    "tone1": ("phaser.PhaserDDS", {"channel": TONE + 1, "bandwidth": 250e6}),
}
CHANNEL = {
    "channel_index": 1,
    "tones": 2,
    "fpga_device": "card",
    "dac_device": "dac",
    "att_device": "att",
    "dds_device_prefix": "tone",
}
for name, chip in {"plain": None, "up": "lo", "up_outside": "outside"}.items():
    ENTRIES[name] = ("phaser.PhaserMTDDSChannel", CHANNEL | ({} if chip is None else {"iquc_device": chip}))
DAC_TUNED = [0x5409, 0x049C, 0x9988, 0x2C60 | 3, 0x4000, *[0] * 8]
"""Answers of a DAC that initialises."""
IO_TEST = [0, 0, 0, 0, 0, 0]
"""Answers during a test of its inputs: sources, then settings and result of the DAC, then sources."""


@pytest.fixture(scope="module")
def get():
    return devices(ENTRIES).get


def test_tone_has_words_of_frequency_phase_and_amplitude(get):
    tone = get("tone0")
    assert run(tone.set_frequency, -62.5e6).on(TONE) == [(0, 0xC000_0000)]
    assert run(tone.set_phase_offset, 0.75).on(TONE) == [(1, 0xC000)]
    assert run(tone.set_amplitude, 1.0).on(TONE) == [(2, 32767)]
    assert [run(tone.enable_phase_accumulator, on).on(TONE) for on in (True, False)] == [[(3, 0)], [(3, 1)]]
    assert run(tone.set_frequency_mu, 5).on(TONE) + run(tone.set_phase_offset_mu, 6).on(TONE) == [(0, 5), (1, 6)]
    assert run(tone.set_amplitude_mu, 7).on(TONE) == [(2, 7)]
    for amplitude in (-0.1, 1.1):
        with pytest.raises(KernelError, match="ValueError: a fraction of full scale"):
            run(tone.set_amplitude, amplitude)


def test_card_is_checked_and_its_dac_initialised_and_tested(get):
    traffic = run(get("card").init, data=[1, 2, *DAC_TUNED, *IO_TEST, *IO_TEST])
    sent = traffic.on(CARD)
    assert sent[:2] == [(READ | 1, 0), (READ | 2, 0)]
    pins = [data for address, data in sent if address == 4]
    assert pins == [0b000, 0b010, 0b011], "in reset, out of it, transmitting"
    words = [data for address, data in sent if 7 <= address <= 10]
    assert words == [0xF05A, 0x05AF, 0x5AF0, 0xAF05, 0x7A7A, 0xB6B6, 0xEAEA, 0x4545]
    expected = [word for _, _, _, _, word in traffic.words(SPI_DAC) if word >> 16 in range(0x25, 0x2D)]
    assert [word & 0xFFFF for word in expected[-8::2]] == words[-4:] == [word & 0xFFFF for word in expected[-7::2]]
    assert [data for address, data in sent if address == 6] == [0, 0, 1, 4] * 2


@pytest.mark.parametrize(
    "data, text",
    [
        ([2], "PhaserMTDDS gateware variant mismatch"),
        ([1, 4], r"PhaserMTDDS samples per cycle \(DDS bandwidth\) mismatch"),
        ([1, 2, 0], "DAC34H84 version mismatch"),
        ([1, 2, *DAC_TUNED, 0, 0, 0, 8, 0, 0], "DAC iotest failure"),
    ],
)
def test_failing_check_of_the_card_is_named(get, data, text):
    with pytest.raises(KernelError, match=f"ValueError: {text}"):
        run(get("card").init, data=data)


def test_controls_of_one_channel_leave_the_other(get):
    card = get("card")
    assert run(card.select_dac_source, 1, 1, data=[1]).on(CARD)[-1] == (6, 0b0101)
    assert run(card.select_dac_source, 0, 0, data=[5]).on(CARD)[-1] == (6, 0b0100)
    assert run(card.reset_attenuator, 1, data=[3]).on(CARD)[1:] == [(11, 1), (11, 3)]
    assert [run(card.upconverter_pll_locked, 1, data=[word]).value for word in (1, 2)] == [False, True]
    with pytest.raises(KernelError, match="ValueError: pattern length mismatch"):
        run(card.test_dac, [1, 2, 3])


def test_channel_is_initialised_with_its_upconverter(get):
    done = run(get("up").init, data=[2, 0, 3, 0x60, 0, 2])
    assert [address for address, _ in done.on(CARD)] == [READ | 3, READ, READ | 11, 11, 11, READ | 13]
    assert done.words(SPI_LO)
    assert not run(get("plain").init, data=[2, 1, 3]).words(SPI_LO)
    done = run(get("up_outside").init, data=[2, 0, 3, 0x60])
    assert READ | 13 not in [address for address, _ in done.on(CARD)], "its oscillator is not used"


@pytest.mark.parametrize(
    "name, data, text",
    [
        ("up", [26], "PhaserMTDDS number of available tones mismatch"),
        ("up", [2, 1], "PhaserMTDDS hardware variant mismatch"),
        ("plain", [2, 0], "PhaserMTDDS hardware variant mismatch"),
        ("up", [2, 0, 3, 0x60, 0, 1], "TRF372017 PLL fails to lock"),
    ],
)
def test_failing_check_of_a_channel_is_named(get, name, data, text):
    with pytest.raises(KernelError, match=f"ValueError: {text}"):
        run(get(name).init, data=data)


def test_lock_is_that_of_the_own_oscillator_only(get):
    assert run(get("up").upconverter_pll_locked, data=[2]).value
    for name, text in [("up_outside", "External LO is used and PLL is bypassed"), ("plain", "no upconverter")]:
        with pytest.raises(KernelError, match=f"ValueError: .*{text}"):
            run(get(name).upconverter_pll_locked, data=[2])


def test_mixer_of_the_channel_is_that_of_its_dac(get):
    words = lambda done: [word for *_, word in done.words(SPI_DAC)]  # noqa: E731
    assert words(run(get("plain").stage_dac_nco_mixer_frequency, 250e6)) == [0x160000, 0x174000]
    assert words(run(get("plain").stage_dac_nco_mixer_frequency_mu, 1)) == [0x160001, 0x170000]
    assert words(run(get("plain").stage_dac_nco_mixer_phase_offset, 0.25)) == [0x134000]
    assert words(run(get("plain").stage_dac_nco_mixer_phase_offset_mu, 3)) == [0x130003]
