"""Libraries of single blocks: rows in, rows out."""

import numpy as np
from migen import *

from .lockstep import build_lockstep


class _Sum(Module):
    def __init__(self, step):
        self.value, self.total = Signal(8), Signal((9, True))
        self.sync += self.total.eq(self.value + step)


def _build(folder, step):
    dut = _Sum(step)
    return build_lockstep(folder, dut, {"value": dut.value}, {"total": dut.total})


def test_other_design_in_the_folder_of_a_library_in_use_is_played_itself(tmp_path):
    sums = []
    for step in (-3, 4):
        engine = _build(tmp_path, step)
        rows = np.zeros(3, engine.inputs)
        rows["value"] = [1, 5, 9]
        sums.append(engine.play(rows)["total"].astype("i8").tolist())
    assert sums == [[0, -2, 2], [0, 5, 9]]
