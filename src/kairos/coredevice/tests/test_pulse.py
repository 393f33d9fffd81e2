"""The pulse core's driver: settings of sample generation, as words."""

import ctypes
import math

import pytest
from numpy import int64

from kairos.compiler.tests.jit import Compiled
from kairos.coredevice.pulse import KEPT, WORDS
from kairos.pulse.program import PlayableGate

from .traffic import KernelError, devices, run

CORE = 14


@pytest.fixture(scope="module")
def pulse():
    return devices({"pulse": ("pulse.Pulse", {"channel": CORE, "channels": 2})}).get("pulse")


class ListOfWords(ctypes.Structure):
    """A list of int32 of a kernel running on this machine."""

    _fields_ = [("elements", ctypes.POINTER(ctypes.c_uint32)), ("length", ctypes.c_int32)]


def called(method, *args):
    """Return the result and the events of a method call."""
    calls = []

    def wide(target, data):
        words = ctypes.cast(data, ctypes.POINTER(ListOfWords)).contents
        calls[-1] = "rtio_output_wide", [0, target, *words.elements[: words.length]]

    firmware = {"rtio_output_wide": wide, "pulse_note": lambda target, value: None, "pulse_noted": lambda target: 0}
    return Compiled(method, args, method.__self__.core).run(firmware=firmware, calls=calls)


def sent(method, *args):
    """Return (address, data) of the only event."""
    result = called(method, *args)
    assert result.exception is None
    [(_, (_, target, *words))] = result.calls
    assert target >> 8 == CORE
    return target & 0xFF, sum((word & 0xFFFFFFFF) << 32 * n for n, word in enumerate(words))


@pytest.mark.parametrize("error", [0.0, 1.0, -1.0, 1234.5, -499e6])
def test_frequency_error_is_in_sample_rate_units(pulse, error):
    address, word = sent(pulse.set_frequency_error, error)
    assert address == 19 and word % 2**40 == round(error / 1e9 * 2**40) % 2**40


def test_harmonics_and_counter_are_set(pulse):
    assert sent(pulse.set_harmonic, 1, 1, -7) == (20, (-7 & 0xFFFF) | 1 << 16 | 1 << 17)
    assert sent(pulse.set_counter, int64(2**39 + 123)) == (23, 2**39 + 123)


@pytest.mark.parametrize("frequency, bandwidth", [(1e6, 10e3), (1e6, 50e3), (200e3, 1e3), (50e6, 20e3), (30.0, 0.1)])
def test_beat_is_tracked_with_the_gains_of_its_bandwidth(pulse, frequency, bandwidth):
    result = called(pulse.track_beat, frequency, bandwidth, 2e3)
    assert result.exception is None
    events = {}
    for _, (_, target, *words) in result.calls:
        events[target & 0xFF] = sum((word & 0xFFFFFFFF) << 32 * n for n, word in enumerate(words))
    loop = events[25]
    rate = 1e9 / 2 ** (loop & 63)
    assert 0.7 < rate / (2 * math.pi * bandwidth) < 1.42
    assert 0.7 < 1e9 * frequency / 2 ** (loop >> 6 & 63) / (rate**2 / 4) < 1.42
    assert loop >> 12 == min(int(4 * 125e6 / frequency) + 1, 2**24 - 1)
    assert events[26] == round(2e3 / 1e9 * 2**40) and events[24] == round(frequency / 1e9 * 2**40)


@pytest.mark.parametrize("error", [0.0, 1234.5, -99e3])
def test_state_of_the_beat_is_in_hertz(pulse, error):
    word = round(error / 1e9 * 2**40) % 2**40
    found = run(pulse.beat_state, data=[word & 0xFFFFFFFF, word >> 32 | 0b101 << 8 | 77 << 16])
    assert abs(found.value[0] - error) < 1e-3 and found.value[1] == 0b101 | 77 << 8


@pytest.mark.parametrize("offset, number", [(-2, 0), (-1, 1), (1, 2), (2, 3)])
@pytest.mark.parametrize("real, imaginary", [(0.0, 0.0), (-1.0, 0.25), (0.999999, -0.5)])
def test_coupling_settings_become_their_words(pulse, offset, number, real, imaginary):
    parts = [min(round(part * 2**17), 2**17 - 1) & 2**18 - 1 for part in (real, imaginary)]
    wanted = parts[0] | parts[1] << 18 | 9 << 36 | number << 42 | 1 << 44
    assert sent(pulse.set_coupling, 1, offset, real, imaginary, 9) == (21, wanted)
    assert sent(pulse.use_couplings, 9) == (22, 9)


@pytest.mark.parametrize("offset, real", [(0, 0.1), (3, 0.1), (1, 1.0), (1, float("nan"))])
def test_coupling_out_of_range_is_rejected(pulse, offset, real):
    result = called(pulse.set_coupling, 0, offset, real, 0.0)
    assert "ValueError" in result.exception[0] and not result.calls
    assert result.message == "a coupling is to a channel at -2, -1, 1 or 2, with parts of -1 to below 1"


def test_unarmed_channels_raise_pulse_error(pulse):
    with pytest.raises(KernelError, match="PulseError: the channels of the pulse core are not armed"):
        run(pulse.wait_armed, 3, -1, data=[0, 0], counter=1000)


def test_gate_too_long_for_memory_is_rejected(pulse):
    gate = PlayableGate("long", [0] * (KEPT * WORDS + WORDS), 100, (), 8)
    assert called(pulse.prepare, gate).message == "the gate has too many words to be stored"


@pytest.mark.parametrize(
    "method, arguments, text",
    [
        ("set_harmonic", (2, 0, 1), "channel 2: the core has 2 channels, from 0 on"),
        ("set_harmonic", (0, 2, 1), "tone 2 with harmonic 1: a tone is 0 or 1, a harmonic -32768 to 32767"),
        ("set_harmonic", (0, 1, 0x8000), "tone 1 with harmonic 32768: a tone is 0 or 1, a harmonic -32768 to 32767"),
        ("set_coupling", (-1, 1, 0.1, 0.1), "channel -1: the core has 2 channels, from 0 on"),
        ("set_coupling", (0, 1, 0.1, 0.1, 64), "a delay is 0 to 63 cycles, not 64"),
        ("use_couplings", (-1,), "a delay is 0 to 63 cycles, not -1"),
        ("track_beat", (10.0,), "a beat has 30 Hz to 62.5 MHz, and the bandwidth of its loop is positive"),
        ("track_beat", (1e6, float("nan")), "a beat has 30 Hz to 62.5 MHz, and the bandwidth of its loop is positive"),
        ("track_beat", (1e5, 1e4), "the bandwidth of the loop is at most a twentieth of the beat's frequency"),
        (
            "track_beat",
            (1e6, 1e3, -1.0),
            "the limit of the frequency error is not between 0 and a tenth of the sample rate",
        ),
        ("result", (-1,), "a measurement result is 0 to 15, not -1"),
        ("set_threshold", (4, 1), "a threshold is that of bit 0 to 3 of results, not 4"),
        ("results_from", (16, 1), "a mask of inputs is 0 to 15, not 16"),
        ("set_frequency_error", (5e8,), "a frequency error beyond half the sample rate"),
        ("set_frequency_error", (float("nan"),), "a frequency error beyond half the sample rate"),
    ],
)
def test_argument_out_of_range_is_refused_without_an_event(pulse, method, arguments, text):
    result = called(getattr(pulse, method), *arguments)
    assert "ValueError" in result.exception[0] and result.message == text and not result.calls
