"""The variants that come with the package; others are created from system descriptions
(`description/`)."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from .contracts.phaser import GW_REV_GATEWARE_MIQRO
from .contracts.shuttler import OUTPUTS
from .description import load, make_variant
from .description.card_boards import add_mtdds, add_songbird
from .description.peripherals import Builder, cxp_grabber, phaser_tones
from .variant import RTIO_FREQUENCY, Bridge, ChannelSpec, Variant

__all__ = ["ChannelSpec", "Variant", "VARIANTS", "RTIO_FREQUENCY", "shuttler"]


def shuttler(name: str, number: int) -> tuple[ChannelSpec, ...]:
    """Returns the channels of a Shuttler: its settings, with this number, and after it its trigger,
    levels and tones."""
    card = {"shuttler": number}
    splines = [
        ChannelSpec(f"{name}_{of}{output}", "shuttler_spline", card | {"output": output, "kind": kind})
        for kind, of in enumerate(("dcbias", "dds"))
        for output in range(OUTPUTS)
    ]
    return ChannelSpec(name, "shuttler"), ChannelSpec(f"{name}_trigger", "shuttler_trigger", card), *splines


def _demo() -> Variant:
    bidirectional = [ChannelSpec(f"ttl{i}", "ttl_inout") for i in range(4)]
    outputs = [ChannelSpec(f"ttl{i}", "ttl_out") for i in range(4, 12)]
    return Variant("demo", (*bidirectional, *outputs, ChannelSpec("rtio_log", "log")))


def _core(name="pulse0", outputs=2, **parameters) -> ChannelSpec:
    """A pulse core with a quarter of the tables."""
    return ChannelSpec(name, "pulse", {"channels": outputs, "mlut_bits": 11, "plut_bits": 10} | parameters)


def _pulse(name="pulse", outputs=2) -> Variant:
    """The channels of `demo`, a counter, and a pulse core of `outputs` channels with a quarter of
    the tables, whose branches can use the counter and `ttl1`, and whose feed-forward can track a beat at
    `ttl2`, whose edges have a resolution of 1 ns."""
    beat = 2
    channels = [*_demo().channels, ChannelSpec("ttl0_counter", "edge_counter", {"input": 0})]
    channels[beat] = replace(channels[beat], parameters={"serialised": 1})
    return Variant(name, (*channels, _core("pulse0", outputs, result0=len(channels) - 1, result1=1, beat=beat)))


def _dac() -> Variant:
    """A pulse core of two channels, whose samples go to converter cards on both FMC connectors of a
    ZC706, SPI masters to configure the cards, and four TTLs. Converters and RTIO need a common
    clock, so a synthesiser provides the RTIO clock."""
    lines = ["spi_clk", "spi_mosi", "spi_miso", "csn_dac", "csn_clk"]
    spis = [
        ChannelSpec(f"dac{n}_spi", "spi_master", {"cs_width": 2}, tuple(f"{connector}:{line}" for line in lines))
        for n, connector in enumerate(["lpc", "hpc"])
    ]
    channels = (*_demo().channels[:4], _core(), *spis, ChannelSpec("rtio_log", "log"))
    return Variant("dac", channels, synthesiser=1, converters=("lpc", "hpc"))


def _fine() -> tuple[ChannelSpec, ...]:
    """The channels of `demo`, with pins of 1 ns resolution."""
    return tuple(
        replace(channel, parameters={"serialised": 1} if channel.kind.startswith("ttl") else {})
        for channel in _demo().channels
    )


def _satellite(name="satellite", prefix="sat_", **options) -> Variant:
    """A satellite with the TTLs of `demo`."""
    channels = tuple(replace(channel, name=f"{prefix}{channel.name}") for channel in _fine() if channel.kind != "log")
    return Variant(name, channels, push_inputs=False, uplink=True, **options)


def _pulse_satellite() -> Variant:
    """A satellite with a pulse core, of two channels with a quarter of the tables."""
    satellite = _satellite("pulse_satellite")
    return replace(satellite, channels=(*satellite.channels, _core("sat_pulse0")))


def _pulse_pair() -> Variant:
    """A master with such a core, and this satellite: for gates across both."""
    master = _master("pulse_pair", _pulse_satellite())
    return replace(master, channels=(*master.channels, _core("pulse0")))


def _store(prefix="sat_") -> Variant:
    """A satellite whose memory the master reads and writes, and vice versa, with a block in its logic that other
    boards use likewise."""
    return _satellite("store", prefix, remote=True, block="adder")


def _peer(prefix="sat_") -> Variant:
    """The same with cages for two cross links, to others of them."""
    return replace(_store(prefix), name="peer", cross_links=2)


def _block(packetiser="gearbox", name="block", block="adder") -> Variant:
    """A satellite with a block that the master uses through a bridge."""
    return _satellite(name, bridge=Bridge(block, packetiser))


def _peripherals() -> Variant:
    """A satellite that shows the master peripherals: its UARTs and on-chip memory, also to write, and the system
    registers."""
    pages = ((0xE000_0000, True), (0xE000_1000, True), (0xF800_0000, False), (0xFFFC_0000, True))
    return _satellite("peripherals", bridge=Bridge("peripherals", pages=pages))


def _borrower(prefix="sat_", block="adder") -> Variant:
    """A satellite that uses a block of its upstream board through a bridge."""
    return _satellite("borrower", prefix, bridge=Bridge(block, master="downstream"))


def _reach() -> Variant:
    """A satellite with remote memory and a `store` behind it, whose memory is accessible to all boards."""
    return _satellite("reach", "relay_", remote=True, satellites=(_store(),))


def _relay() -> Variant:
    """A satellite with a `satellite` behind it."""
    return _satellite("relay", "relay_", satellites=(_satellite(),))


def _fork(prefix="fork_") -> Variant:
    """A satellite with two of `satellite` behind it."""
    behind = tuple(_satellite(prefix=f"{prefix}{letter}_") for letter in "ab")
    return _satellite("fork", prefix, satellites=behind)


def _master(name, *satellites) -> Variant:
    """A master with a link to each of these. Inputs are read on request, since the satellites'
    are."""
    return Variant(name, _fine(), push_inputs=False, satellites=satellites)


def _described(name: str, **options):
    """For simulation, and for a Kasli-SoC with these cards."""
    return lambda: replace(make_variant(load(Path(__file__).parent / "description" / f"{name}.json")), **options)


def _cards() -> Variant:
    """Cards that no Kasli-SoC's description has: a bus with two AD9914, a Shuttler with its
    SPI buses, a CoaXPress grabber; and two Phasers, one with Miqro gateware."""
    pins = [ChannelSpec("ttl0", "ttl_inout"), ChannelSpec("ttl4", "ttl_out")]
    bus = ChannelSpec("ddsbus0", "ad9914", {"chips": 2})
    spis = [ChannelSpec(f"spi_shuttler0_{name}", "spi_master", {"cs_width": 1}) for name in ("relay", "adc")]
    before = (*pins, bus, *spis)
    channels = (*before, ChannelSpec("phaser0", "phaser"), *phaser_tones("phaser0", len(before), "base"))
    card = shuttler("shuttler0", len(channels))
    first = len(channels) + len(card)
    miqro = (
        ChannelSpec("phaser1", "phaser", {"gw_rev": GW_REV_GATEWARE_MIQRO}),
        *phaser_tones("phaser1", first, "miqro"),
    )
    before = (*channels, *card, *miqro)
    return Variant("cards", (*before, *cxp_grabber("cxp0", len(before)), ChannelSpec("rtio_log", "log")))


def _songbird() -> Variant:
    """A Songbird, and a pin beside it."""
    builder = Builder(None)
    builder.channel("ttl4", "ttl_out", [])
    add_songbird(builder, "songbird0")
    return Variant("songbird", (*builder.channels, ChannelSpec("rtio_log", "log")), builder.devices)


def _mtdds() -> Variant:
    """A Phaser as a satellite with four tones in each RF channel, on a board with a network, and a pin beside it."""
    builder = Builder(None)
    builder.channel("ttl4", "ttl_out", [])
    add_mtdds(builder, "mtdds0", tones=4)
    return Variant("mtdds", (*builder.channels, ChannelSpec("rtio_log", "log")), builder.devices)


class _Variants(Mapping):
    """Variants by name, each created when first requested."""

    def __init__(self, makers):
        self._makers = makers
        self._made = {}

    def __getitem__(self, name: str) -> Variant:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self):
        return iter(self._makers)

    def __len__(self):
        return len(self._makers)


VARIANTS = _Variants(
    {
        "demo": _demo,
        "pulse": lambda: replace(_pulse(), traffic=True),
        "pulse8": lambda: _pulse("pulse8", 8),
        "dac": _dac,
        "pair": lambda: _master("pair", _satellite()),
        "satellite": _satellite,
        "pulse_pair": _pulse_pair,
        "pulse_satellite": _pulse_satellite,
        "memory": lambda: _master("memory", _store()),
        "store": _store,
        "bridge": lambda: _master("bridge", _block()),
        "block": _block,
        "pages": lambda: _block(name="pages", block="pages"),
        "peripherals": _peripherals,
        "lender": lambda: _master("lender", _borrower("sat1_"), _borrower("sat2_", "pages")),
        "borrower": _borrower,
        "memory_star": lambda: _master("memory_star", *(_store(f"sat{n}_") for n in (1, 2, 3))),
        "ring": lambda: _master("ring", _peer("sat1_"), _peer("sat2_")),
        "peer": _peer,
        "span": lambda: _master("span", _reach()),
        "reach": _reach,
        "chain": lambda: _master("chain", _relay()),
        "relay": _relay,
        "star": lambda: _master("star", *(_satellite(prefix=f"sat{n}_") for n in (1, 2, 3))),
        "tree": lambda: _master("tree", _fork("fork1_"), _fork("fork2_"), _satellite()),
        "fork": _fork,
        "cards": _cards,
        "songbird": _songbird,
        "mtdds": _mtdds,
        "clocked": lambda: replace(_demo(), name="clocked", synthesiser=1, board="kasli_soc;v1.1"),
        "lab": _described("lab", reorder=1024),
        "servo": _described("servo"),
        "ion": _described("ion"),
    }
)
