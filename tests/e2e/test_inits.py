"""Every `init` of every driver right after ``core.reset(); core.break_realtime()``: on cards as they
leave the factory (erased EEPROMs) and on used ones, alone and after all others, in one kernel without
further slack."""

import linecache

import pytest

from kairos.devices import DeviceDB, DeviceManager
from kairos.language import kernel, now_mu
from kairos.testing import Bench
from tests.support.databases import entry, written
from tests.support.gateware import database


def _lab(entries):
    """An Urukul with AD9910 whose delays are in its EEPROM, which is erased, and what is on other buses."""


def _ad9912(entries):
    del entries["urukul0_cpld"]["arguments"]["sync_device"]
    for number in range(4):
        del entries[f"urukul0_ch{number}"]
    entries["dds"] = entry("ad9912", "AD9912", chip_select=5, cpld_device="urukul0_cpld", pll_n=8)


def _on_bus(**more):
    def add(entries):
        entries.update(more)

    return add


def _mirny(entries):
    entries["mirny"] = entry("mirny", "Mirny", spi_device="dio_spi0", clk_sel=2)
    entries["tone"] = entry("adf5356", "ADF5356", cpld_device="mirny", sw_device="ttl16", channel=1)
    entries["almazny"] = entry("almazny", "AlmaznyLegacy", host_mirny="mirny")


def _cards(entries):
    entries["dds"] = entry("ad9914", "AD9914", sysclk=3e9, bus_channel=2, channel=1)
    entries["relay"] = entry("shuttler", "Relay", spi_device="spi_shuttler0_relay")


SETUPS = {
    "lab": (
        "lab",
        _lab,
        "",
        ["urukul0_cpld", *(f"urukul0_ch{n}" for n in range(4)), "sampler0", "fastino0"],
    ),
    "ad9912": ("lab", _ad9912, "", ["urukul0_cpld", "dds"]),
    "zotino": ("lab", _on_bus(dac=entry("zotino", "Zotino", spi_device="dio_spi0", ldac_device="ttl16")), "", ["dac"]),
    "ad53xx": ("lab", _on_bus(dac=entry("ad53xx", "AD53xx", spi_device="dio_spi0")), "", ["dac"]),
    "ad9834": ("lab", _on_bus(dds=entry("ad9834", "AD9834", spi_device="dio_spi0")), "", ["dds"]),
    "mirny": (
        "lab",
        _mirny,
        "[mirny.dio_spi0]\nclocks_hz = [0, 0, 100e6, 0]\nhw_rev = 2\n",
        ["mirny", "tone", "almazny"],
    ),
    "cards": ("cards", _cards, "[ddsbus.ddsbus0]\nclock_hz = 3e9\nsync_in = true\n", ["dds.reset_all", "dds", "relay"]),
    "phasers": ("cards", _lab, "", ["phaser0", "phaser1"]),
    "songbird": ("songbird", _lab, "", ["songbird0"]),
    "mtdds": ("mtdds", _lab, "", ["mtdds0", "mtdds0_ch0", "mtdds0_ch1"]),
    "trf372017": (
        "lab",
        _on_bus(lo=entry("trf372017", "TRF372017", spi_device="dio_spi0", refclk=125e6)),
        "",
        ["lo"],
    ),
    "servo": ("servo", _lab, "[sampler.sampler0]\nch0 = 1.0\n", ["suservo0"]),
}
"""Gateware, changes of its database, bench, and initialisations in an order that satisfies what each
requires: devices, or device.method."""


def initialiser(calls):
    """Build a class whose objects make these calls in one kernel."""
    lines = [f"    self.device{n}.{call.partition('.')[2] or 'init'}()" for n, call in enumerate(calls)]
    source = "\n".join(
        [
            "@kernel",
            "def run(self):",
            "    self.core.reset()",
            "    self.core.break_realtime()",
            *lines,
            "    self.core.wait_until_mu(now_mu())",
        ]
    )
    place = f"the initialisation of {', '.join(calls)}"
    # Where the compiler reads it
    linecache.cache[place] = (len(source), None, [line + "\n" for line in source.splitlines()], place)
    scope = {"kernel": kernel, "now_mu": now_mu}
    exec(compile(source, place, "exec"), scope)
    return type("Initialises", (), {"run": scope["run"]})


class Cards:
    """A freshly started device with its drivers."""

    def __init__(self, setup, folder):
        variant, change, bench, self.order = SETUPS[setup]
        entries = DeviceDB.load(database(variant, folder)).entries
        change(entries)
        file = folder / "bench.toml"
        file.write_text(bench)
        self.bench = Bench(written(entries, folder), file)
        self.devices = DeviceManager(self.bench.database)

    def initialise(self, calls):
        made = initialiser(calls)()
        made.core = self.devices.get("core")
        for number, call in enumerate(calls):
            setattr(made, f"device{number}", self.devices.get(call.partition(".")[0]))
        made.run()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.devices.close_devices()
        self.bench.close()


LONG = {"phasers", "mtdds"}
"""Their initialisations take long, of which each is done several times."""


def _marked(setup: str, *values):
    return pytest.param(setup, *values, marks=[pytest.mark.long] if setup in LONG else [])


@pytest.mark.parametrize("setup", [_marked(setup) for setup in SETUPS])
def test_initialisations_in_a_row_need_no_slack(setup, tmp_path):
    with Cards(setup, tmp_path) as cards:
        for _ in ("fresh", "used"):
            cards.initialise(cards.order)
        for number, call in enumerate(cards.order):
            cards.initialise([call])
            # In the opposite order of independent ones, and several times
            cards.initialise([*cards.order[: number + 1], call, call])
        assert cards.bench.warnings == []


ALONE = [_marked(setup, number) for setup, row in SETUPS.items() for number in range(len(row[-1])) if number < 2]


@pytest.mark.parametrize("setup, number", ALONE)
def test_initialisation_of_a_fresh_card_needs_no_slack(setup, number, tmp_path):
    with Cards(setup, tmp_path) as cards:
        for call in cards.order[:number]:
            cards.initialise([call])
        cards.initialise([cards.order[number]])
