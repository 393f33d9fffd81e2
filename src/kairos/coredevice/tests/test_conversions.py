"""Every conversion from a quantity to a word of a card: the same result, or the same exception, on the
host and in kernels, over the ends of the range, beyond them, and for what is no number."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

import kairos.coredevice
from kairos.compiler.tests.jit import Compiled, Experiment
from kairos.coredevice import ad53xx, adf5356_pll, novogorny, sampler, shuttler, suservo
from kairos.coredevice.parts import numbers
from kairos.language import kernel, kernel_from_string

from .test_suservo import ENTRIES as SERVO
from .traffic import KernelError, devices, run

ENTRIES = SERVO | {
    "bus": ("spi2.SPIMaster", {"channel": 70}),
    "trigger": ("ttl.TTLOut", {"channel": 71}),
    "card": ("urukul.CPLD", {"spi_device": "bus", "io_update_device": "trigger", "clk_div": 1, "refclk": 1e9}),
    "ad9910": ("ad9910.AD9910", {"chip_select": 4, "cpld_device": "card", "pll_en": 0}),
    "ad9912": ("ad9912.AD9912", {"chip_select": 4, "cpld_device": "card", "pll_en": 0}),
    "ad9914": ("ad9914.AD9914", {"sysclk": 3e9, "bus_channel": 72, "channel": 0}),
    "ad9834": ("ad9834.AD9834", {"spi_device": "bus"}),
    "zotino": ("zotino.Zotino", {"spi_device": "bus"}),
    "fastino": ("fastino.Fastino", {"channel": 73}),
    "mirny": ("mirny.Mirny", {"spi_device": "bus"}),
    "synthesiser": ("adf5356.ADF5356", {"cpld_device": "mirny", "sw_device": "trigger", "channel": 0}),
    "almazny": ("almazny.AlmaznyLegacy", {"host_mirny": "mirny"}),
    "almazny0": ("almazny.AlmaznyChannel", {"host_mirny": "mirny", "channel": 0}),
    "hmc": ("hmc542b.HMC542B", {"spi_device": "bus"}),
    "clock": ("ttl.TTLClockGen", {"channel": 74}),
    "phaser": ("phaser.Phaser", {"channel_base": 75}),
}
NO_NUMBERS = [math.nan, math.inf, -math.inf]
BEYOND = [1e300, -1e300, 2.0**31, -(2.0**31), 2.0**63]
SMALL = [0.0, -0.0, 5e-324, -1e-9]
GIGAHERTZ = [0.0, 1.0, 80e6, 500e6 - 1.0, 500e6, 500e6 + 1.0, 1e9, 2.3e9, 1e6 + 1e9, -80e6, 3e13, -1e20]
TURNS = [0.0, 0.25, 0.5, 1.0, 1.0 - 2**-17, -0.25, 200000.25, -200000.25, 1e9 + 0.75, 2**-17, -(2**-17), 3 * 2**-15]
FRACTIONS = [0.0, 0.25, 1.0, 1.0 + 1e-9, 1.001, -1e-9, -0.001, 2.0, -1.0, 0.5 / 0x3FFF, 1.0 - 0.5 / 0xFFF]
VOLTS = [0.0, 10.0, -10.0, 9.9998, 9.99985, 10.1, -10.1, -10.0002, -10.0001, 4.2, 0.5 / 3276.8, -0.5 / 3276.8, 1e6]
DECIBELS = [0.0, 0.0625, 0.125, 31.5, 31.75, 31.875, 31.9375, 31.94, 32.0, -0.0625, -0.07, 63.0, 1e9]


CONVERSIONS = [
    ("ad9910", "frequency_to_ftw", GIGAHERTZ),
    ("ad9910", "turns_to_pow", TURNS),
    ("ad9910", "amplitude_to_asf", FRACTIONS),
    ("ad9912", "frequency_to_ftw", GIGAHERTZ),
    ("ad9912", "turns_to_pow", TURNS),
    ("ad9914", "frequency_to_ftw", [*GIGAHERTZ, 1.5e9, 1.5e9 - 1.0]),
    ("ad9914", "frequency_to_xftw", [*GIGAHERTZ, 1.5e9, 1.5e9 - 1.0]),
    ("ad9914", "turns_to_pow", TURNS),
    ("ad9914", "amplitude_to_asf", FRACTIONS),
    ("ad9834", "frequency_to_ftw", [*GIGAHERTZ, 37.5e6, 37.5e6 + 1.0]),
    ("ad9834", "turns_to_pow", TURNS),
    ("dds0", "frequency_to_ftw", GIGAHERTZ),
    ("dds0", "turns_to_pow", TURNS),
    ("ch5", "dds_offset_to_mu", [*FRACTIONS, 1.0 - 2**-18, -1.0 - 2**-18, -1.001]),
    ("zotino", "voltage_to_mu", VOLTS),
    ("fastino", "voltage_to_mu", VOLTS),
    ("card", "att_to_mu", DECIBELS),
    ("mirny", "att_to_mu", DECIBELS),
    ("almazny", "att_to_mu", DECIBELS),
    ("hmc", "att_to_mu", DECIBELS),
    ("clock", "frequency_to_ftw", [*GIGAHERTZ, 125e6, 62.5e6]),
    ("bus", "frequency_to_div", [*GIGAHERTZ, 125e6, 10e6, 1e-3, 1e-300, 125e6 / 2.5]),
    ("core", "seconds_to_mu", [0.0, 1.0, -1.0, 9e9, 9.3e9, -9.3e9, 2.5e-9]),
    (shuttler, "shuttler_volt_to_mu", VOLTS),
    (ad53xx, "voltage_to_mu", VOLTS),
    (numbers, "to_word", TURNS),
    (numbers, "to_wide_word", TURNS),
    (numbers, "nearest", TURNS),
]
"""Device or module, conversion, quantities."""


@pytest.fixture(scope="module")
def get():
    return devices(ENTRIES).get


def _outcome(function, *args):
    """Return the result of a call, or the name of its exception."""
    try:
        return function(*args)
    except Exception as error:
        return type(error).__name__


def _kernel_outcome(compiled, *inputs):
    result = compiled.run(*inputs)
    return result.value if result.exception is None else result.exception[0].split(".")[-1]


class Converts(Experiment):
    @kernel
    def run(self):
        return self.convert(self.float())


class ConvertsList(Experiment):
    @kernel
    def run(self):
        values = [0.0, 0.0, 0.0]
        for place in range(3):
            values[place] = self.float()
        words = [0, 0, 0]
        self.convert(values, words)
        return words


@pytest.mark.parametrize("owner, name, quantities", CONVERSIONS)
def test_conversion_is_the_same_on_host_and_in_kernel(get, owner, name, quantities):
    convert = getattr(get(owner) if isinstance(owner, str) else owner, name)
    experiment = Converts(convert=convert)
    compiled = Compiled(experiment.run, (), get("core"))
    for quantity in [*quantities, *SMALL, *BEYOND, *NO_NUMBERS]:
        host = _outcome(convert, quantity)
        assert host == _kernel_outcome(compiled, quantity), quantity
        if not math.isfinite(quantity) and not (name == "frequency_to_div" and math.isinf(quantity)):
            assert host == "ValueError", quantity


@pytest.mark.parametrize(
    "name, lists",
    [
        ("frequency_to_ram", [[80e6, 1.5e9, 1.0], [1.0, math.nan, 1.0], [1e300, -1.0, -0.0]]),
        ("turns_to_ram", [TURNS[:3], [200000.25, -0.25, 1e9 + 0.5], [math.inf, 0.0, 0.0]]),
        ("amplitude_to_ram", [[0.0, 0.5, 1.0], [0.0, 0.0, math.nan], [1.1, 0.0, 0.0]]),
    ],
)
def test_ram_words_are_the_same_on_host_and_in_kernel(get, name, lists):
    convert = getattr(get("ad9910"), name)
    compiled = Compiled(ConvertsList(convert=convert).run, (), get("core"))
    for values in lists:
        words = [0, 0, 0]
        host = _outcome(lambda values=values, words=words: convert(values, words))
        assert _kernel_outcome(compiled, *values) == (words if host is None else host)


@pytest.mark.parametrize("kind", [list, np.array])
def test_group_of_fastino_voltages_is_accepted_by_kernels(get, kind):
    fastino = get("fastino")
    volts = kind([-10.0, 9.9997, 0.0])
    words = [0, 0]
    fastino.voltage_group_to_mu(volts, words)
    assert words == [-65536, 0x8000] and all(-(1 << 31) <= word < 1 << 31 for word in words)
    compiled = Compiled(ConvertsList(convert=fastino.voltage_group_to_mu).run, (), get("core"))
    assert _kernel_outcome(compiled, *[float(volt) for volt in volts]) == [*words, 0]
    assert _kernel_outcome(compiled, 0.0, math.nan, 0.0) == "ValueError"
    Compiled(fastino.set_group_mu, (0, words), get("core"))


@pytest.mark.parametrize(
    "function, value, text",
    [
        (numbers.to_word, math.nan, "a setting is not a finite number"),
        (numbers.nearest, 1e10, "a setting is not a number, or too large"),
        (shuttler.shuttler_volt_to_mu, 10.0, "a voltage of a Shuttler is at least -10 V and less than 10 V"),
        ("dds_offset_to_mu", 1.0, "the offset of an SU-Servo is at least -1 and less than 1"),
        ("seconds_to_mu", math.nan, "a time in seconds is not a number, or too long"),
        ("voltage_to_mu", math.nan, "DAC voltage out of bounds"),
        (lambda value: adf5356_pll.calculate_pll(value, 1), 1e9, "divides its oscillator by at most 65535"),
    ],
)
def test_refused_quantity_has_its_message(get, function, value, text):
    owners = {"dds_offset_to_mu": "ch5", "seconds_to_mu": "core", "voltage_to_mu": "fastino"}
    with pytest.raises(ValueError, match=text):
        (getattr(get(owners[function]), function) if isinstance(function, str) else function)(value)


def test_words_are_modulo_clock_and_turn(get):
    dds, fine = get("ad9910"), get("ad9912")
    assert dds.frequency_to_ftw(1.08e9) == dds.frequency_to_ftw(80e6) == dds.frequency_to_ftw(80e6 - 1e9)
    assert fine.frequency_to_ftw(1.25e9) == fine.frequency_to_ftw(250e6) == 1 << 46
    assert dds.turns_to_pow(200000.25) == dds.turns_to_pow(-0.75) == 0x4000
    assert get("ad9834").turns_to_pow(1e6 + 0.25) == 0x400


@pytest.mark.parametrize(
    "method, args, words",
    [
        ("phaser.channel.0.oscillator.0.set_frequency", (1e6,), [171798692]),
        ("phaser.channel.0.oscillator.0.set_frequency", (1e6 + 25e6,), [171798692]),
        ("phaser.channel.0.oscillator.0.set_frequency", (math.nan,), None),
        ("phaser.channel.0.oscillator.0.set_amplitude_phase", (0.0, 200000.25), [0x40000000]),
        ("phaser.channel.0.oscillator.0.set_amplitude_phase", (math.nan, 0.0), None),
        ("phaser.channel.0.oscillator.0.set_amplitude_phase", (0.0, math.inf), None),
        ("phaser.channel.0.set_duc_frequency", (math.nan,), None),
        ("phaser.channel.0.set_duc_phase", (200000.25,), [0x40, 0]),
        ("phaser.channel.0.set_duc_phase", (math.nan,), None),
        ("phaser.set_fan", (math.nan,), None),
        ("ch5.set_iir", (0, 0, math.nan), None),
        ("ch5.set_iir", (0, 0, 1.0, math.nan), None),
        ("ch5.set_iir", (0, 0, 1.0, -1.0, math.nan), None),
        ("ch5.set_iir", (0, 0, 1.0, -1.0, 0.0, math.nan), None),
        ("ch5.set_iir", (0, 0, 1e300), None),
        ("ch5.set_y", (0, math.nan), None),
        ("ch5.set_dds", (0, math.nan, 0.0), None),
        ("ch5.set_dds", (0, 1e6, math.nan), None),
        ("ch5.set_dds", (0, 1e6, 0.0, math.nan), None),
        ("synthesiser.set_frequency", (math.nan,), None),
        ("synthesiser.set_att", (math.nan,), None),
        ("almazny0.set", (math.nan, True), None),
        ("zotino.calibrate", (0, math.nan, 10.0), None),
        ("zotino.calibrate", (0, -10.0, math.inf), None),
        ("zotino.set_dac", ([math.nan], [0]), None),
        ("fastino.set_dac", (0, math.nan), None),
        ("clock.set", (math.nan,), None),
        ("ad9910.set", (math.nan,), None),
        ("ad9910.set", (1e6, math.nan), None),
        ("ad9910.set", (1e6, 0.0, math.nan), None),
        ("ad9912.set", (math.inf,), None),
        ("ad9914.set_x", (math.nan,), None),
        ("bus.set_config", (0, 8, math.nan, 1), None),
    ],
)
def test_method_converts_its_quantities(get, method, args, words):
    name, *path = method.split(".")
    target = get(name)
    for step in path:
        target = target[int(step)] if step.isdigit() else getattr(target, step)
    if words is None:
        with pytest.raises(KernelError, match="ValueError"):
            run(target, *args)
    else:
        assert [data for *_, data in run(target, *args).outputs] == words


@pytest.mark.parametrize("f_vco", [4e9, 5.123456789e9, math.nan, math.inf, 1e300, -4e9])
def test_dividers_are_the_same_on_host_and_in_kernel(get, f_vco):
    class Calculates(Experiment):
        @kernel
        def run(self):
            n, frac1, frac2, mod2 = self.calculate(self.float(), self.pfd)
            return [n, frac1, frac2[0], frac2[1], mod2[0], mod2[1]]

    experiment = Calculates(calculate=adf5356_pll.calculate_pll, pfd=np.int64(100000000))
    kernel_side = _kernel_outcome(Compiled(experiment.run, (), get("core")), f_vco)
    host = _outcome(adf5356_pll.calculate_pll, f_vco, np.int64(100000000))
    flat = host if isinstance(host, str) else [host[0], host[1], *host[2], *host[3]]
    assert kernel_side == flat


@pytest.mark.parametrize(
    "function, arguments",
    [
        (sampler.adc_mu_to_volt, [(-32768, 0), (32767, 3), (0, 4), (0, -1)]),
        (suservo.adc_mu_to_volts, [(0, 0), (1 << 17, 3), (-1, 2), (0, 4)]),
        (suservo.y_mu_to_full_scale, [(0,), (131071,), (-1,)]),
        (novogorny.adc_value, [(0,), (0xFFFFFF,), (-1,)]),
    ],
)
def test_code_is_converted_back_alike(get, function, arguments):
    body = ", ".join("self.int32()" for _ in arguments[0])
    run_ = kernel_from_string(["self"], f"return self.convert({body})", decorator=kernel)
    experiment = Experiment(convert=function)
    compiled = Compiled(run_, (experiment,), get("core"))
    for values in arguments:
        assert _outcome(function, *values) == _kernel_outcome(compiled, *values)


def test_drivers_round_only_in_one_place():
    """Other rounding would differ between host and kernels; allowed are constants made on the host."""
    allowed = {"ad9910.py": 1, "ad9910_sync.py": 1, "ad9914.py": 2, "phaser_mtdds.py": 1, "registers.py": 1}
    folder = Path(kairos.coredevice.__file__).parent
    found = {}
    for path in [*folder.glob("*.py"), *folder.glob("parts/*.py")]:
        count = len(re.findall(r"(?<![\w`])round\(", path.read_text()))
        if count:
            found[path.name] = count
    assert found == allowed
