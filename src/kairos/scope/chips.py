"""Descriptions of messages to chips, generated from the same register tables as the drivers.

Conversions to hertz or volts depend on the arguments of the chip's device and of its card, or on
the defaults of their drivers.
"""

from collections.abc import Callable
from inspect import signature
from types import ModuleType

from ..coredevice.ad53xx import AD53xx, mu_to_voltage
from ..coredevice.ad9834 import AD9834
from ..coredevice.ad9910 import AD9910
from ..coredevice.ad9910 import system_clock as ad9910_clock
from ..coredevice.ad9912 import AD9912
from ..coredevice.ad9912 import system_clock as ad9912_clock
from ..coredevice.chips import ad53xx, ad9834, ad9910, ad9912, adf5356, hmc542b, mirny, novogorny, urukul
from ..coredevice.chips.sampler import CS_PGIA, PGIA
from ..coredevice.hmc542b import HMC542B
from ..coredevice.mirny import Mirny
from ..coredevice.novogorny import Novogorny, adc_channel, adc_value
from ..coredevice.parts.attenuators import step_scale
from ..coredevice.registers import Field, Register
from ..coredevice.sampler import Sampler
from ..coredevice.shuttler import Relay
from ..coredevice.suservo import SUServo
from ..coredevice.suservo_dds import SharedDDS
from ..coredevice.urukul import CPLD
from ..coredevice.zotino import CS_DAC, Zotino

__all__ = ["BUSES", "LABELS", "PAIRS", "SELECTS", "SETTINGS", "arguments_of"]

Settings = dict[str, tuple[str, float]]

RELAYS = 16
"""Number of relays of a Shuttler."""
SHOWN = 3
"""Maximum number of register fields in a label."""
UNITS = {"turn": " turns", "dB": " dB"}
"""Suffixes of field values, by unit. Amplitudes are fractions of full scale."""
OF_CLOCK = "system clock"
"""Unit of frequency words."""
ATTENUATION = step_scale()

DRIVERS = {
    cls.__name__: cls
    for cls in (AD9834, AD9910, SharedDDS, AD9912, CPLD, Mirny, AD53xx, Zotino, HMC542B, Relay, Sampler, Novogorny)
    + (SUServo,)
}


def arguments_of(driver: str, own: dict, card: dict) -> dict:
    """Return the arguments of a chip's device and of its card, with the defaults of their drivers."""

    def defaults(cls):
        return {name: one.default for name, one in signature(cls).parameters.items() if one.default is not one.empty}

    base = defaults(AD53xx) if driver == "Zotino" else defaults(CPLD)
    return base | card | defaults(DRIVERS[driver]) | own


def _clock(arguments: dict, clock: Callable) -> float | None:
    """Return the system clock of a DDS chip in Hz; None if the device database has invalid values."""
    try:
        return clock(*(arguments[name] for name in ("refclk", "clk_div", "pll_n", "pll_en")))
    except (IndexError, TypeError):
        return None


def _registers(chip: ModuleType) -> dict[int, tuple[type[Register], int]]:
    """Return the registers of a chip by address, with their index among those of one kind."""
    found: dict[int, tuple[type[Register], int]] = {}
    for value in vars(chip).values():
        if isinstance(value, type) and issubclass(value, Register) and value.address is not None:
            for number in range(value.count):
                found.setdefault(value.address + number, (value, number))
    return found


def _fields(register: type[Register], word: int, clock: float | None = None) -> str:
    """Describe the fields that differ from their reset values; frequencies in hertz if the system
    clock is known."""
    now, reset = register.decode(word), register.decode(register.reset)
    parts = [
        f"{name} {_quantity(register.fields[name], value, clock)}"
        for name, value in now.items()
        if value != reset[name]
    ]
    more = len(parts) - SHOWN
    return ", ".join(parts[:SHOWN]) + (f", {more} more" if more > 0 else "")


def _quantity(field: Field, value, clock: float | None) -> str:
    if field.unit == OF_CLOCK and clock is not None:
        return _hertz(value * clock)
    return (f"{value:.9g}" if isinstance(value, float) else str(value)) + UNITS.get(field.unit, "")


def _hertz(frequency: float) -> str:
    return f"{frequency / 1e6:.9g} MHz"


def _decibels(code: int) -> str:
    """Format the attenuation of a code."""
    return f"{ATTENUATION.quantity(code) + 0.0:g}"  # avoids -0


def _named(register: type[Register], number: int) -> str:
    return f"{register.name}{number}" if register.count > 1 else register.name


