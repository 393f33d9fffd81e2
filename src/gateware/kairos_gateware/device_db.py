"""Writes the device database of a variant, in ARTIQ's format: a Python file that defines
`device_db`."""

import pprint

from .phy.kinds import KINDS
from .variant import RTIO_FREQUENCY, ChannelSpec, Variant, driver

__all__ = ["device_db", "render"]

_BLOCKS = {"adder": "RemoteAdder"}
"""Drivers of the blocks of boards."""


def _entry(number: int, channel: ChannelSpec) -> dict | None:
    """Returns None if the channel has no driver, or the system description provides its entry."""
    kind = KINDS.get(channel.kind)
    if kind is None or kind.driver is None or kind.driver.described:
        return None
    arguments = {name: value for name, value in channel.parameters.items() if name in kind.driver.parameters}
    return driver(
        kind.driver.module, kind.driver.class_for(channel.parameters), **{kind.driver.argument: number}, **arguments
    )


def _boards(board: Variant, above: int | None = None, own: int = 0):
    """(board, number of its upstream board) for this board and all below it, in the order of their numbers."""
    yield board, above
    following = own + 1
    for satellite in board.satellites:
        yield from _boards(satellite, own, following)
        following += len(satellite.boards())


def device_db(variant: Variant, host: str) -> dict:
    """host: network address of the core device, or an `emulator://` address."""
    machine_units = 1_000_000_000 // RTIO_FREQUENCY
    core = driver("core", "Core", host=host, ref_period=1e-9, ref_multiplier=machine_units, target="cortexa9")
    db = {"core": core, "core_dma": driver("dma", "CoreDMA"), "core_cache": driver("cache", "CoreCache")}
    for number, channel in variant.numbered_channels():
        entry = _entry(number, channel)
        if entry is not None:
            db[channel.name] = entry
    for destination, (board, above) in enumerate(_boards(variant)):
        db |= board.devices
        if board.bridge is not None:
            there = destination if board.bridge.master == "upstream" else above
            db[f"bridge{destination}"] = {
                "type": "local",
                "module": "kairos.coredevice.bridge",
                "class": "Bridge",
                "arguments": {"destination": there},
            }
        if board.block is not None:
            db[f"{board.block}{destination}"] = {
                "type": "local",
                "module": "kairos.coredevice.remote_memory",
                "class": _BLOCKS[board.block],
                "arguments": {"destination": destination},
            }
    if "core_analyzer" in db:
        db["core"]["arguments"]["analyzer_proxy"] = "core_analyzer"
    return db


def render(variant: Variant, host: str) -> str:
    """Text of the file."""
    body = pprint.pformat(device_db(variant, host), sort_dicts=False, width=100)
    return f"# Device database of gateware variant {variant.name}, generated with it.\n\ndevice_db = {body}\n"
