"""The types of cards: for each its RTIO channels, in ARTIQ's order, and its entries in the device
database. Pins are pairs of the EEM connectors ("eem0:d3"), as on the cards' schematics and in the
manuals of the logic on them (Urukul, Mirny). For the cards in `PINS` a description may override
them with `pins` (docs/gateware/boards.md)."""

from ..contracts.phaser import GW_REV_GATEWARE_BASE, GW_REV_GATEWARE_MIQRO
from ..variant import MONITORED, ChannelSpec, driver

__all__ = ["PERIPHERALS", "PINS", "Builder", "cxp_grabber", "phaser_tones"]

PINS = {
    "sampler": {
        "adc_clk": 0,
        "adc_miso": 1,
        "adc_sdr": 2,
        "cnv": 3,
        "pgia_clk": 4,
        "pgia_mosi": 5,
        "pgia_miso": 6,
        "pgia_cs": 7,
    },
    "zotino": {"clk": 0, "mosi": 1, "miso": 2, "cs_dac": 3, "cs_led": 4, "ldac": 5, "clr": 7},
    "novogorny": {"clk": 0, "mosi": 1, "miso": 2, "cs0": 3, "cs1": 4, "cnv": 5},
    "fastino": {"clk": 0, "mosi0": 1, "mosi1": 2, "mosi2": 3, "mosi3": 4, "mosi4": 5, "mosi5": 6, "miso": 7},
    "phaser": {"clk": 0, "mosi0": 1, "mosi1": 2, "mosi2": 3, "mosi3": 4, "mosi4": 5, "mosi5": 6, "miso": 7},
    "grabber": {"clk": 0, "x0": 1, "x1": 2, "x2": 3, "x3": 4},
}
"""Pairs of the first port, by the signal's name."""

_PULSE_LEVELS = 4
"""Levels of a pulse core's channel."""
_CONVERTER_BUS = ("spi_clk", "spi_mosi", "spi_miso", "csn_dac", "csn_clk")
"""Lines of the bus that configures a converter card."""
_PHASER_MODES = {"base": GW_REV_GATEWARE_BASE, "miqro": GW_REV_GATEWARE_MIQRO}
"""Number of the card's gateware, by mode."""
_PHASER_TONES = {"base": {0: "frequency", 1: "output"}, "miqro": {2: "pulses"}}
"""Kinds of a Phaser's further channels with what their names say, by mode."""

_NAMED_IF_NONE = {"sync_device"}
"""Arguments that ARTIQ's template tool writes as None, which programs that read a database look
for."""


class Builder:
    """Collects channels and devices of a board. host: the core device's address, for the services
    beside it; None: a board behind it. boards: those before it. counts: of names already in use."""

    def __init__(self, host: str | None, boards: list | None = None, counts: dict[str, int] | None = None):
        self.channels: list[ChannelSpec] = []
        self.devices: dict[str, dict] = {}
        self.low: list[str] = []
        """Pins of cards that are to be held at 0."""
        self._boards = [] if boards is None else boards
        self._boards.append(self)
        self._first = (len(self._boards) - 1) << 16
        self._counts: dict[str, int] = {} if counts is None else counts
        if host is not None:
            self._services(host)

    def behind(self) -> "Builder":
        """For the next board of the system, which has the next destination."""
        return Builder(None, self._boards, self._counts)

    def next(self, name: str) -> int:
        """0, 1, 2... for each name."""
        self._counts[name] = self._counts.get(name, -1) + 1
        return self._counts[name]

    @property
    def destination(self) -> int:
        """The board's number."""
        return self._first >> 16

    def place(self, number: int) -> int:
        """The number of a channel with the board's destination, as drivers expect it."""
        return self._first + number

    def channel(self, name: str, kind: str, pins, /, **parameters: int) -> int:
        """Adds a channel; returns its number."""
        self.channels.append(ChannelSpec(name, kind, parameters, tuple(pins)))
        return len(self.channels) - 1

    def device(self, name: str, module: str, cls: str, **arguments) -> None:
        """Adds an entry for a driver; arguments that are None are omitted, except for those in
        `_NAMED_IF_NONE`."""
        if module == "kasli_i2c" and self._first:
            return  # Drivers reach only the first board's bus
        given = {key: value for key, value in arguments.items() if value is not None or key in _NAMED_IF_NONE}
        self.devices[name] = driver(module, cls, **given)

    def ttl(self, name: str, direction: str, pin: str, edge_counter: bool = False) -> None:
        """A serialised TTL; `bank` adds the counter of an input after the bank's TTLs."""
        if direction == "clkgen":
            self.channel(name, "ttl_clockgen", [pin])
        else:
            kind = "ttl_inout" if direction == "input" else "ttl_out"
            number = self.channel(name, kind, [pin], serialised=1)
            if edge_counter and direction == "input":
                self._inputs.append((f"{name}_counter", number))

    def bank(self, ttls) -> None:
        """TTLs as (name, direction, pin, with counter), then the counters of the inputs among them."""
        self._inputs = []
        for arguments in ttls:
            self.ttl(*arguments)
        for name, number in self._inputs:
            self.channel(name, "edge_counter", [], input=number)

    def _services(self, host: str) -> None:
        bind = "--bind {bind}"
        proxy = "--port-proxy {port_proxy} --port-control {port}"
        self.devices |= {
            "core_log": {
                "type": "controller",
                "host": "::1",
                "port": 1068,
                "command": f"aqctl_corelog -p {{port}} {bind} {host}",
            },
            "core_moninj": {
                "type": "controller",
                "host": "::1",
                "port_proxy": 1383,
                "port": 1384,
                "command": f"aqctl_moninj_proxy {proxy} {bind} {host}",
            },
            "core_analyzer": {
                "type": "controller",
                "host": "::1",
                "port_proxy": 1385,
                "port": 1386,
                "command": f"aqctl_coreanalyzer_proxy {proxy} {bind} {host}",
            },
        }
        self.device("core_cache", "cache", "CoreCache")
        self.device("core_dma", "dma", "CoreDMA")
        self.device("i2c_switch0", "i2c", "I2CSwitch", address=0xE0)
        self.device("i2c_switch1", "i2c", "I2CSwitch", address=0xE2)


