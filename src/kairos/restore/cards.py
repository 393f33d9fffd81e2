"""For each kind of card: what is written, and in which order, so that its chips have the registers of a run.

A builder takes a `Card`, and yields functions that call a kernel with the drivers of a device manager. `Refused`
says what cannot be restored. Switches of an Urukul are open until everything else is as it was.
"""

from collections.abc import Callable, Iterator
from functools import partial

from ..contracts.cards import COUNTS
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
from .card import Card, Refused, call, step
from .chips import ad9910_words, halves, without_outputs
from .phaser import phaser
from .shuttler import shuttler
from .suservo import suservo

__all__ = ["BUILDERS"]

EXT_DIV = 32
"""SPI clock divider for the shift registers of an Almazny, in coarse cycles."""


# Urukul


def _urukul(card: Card) -> Iterator[Callable]:
    word = urukul.CFG8 if card.database.arguments(card.device).get("proto_rev", 9) == 8 else urukul.CFG9
    wanted = card.registers["CFG"]
    drivers = card.chips(AD9910="cpld_device chip_select", AD9912="cpld_device chip_select")
    steps = []
    for n in range(COUNTS["urukul"]):
        driver, values = drivers.get(n + 4), card.of(f"ch{n}")
        if driver is None and not _is_as_after_power_up(values):
            raise Refused(f"the device database has no device for its channel {n}, which the run has written to")
        if driver is not None:
            steps += {"AD9910": _ad9910, "AD9912": _ad9912}[driver[1]](driver[0], values)
    yield partial(_urukul_begun, card.device, without_outputs(word, wanted), to_int32(card.registers["ATT"]))
    yield from steps
    yield step("configuration", wanted, cpld=card.device)


def _urukul_begun(name: str, quiet: int, attenuators: int, devices):
    from numpy import int64  # as the driver has it

    devices.get(name).cfg_reg = int64(quiet)
    call("urukul", devices, attenuators, cpld=name)


def _is_as_after_power_up(values: dict[str, int]) -> bool:
    """Return whether nothing was ever written to a chip, as far as its tone goes."""
    tones = [value for name, value in values.items() if name.startswith(("PROFILE", "FTW", "FREQUENCY"))]
    return not any(tones) and values.get("CFR1", 0) == 0


def _ad9910(name: str, values: dict[str, int]) -> Iterator[Callable]:
    control = values["CFR1"]
    ram = [to_int32(values[f"RAM{n}"]) for n in range(ad9910.RAM_WORDS) if f"RAM{n}" in values]
    if ad9910.CFR1.ram_enable.read(control) and not ram:
        raise Refused("its RAM plays, whose words the file does not have: run an experiment that fills it")
    short, words, wide = ad9910_words(values)
    clock = values["CFR3"]
    locks = bool(ad9910.CFR3.pll_enable.read(clock))
    if not ram:
        yield step("ad9910", to_int32(control), to_int32(clock), locks, short, words, wide, device=name)
        return
    # It cannot play while it is written, and is written in the range of the selected profile: all have the whole.
    silent = to_int32(control & ~ad9910.CFR1.encode(ram_enable=1))
    whole = ad9910.RAM_PROFILE.encode(end=ad9910.RAM_WORDS - 1)
    ranges = [word for n in range(ad9910.PROFILE.count) for word in (ad9910.PROFILE.address + n, *halves(whole))]
    yield step("ad9910", silent, to_int32(clock), locks, short, words, ranges, device=name)
    ram += [0] * (ad9910.RAM_WORDS - len(ram))
    yield step("ad9910_ram", ram[::-1], wide, to_int32(control), device=name)


