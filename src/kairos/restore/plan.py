"""What is to be written so that chips have again what they had in a run: steps, and what cannot be restored and why."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ..contracts.cards import CARDS
from ..devices import DeviceDB, DeviceError
from ..errors import UsageError
from .card import Card, Refused, Registers
from .cards import BUILDERS
from .fits import check
from .suservo import belongs_to

__all__ = ["Plan", "planned"]

_OLD = ", of which the file says nothing: it is from before that was kept"


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
        text = f"{len(self.registers)} registers of {', '.join(self.steps)}" if self.steps else "nothing"
        return text + (left if self.untouched else "")

    def write(self, devices):
        """Write everything, with the drivers of a `DeviceManager`. UsageError, with what was written and what was not,
        if a card does not answer."""
        names = list(self.steps)
        for number, (name, steps) in enumerate(self.steps.items()):
            try:
                for step in steps:
                    step(devices)
            except (DeviceError, ValueError) as error:  # of a driver, perhaps raised on the device
                done, left = (", ".join(each) or "nothing" for each in (names[:number], names[number + 1 :]))
                why = " ".join(str(error).split())
                raise UsageError(f"{name} is restored in part only: {why}; restored are {done}; not {left}") from None


def planned(
    registers: dict[str, int],
    devices: dict[str, str],
    database: DeviceDB,
    chosen: Iterable[str] = (),
    before: DeviceDB | None = None,
) -> Plan:
    """Plan to restore the registers of a run. `devices`: for parts of its bench, the entry of the device database that
    stands for the card. `chosen`: cards; by default all. `before`: the device database of the run, if it is known.
    UsageError, in one line, if one of them cannot be restored."""
    cards: dict[str, Registers] = defaultdict(Registers)
    for name, value in registers.items():
        card, _, register = name.partition(".")
        cards[card][register] = value
    chosen = list(dict.fromkeys(chosen))
    if unknown := [name for name in chosen if name not in cards]:
        raise UsageError(f"the run has no card {unknown[0]}; it has {', '.join(cards)}")
    plan, refused = Plan(), {}
    made, servos = _cards(cards, devices, database, refused)
    for name in chosen or cards:
        card, servo = made.get(name), servos.get(name)
        if card is None or (servo in made and not chosen):
            continue  # refused; or restored with its SU-Servo
        try:
            if servo is not None:
                known = servo in made
                raise Refused(f"it belongs to the SU-Servo {servo}" + (": name that" if known else _OLD))
            for each in (card, *card.parts) if before is not None else ():
                builder = _builder(each)
                check(each, before, {driver for driver, made in BUILDERS.items() if made is builder})
            steps = list(_builder(card)(card))
        except Refused as why:
            refused[name] = str(why)
            continue
        plan.untouched += [f"{name}.{chip}".rstrip(".") for chip in card.untouched]
        if steps:
            plan.steps[name] = steps
            for each in (card, *card.parts):
                plan.registers |= each.restored
    refused = {name: why for name, why in refused.items() if not chosen or name in chosen}
    if refused:
        others = [name for name in cards if name not in refused]
        advice = f"; name what is to be restored: {' '.join(others)}" if others and not chosen else ""
        raise UsageError(f"{'; '.join(f'{name} cannot be restored: {why}' for name, why in refused.items())}{advice}")
    return plan


def _cards(
    cards: dict[str, Registers], devices: dict[str, str], database: DeviceDB, refused: dict[str, str]
) -> tuple[dict[str, Card], dict[str, str]]:
    """Return the cards by name, and of those that belong to an SU-Servo, as which they are made, its name; those that
    cannot be made are added to `refused`, with the reason."""
    made, servos = {}, {}
    for name, registers in cards.items():
        try:
            made[name] = Card(name, _device(name, devices, database), registers, database)
        except Refused as why:
            refused[name] = str(why)
            continue
        if "ENABLE" not in registers and (servo := belongs_to(made[name])) is not None:
            servos[name] = servo
    for name, servo in servos.items():
        if servo in made:
            made[servo].parts.append(made[name])
    return made, servos


def _device(name: str, devices: dict[str, str], database: DeviceDB) -> str:
    """Return the entry of the device database that stands for a card."""
    entries = database.entries.items()
    known = {key for key, entry in entries if isinstance(entry, dict) and entry.get("class") in {*CARDS, *BUILDERS}}
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
