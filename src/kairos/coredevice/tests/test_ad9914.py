"""The AD9914: the words of its methods on the bus, and their times."""

import pytest
from numpy import int64

from .traffic import KernelError, devices, run

BUS = 9
WORD_MU = 40
SELECT, UPDATE = 0x81, 0x80


@pytest.fixture(scope="module")
def chip():
    return devices({"dds": ("ad9914.AD9914", {"sysclk": 3e9, "bus_channel": BUS, "channel": 2})}).get("dds")


def words(traffic):
    """Return (time, address, word) of each word; checks that words are at least five coarse cycles
    apart."""
    assert {channel for _, channel, _, _ in traffic.outputs} <= {BUS}
    times = [time for time, *_ in traffic.outputs]
    assert all(later - time >= WORD_MU for time, later in zip(times, times[1:], strict=False))
    return [(time, address, word) for time, _, address, word in traffic.outputs]


def test_tones_are_written_before_the_cursor(chip):
    done = run(chip.set_mu, 0x12345678, 0x4321, -1, 0x765)
    assert words(done) == [
        (-240, SELECT, 0b1000),
        (-200, 0x01, 0x0108),
        (-160, 0x2D, 0x5678),
        (-120, 0x2F, 0x1234),
        (-80, 0x31, 0x4321),
        (-40, 0x33, 0x765),
        (0, UPDATE, 0),
    ]
    assert (done.value, done.now) == (0x4321, 0)


def test_phase_mode_determines_the_written_phase(chip):
    # At 3 GHz a quarter turn per clock cycle, three quarters per machine unit.
    for mode, reference, phase in [(1, -1, 7), (1, -5, 7), (2, -1, 7)]:
        done = run(chip.set_mu, 1 << 30, 7, mode, 0xFFF, int64(reference))
        assert words(done)[1][1:] == (0x01, 0x2108), "the accumulator is cleared at the update"
        assert done.value == phase

    done = run(chip._turned, 1 << 30, int64(3))
    assert done.value & 0xFFFF == 0x4000, "nine quarters"


def test_tracking_phase_rejects_fractional_clock_cycles():
    odd = devices({"dds": ("ad9914.AD9914", {"sysclk": 3.5e9, "bus_channel": BUS, "channel": 0})}).get("dds")
    assert run(odd.set_mu, 1, 2).value == 2
    with pytest.raises(KernelError, match="phases of an AD9914 are tracked where its clock is a whole multiple"):
        run(odd.set_mu, 1, 2, 2)


def test_quantities_are_converted_to_words_or_refused(chip):
    assert words(run(chip.set, 750e6, 0.25, -1, 1.0))[2:6] == [
        (-160, 0x2D, 0),
        (-120, 0x2F, 0x4000),
        (-80, 0x31, 0x4000),
        (-40, 0x33, 0xFFF),
    ]
    assert chip.frequency_to_ftw(750e6) == 1 << 30 and chip.ftw_to_frequency(1 << 30) == 750e6
    assert chip.frequency_to_xftw(750e6) == 1 << 61 and chip.xftw_to_frequency(int64(1) << 61) == 750e6
    assert chip.turns_to_pow(1.25) == 0x4000 and chip.pow_to_turns(0x4000) == 0.25
    assert chip.amplitude_to_asf(0.5) == 0x800 and chip.asf_to_amplitude(0xFFF) == 1.0
    with pytest.raises(ValueError, match="between 0 and 1"):
        chip.amplitude_to_asf(1.1)
    for frequency in (-1.0, 1.5e9):
        with pytest.raises(ValueError, match="less than half"):
            chip.frequency_to_ftw(frequency)
    (probe,) = chip.monitored()
    assert (probe.channel, probe.probe, probe.unit, probe.quantity(1 << 30)) == (BUS, 2, "Hz", 750e6)


def test_frequency_of_63_bits_is_written_in_parts(chip):
    fine = 0x12345678 << 31 | 0x2BCDEF01
    done = run(chip.set_x_mu, int64(fine), 0x765)
    assert words(done) == [
        (-400, SELECT, 0b1000),
        (-360, 0x01, 0x0108),
        (-320, 0x07, 0x0009),  # ramp generator and programmable modulus, no profile
        (-280, 0x11, 0x5678),
        (-240, 0x13, 0x1234),
        (-200, 0x15, 0x0000),
        (-160, 0x17, 0x8000),
        (-120, 0x19, 0xEF01),
        (-80, 0x1B, 0x2BCD),
        (-40, 0x33, 0x765),
        (0, UPDATE, 0),
    ]
    assert done.now == 0
    assert words(run(chip.set_x, 750e6))[3:5] == [(-280, 0x11, 0), (-240, 0x13, 0x4000)]
    done = run(chip.exit_x)
    assert words(done) == [(-80, SELECT, 0b1000), (-40, 0x07, 0x0080), (0, UPDATE, 0)] and done.now == 0


def test_init_resets_and_calibrates_the_chip(chip):
    start = [(SELECT, 0b1000), (0x01, 0x0108), (0x07, 0x0080), (UPDATE, 0)]
    calibration = [(0x0F, 0x0105), (UPDATE, 0), (0x0F, 0x0005), (UPDATE, 0)]
    done = run(chip.init)
    assert [word[1:] for word in words(done)] == start + calibration
    assert done.outputs[6][0] - done.outputs[5][0] == 1_000_000 + WORD_MU
    done = run(chip.init_sync, 5)
    assert [word[1:] for word in words(done)] == [
        *start,
        (0x6D, 0x0845),
        (UPDATE, 0),
        *calibration,
        (0x6D, 0x0805),
        (UPDATE, 0),
    ]
    assert [word[1:] for word in words(run(chip.reset_all))] == [(SELECT, 1), (SELECT, 1), (SELECT, 0)]


def test_set_phase_mode_sets_default_mode():
    chip = devices({"dds": ("ad9914.AD9914", {"sysclk": 3e9, "bus_channel": BUS, "channel": 0})}).get("dds")
    chip.phase_mode = 1  # effect of `set_phase_mode` in a kernel
    assert words(run(chip.set_mu, 1))[1][1:] == (0x01, 0x2108)
    assert words(run(chip.set_mu, 1, 0, 0))[1][1:] == (0x01, 0x0108)
    assert type(chip).get_rtio_channels(bus_channel=BUS, sysclk=3e9, channel=1) == [(BUS, None)]
