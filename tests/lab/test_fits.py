"""Fits in a laboratory: declared by an experiment, or of a run that has ended, and stored with the run."""

import asyncio
import json
import math

import h5py
import pytest

from kairos.errors import UsageError
from kairos.experiment.datasets import DatasetDB, DatasetManager
from kairos.experiment.environment import EnvExperiment
from kairos.fits.process import Fitter
from kairos.lab.database import Database
from kairos.lab.fits import Fits

FLOPS = """import math
from artiq.experiment import *


class Flop(EnvExperiment):
    def run(self):
        self.set_dataset("t", [], broadcast=True, unit="us", scale=1e-6)
        self.set_dataset("p", [], broadcast=True)
        self.set_dataset("contrast", 0.98)
        self.fit = self.fit_dataset("rabi_flop", "p", x="t", name="flop")
        for n in range(60):
            self.append_to_dataset("t", n * 1e-7)
            self.append_to_dataset("p", 0.5 - 0.49 * math.cos(math.pi * n / 15) * math.exp(-n / 200))

    def analyze(self):
        self.parameters.pi_time = self.fit.t_pi
"""


@pytest.fixture
def flop(lab):
    """A run with a fit."""
    (lab.folder / "repository" / "flops.py").write_text(FLOPS)
    record = lab.ends(lab.submit({"file": "flops.py", "arguments": {}, "repo_rev": None}))
    assert record["status"] == "completed", record["error"]
    return lab, record


def test_declared_fit_is_stored_with_the_run_and_found_by_its_result(flop):
    lab, record = flop
    number, error = record["numbers"]["flop.t_pi"]
    assert (
        number == pytest.approx(1.5e-6, rel=1e-3) and 0 < error < 1e-8 and record["numbers"]["contrast"] == [0.98, None]
    )
    assert lab.datasets()["pi_time"][1] == pytest.approx(number)
    with h5py.File(lab.file_of(record["rid"])) as file:
        assert file["fits/flop/t_pi"][()] == number and file["fits/flop/t_pi"].attrs["uncertainty"] == error
        assert file["fits/flop/shape"][()] == b"rabi_flop" and file["fits/flop/shape"].attrs["x"] == "t"
    for words, count in (
        (["flop.t_pi>1.4e-6", "flop.t_pi<1.6e-6"], 1),
        (["flop.t_pi>1.6e-6"], 0),
        (["contrast=0.98"], 1),
    ):
        assert len(lab.runs(words)) == count, words
    before = lab.run(record["rid"])
    assert lab.reindex() == (1, []) and lab.run(record["rid"]) == before


def test_fit_of_an_ended_run_is_kept_in_its_record(flop):
    lab, record = flop
    place = lab.folder / "results"
    database = Database(f"sqlite:///{lab.folder / '.kairos' / 'lab.db'}")

    class NoDatasets:
        handlers: dict = {}

    async def kept():
        fits = Fits(NoDatasets(), database, place)
        fit = {"shape": "cos", "y": "p", "x": "t", "error": None, "initial": {}, "fixed": {}}
        made = await fits.keep(record["rid"], "oscillation", fit)
        with pytest.raises(UsageError, match="has no dataset none"):
            await fits.of_run(record["rid"], {**fit, "y": "none"})
        with pytest.raises(UsageError, match="there is no finished run 99"):
            await fits.of_run(99, fit)
        single = await fits.of_run(record["rid"], {**fit, "y": "contrast"})
        await fits.close()
        return made, single

    made, single = asyncio.run(kept())
    database.close()
    assert made.f == pytest.approx(1 / 3e-6, rel=1e-2) and single.problem == "contrast is no list of numbers"
    stored = json.loads(lab.file_of(record["rid"]).with_suffix(".json").read_text())
    assert set(stored["fits"]) == {"flop", "oscillation"}
    assert lab.run(record["rid"])["numbers"]["oscillation.f"][0] == made.f


def test_fit_without_a_laboratory_uses_the_points_of_the_run():
    noted = []

    class Scan(EnvExperiment):
        def run(self):
            self.set_dataset("y", [1.0, 3.0, 5.0])
            self.fit = self.fit_dataset("line", "y", fixed={"y0": 1.0})
            self.append_to_dataset("y", 7.0)

    manager = DatasetManager(DatasetDB(), lambda *note: noted.append(note))
    scan = Scan((None, manager, None, {}))
    scan.run()
    assert scan.fit.a == pytest.approx(2.0) and scan.fit.result().points == 4
    manager.end_fits()
    assert noted[-1][:2] == ("fitted", "y") and manager.groups()["fits"]["y/a"].value == pytest.approx(2.0)
    assert math.isclose(manager.fitted["y"]["values"]["y0"], 1.0)
    with pytest.raises(UsageError, match="there is no fit 'lines'"):
        scan.fit_dataset("lines", "y")


def test_fit_after_its_process_was_ended_is_made_by_another():
    async def two_fits():
        fitter = Fitter()
        made = await fitter.fit("line", [0.0, 1.0, 2.0])
        fitter._process.kill()
        again = await fitter.fit("line", [0.0, 2.0, 4.0])
        await fitter.close()
        return made, again

    made, again = asyncio.run(two_fits())
    assert (made.problem, again.problem) == ("", "") and again.a == pytest.approx(2.0)