def _read(name: str, message, bits: int) -> str:
    answer = "" if message.read is None else f" = {message.read & (1 << bits) - 1:#x}"
    return f"read {name}{answer}"


def _ad9910(message, arguments) -> str | None:
    head = ad9910.INSTRUCTION.width
    if message.bits <= head:
        return None
    instruction = ad9910.INSTRUCTION.decode(message.written >> message.bits - head)
    found = _AD9910.get(instruction["register"])
    if found is None:
        return None
    register, number = found
    data = message.bits - head
    if instruction["read"]:
        return _read(_named(register, number), message, data)
    if data != register.width:
        return f"{_named(register, number)}: {data // 32} words" if register is ad9910.RAM else None
    fields = _fields(register, message.written & (1 << data) - 1, _clock(arguments, ad9910_clock))
    return f"{_named(register, number)}: {fields}"


def _ad9910_settings(message, arguments) -> Settings:
    """Return the tone written to a profile."""
    width, clock = ad9910.PROFILE.width, _clock(arguments, ad9910_clock)
    instruction = ad9910.INSTRUCTION.decode(message.written >> width)
    number = instruction["register"] - ad9910.PROFILE.address
    if (
        message.bits != ad9910.INSTRUCTION.width + width
        or instruction["read"]
        or number not in range(ad9910.PROFILE.count)
    ):
        return {}
    tone = ad9910.PROFILE.decode(message.written & (1 << width) - 1)
    found = {"amplitude": ("", tone["asf"]), "phase": ("turns", tone["pow"])}
    if clock is not None:
        found = {"frequency": ("Hz", tone["ftw"] * clock)} | found
    return {f"profile {number} {name}": setting for name, setting in found.items()}


def _ad9912_parts(message) -> tuple[dict, type[Register] | None, int] | None:
    """Split a message into instruction, register and data."""
    head = ad9912.INSTRUCTION.width
    if message.bits <= head:
        return None
    instruction = ad9912.INSTRUCTION.decode(message.written >> message.bits - head)
    address, data = instruction["register"], message.bits - head
    # Data are written from an address downwards: the register follows from address and length.
    kinds = [ad9912.TONE, *(register for register, _ in _AD9912.values())]
    register = next((one for one in kinds if (one.address, one.width) == (address, data)), None)
    return instruction, register, message.written & (1 << data) - 1


def _ad9912(message, arguments) -> str | None:
    found = _ad9912_parts(message)
    if found is None:
        return None
    instruction, register, word = found
    address = instruction["register"]
    if instruction["read"]:
        name = f"{address:#x}" if register is None else register.name
        return _read(name, message, message.bits - ad9912.INSTRUCTION.width)
    if register is None:
        return f"registers from {address:#x} down: {word:#x}"
    tone = _ad9912_tone(register, word)
    if "frequency" not in tone:
        return f"{register.name}: {_fields(register, word)}"
    clock = _clock(arguments, ad9912_clock)
    texts = [f"{tone['frequency']:.9g}" if clock is None else _hertz(tone["frequency"] * clock)]
    if tone.get("phase"):
        texts.append(f"{tone['phase']:.9g} turns")
    return f"{register.name}: {', '.join(texts)}"


def _ad9912_tone(register, word: int) -> dict[str, float]:
    """Return the written parts of a tone: frequency as a fraction of the system clock, phase in
    turns."""
    tone = {}
    bits = ad9912.FREQUENCY.width
    if register in (ad9912.TONE, ad9912.FREQUENCY):
        tone["frequency"] = (word & (1 << bits) - 1) / (1 << bits)
    if register in (ad9912.TONE, ad9912.PHASE):
        high = word >> bits if register is ad9912.TONE else word
        tone["phase"] = ad9912.PHASE.pow.meaning(ad9912.PHASE.pow.read(high))
    return tone


def _ad9912_settings(message, arguments) -> Settings:
    found = _ad9912_parts(message)
    clock = _clock(arguments, ad9912_clock)
    if found is None or found[0]["read"]:
        return {}
    tone = _ad9912_tone(found[1], found[2])
    units = {"phase": ("turns", 1)} if clock is None else {"frequency": ("Hz", clock), "phase": ("turns", 1)}
    return {name: (unit, tone[name] * scale) for name, (unit, scale) in units.items() if name in tone}


def _ad9834_phase(message) -> tuple[int, float] | None:
    """Return number and turns of a phase register being set."""
    register = ad9834.PHASE
    if message.bits != register.width or message.written & register.reset != register.reset:
        return None
    word = register.decode(message.written)
    return word["register"], word["pow"]


