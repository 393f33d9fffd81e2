"""Violations of the data sheets are reported at the line of the kernel that causes them, with the
device's time."""

import inspect
import re
from pathlib import Path

import pytest

from kairos.cli.experiments import import_file
from kairos.devices import DeviceDB
from tests.support.databases import calibrated, entry, written

EXPERIMENTS = Path(__file__).with_name("experiments") / "violations.py"
CHIPS = {"AD9834": ("ad9834", {"clk_freq": 80e6}), "HMC542B": ("hmc542b", {})}
"""Single chips on a bus, by their driver's class and the experiment's: module and arguments."""
REPORTED = re.compile(r"bench: at ([\d.]+) ms, violations\.py:(\d+): \w+: (.*)")


@pytest.fixture(scope="module")
def database(lab, tmp_path_factory):
    """By the class of an experiment: the laboratory with the card that it needs."""

    def database(name):
        folder = tmp_path_factory.mktemp(name)
        entries = DeviceDB.load(calibrated(lab, folder)).entries
        if name == "Ad9912":
            for number in range(4):
                del entries[f"urukul0_ch{number}"]
            del entries["urukul0_cpld"]["arguments"]["sync_device"]
            entries["light"] = entries.pop("urukul0_cpld")
            entries["beam"] = entry("ad9912", "AD9912", chip_select=6, cpld_device="light", pll_n=8)
        elif name == "Dac":
            entries["zotino0"] = entry("zotino", "Zotino", spi_device="dio_spi0", ldac_device="ttl16")
        elif name == "Mirny":
            entries["mirny0_cpld"] = entry("mirny", "Mirny", spi_device="dio_spi0", refclk=100e6, clk_sel=0)
            entries["mirny0_ch1"] = entry("adf5356", "ADF5356", cpld_device="mirny0_cpld", sw_device="ttl16", channel=1)
        elif name == "Novogorny":
            entries["adc"] = entry("novogorny", "Novogorny", spi_device="dio_spi0", cnv_device="ttl16")
        elif name in CHIPS:
            module, arguments = CHIPS[name]
            entries["chip"] = entry(module, name, spi_device="dio_spi0", **arguments)
        return written(entries, folder)

    return database


def expected(name):
    """Return line and part of the text of each expected report of an experiment."""
    lines, first = inspect.getsourcelines(vars(import_file(EXPERIMENTS))[name])
    for number, line in enumerate(lines, first):
        code, _, comment = line.rstrip().partition("  # ")
        if code.strip() and comment:
            yield from ((number, part) for part in comment.split("; "))


@pytest.mark.parametrize("name", ["Urukul", "Ad9910", "Ad9912", "Dac", "Adc", "Mirny", "Novogorny", *CHIPS])
def test_data_sheet_violations_are_reported_with_time_and_line(kairos, database, name):
    done = kairos("run", EXPERIMENTS, "-c", name, "--no-table", device_db=database(name))
    assert done.returncode == 0, done.stderr
    warnings = [REPORTED.fullmatch(line) for line in done.stderr.splitlines()]
    assert None not in warnings, done.stderr
    times = [float(line[1]) for line in warnings]
    assert times == sorted(times) and times[0] > 0
    found, wanted = [(int(line[2]), line[3]) for line in warnings], list(expected(name))
    missing = [part for part in wanted if not any(at == part[0] and part[1] in text for at, text in found)]
    assert missing == [], done.stderr
    more = [one for one in found if not any(at == one[0] and part in one[1] for at, part in wanted)]
    assert more == [], done.stderr