def _dio(b: Builder, card: dict) -> None:
    (port,) = card["ports"]
    directions = [card["bank_direction_low"]] * 4 + [card["bank_direction_high"]] * 4
    b.bank((f"ttl{b.next('ttl')}", way, f"eem{port}:d{i}", card["edge_counter"]) for i, way in enumerate(directions))


def _dio_spi(b: Builder, card: dict) -> None:
    (port,) = card["ports"]
    for spi in card["spi"]:
        pads = {name: [spi[name]] if name in spi else [] for name in ["mosi", "miso"]}
        pins = [f"eem{port}:d{i}" for i in [spi["clk"], *pads["mosi"], *pads["miso"], *spi["cs"]]]
        b.channel(
            f"{spi['name']}{b.next(spi['name'])}",
            "spi_master",
            pins,
            cs_width=len(spi["cs"]),
            mosi=len(pads["mosi"]),
            miso=len(pads["miso"]),
            **_monitor(spi.get("monitor")),
        )
    b.bank(
        (f"{t['name']}{b.next(t['name'])}", t["direction"], f"eem{port}:d{t['pin']}", t["edge_counter"])
        for t in card["ttl"]
    )


def _monitor(chip: str | None) -> dict[str, int]:
    """The monitor parameter of an SPI bus with these chips, if the monitor knows them."""
    return {"monitor": MONITORED.index(chip)} if chip else {}


def _urukul(b: Builder, card: dict) -> None:
    """Manual of the Urukul logic: EEM0 clk, mosi, miso, cs0-2, io_update, sync or reset; EEM1 4-7:
    switches."""
    name = f"urukul{b.next('urukul')}"
    first, *second = [f"eem{port}" for port in card["ports"]]
    ad9910 = card["dds"] == "ad9910"
    bus = [f"{first}:d{i}" for i in range(6)]
    b.channel(f"spi_{name}", "spi_master", bus, cs_width=3, **_monitor(card["dds"]))
    if card["synchronization"]:
        b.channel(f"ttl_{name}_sync", "ttl_clockgen", [f"{first}:d7"], acc_width=4)
    else:
        b.low.append(f"{first}:d7")  # SYNC_IN of AD9910s; the reset of AD9912s
    b.channel(f"ttl_{name}_io_update", "ttl_out", [f"{first}:d6"], serialised=1)
    if second:
        for i in range(4):
            b.channel(f"ttl_{name}_sw{i}", "ttl_out", [f"{second[0]}:d{4 + i}"], serialised=1)
    b.device(f"eeprom_{name}", "kasli_i2c", "KasliEEPROM", port=f"EEM{card['ports'][0]}")
    b.device(
        f"{name}_cpld",
        "urukul",
        "CPLD",
        spi_device=f"spi_{name}",
        sync_device=f"ttl_{name}_sync" if card["synchronization"] else None,
        io_update_device=f"ttl_{name}_io_update",
        refclk=card["refclk"],
        clk_sel=card["clk_sel"],
        clk_div=card["clk_div"],
        proto_rev=card["proto_rev"],
    )
    for i in range(4):
        calibrated = f"eeprom_{name}:{64 + 4 * i}" if ad9910 and card["synchronization"] else None
        b.device(
            f"{name}_ch{i}",
            card["dds"],
            card["dds"].upper(),
            pll_n=card.get("pll_n", 32 if ad9910 else 8),
            pll_en=card["pll_en"],
            pll_vco=card.get("pll_vco") if ad9910 else None,
            chip_select=4 + i,
            cpld_device=f"{name}_cpld",
            sw_device=f"ttl_{name}_sw{i}" if second else None,
            sync_delay_seed=calibrated,
            io_update_delay=calibrated,
        )


