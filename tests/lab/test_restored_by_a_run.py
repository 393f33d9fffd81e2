"""`kairos runs chips N --restore` in a laboratory: a run of its own, in its turn."""

import json

import pytest

from tests.support.command import run_kairos
from tests.support.gateware import database
from tests.support.laboratory import Laboratory
from tests.support.waiting import until

SETS = """from artiq.experiment import *


class Sets(EnvExperiment):
    def build(self):
        for name in ("core", "urukul0_cpld", "urukul0_ch0"):
            self.setattr_device(name)

    @kernel
    def run(self):
        self.core.reset()
        self.urukul0_cpld.init()
        self.urukul0_ch0.init()
        self.urukul0_ch0.set_att(10.0)
        self.urukul0_ch0.set(100 * MHz)
        self.core.wait_until_mu(now_mu())
"""


@pytest.fixture
def lab(tmp_path):
    made = Laboratory(tmp_path, '[rehearsal]\ndefault = "warn"\n', database("ion", tmp_path).read_text())
    (tmp_path / "repository" / "sets.py").write_text(SETS)
    yield made.start()
    made.close()


def chips(lab, *words):
    return run_kairos("runs", "chips", *map(str, words), "--lab", str(lab.folder))


def registers(lab, rid):
    """Return the registers of a run, once they are predicted."""
    until(lambda: chips(lab, rid).returncode == 0, lambda: (lab.folder / "output").read_text())
    return json.loads(chips(lab, rid, "--json").stdout)


def test_laboratory_restores_chips_in_a_run_of_its_own(lab):
    rid = lab.submit({**lab.expid("Sets"), "file": "sets.py"})
    lab.ends(rid)
    wanted = registers(lab, rid)
    done = chips(lab, rid, "--restore")
    assert done.returncode == 0 and done.stdout == f"run {rid + 1}\nrun {rid + 1}: completed\n", done.stdout
    assert registers(lab, rid + 1) == wanted and wanted["urukul0.ch0.PROFILE7"] & 0xFFFFFFFF
    done = chips(lab, rid, "urukul7", "--restore")
    assert done.returncode == 1 and "has no card urukul7; it has urukul0" in done.stderr
    assert lab.status()["runs"] == 2, "nothing was submitted"
