"""The example client of docs/gateware/adding_a_client.md works as that page says."""

import re
import textwrap
from pathlib import Path
from types import SimpleNamespace

from litex.soc.interconnect.csr import AutoCSR, CSRStatus, CSRStorage
from migen import *

from kairos_gateware.link.bulk.words import BULK
from kairos_gateware.link.line.credits import count_bits
from kairos_gateware.link.line.endpoint import Endpoint, Stream
from kairos_gateware.link.line.gearbox import Forms
from kairos_gateware.link.line.word import PAYLOAD_BITS
from kairos_gateware.link.remote.words import remote_both
from kairos_gateware.link.rtio.words import RELIABILITY, rtio_streams
from kairos_gateware.testbenches.simulator import run_simulation

PAGE = (Path(__file__).parents[5] / "docs" / "gateware" / "adding_a_client.md").read_text()


def example():
    """The definitions of the page's code blocks that contain a line beginning with `def` or
    `class`."""
    names = (Stream, Forms, AutoCSR, CSRStorage, CSRStatus)
    scope = dict(globals(), uses=lambda block: {}) | {name.__name__: name for name in names}
    blocks = re.findall(r"^ {7}(?:def|class) .*\n(?:(?: {7}.*)?\n)+", PAGE, re.M)
    assert len(blocks) == 3
    for code in blocks:
        exec(textwrap.dedent(code), scope)
    return scope


class Pair(Module):
    """Two ends of a link as boards have it, with flags; `cut` loses the words on the line."""

    def __init__(self, page):
        self.cut = Signal()
        downstream, upstream = rtio_streams(page["_more"](SimpleNamespace(remote=False)))
        ends = [Endpoint(downstream, upstream, RELIABILITY), Endpoint(upstream, downstream, RELIABILITY)]
        self.flags = [page["Flags"](end.sink["flags"], end.source["flags"], end.up) for end in ends]
        self.registers = [page["FlagsRegisters"](flags) for flags in self.flags]
        self.submodules += ends, self.flags, self.registers
        for source, sink in [ends, ends[::-1]]:
            self.comb += [
                source.line.eq(~self.cut),
                source.out.ready.eq(1),
                sink.into.valid.eq(source.out.valid & ~self.cut),
                sink.into.word.eq(source.out.word),
            ]


def test_example_client_shows_flags_both_ways():
    dut = Pair(example())
    here, there = dut.registers

    def wait(*expected):
        for _ in range(500):
            if ((yield there.theirs.status), (yield here.theirs.status)) == expected:
                return
            yield
        raise AssertionError(f"flags are not {expected}")

    def play():
        yield here.own.storage.eq(0xA5)
        yield there.own.storage.eq(0x0F)
        yield from wait(0xA5, 0x0F)
        yield here.own.storage.eq(0x5A)
        yield from wait(0x5A, 0x0F)
        assert (yield dut.flags[0].settled)
        yield dut.cut.eq(1)
        yield from wait(0, 0)
        yield here.own.storage.eq(0x11)
        yield dut.cut.eq(0)
        yield from wait(0x11, 0x0F)

    run_simulation(dut, play())


def test_documented_numbers_equal_those_of_the_streams():
    names = {"bulk transfers": BULK}
    for row, streams in zip(["downstream", "upstream"], rtio_streams(remote_both()), strict=True):
        (cells,) = re.findall(rf"^ *\| {row} \|(.*)\|$", PAGE, re.M)
        shown = {name.strip().strip("`"): number for number, name in enumerate(cells.split("|"), 1)}
        shown.pop("free", None)
        assert shown == {stream.name: stream.number for stream in streams} | names


def test_four_more_credit_pools_fit_beside_events():
    downstream, _ = rtio_streams()
    depth = max(stream.depth for stream in downstream)
    assert PAYLOAD_BITS // count_bits([depth]) == 5
