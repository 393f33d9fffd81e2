"""For each kind of card: what is written, and in which order, so that its chips have the registers of a run.

A builder takes a `Card`, and yields functions that call a kernel with the drivers of a device manager. `Refused`
says what cannot be restored. Switches of an Urukul are open until everything else is as it was.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from ..coredevice.chips import (
    ad53xx,
    ad9910,
    ad9912,
    ad9914,
    adf5356,
    almazny,
    fastino,
    mirny,
    sampler,
    urukul,
)
from ..coredevice.parts.numbers import to_int32
from ..devices import DeviceDB
from .kernels import Kernels

__all__ = ["BUILDERS", "Card", "Refused"]

CHANNELS = 4
"""Of an Urukul or a Mirny."""
PROFILES, RAM_WORDS = 8, 1024
"""Of an AD9910."""
EXT_DIV = 32
"""SPI clock divider for the shift registers of an Almazny, in coarse cycles."""


class Refused(Exception):
    """Why a card cannot be restored."""


@dataclass
class Card:
    """A card of a run: its `name` on the bench, the entry `device` that stands for it, and its registers."""

    name: str
    device: str
    registers: dict[str, int]
    database: DeviceDB
    untouched: list[str] = field(default_factory=list)
    """Chips to which the run never wrote."""

    @property
    def driver(self) -> str:
        """Class of the driver."""
        return self.database.entries[self.device]["class"]

    def of(self, chip: str) -> dict[str, int]:
        """Return the registers of a chip, by their names."""
        start = f"{chip}."
        return {name.removeprefix(start): value for name, value in self.registers.items() if name.startswith(start)}

    def numbered(self, name: str) -> list[int]:
        """Return equal registers (NAME0, NAME1...), as many as there are."""
        count = sum(key.startswith(name) and key.removeprefix(name).isdecimal() for key in self.registers)
        return [self.registers[f"{name}{n}"] for n in range(count)]

    def chips(self, **places: str) -> dict[int, tuple[str, str]]:
        """Return the devices that name this card, with their class, by number. `places`: for each class the argument
        with the card's name, and that with the number, with a space between."""
        found = {}
        for name, entry in self.database.entries.items():
            if not isinstance(entry, dict) or entry.get("class") not in places:
                continue
            card, _, number = places[entry["class"]].partition(" ")
            arguments = self.database.arguments(name)
            if self._is_this(arguments.get(card)):
                found[int(arguments.get(number, 0))] = name, entry["class"]
        return found

    def _is_this(self, name) -> bool:
        return isinstance(name, str) and name in self.database.entries and self.resolved(name) == self.device

    def resolved(self, name: str) -> str:
        """Return the entry that a name or alias stands for."""
        while isinstance(self.database.entries.get(name), str):
            name = self.database.entries[name]
        return name


def _call(method: str, devices, *arguments, **roles: str):
    """Call a kernel with drivers by role."""
    made = {role: devices.get(name) for role, name in roles.items()}
    getattr(Kernels(devices.get("core"), **made), method)(*arguments)


def _step(method: str, *arguments, **roles: str) -> Callable:
    return lambda devices: _call(method, devices, *arguments, **roles)


def _halves(word: int) -> tuple[int, int]:
    return to_int32(word >> 32), to_int32(word & 0xFFFFFFFF)


# Urukul


def _urukul(card: Card) -> Iterator[Callable]:
    for name, entry in card.database.entries.items():
        if isinstance(entry, dict) and entry.get("class") == "SUServo":
            cards = card.database.arguments(name).get("cpld_devices") or []
            if card.device in map(card.resolved, cards):
                raise Refused(f"the SU-Servo {name} writes its chips by itself")
    word = urukul.CFG8 if card.database.arguments(card.device).get("proto_rev", 9) == 8 else urukul.CFG9
    wanted = card.registers["CFG"]
    drivers = card.chips(AD9910="cpld_device chip_select", AD9912="cpld_device chip_select")
    steps = []
    for n in range(CHANNELS):
        driver, values = drivers.get(n + 4), card.of(f"ch{n}")
        if driver is None and not _is_as_after_power_up(values):
            raise Refused(f"the device database has no device for its channel {n}, which the run has written to")
        if driver is not None:
            steps += {"AD9910": _ad9910, "AD9912": _ad9912}[driver[1]](driver[0], values)
    yield partial(_urukul_begun, card.device, _without(word, wanted), to_int32(card.registers["ATT"]))
    yield from steps
    yield _step("configuration", wanted, cpld=card.device)


