"""Descriptions of PHYs. Each file of `phy/` with PHYs exports `KINDS`, which `kinds.py` finds; the
descriptor's channels, `device_db`, the table in docs/gateware/phys.md and the area figures are
derived from them."""

from collections.abc import Callable
from dataclasses import dataclass, field

from ..contracts.cards import CHANNEL_DRIVERS
from ..contracts.descriptor import ChannelKind
from ..pad import Pad
from ..variant import ChannelSpec

__all__ = ["Driver", "Figure", "Kind", "Parameter", "Context"]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a channel, an unsigned number. default: None if there is none. allowed: the
    valid values; rule: the message for any other value ("an SPI master has 0 to 8 chip select
    pins"). meaning: for the table."""

    name: str
    default: int | None = None
    allowed: range | None = None
    rule: str = ""
    meaning: str = ""

    def check(self, channel: str, value: int | None) -> None:
        """Raises ValueError."""
        if self.allowed is not None and value not in self.allowed:
            raise ValueError(f"{channel}: {self.rule}, not {value}")


@dataclass(frozen=True)
class Driver:
    """The channel's driver, from `contracts.cards`: one of some classes in a module of the core
    device's drivers. argument: the one for the channel's number. parameters: of the channel, that
    are arguments. described: it needs more than the channel knows, so the system description
    (`description/`) provides its entry. selector: a parameter whose value, by default 0, selects
    one of several classes."""

    module: str
    classes: tuple[str, ...]
    selector: str
    argument: str
    parameters: tuple[str, ...]
    described: bool

    def class_for(self, parameters: dict[str, int]) -> str:
        """The class for a channel with these parameters."""
        return self.classes[parameters.get(self.selector, 0)]


@dataclass(frozen=True)
class Figure:
    """A measurement of area. what: in words. make: creates the module, with `channel` and `pads`
    like a PHY, `others` if it has further channels, and `outputs` if it has further signals.
    baseline: lut, ff and bram of the reference, where it has the same."""

    what: str
    make: Callable
    baseline: dict[str, int] = field(default_factory=dict)


class Context:
    """Context of a PHY: `number` of the channel, its `name`, the values of its `parameters`, and
    `phys`, {channel number: PHY} of those before it."""

    def __init__(self, number: int, name: str, parameters: dict[str, int | None], phys: dict):
        self.number = number
        self.name = name
        self.parameters = parameters
        self.phys = phys

    def __getitem__(self, parameter: str) -> int | None:
        return self.parameters[parameter]

    def pad(self, part: str = "", direction: str = "out", serialised: bool = False) -> Pad:
        """A pad of the channel: its only one, or one for a part of the PHY."""
        return Pad(f"{self.name}_{part}" if part else self.name, direction, self.number, serialised)

    def pads(self, parts: list[str], direction: str = "out", serialised: bool = False) -> list[Pad]:
        """A pad for each part."""
        return [self.pad(part, direction, serialised) for part in parts]

    def earlier(self, parameter: str, cls: type, kind: str):
        """Returns the PHY whose channel number the parameter has. Raises ValueError if it is not of
        that class."""
        phy = self.phys.get(self[parameter])
        if not isinstance(phy, cls):
            raise ValueError(f"{self.name}: parameter `{parameter}` must be the number of a {kind} channel before it")
        return phy


@dataclass(frozen=True)
class Kind:
    """A kind of channels. channel: its number in the descriptor, and its name. make: creates the
    PHY for a `Context`. pads: names in order, for the table. injectable: moninj may override the
    (only) pad. figures: by name."""

    channel: ChannelKind
    make: Callable[[Context], object]
    pads: str = "none"
    parameters: tuple[Parameter, ...] = ()
    injectable: bool = False
    figures: dict[str, Figure] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.channel.name.lower()

    @property
    def driver(self) -> Driver | None:
        """The driver of such channels; None if they have none of their own."""
        facts = CHANNEL_DRIVERS.get(self.name)
        return None if facts is None else Driver(**facts)

    def context(self, number: int, spec: ChannelSpec, phys: dict) -> Context:
        """The context of a channel of this kind. Raises ValueError if its parameters are not valid
        for this kind."""
        values = {parameter.name: parameter.default for parameter in self.parameters}
        for name in spec.parameters:
            if name not in values:
                raise ValueError(f"{spec.name}: unknown parameter {name!r} of a {self.name}")
        values |= spec.parameters
        for parameter in self.parameters:
            parameter.check(spec.name, values[parameter.name])
        return Context(number, spec.name, values, phys)