def _ad9834(message, arguments) -> str | None:
    """Describe a write to the control register, a phase register, or half of a frequency register."""
    if message.bits != ad9834.CONTROL.width:
        return None
    phase = _ad9834_phase(message)
    if phase is not None:
        return f"PHASE{phase[0]}: {phase[1]:.9g} turns"
    word = ad9834.FREQUENCY.decode(message.written)
    if word["first"] or word["second"]:
        return f"FREQUENCY{word['second']}: {word['half']:#x}"
    return f"CONTROL: {_fields(ad9834.CONTROL, message.written)}"


def _ad9834_settings(message, arguments) -> Settings:
    phase = _ad9834_phase(message)
    return {} if phase is None else {f"phase {phase[0]}": ("turns", phase[1])}


def _ad9834_frequency(before, message, arguments) -> Settings:
    """Return the frequency register set by two messages, the lower half of its word first."""
    words = [ad9834.FREQUENCY.decode(one.written) for one in (before, message)]
    registers = {(word["second"], word["first"]) for word in words}
    clock = arguments["clk_freq"]
    whole = registers in ({(0, 1)}, {(1, 0)}) and before.bits == message.bits == ad9834.FREQUENCY.width
    if not (whole and isinstance(clock, int | float)):
        return {}
    ftw = words[1]["half"] << ad9834.FREQUENCY.half.width | words[0]["half"]
    return {f"frequency {words[1]['second']}": ("Hz", ftw * clock / (1 << ad9834.FTW_BITS))}


def _hmc542b_settings(message, arguments) -> Settings:
    if message.bits != hmc542b.SETTING.width:
        return {}
    field = hmc542b.SETTING.att
    none = (1 << field.width) - 1
    return {"attenuation": ("dB", field.meaning(none - field.read(message.written)))}


def _hmc542b(message, arguments) -> str | None:
    for unit, attenuation in _hmc542b_settings(message, arguments).values():
        return f"{attenuation:g} {unit}"
    return None


def _urukul(message, arguments) -> str | None:
    register = _URUKUL.get(message.bits)
    if register is urukul.ATT:
        return f"ATT: {', '.join(map(_decibels, register.att.read(message.written)))} dB"
    return register and f"{register.name[:3]}: {_fields(register, message.written)}"


def _urukul_settings(message, arguments) -> Settings:
    if _URUKUL.get(message.bits) is not urukul.ATT:
        return {}
    codes = urukul.ATT.att.read(message.written)
    return {f"attenuation {number}": ("dB", ATTENUATION.quantity(code) + 0.0) for number, code in enumerate(codes)}


def _mirny(message, arguments) -> str | None:
    """Describe a message to a register of the card's logic, an attenuator, or the synthesiser of a
    channel."""
    if message.bits == mirny.ATTENUATOR.width:
        word = mirny.ATTENUATOR.decode(message.written)
        code = mirny.ATTENUATOR.att.read(message.written)
        return f"ch{word['channel']}: {_decibels(code)} dB" if word["attenuator"] else None
    if message.bits == mirny.MESSAGE.width:
        word = mirny.MESSAGE.decode(message.written)
        register, _ = _MIRNY.get(word["register"], (None, 0))
        name = f"register {word['register']}" if register is None else register.name
        if not word["write"]:
            return _read(name, message, mirny.MESSAGE.data.width)
        return f"{name}: {word['data']:#x}" if register is None else f"{name}: {_fields(register, word['data'])}"
    if message.bits == mirny.HEAD.width + adf5356.R0.width:
        channel = mirny.HEAD.decode(message.written >> adf5356.R0.width)["destination"]
        word = message.written & (1 << adf5356.R0.width) - 1
        register, _ = _ADF5356.get(word & 0xF, (None, 0))
        if register is not None and channel < mirny.EXTENSION:
            return f"ch{channel} {register.name}: {_fields(register, word)}"
    return None


def _ad53xx(message, arguments) -> str | None:
    """Describe a code of a channel in volts, or a special function."""
    if message.bits != ad53xx.WORD.width:
        return None
    word = ad53xx.WORD.decode(message.written)
    mode, target, data = word["mode"], ad53xx.WORD.target.read(message.written), word["data"]
    if mode == "SPECIAL":
        return f"{word['target']}: {data:#x}" if isinstance(word["target"], str) else None
    channel = target - ad53xx.FIRST_CHANNEL
    if channel < 0:
        return None
    if mode == "DATA":
        return f"ch{channel}: {mu_to_voltage(data, arguments['offset_dacs'], arguments['vref']):.6g} V"
    return f"ch{channel} {mode}: {data:#x}"


