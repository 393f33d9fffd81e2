"""ndscan itself, where it is installed. It is in no package registry, so this is skipped elsewhere;
the language features required by its loops are covered in `tests/e2e/laboratory/runners.py`, by our
own classes, which run everywhere.
"""

import importlib.util

import pytest

EXPERIMENT = """
from artiq.experiment import *
from ndscan.experiment import *


class Inner(ExpFragment):
    def build_fragment(self):
        self.setattr_device("core")
        self.setattr_device("ttl4")
        self.setattr_param("length", FloatParam, "Length", default=1 * us, unit="us")
        self.setattr_result("squared", FloatChannel)

    @kernel
    def run_once(self):
        self.core.break_realtime()
        self.ttl4.pulse(self.length.get())
        self.squared.push(self.length.get() / us * self.length.get() / us)


class Outer(ExpFragment):
    def build_fragment(self):
        self.setattr_fragment("inner", Inner)
        setattr_subscan(self, "scan", self.inner, [(self.inner, "length")])

    def host_setup(self):
        points = LinearGenerator(1 * us, 3 * us, 3, randomise_order=False)
        self.scan.set_scan_spec([(self.inner.length, points)])
        super().host_setup()

    @kernel
    def run_once(self):
        self.scan.acquire()


Scan = make_fragment_scan_exp(Outer)
"""


@pytest.mark.skipif(
    importlib.util.find_spec("ndscan") is None,
    reason="ndscan is in no package registry; with it: pip install git+https://github.com/OxfordIonTrapGroup/ndscan",
)
def test_nested_scan_of_ndscan_stores_its_points(kairos):
    path = kairos.write(EXPERIMENT, head="")
    done = kairos("run", path, "-c", "Scan", "--table", "all")
    assert done.returncode == 0, done.stderr
    for width in ("1,000", "2,000", "3,000"):
        assert width in done.stdout
    assert "scan_channel_squared" in done.stdout