def _mirny(b: Builder, card: dict) -> None:
    """Manual of the Mirny logic: clk, mosi, miso, cs, four switches."""
    name = f"mirny{b.next('mirny')}"
    (port,) = card["ports"]
    legacy = card["almazny_hw_rev"] in ("v1.0", "v1.1")
    b.channel(f"spi_{name}", "spi_master", [f"eem{port}:d{i}" for i in range(4)], cs_width=1)
    for i in range(4):
        b.channel(f"ttl_{name}_sw{i}", "ttl_out", [f"eem{port}:d{4 + i}"], serialised=1)
        b.device(
            f"{name}_ch{i}",
            "adf5356",
            "ADF5356",
            channel=i,
            sw_device=f"ttl_{name}_sw{i}",
            cpld_device=f"{name}_cpld",
        )
        if card["almazny"] and not legacy:
            b.device(f"{name}_almazny{i}", "almazny", "AlmaznyChannel", host_mirny=f"{name}_cpld", channel=i)
    if card["almazny"] and legacy:
        b.device(f"{name}_almazny", "almazny", "AlmaznyLegacy", host_mirny=f"{name}_cpld")
    b.device(
        f"{name}_cpld",
        "mirny",
        "Mirny",
        spi_device=f"spi_{name}",
        refclk=card["refclk"],
        clk_sel=card["clk_sel"],
    )


def _places(card: dict, *names: str) -> list[str]:
    """Pins of the card's signals."""
    pairs = PINS[card["type"]] | card["pins"]
    return [f"eem{card['ports'][0]}:d{pairs[name]}" for name in names]


def _sampler(b: Builder, card: dict) -> None:
    """In basic mode: one SPI bus reads all channels; the ADC is held in single data rate."""
    name = f"sampler{b.next('sampler')}"
    adc = _places(card, "adc_clk", "adc_miso", "adc_sdr")
    bus = b.channel(f"spi_{name}_adc", "spi_master", adc, cs_width=0, mosi=0, high=1, **_monitor("sampler"))
    pgia = _places(card, "pgia_clk", "pgia_mosi", "pgia_miso", "pgia_cs")
    b.channel(f"spi_{name}_pgia", "spi_master", pgia, cs_width=1, adc=bus)
    b.channel(f"ttl_{name}_cnv", "ttl_out", _places(card, "cnv"), serialised=1, adc=bus)
    b.device(
        name,
        "sampler",
        "Sampler",
        spi_adc_device=f"spi_{name}_adc",
        spi_pgia_device=f"spi_{name}_pgia",
        cnv_device=f"ttl_{name}_cnv",
        hw_rev=card["hw_rev"],
    )


def _zotino(b: Builder, card: dict) -> None:
    name = f"zotino{b.next('zotino')}"
    bus = _places(card, "clk", "mosi", "miso", "cs_dac", "cs_led")
    b.channel(f"spi_{name}", "spi_master", bus, cs_width=2, **_monitor("ad53xx"))
    for signal in ["ldac", "clr"]:
        b.channel(f"ttl_{name}_{signal}", "ttl_out", _places(card, signal), serialised=1)
    b.device(
        name,
        "zotino",
        "Zotino",
        spi_device=f"spi_{name}",
        ldac_device=f"ttl_{name}_ldac",
        clr_device=f"ttl_{name}_clr",
    )