def _ad53xx_settings(message, arguments) -> Settings:
    word = ad53xx.WORD.decode(message.written)
    channel = ad53xx.WORD.target.read(message.written) - ad53xx.FIRST_CHANNEL
    if message.bits != ad53xx.WORD.width or word["mode"] != "DATA" or channel < 0:
        return {}
    return {f"ch{channel}": ("V", mu_to_voltage(word["data"], arguments["offset_dacs"], arguments["vref"]))}


def _gains(message, arguments) -> str | None:
    """Describe the gains of a Sampler's amplifiers."""
    if message.bits != PGIA.width:
        return None
    return f"gains {', '.join(gain[1:] for gain in PGIA.decode(message.written)['gain'])}"


def _novogorny(message, arguments) -> str | None:
    """Describe a message to the amplifiers, or to the ADC: the next conversions, and the result."""
    if message.select == novogorny.CS_PGIA:
        return _gains(message, arguments)
    width = novogorny.ADC_CONTROL.width
    if message.bits % width:
        return None
    words = [message.written >> place & (1 << width) - 1 for place in range(0, message.bits, width)]
    table = [novogorny.ADC_CONTROL.decode(word) for word in reversed(words)]
    parts = [f"ch{word['channel']} range {word['softspan']}" for word in table if word["valid"]]
    texts = [f"next {', '.join(parts)}"] if parts else []
    if message.bits == novogorny.RESULT.width and len(parts) <= 1:
        found = message.read
        texts.insert(0, "result" if found is None else f"ch{adc_channel(found)}: {adc_value(found):.6g} V at the ADC")
    return "; ".join(texts) or None


def _relays(message, arguments) -> str | None:
    """List the closed relays of a Shuttler's outputs."""
    if message.bits != RELAYS:
        return None
    closed = [str(number) for number in range(RELAYS) if message.written >> number & 1]
    return f"closed: {', '.join(closed)}" if closed else "all open"


_AD9910, _AD9912, _ADF5356, _MIRNY = map(_registers, (ad9910, ad9912, adf5356, mirny))
_URUKUL = {register.width: register for register in (urukul.CFG8, urukul.CFG9, urukul.ATT)}

LABELS: dict[str, Callable] = {
    "AD9834": _ad9834,
    "AD9910": _ad9910,
    "SharedDDS": _ad9910,
    "AD9912": _ad9912,
    "CPLD": _urukul,
    "Mirny": _mirny,
    "AD53xx": _ad53xx,
    "Zotino": _ad53xx,
    "HMC542B": _hmc542b,
    "Relay": _relays,
    "Sampler": _gains,
    "Novogorny": _novogorny,
    "SUServo": _gains,
}
"""By driver class: text of a message to the chip, given the arguments of its device
(`arguments_of`); None if it is not understood."""
SETTINGS: dict[str, Callable] = {
    "AD9834": _ad9834_settings,
    "AD9910": _ad9910_settings,
    "AD9912": _ad9912_settings,
    "CPLD": _urukul_settings,
    "AD53xx": _ad53xx_settings,
    "Zotino": _ad53xx_settings,
    "HMC542B": _hmc542b_settings,
}
"""By driver class: the quantities that a message sets, as (unit, number) by name."""
PAIRS: dict[str, Callable] = {"AD9834": _ad9834_frequency}
"""By driver class: the quantities that a message sets together with its predecessor."""
BUSES = {"Sampler": "spi_pgia_device", "SUServo": "pgia_device"}
"""By driver class: the argument that names the bus, if it is not ``spi_device``."""
SELECTS = {
    "AD9834": {1: ""},
    "HMC542B": {1: ""},
    "Novogorny": {novogorny.CS_ADC: "", novogorny.CS_PGIA: " amplifiers"},
    "CPLD": {urukul.CS_CFG: "", urukul.CS_ATT: " attenuators"},
    "Mirny": {mirny.CS: ""},
    "Zotino": {CS_DAC: ""},
    "Relay": {1: ""},
    "Sampler": {CS_PGIA: " amplifiers"},
    "SUServo": {CS_PGIA: " amplifiers"},
    "SharedDDS": {urukul.CS_DDS_MULTI: ""},
}
"""By driver class without a chip select argument: the chip selects, with the suffix of the device's
name."""
