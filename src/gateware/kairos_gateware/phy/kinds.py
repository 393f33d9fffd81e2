"""From a variant's channels to PHYs: which pads and which PHY belong to each kind of channel.

| kind | pads, in order | parameters (default) |
|---|---|---|
| ttl_out, ttl_inout | the pin | serialised (0): 1 ns resolution |
| ttl_out of an update pin | the pin | servo: channel number of a suservo before it; urukul (0): which of its cards |
| ttl_clockgen | the pin | acc_width (24) |
| edge_counter | none | input: channel number of a ttl_inout before it; gateware_width (31) |
| spi_master | clk, mosi, miso, cs0..., low0... | cs_width (1); mosi, miso (1): 0 if there is no such pin; low (0) |
| ad9914 | a0-7, d0-15, wr_n, fud, rst, sel_n0... | chips (1) |
| fastino | clk, mosi0-5, miso | log2_width (0) |
| grabber | clk, x0-3 | res_width (12), count_shift (0), rois (16) |
| grabber_gate | none | grabber: channel number of the grabber before it |
| suservo_channel | the switch | |
| suservo | cnv, sck, sdr, clkout, sdo0-3; of each Urukul clk, cs, mosi0-3; of each io_update | channels: number of the
first of its suservo_channels before it; urukuls (1); io_update (1): 0 if ttl_outs have these pins; profile (7) |
"""

from itertools import zip_longest

from ..servo.format import URUKUL_CHANNELS
from ..variant import ChannelSpec
from .ad9914 import Ad9914Bus
from .clockgen import ClockGenerator
from .edge_counter import EdgeCounter
from .fastino import LANES, Fastino
from .grabber import Grabber, GrabberGate
from .pad import Pad
from .spi import SpiMaster
from .suservo import SuServo, SuServoChannel, UpdateOutput
from .ttl import InOut, Output

__all__ = ["make_phys"]


def _ttl(make, direction):
    def build(number, spec, parameters, _):
        return make(number, Pad(spec.name, direction, number, bool(parameters.pop("serialised", 0))))

    return build


def _output(number, spec, parameters, before):
    if "servo" not in parameters:
        return _ttl(Output, "out")(number, spec, parameters, before)
    servo, urukul = before.get(parameters.pop("servo")), parameters.pop("urukul", 0)
    if not isinstance(servo, SuServo) or not urukul < len(servo.updates):
        raise ValueError(
            f"{spec.name}: parameters `servo` and `urukul` must be a suservo channel before it, and its card"
        )
    return UpdateOutput(number, Pad(spec.name, "out", number, True), servo.updates[urukul])


def _clockgen(number, spec, parameters, _):
    return ClockGenerator(number, Pad(spec.name, "out", number), parameters.pop("acc_width", 24))


def _edge_counter(number, spec, parameters, before):
    source = parameters.pop("input", None)
    if not isinstance(before.get(source), InOut):
        raise ValueError(f"{spec.name}: parameter `input` must be the number of a ttl_inout channel before it")
    return EdgeCounter(number, before[source].edges, parameters.pop("gateware_width", 31))


def _spi(number, spec, parameters, _):
    cs_width = parameters.pop("cs_width", 1)
    if not 0 <= cs_width <= 8:
        raise ValueError(f"{spec.name}: an SPI master has 0 to 8 chip select pins, not {cs_width}")
    directions = {"clk": "out", "mosi": "inout", "miso": "in"} | {f"cs{i}": "out" for i in range(cs_width)}
    for name in ["mosi", "miso"]:
        if not parameters.pop(name, 1):
            del directions[name]
    pads = {name: Pad(f"{spec.name}_{name}", way, number) for name, way in directions.items()}
    phy = SpiMaster(number, pads["clk"], pads.get("mosi"), pads.get("miso"), [pads[f"cs{i}"] for i in range(cs_width)])
    # Pins of the card that have to be held low
    low = [Pad(f"{spec.name}_low{i}", "out", number) for i in range(parameters.pop("low", 0))]
    phy.comb += [pad.oe.eq(1) for pad in low]
    phy.pads += low
    return phy


def _ad9914(number, spec, parameters, _):
    chips = parameters.pop("chips", 1)
    if not 1 <= chips <= 8:
        raise ValueError(f"{spec.name}: an AD9914 bus has 1 to 8 chips, not {chips}")

    def pads(name, count):
        return [Pad(f"{spec.name}_{name}{i}", "out", number) for i in range(count)]

    single = [Pad(f"{spec.name}_{name}", "out", number) for name in ["wr_n", "fud", "rst"]]
    return Ad9914Bus(number, pads("a", 8), pads("d", 16), *single, pads("sel_n", chips))