def _without(word, configuration: int) -> int:
    """Return a configuration with the switches open, and without resets and updates."""
    for each in (word.rf_sw, word.io_update, word.rst, word.io_rst):
        configuration &= ~(((1 << each.width * each.count) - 1) << each.low)
    return configuration


def _urukul_begun(name: str, quiet: int, attenuators: int, devices):
    from numpy import int64  # as the driver has it

    devices.get(name).cfg_reg = int64(quiet)
    _call("urukul", devices, attenuators, cpld=name)


def _is_as_after_power_up(values: dict[str, int]) -> bool:
    """Return whether nothing was ever written to a chip, as far as its tone goes."""
    tones = [value for name, value in values.items() if name.startswith(("PROFILE", "FTW", "FREQUENCY"))]
    return not any(tones) and values.get("CFR1", 0) == 0


def _ad9910(name: str, values: dict[str, int]) -> Iterator[Callable]:
    control = values["CFR1"]
    ram = [to_int32(values[f"RAM{n}"]) for n in range(RAM_WORDS) if f"RAM{n}" in values]
    if ad9910.CFR1.ram_enable.read(control) and not ram:
        raise Refused("its RAM plays, whose words the file does not have: run an experiment that fills it")
    words, wide, short = [], [], []
    for register in (each for each in vars(ad9910).values() if getattr(each, "address", None) is not None):
        if register in (ad9910.CFR1, ad9910.CFR3, ad9910.RAM, ad9910.RAM_PROFILE):
            continue
        for n in range(register.count):
            value = values.get(register.name if register.count == 1 else f"{register.name}{n}")
            if value is None:
                continue
            if register.width == 64:
                wide += [register.address + n, *_halves(value)]
            else:
                chosen = words if register.width == 32 else short
                chosen += [register.address + n, to_int32(value)]
    clock = values["CFR3"]
    locks = bool(ad9910.CFR3.pll_enable.read(clock))
    if not ram:
        yield _step("ad9910", to_int32(control), to_int32(clock), locks, short, words, wide, device=name)
        return
    # It cannot play while it is written, and is written in the range of the selected profile: all have the whole.
    silent = to_int32(control & ~ad9910.CFR1.encode(ram_enable=1))
    whole = ad9910.RAM_PROFILE.encode(end=RAM_WORDS - 1)
    ranges = [word for n in range(PROFILES) for word in (ad9910.PROFILE.address + n, *_halves(whole))]
    yield _step("ad9910", silent, to_int32(clock), locks, short, words, ranges, device=name)
    ram += [0] * (RAM_WORDS - len(ram))
    yield _step("ad9910_ram", ram[::-1], wide, to_int32(control), device=name)


