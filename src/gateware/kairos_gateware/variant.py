"""Definition of a variant: a list of channels, from which gateware, descriptor and device database
are derived."""

from dataclasses import dataclass, field

__all__ = [
    "BLOCKS",
    "Bridge",
    "ChannelSpec",
    "Variant",
    "MASTERS",
    "MONITORED",
    "PACKETISERS",
    "REGION_BLOCKS",
    "RTIO_FREQUENCY",
    "driver",
]

RTIO_FREQUENCY = 125_000_000
MONITORED = ("none", "ad9910", "ad9912", "ad53xx", "sampler", "novogorny")
"""Chips and cards behind an SPI bus that the monitor can follow, by the value of the bus's parameter
`monitor`."""

BLOCKS = ("adder", "pages", "peripherals")
"""Blocks behind a bridge: `adder` adds two vectors that the other board has stored; `pages` shows pages of the
board's memory as one range, `peripherals` pages of its processing system's addresses that the description lists."""
REGION_BLOCKS = ("adder",)
"""Blocks of a board that regions of its remote memory can show to other boards."""
PACKETISERS = ("gearbox", "simple")
"""Of a bridge: without gaps, or each vector in words of its own."""
MASTERS = ("upstream", "downstream")
"""Which board of a bridge has the other one's block in the addresses of its processors."""


@dataclass(frozen=True)
class ChannelSpec:
    """kind: a key of `descriptor.KINDS`; parameters as listed by its PHY's `Kind`. pins: the pins
    to which the board must connect the pads, in their order ("eem0:d3", "user_led:1"); without, the
    board assigns its pins in turn. The position in the variant's list is the channel number."""

    name: str
    kind: str
    parameters: dict[str, int] = field(default_factory=dict, hash=False)
    pins: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bridge:
    """A bridge over the link to the upstream board. block: what is behind it, of `BLOCKS`, at the board that is not the
    master. packetiser: of `PACKETISERS`. master: of `MASTERS`. pages: of `peripherals`, for each page its address, a
    multiple of 4096, and whether it may be written."""

    block: str = "adder"
    packetiser: str = "gearbox"
    master: str = "upstream"
    pages: tuple[tuple[int, bool], ...] = ()


@dataclass(frozen=True)
class Variant:
    """A named list of channels. devices: entries of the device database beyond those of the core
    and of the channels. host: default network address. lanes: of the event dispatcher. reorder:
    events that may wait in any order of time, a power of two; 0: lanes of increasing times.
    push_inputs: input events are pushed into memory, so that the kernel core need not request them;
    costs logic (docs/gateware/initiator.md). synthesiser: source of the RTIO clock, as in the
    descriptor. traffic: with the block that measures the ports (docs/gateware/data-paths.md). uplink:
    the board is a satellite, with a link to its upstream board. satellites: the downstream boards, each
    at the other end of a link, which may have satellites of their own; destinations are numbered in
    preorder, each board before those below it, so the first one is 1. converters: connectors of the
    board with cards for the outputs of pulse cores, in their order; in simulation a model generates
    the samples. quadrature: two of them are for one output, its real and its imaginary part. board: the
    hardware for which it was described, as in the descriptor. remote: over the
    link to the upstream board, each board can read and write the other's memory. bridge: over that link, one of
    the boards accesses a block of the other, None without. block: of `REGION_BLOCKS`, in this board's logic, which
    regions of its remote memory can show; None without. eem: the EEM connector of the upstream board at
    which this one is, a card; None for a link over fibre. low: pins that hardware holds at 0: inputs of cards that no
    channel drives. cross_links: links beside the tree, with remote memory only, to any boards that have one, too.
    drtio: a card with its maker's gateware, which speaks DRTIO; built for simulation only, where it stands for that."""

    name: str
    channels: tuple[ChannelSpec, ...]
    devices: dict[str, dict] = field(default_factory=dict, hash=False)
    host: str | None = None
    lanes: int = 8
    reorder: int = 0
    push_inputs: bool = True
    synthesiser: int = 0
    traffic: bool = False
    uplink: bool = False
    satellites: tuple["Variant", ...] = ()
    converters: tuple[str, ...] = ()
    quadrature: bool = False
    remote: bool = False
    bridge: Bridge | None = None
    block: str | None = None
    eem: int | None = None
    board: str = ""
    low: tuple[str, ...] = ()
    cross_links: int = 0
    drtio: bool = False

    def boards(self) -> tuple["Variant", ...]:
        """This board and all below it, in the order of their destinations."""
        return (self, *(board for satellite in self.satellites for board in satellite.boards()))

    def bridges(self) -> dict[str, tuple[Bridge, bool]]:
        """Bridges of this board: for each, by the name of its link ("up", "down1", …), the `Bridge`, and whether
        accesses of this board's processors enter there."""
        links = {f"down{n}": (board.bridge, "upstream") for n, board in enumerate(self.satellites, 1)}
        links = {"up": (self.bridge, "downstream")} | links
        return {name: (bridge, bridge.master == here) for name, (bridge, here) in links.items() if bridge is not None}

    def numbered_channels(self):
        """(channel number, with the destination of its board in bits 23..16; `ChannelSpec`) of all
        boards."""
        for destination, board in enumerate(self.boards()):
            yield from ((destination << 16 | number, spec) for number, spec in enumerate(board.channels))


def driver(module: str, cls: str, **arguments) -> dict:
    """The entry of a device database for the driver `cls` in a module of the core device's drivers."""
    return {"type": "local", "module": f"artiq.coredevice.{module}", "class": cls, "arguments": arguments}