def _ad9912(name: str, values: dict[str, int]) -> Iterator[Callable]:
    words = []
    for register in (ad9912.SERIAL_CONFIG, ad9912.POWER, ad9912.N_DIVIDER, ad9912.PLL):
        words += [register.address, values[register.name], register.width // 8]
    frequency = values["FREQUENCY"]
    words += [ad9912.FREQUENCY.address, frequency >> 32, 2]
    words += [ad9912.LOWER_FREQUENCY, to_int32(frequency & 0xFFFFFFFF), 4]
    words += [ad9912.PHASE.address, values["PHASE"], 2]
    yield step("ad9912", words, device=name)


# Mirny


def _mirny(card: Card) -> Iterator[Callable]:
    yield step("mirny", card.registers["CONTROL"], card.numbered("ATTENUATOR", COUNTS["mirny"]), cpld=card.device)
    if shifted := card.numbered("ALMAZNY"):
        first, length = mirny.EXTENSION, almazny.CHANNEL.width
        yield step("almazny", first, length, EXT_DIV, shifted, cpld=card.device)
    drivers = card.chips(ADF5356="cpld_device channel")
    for n in range(COUNTS["mirny"]):
        words = [to_int32(card.registers[f"ch{n}.R{number}"]) for number in range(adf5356.LAST + 1)]
        if not any(words):
            card.untouched.append(f"ch{n}")
        elif n not in drivers:
            raise Refused(f"the device database has no device for its channel {n}, which the run has written to")
        else:
            yield partial(_adf5356, drivers[n][0], words)


def _adf5356(name: str, words: list[int], devices):
    devices.get(name).regs = words
    call("adf5356", devices, device=name)


# Converters


def _ad53xx(card: Card) -> Iterator[Callable]:
    word, control = ad53xx.WORD, card.registers["CONTROL"]
    channels = [card.of(f"ch{n}") for n in range(sum(name.endswith(".X1A") for name in card.registers))]
    if card.driver == "Zotino":
        card.check_channels(COUNTS["zotino"], "X1A")

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
    yield step("ad53xx", words, device=card.device)
    if card.driver == "Zotino" and "LEDS" in card.registers:
        yield step("leds", card.registers["LEDS"], device=card.device)


def _fastino(card: Card) -> Iterator[Callable]:
    width = 1 << card.database.arguments(card.device).get("log2_width", 0)
    card.check_channels(fastino.DAC.count, "DAC")
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
    yield step("fastino", writes if width > 1 else writes + last, device=card.device)
    if width > 1:
        for first in range(0, len(codes), width):
            group = [to_int32(codes[n] | codes[n + 1] << 16) for n in range(first, first + width, 2)]
            yield step("fastino_group", first, group, device=card.device)
        yield step("fastino", last, device=card.device)


def _gains(initialises: bool):
    def builder(card: Card) -> Iterator[Callable]:
        if initialises:
            yield step("initialise", device=card.device)
        yield step("gains", sampler.PGIA.gain.read(card.registers["PGIA"]), device=card.device)

    return builder


# Single chips


def _ad9834(card: Card) -> Iterator[Callable]:
    yield step(
        "ad9834",
        card.numbered("FREQUENCY", 2),
        card.numbered("PHASE", 2),
        card.registers["CONTROL"],
        device=card.device,
    )


def _hmc542b(card: Card) -> Iterator[Callable]:
    yield step("hmc542b", card.registers["SETTING"], device=card.device)


def _ad9914(card: Card) -> Iterator[Callable]:
    bus = card.database.arguments(card.device).get("bus_channel")
    drivers = {}
    for name, entry in card.database.entries.items():
        if isinstance(entry, dict) and entry.get("class") == "AD9914":
            arguments = card.database.arguments(name)
            if arguments.get("bus_channel") == bus:
                drivers[arguments.get("channel")] = name
    written = {name.partition(".")[0] for name, value in card.registers.items() if value}
    if gone := sorted(written - {f"ch{n}" for n in drivers}):
        raise Refused(f"the device database has no device for its {gone[0]}, which the run has written to")
    yield step("ad9914_reset", device=card.device)
    for n, name in sorted(drivers.items()):
        words = []
        for register, value in card.of(f"ch{n}").items():
            if not hasattr(ad9914, register):
                raise Refused(f"the run's card has a register ch{n}.{register}, which an AD9914 has not")
            words += [getattr(ad9914, register).address, to_int32(value)]
        yield step("ad9914", words, device=name)


BUILDERS = {
    "AD53xx": _ad53xx,
    "AD9834": _ad9834,
    "AD9914": _ad9914,
    "CPLD": _urukul,
    "Config": shuttler,
    "Fastino": _fastino,
    "HMC542B": _hmc542b,
    "Mirny": _mirny,
    "Novogorny": _gains(initialises=False),
    "Phaser": phaser,
    "Relay": shuttler,
    "SUServo": suservo,
    "Sampler": _gains(initialises=True),
    "Zotino": _ad53xx,
}
"""By driver class of the entry that stands for a card."""
