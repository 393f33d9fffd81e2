import gc
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from migen import If, Signal
from migen.fhdl import tools

from kairos_gateware import verilog

DESIGN = """
import sys
from migen import *
from migen.genlib.fifo import SyncFIFO
from migen.genlib.fsm import FSM, NextState, NextValue
if sys.argv[1] == "ours":
    from kairos_gateware.verilog import convert
else:
    from migen.fhdl.verilog import convert


class Counter(Module):
    def __init__(self, width):
        self.value, self.run = Signal(width), Signal()
        self.sync += If(self.run, self.value.eq(self.value + 1))


class Top(Module):
    def __init__(self):
        self.ports = {(select := Signal(3, name="select")), (result := Signal(8, name="result"))}
        counters = [Counter(4 + n) for n in range(6)]
        self.submodules += counters
        self.submodules.fifo = fifo = SyncFIFO(8, 4)
        self.submodules.other = other = SyncFIFO(8, 16)
        self.comb += [counter.run.eq(select == n) for n, counter in enumerate(counters)]
        self.comb += If(select[0], result.eq(fifo.dout)).Else(result[4:].eq(counters[5].value))
        self.comb += result[0].eq(other.readable)
        for n in range(20):
            value = Signal(8)
            self.sync += value.eq(value + counters[n % 6].value)
            for k in range(3):
                value = Signal(8, related=value)
                self.comb += Case(select, {0: value.eq(n), "default": value[k].eq(fifo.readable)})
        self.submodules.fsm = fsm = FSM(reset_state="IDLE")
        fsm.act("IDLE", NextValue(fifo.din, select), If(select == 1, NextState("BUSY")))
        fsm.act("BUSY", fifo.we.eq(1), NextState("IDLE"))


top = Top()
converted = convert(top, top.ports, name="top")
print(converted.main_source, converted.data_files)
"""


def converted(by: str) -> str:
    return subprocess.run([sys.executable, "-c", DESIGN, by], capture_output=True, text=True, check=True).stdout


def test_verilog_of_a_design_is_the_same_to_the_byte_as_migens():
    ours = converted("ours")
    assert "value7_2" in ours or "value1" in ours  # signals of one name have numbers
    assert ours == converted("migen")


@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=3), max_size=30))
def test_statements_with_common_targets_are_grouped_as_migen_groups_them(assigned):
    signals = [Signal(name=f"s{n}") for n in range(10)]
    statements = [If(signals[0], *(signals[target].eq(1) for target in targets)) for targets in assigned]
    assert verilog.group_by_targets(statements) == tools.group_by_targets(statements)


@pytest.mark.parametrize("enabled", [True, False])
def test_garbage_collection_is_afterwards_as_it_was_before(enabled):
    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        with pytest.raises(ValueError), verilog.uncollected():
            assert not gc.isenabled()
            raise ValueError
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()
