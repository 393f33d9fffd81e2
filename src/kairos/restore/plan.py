"""What is to be written so that chips have again what they had in a run: steps, and what cannot be restored and why."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ..contracts.cards import CARDS
from ..devices import DeviceDB
from ..errors import UsageError
from .cards import BUILDERS, Card, Refused

__all__ = ["Plan", "planned"]


@dataclass
class Plan:
    """`steps`: functions that take the drivers of a device database and write, by card. `untouched`: chips to which
    the run had never written, which are left as they are."""

    steps: dict[str, list[Callable[[Any], None]]] = field(default_factory=dict)
    untouched: list[str] = field(default_factory=list)
    registers: dict[str, int] = field(default_factory=dict)
    """What is restored."""

    @property
    def sentence(self) -> str:
        """What is, or was, written, in one line."""
        left = f"; left as they are, since the run never wrote to them: {', '.join(self.untouched)}"
        text = f"{len(self.registers)} registers of {', '.join(self.steps)}"
        return text + (left if self.untouched else "")

    def write(self, devices):
        """Write everything, with the drivers of a `DeviceManager`. Exceptions of drivers, if a card does not answer."""
        for steps in self.steps.values():
            for step in steps:
                step(devices)


def planned(registers: dict[str, int], devices: dict[str, str], database: DeviceDB, chosen: Iterable[str] = ()) -> Plan:
    """Plan to restore the registers of a run. `devices`: for parts of its bench, the entry of the device database that
    stands for the card. `chosen`: cards; by default all. UsageError, in one line, if one of them cannot be restored."""
    cards: dict[str, dict[str, int]] = defaultdict(dict)
    for name, value in registers.items():
        card, _, register = name.partition(".")
        cards[card][register] = value
    chosen = list(dict.fromkeys(chosen))
    if unknown := [name for name in chosen if name not in cards]:
        raise UsageError(f"the run has no card {unknown[0]}; it has {', '.join(cards)}")
    plan, refused = Plan(), {}
    for name in chosen or cards:
        try:
            card = Card(name, _device(name, devices, database), cards[name], database)
            steps = list(_builder(card)(card))
        except Refused as why:
            refused[name] = str(why)
            continue
        plan.untouched += [f"{name}.{chip}" for chip in card.untouched]
        if steps:
            plan.steps[name] = steps
            left = tuple(f"{chip}." for chip in card.untouched)
            plan.registers |= {
                f"{name}.{register}": value for register, value in cards[name].items() if not register.startswith(left)
            }
    if refused:
        others = [name for name in cards if name not in refused]
        advice = f"; name what is to be restored: {' '.join(others)}" if others and not chosen else ""
        raise UsageError(f"{'; '.join(f'{name} cannot be restored: {why}' for name, why in refused.items())}{advice}")
    return plan


def _device(name: str, devices: dict[str, str], database: DeviceDB) -> str:
    """Return the entry of the device database that stands for a card."""
    known = {key for key, entry in database.entries.items() if isinstance(entry, dict) and entry.get("class") in CARDS}
    if name in devices:
        if devices[name] not in known:
            raise Refused(f"the device database has no {devices[name]} any more")
        return devices[name]
    # The run is from before its file said which device a part stands for.
    found = [key for key in known if key == name] or [key for key in known if key.startswith(f"{name}_")]
    if len(found) != 1:
        raise Refused("the device database has no such card")
    return found[0]


def _builder(card: Card):
    made = BUILDERS.get(card.driver)
    if made is None:
        raise Refused(
            f"the state of {'an' if card.driver[0] in 'AEIOU' else 'a'} {card.driver} is more than registers: run an "
            "experiment that sets it"
        )
    return made