def _novogorny(b: Builder, card: dict) -> None:
    name = f"novogorny{b.next('novogorny')}"
    bus = _places(card, "clk", "mosi", "miso", "cs0", "cs1")
    b.channel(f"spi_{name}_adc", "spi_master", bus, cs_width=2, **_monitor("novogorny"))
    b.channel(f"ttl_{name}_cnv", "ttl_out", _places(card, "cnv"), serialised=1)
    b.device(name, "novogorny", "Novogorny", spi_device=f"spi_{name}_adc", cnv_device=f"ttl_{name}_cnv")


def _hvamp(b: Builder, card: dict) -> None:
    name = f"hvamp{b.next('hvamp')}"
    (port,) = card["ports"]
    for i in range(8):
        b.channel(f"ttl_{name}_sw{i}", "ttl_out", [f"eem{port}:d{i}"], serialised=1)


def _fastino(b: Builder, card: dict) -> None:
    name = f"fastino{b.next('fastino')}"
    b.channel(name, "fastino", _places(card, *PINS["fastino"]), log2_width=card["log2_width"])


def _phaser(b: Builder, card: dict) -> None:
    name = f"phaser{b.next('phaser')}"
    number = b.channel(name, "phaser", _places(card, *PINS["phaser"]), gw_rev=_PHASER_MODES[card["mode"]])
    b.channels += phaser_tones(name, number, card["mode"])


def phaser_tones(name: str, number: int, mode: str) -> list[ChannelSpec]:
    """The channels of tones or pulses of a Phaser, `name`, whose own channel is `number`, by `mode` of its gateware,
    "base" or "miqro"."""
    return [
        ChannelSpec(f"{name}_{output}{channel}", "phaser_tone", {"phaser": number, "channel": channel, "kind": kind})
        for channel in range(2)
        for kind, output in _PHASER_TONES[mode].items()
    ]


def _grabber(b: Builder, card: dict) -> None:
    name = f"grabber{b.next('grabber')}"
    number = b.channel(name, "grabber", _places(card, *PINS["grabber"]), rois=_engines(card))
    b.channel(f"{name}_gate", "grabber_gate", [], grabber=number)


def cxp_grabber(name: str, number: int, rois: int = 8, cage: int | None = None) -> list[ChannelSpec]:
    """The channels of a CoaXPress grabber, of which the first one has this number. cage: that of the camera; None: on a
    board that is simulated only."""
    pins, place = ((), {}) if cage is None else ((f"sfp{cage}:tx",), {"cage": cage})
    return [
        ChannelSpec(name, "cxp_trigger", place, pins),
        ChannelSpec(f"{name}_regions", "cxp_regions", {"grabber": number, "rois": rois}),
        ChannelSpec(f"{name}_gate", "cxp_gate", {"regions": number + 1}),
    ]


def _coaxpress_sfp(b: Builder, card: dict) -> None:
    name = f"cxp{b.next('cxp')}"
    b.channels += cxp_grabber(name, len(b.channels), card["roi_engine_count"], card["sfp"])


def _pulse(b: Builder, card: dict) -> None:
    """A pulse core, and the SPI buses of its converter cards. Each of its ports is a card of outputs, with the levels
    of two channels: for each tone its enable and its general-purpose level."""
    pins = [f"eem{port}:d{i}" for port in card["ports"] for i in range(8)][: _PULSE_LEVELS * card["channels"]]
    b.channel(
        f"pulse{b.next('pulse')}",
        "pulse",
        pins,
        channels=card["channels"],
        levels=int(bool(pins)),
        mlut_bits=card["entries"].bit_length() - 1,
        plut_bits=card["segments"].bit_length() - 1,
    )
    for connector in card["converters"]:
        lines = [f"{connector}:{line}" for line in _CONVERTER_BUS]
        b.channel(f"dac{b.next('dac')}_spi", "spi_master", lines, cs_width=2)


def _engines(card: dict) -> int:
    """Regions of a grabber, under either of their names."""
    return card.get("roi_engine_count", card.get("rois", 16))