def _ad9912(name: str, values: dict[str, int]) -> Iterator[Callable]:
    words = []
    for register in (ad9912.SERIAL_CONFIG, ad9912.POWER, ad9912.N_DIVIDER, ad9912.PLL):
        words += [register.address, values[register.name], register.width // 8]
    frequency = values["FREQUENCY"]
    words += [ad9912.FREQUENCY.address, frequency >> 32, 2]
    words += [ad9912.LOWER_FREQUENCY, to_int32(frequency & 0xFFFFFFFF), 4]
    words += [ad9912.PHASE.address, values["PHASE"], 2]
    yield _step("ad9912", words, device=name)


# Mirny


def _mirny(card: Card) -> Iterator[Callable]:
    yield _step("mirny", card.registers["CONTROL"], card.numbered("ATTENUATOR"), cpld=card.device)
    if shifted := card.numbered("ALMAZNY"):
        first, length = mirny.EXTENSION, almazny.CHANNEL.width
        yield _step("almazny", first, length, EXT_DIV, shifted, cpld=card.device)
    drivers = card.chips(ADF5356="cpld_device channel")
    for n in range(CHANNELS):
        words = [to_int32(card.registers[f"ch{n}.R{number}"]) for number in range(adf5356.LAST + 1)]
        if not any(words):
            card.untouched.append(f"ch{n}")
        elif n not in drivers:
            raise Refused(f"the device database has no device for its channel {n}, which the run has written to")
        else:
            yield partial(_adf5356, drivers[n][0], words)


def _adf5356(name: str, words: list[int], devices):
    devices.get(name).regs = words
    _call("adf5356", devices, device=name)


# Converters


def _ad53xx(card: Card) -> Iterator[Callable]:
    word, control = ad53xx.WORD, card.registers["CONTROL"]
    channels = [card.of(f"ch{n}") for n in range(sum(name.endswith(".X1A") for name in card.registers))]

    def special(target: str, data: int) -> int:
        return word.encode(mode="SPECIAL", target=target, data=data)

    words = []
    # The bit of the control register says to which of both registers codes go.
    for selected, register in enumerate(("X1A", "X1B")):
        words.append(special("CONTROL", ad53xx.CONTROL.encode(select_b=selected)))
        for n, values in enumerate(channels):
            words.append(word.encode(mode="DATA", target=ad53xx.FIRST_CHANNEL + n, data=values[register]))
    for n, values in enumerate(channels):
        words.append(word.encode(mode="GAIN", target=ad53xx.FIRST_CHANNEL + n, data=values["GAIN"]))
        words.append(word.encode(mode="OFFSET", target=ad53xx.FIRST_CHANNEL + n, data=values["OFFSET"]))
    words += [special("OFS0", card.registers["OFS0"]), special("OFS1", card.registers["OFS1"])]
    words.append(special("CONTROL", control))
    yield _step("ad53xx", words, device=card.device)
    if card.driver == "Zotino" and "LEDS" in card.registers:
        yield _step("leds", card.registers["LEDS"], device=card.device)


def _fastino(card: Card) -> Iterator[Callable]:
    width = 1 << card.database.arguments(card.device).get("log2_width", 0)
    codes = [card.registers[f"ch{n}.DAC"] for n in range(fastino.DAC.count)]
    masks: dict[int, int] = {}
    for n in range(len(codes)):
        setting = card.registers[f"ch{n}.CIC"]
        masks[setting] = masks.get(setting, 0) | 1 << n
    writes = []
    for setting, mask in masks.items():
        writes += [fastino.CIC.address, setting, fastino.CIC_APPLY.address, to_int32(mask)]
    if width == 1:
        for n, code in enumerate(codes):
            writes += [fastino.DAC.address + n, code]
    last = [fastino.CFG.address, card.registers["CFG"], fastino.LEDS.address, card.registers["LEDS"]]
    yield _step("fastino", writes if width > 1 else writes + last, device=card.device)
    if width > 1:
        for first in range(0, len(codes), width):
            group = [to_int32(codes[n] | codes[n + 1] << 16) for n in range(first, first + width, 2)]
            yield _step("fastino_group", first, group, device=card.device)
        yield _step("fastino", last, device=card.device)


def _gains(initialises: bool):
    def builder(card: Card) -> Iterator[Callable]:
        if initialises:
            yield _step("initialise", device=card.device)
        yield _step("gains", sampler.PGIA.gain.read(card.registers["PGIA"]), device=card.device)

    return builder


# Single chips


def _ad9834(card: Card) -> Iterator[Callable]:
    yield _step(
        "ad9834", card.numbered("FREQUENCY"), card.numbered("PHASE"), card.registers["CONTROL"], device=card.device
    )


def _hmc542b(card: Card) -> Iterator[Callable]:
    yield _step("hmc542b", card.registers["SETTING"], device=card.device)


def _ad9914(card: Card) -> Iterator[Callable]:
    bus = card.database.arguments(card.device).get("bus_channel")
    drivers = {}
    for name, entry in card.database.entries.items():
        if isinstance(entry, dict) and entry.get("class") == "AD9914":
            arguments = card.database.arguments(name)
            if arguments.get("bus_channel") == bus:
                drivers[arguments.get("channel")] = name
    yield _step("ad9914_reset", device=card.device)
    for n, name in sorted(drivers.items()):
        words = []
        for register, value in card.of(f"ch{n}").items():
            words += [getattr(ad9914, register).address, to_int32(value)]
        yield _step("ad9914", words, device=name)


BUILDERS = {
    "AD53xx": _ad53xx,
    "AD9834": _ad9834,
    "AD9914": _ad9914,
    "CPLD": _urukul,
    "Fastino": _fastino,
    "HMC542B": _hmc542b,
    "Mirny": _mirny,
    "Novogorny": _gains(initialises=False),
    "Sampler": _gains(initialises=True),
    "Zotino": _ad53xx,
}
"""By driver class of the entry that stands for a card."""