def _fastino(number, spec, parameters, _):
    clock, *lanes = [
        Pad(f"{spec.name}_{name}", "out", number, True) for name in ["clk", *(f"mosi{i}" for i in range(LANES))]
    ]
    return Fastino(number, clock, lanes, Pad(f"{spec.name}_miso", "in", number), parameters.pop("log2_width", 0))


def _grabber(number, spec, parameters, _):
    clock, *lanes = [Pad(f"{spec.name}_{name}", "in", number, True) for name in ["clk", "x0", "x1", "x2", "x3"]]
    options = {name: parameters.pop(name) for name in ["res_width", "count_shift", "rois"] if name in parameters}
    return Grabber(number, clock, lanes, **options)


def _grabber_gate(number, spec, parameters, before):
    source = parameters.pop("grabber", None)
    if not isinstance(before.get(source), Grabber):
        raise ValueError(f"{spec.name}: parameter `grabber` must be the number of a grabber channel before it")
    return GrabberGate(number, before[source])


def _suservo_channel(number, spec, parameters, _):
    return SuServoChannel(number, Pad(spec.name, "out", number, True))


def _suservo(number, spec, parameters, before):
    urukuls, profile = parameters.pop("urukuls", 1), parameters.pop("profile", 7)
    if urukuls not in (1, 2):
        raise ValueError(f"{spec.name}: a servo has 1 or 2 Urukuls, not {urukuls}")
    if not 0 <= profile <= 7:
        raise ValueError(f"{spec.name}: the profiles of an AD9910 are 0 to 7, not {profile}")
    first = parameters.pop("channels", number)
    channels = [before.get(first + i) for i in range(urukuls * URUKUL_CHANNELS)]
    if not all(isinstance(channel, SuServoChannel) for channel in channels):
        raise ValueError(
            f"{spec.name}: parameter `channels` must be the number of the first of {len(channels)} suservo_channels "
            "before it"
        )

    def pad(name, direction="out", serialised=False):
        return Pad(f"{spec.name}_{name}", direction, number, serialised)

    adc = [
        pad("cnv"),
        pad("sck"),
        pad("sdr"),
        *(pad(n, "in", True) for n in ["clkout", *(f"sdo{i}" for i in range(4))]),
    ]
    buses = [
        [pad(f"urukul{i}_{name}") for name in ["clk", "cs", *(f"mosi{j}" for j in range(URUKUL_CHANNELS))]]
        for i in range(urukuls)
    ]
    updates = (
        [pad(f"urukul{i}_io_update", "out", True) for i in range(urukuls)] if parameters.pop("io_update", 1) else []
    )
    return SuServo(number, channels, adc, buses, updates, profile)


_BUILD = {
    "ttl_out": _output,
    "ttl_inout": _ttl(InOut, "inout"),
    "ttl_clockgen": _clockgen,
    "edge_counter": _edge_counter,
    "spi_master": _spi,
    "ad9914": _ad9914,
    "fastino": _fastino,
    "grabber": _grabber,
    "grabber_gate": _grabber_gate,
    "suservo": _suservo,
    "suservo_channel": _suservo_channel,
}


def make_phys(channels: tuple[ChannelSpec, ...]) -> dict:
    """{channel number: PHY} of all channels that have one (`log` has none). Each PHY has `channel` and `pads`, whose
    `pin` is set as the specification says. Raises ValueError with the channel's name."""
    phys = {}
    for number, spec in enumerate(channels):
        if spec.kind == "log":
            continue
        if spec.kind not in _BUILD:
            raise ValueError(f"{spec.name}: there is no PHY for channels of kind {spec.kind!r}")
        parameters = dict(spec.parameters)
        phy = _BUILD[spec.kind](number, spec, parameters, phys)
        if parameters:
            raise ValueError(f"{spec.name}: unknown parameter {next(iter(parameters))!r} of a {spec.kind}")
        if spec.pins and len(spec.pins) != len(phy.pads):
            raise ValueError(f"{spec.name}: {len(phy.pads)} pads, but {len(spec.pins)} pins are given")
        for pad, pin in zip_longest(phy.pads, spec.pins):
            pad.pin = pin
        phys[number] = phy
    return phys