def _suservo(b: Builder, card: dict) -> None:
    """Sampler and one or two Urukuls in the mode EN_NU.

    Urukul (manual of its logic): EEM0 clk, mosi, nu_clk, cs0, cs1, nu_cs, io_update, sync; EEM1
    nu_mosi0-3, switches. From protocol revision 9 on the chips can be read: EEM0 clk, mosi, miso,
    cs0, cs1, nu_clk, io_update, sync. Sampler v2: EEM0 sck, sdo0, sdr, cnv, PGIA clk, mosi, miso,
    cs; EEM1 clkout, sdo0-3. Of these only sdr and sdo0-3 are confirmed from a public source
    (sinara-hw/Sampler, issue 18).
    """
    name = f"suservo{b.next('suservo')}"
    sampler = f"sampler{b.next('sampler')}"
    adc0, adc1 = [f"eem{port}" for port in card["sampler_ports"]]
    ports = card.get("urukul_ports") or [card[key] for key in ["urukul0_ports", "urukul1_ports"] if key in card]
    urukuls = {f"urukul{b.next('urukul')}": [f"eem{port}" for port in pair] for pair in ports}
    synchronised = card["synchronization"]
    readable = card["proto_rev"] >= 9

    first = len(b.channels)
    for i, (eem, pair) in enumerate((eem1, d) for _, eem1 in urukuls.values() for d in range(4, 8)):
        number = b.channel(f"{name}_ch{i}", "suservo_channel", [f"{eem}:d{pair}"])
        b.device(f"{name}_ch{i}", "suservo", "Channel", channel=b.place(number), servo_device=name)
    pins = [f"{adc0}:d3", f"{adc0}:d0", f"{adc0}:d2", *(f"{adc1}:d{i}" for i in range(5))]
    for eem0, eem1 in urukuls.values():
        own = [5] if readable else [2, 5]
        pins += [*(f"{eem0}:d{i}" for i in own), *(f"{eem1}:d{i}" for i in range(4))]
    if not synchronised:
        pins += [f"{eem0}:d6" for eem0, _ in urukuls.values()]
        b.low += [f"{eem0}:d7" for eem0, _ in urukuls.values()]
    parameters = {"io_update": int(not synchronised), "cs": int(not readable)}
    servo = b.channel(name, "suservo", pins, channels=first, urukuls=len(urukuls), **parameters)
    b.device(
        name,
        "suservo",
        "SUServo",
        channel=b.place(servo),
        pgia_device=f"spi_{sampler}_pgia",
        cpld_devices=[f"{urukul}_cpld" for urukul in urukuls],
        dds_devices=[f"{urukul}_dds" for urukul in urukuls],
        sampler_hw_rev=card["sampler_hw_rev"],
    )
    b.channel(f"spi_{sampler}_pgia", "spi_master", [f"{adc0}:d{i}" for i in range(4, 8)], cs_width=1)
    for i, (urukul, (eem0, _)) in enumerate(urukuls.items()):
        if synchronised:
            b.channel(f"ttl_{urukul}_io_update", "ttl_out", [f"{eem0}:d6"], servo=servo, urukul=i)
            b.channel(f"ttl_{urukul}_sync", "ttl_clockgen", [f"{eem0}:d7"], acc_width=4)
        bus = [f"{eem0}:d{i}" for i in ([0, 1, 2, 3, 4] if readable else [0, 1, 3, 4])]
        b.channel(f"spi_{urukul}", "spi_master", bus, cs_width=2, miso=int(readable))
        b.device(f"eeprom_{urukul}", "kasli_i2c", "KasliEEPROM", port=eem0.upper())
        b.device(
            f"{urukul}_cpld",
            "urukul",
            "CPLD",
            spi_device=f"spi_{urukul}",
            sync_device=f"ttl_{urukul}_sync" if synchronised else None,
            io_update_device=f"ttl_{urukul}_io_update" if synchronised else None,
            refclk=card["refclk"],
            clk_sel=card["clk_sel"],
            proto_rev=card["proto_rev"],
        )
        b.device(
            f"{urukul}_dds",
            "suservo",
            "SharedDDS",
            cpld_device=f"{urukul}_cpld",
            pll_n=card["pll_n"],
            pll_en=card["pll_en"],
            pll_vco=card.get("pll_vco"),
            sync_delay_seeds=f"eeprom_{urukul}:64" if synchronised else None,
            io_update_delay=f"eeprom_{urukul}:64" if synchronised else None,
        )


PERIPHERALS = {
    "dio": _dio,
    "dio_spi": _dio_spi,
    "urukul": _urukul,
    "mirny": _mirny,
    "sampler": _sampler,
    "zotino": _zotino,
    "novogorny": _novogorny,
    "hvamp": _hvamp,
    "suservo": _suservo,
    "fastino": _fastino,
    "phaser": _phaser,
    "grabber": _grabber,
    "coaxpress_sfp": _coaxpress_sfp,
    "pulse": _pulse,
}
"""Functions that add a card to a `Builder`, by type."""
