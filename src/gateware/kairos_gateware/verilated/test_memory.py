"""The tests' process does not keep the designs that it has simulated."""

import gc
import weakref

from migen import *

from kairos_gateware.testbenches.simulator import run_simulation


class _Counter(Module):
    def __init__(self):
        self.count = Signal(8)
        self.sync += self.count.eq(self.count + 1)


def _simulate():
    dut = _Counter()
    counts = []

    def watch():
        for _ in range(3):
            counts.append((yield dut.count))
            yield

    run_simulation(dut, watch())
    assert counts == [0, 1, 2]
    return weakref.ref(dut)


def test_simulated_designs_are_freed_after_use():
    dut = _simulate()
    gc.collect()
    assert dut() is None
