"""Whether what a run left in a card's chips fits the card that the device database has now: the same kind of card, on
the same clocks and references, since a register of a frequency or a voltage means something else on another one."""

import importlib
import inspect
from pathlib import Path

from .. import resultfiles
from ..devices import DeviceDB, database_of
from ..emulator.registers import state_of
from ..errors import UsageError
from ..experiment.hdf5 import texts_of
from ..scratch import ScratchFolder
from ..waveform.chips import reported
from .card import Card, Refused

__all__ = ["check", "database_before", "lacking"]

SCALES = (
    "refclk",
    "clk_sel",
    "clk_div",
    "sysclk",
    "clk_freq",
    "pll_en",
    "pll_n",
    "ref_doubler",
    "ref_divider",
    "proto_rev",
    "vref",
)
"""Arguments of drivers on which the meaning of registers depends."""
OWNERS = ("cpld_device", "bus_channel")
"""Arguments of a chip's driver that name its card."""
NUMBERS = ("chip_select", "channel")
"""Those with the chip's number on it."""


def database_before(path: Path) -> DeviceDB | None:
    """Return the device database that a run had, from its file; None: the file does not have it."""
    with resultfiles.opened(path) as file:
        provenance = resultfiles.group_of(file, "provenance")
        texts = {} if provenance is None else texts_of(provenance)
    if not {"devices", "device_db"} & set(texts):
        return None
    scratch = ScratchFolder("kairos-restore-")
    try:
        return database_of(texts, scratch.path)
    except UsageError:
        return None  # it loads what is there no more
    finally:
        scratch.close()


def check(card: Card, before: DeviceDB, same: set[str]):
    """Refused for a card whose driver in the run's database was not one of `same`, or that has another clock or
    reference now."""
    entry = before.entries.get(card.device)
    if not isinstance(entry, dict):
        return  # its name has changed: what fits is what the registers say
    if entry.get("class") not in same:
        raise Refused(f"it was {_article(entry.get('class'))} in the run, and is {_article(card.driver)} now")
    _compare("its", (before, card.device), (card.database, card.device))
    chips, others = _chips(card.database, card.device), _chips(before, card.device)
    for place in [each for each in chips if each in others]:
        was, now = (before, others[place]), (card.database, chips[place])
        one, two = (database.entries[name]["class"] for database, name in (was, now))
        if one != two:
            raise Refused(f"its chip {chips[place]} was {_article(one)} in the run, and is {_article(two)} now")
        _compare(f"that of {chips[place]}:", was, now)


def _compare(whose: str, was: tuple[DeviceDB, str], now: tuple[DeviceDB, str]):
    one, two = _scales(*was), _scales(*now)
    for argument in SCALES:
        if one.get(argument) != two.get(argument):
            raise Refused(
                f"{whose} {argument} was {one.get(argument)} in the run, and is {two.get(argument)} in the device "
                "database, so that its registers would mean something else"
            )


def _scales(database: DeviceDB, name: str) -> dict:
    """Return the arguments of a device that matter, with the defaults of its driver."""
    entry, arguments = database.entries[name], database.arguments(name)
    driver = getattr(importlib.import_module(entry["module"]), entry["class"])
    defaults = {each.name: each.default for each in inspect.signature(driver).parameters.values()}
    return {each: arguments.get(each, defaults[each]) for each in SCALES if each in defaults}


def _chips(database: DeviceDB, card: str) -> dict[tuple, str]:
    """Return the devices of the chips on a card, by the argument and the number of their place."""
    found, bus = {}, database.arguments(card).get("bus_channel")
    for name, entry in database.entries.items():
        if not isinstance(entry, dict):
            continue
        arguments = database.arguments(name)
        owner = next((arguments[each] for each in OWNERS if each in arguments), None)
        is_here = owner == bus if isinstance(owner, int) else owner is not None and _resolved(database, owner) == card
        if is_here:
            found |= {(each, arguments[each]): name for each in NUMBERS if each in arguments}
    return found


def _resolved(database: DeviceDB, name) -> str | None:
    for _ in database.entries:
        if not isinstance(database.entries.get(name), str):
            return name
        name = database.entries[name]
    return None


def _article(driver: str | None) -> str:
    return f"{'an' if str(driver)[:1] in tuple('AEIOU') else 'a'} {driver}"


def lacking(registers: dict[str, int], device) -> list[str]:
    """Return the chips of registers that an emulated device does not have: a card with fewer channels. Of an SU-Servo
    only what was written is known."""
    now = state_of(device)[0]
    have = {name.rpartition(".")[0] for name in now} | reported(device.control.request("bench")["parts"])
    servos = {name.partition(".")[0] for name in now if name.endswith(".ENABLE")}
    chips = dict.fromkeys(name.rpartition(".")[0] for name in registers)
    return [chip for chip in chips if chip not in have and chip.partition(".")[0] not in servos]
