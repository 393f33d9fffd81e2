"""Libraries of single blocks: rows in, rows out, and one design per folder."""

import numpy as np
import pytest
from migen import *

from .lockstep import build_lockstep


class _Sum(Module):
    def __init__(self, step):
        self.value, self.total = Signal(8), Signal((9, True))
        self.sync += self.total.eq(self.value + step)


def _build(folder, step):
    dut = _Sum(step)
    return build_lockstep(folder, dut, {"value": dut.value}, {"total": dut.total})


def test_folder_of_a_library_in_use_takes_no_other_design(tmp_path):
    engine = _build(tmp_path / "one", step=-3)
    rows = np.zeros(3, engine.inputs)
    rows["value"] = [1, 5, 9]
    assert engine.play(rows)["total"].astype("i8").tolist() == [0, -2, 2]
    with pytest.raises(ValueError, match="another design is in use"):
        _build(tmp_path / "one", step=4)
    assert _build(tmp_path / "two", step=4).play(rows)["total"].tolist() == [0, 5, 9]
