"""Whether a device database agrees with the gateware of its device, which describes its channels itself."""

from math import isclose

from ..contracts.cards import CHANNEL_DRIVERS
from ..contracts.descriptor import ChannelKind

__all__ = ["destinations", "disagreements", "numbered"]

_ARGUMENTS = {
    (driver["module"], name): driver["argument"] for driver in CHANNEL_DRIVERS.values() for name in driver["classes"]
}
"""The argument for the channel's number, by module and class of the driver."""


def numbered(entries: dict):
    """Yield name, driver class and channel of the entries that stand for a channel."""
    for name, entry in entries.items():
        if not isinstance(entry, dict) or not isinstance(entry.get("arguments"), dict):
            continue
        module, cls = str(entry.get("module")).rpartition(".")[2], entry.get("class")
        channel = entry["arguments"].get(_ARGUMENTS.get((module, cls)))
        if isinstance(channel, int):
            yield name, cls, channel


def destinations(entries: dict) -> set[int]:
    """Return the numbers of the boards whose channels the entries name; 0 is the master."""
    return {channel >> 16 for _, _, channel in numbered(entries)}


def disagreements(entries: dict, clock: tuple[int, int] | None, boards: dict[int, list]) -> list[str]:
    """Return a line for each entry that does not fit the device.

    `entries`: device descriptions by name, without aliases; `clock`: frequency in Hz and fine bits of the
    gateware; `boards`: channels by destination, each as of `Management.descriptor`. Boards that are not
    given are not checked.
    """
    found = {
        destination << 16 | number: (name, _driver_of(kind, parameters))
        for destination, channels in boards.items()
        for number, kind, name, parameters in channels
    }
    lines = _clock(entries, clock)
    for name, cls, channel in numbered(entries):
        if channel >> 16 not in boards:
            continue
        there, driver = found.get(channel, (None, None))
        article = "an" if cls[0] in "AEIOU" else "a"
        if there is None:
            lines.append(f"{name} is {article} {cls} at channel {channel:#08x}, which the gateware does not have")
        elif driver != cls:
            what = f"{there} ({driver or 'no driver'})"
            lines.append(f"{name} is {article} {cls} at channel {channel:#08x}, where the gateware has {what}")
    return lines


def _driver_of(kind: int, parameters) -> str | None:
    try:
        driver = CHANNEL_DRIVERS[ChannelKind(kind).name.lower()]
    except (KeyError, ValueError):
        return None
    return driver["classes"][dict(parameters).get(driver["selector"], 0)]


def _clock(entries: dict, clock: tuple[int, int] | None) -> list[str]:
    core = entries.get("core")
    arguments = core.get("arguments") if isinstance(core, dict) else None
    stated = arguments.get("ref_period") if isinstance(arguments, dict) else None
    if clock is None or not isinstance(stated, int | float):
        return []
    period = 1 / (clock[0] << clock[1])
    if isclose(stated, period, rel_tol=1e-6):
        return []
    return [f"core has a ref_period of {stated:g} s, and the clock of the gateware makes it {period:g} s"]
