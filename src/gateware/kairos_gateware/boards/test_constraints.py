"""Constraints of all boards are complete: each pin has a place and a standard, each clock a period, and each
crossing between clocks ends in a synchroniser, or in a memory between clocks that are declared independent. Each reset
ends with the clock of its domain: it is that of a synchroniser, or is made of registers with this clock.

The check follows Migen's statements from each register back to the registers that it depends on. What it finds
is one line for each omission.
"""

import re
from collections import defaultdict

import pytest
from migen import *
from migen.fhdl.specials import Memory
from migen.fhdl.structure import _Assign
from migen.fhdl.visit import NodeVisitor
from migen.genlib.cdc import MultiReg
from migen.genlib.resetsync import AsyncResetSynchronizer

from kairos_gateware.boards.test_boards import ALL_BUILDS, DESCRIPTIONS, OWN, board
from kairos_gateware.boards.zynq import Top
from kairos_gateware.build import BOARDS
from kairos_gateware.variants import VARIANTS

_CLOCK_CELLS = {
    "BUFG": ["I"],
    "BUFGCE": ["I"],
    "IBUFDS": ["I"],
    "IBUFDS_GTE2": ["I"],
    "MMCME2_ADV": ["CLKIN1", "CLKIN2"],
    "MMCME2_BASE": ["CLKIN1"],
    "PLLE2_BASE": ["CLKIN1"],
}
"""Cells through which clocks go, and their clock inputs."""
_PAD_CELLS = {"IBUF", "IBUFDS", "IBUFDS_GTE2", "IOBUF", "IOBUFDS"}
"""Cells with what comes from outside, which has no clock."""
_ASYNCHRONOUS = {"CPLLLOCK", "LOCKED", "QPLLLOCK", "RXRESETDONE", "TXRESETDONE"}
"""Outputs that belong to no clock."""
_WITHOUT_CLOCK = ("RST", "RESET", "USERRDY", "SYSCLKSEL")
"""Parts of names of inputs that belong to no clock."""
_TRANSCEIVER = "GTXE2_CHANNEL"
_HELD = {("helper", "sys"): {"phasemeter", "apart"}}
"""Registers that another clock samples without a synchroniser, since they do not change while what is made of them
is used: by pair of domains. Counts of a `PhaseMeter`, whose end is signalled."""


class _Signals(NodeVisitor):
    """Signals of an expression, with those of clock domains."""

    def __init__(self, domains):
        self.domains, self.found = domains, set()

    def visit_Signal(self, node):
        self.found.add(node)

    def visit_ClockSignal(self, node):
        self.found.add(self.domains[node.cd].clk)

    def visit_ResetSignal(self, node):
        if self.domains[node.cd].rst is not None:
            self.found.add(self.domains[node.cd].rst)


def name_of(signal):
    return signal.name_override or signal.backtrace[-1][0]


class Design:
    """What depends on what in a design. `registers`: domain of each register; `drivers`: for each other signal
    what it is computed from; `ends`: (domain, signals that something with that clock samples, name)."""

    def __init__(self, fragment):
        self.domains = {domain.name: domain for domain in fragment.clock_domains}
        self.registers, self.outputs, self.drivers, self.ends = {}, {}, defaultdict(set), []
        self.memories = defaultdict(set)
        self._roots = {}
        self.clocks = {domain.clk: name for name, domain in self.domains.items()}
        for targets, sources in self._dependencies(fragment.comb, frozenset()):
            for target in targets:
                self.drivers[target] |= sources
        for domain, statements in fragment.sync.items():
            for targets, sources in self._dependencies(statements, frozenset()):
                self.registers |= dict.fromkeys(targets, domain)
                self.ends.append((domain, sources, ", ".join(sorted(map(name_of, targets)))))
        for special in fragment.specials:
            self._special(special)

    def signals(self, node):
        visitor = _Signals(self.domains)
        visitor.visit(node)
        return visitor.found

    def _dependencies(self, statements, conditions):
        """(targets, sources) of each assignment."""
        for statement in statements:
            if isinstance(statement, _Assign):
                yield self.signals(statement.l), conditions | self.signals(statement.r)
            elif isinstance(statement, If):
                under = conditions | self.signals(statement.cond)
                yield from self._dependencies([*statement.t, *statement.f], under)
            elif isinstance(statement, Case):
                under = conditions | self.signals(statement.test)
                for case in statement.cases.values():
                    yield from self._dependencies(case if isinstance(case, list) else [case], under)
            elif isinstance(statement, (list, tuple)):
                yield from self._dependencies(statement, conditions)

    def _special(self, special):
        if isinstance(special, MultiReg):
            self.registers |= dict.fromkeys(self.signals(special.o), special.odomain)
        elif isinstance(special, AsyncResetSynchronizer):
            self.registers[special.cd.rst] = special.cd.name
        elif isinstance(special, Memory):
            self._memory(special)
        elif isinstance(special, Instance):
            self._instance(special)

    def _memory(self, memory):
        writing = {port.clock.cd for port in memory.ports if port.we is not None}
        for port in memory.ports:
            domain, name = port.clock.cd, f"memory {memory.name_override}"
            asked = [port.adr] + ([port.dat_w, port.we] if port.we is not None else [])
            asked = set().union(*map(self.signals, asked))
            if port.async_read:
                self.drivers[port.dat_r] |= self.signals(port.adr)
                self.outputs[port.dat_r] = writing
            else:
                self.registers[port.dat_r] = domain
                self.memories[name] |= {(other, domain) for other in writing if other != domain}
            if not port.async_read or port.we is not None:
                self.ends.append((domain, asked, name))

    def _instance(self, cell):
        inputs = {item.name: item.expr for item in cell.items if isinstance(item, Instance.Input)}
        outputs = {item.name: item.expr for item in cell.items if isinstance(item, Instance.Output)}
        clocks = {name: self._domain(expression) for name, expression in inputs.items()}
        clocks = {name: domain for name, domain in clocks.items() if domain is not None}
        label = f"{cell.of} {cell.name_override or ''}".strip()

        def domain(port):
            if cell.of == _TRANSCEIVER:
                return clocks.get(f"{port[:2]}USRCLK2")
            known = set(clocks.values()) - ({"fast", "eem_fast"} if "CLKDIV" in clocks else set())
            return min(known) if len(known) == 1 else None

        for port, expression in outputs.items():
            for signal in self.signals(expression):
                if port == "PSDONE":
                    self.registers[signal] = clocks.get("PSCLK", "no clock")
                elif cell.of in _CLOCK_CELLS and port not in _ASYNCHRONOUS:
                    self.drivers[signal] |= set().union(*(self.signals(inputs[i]) for i in _CLOCK_CELLS[cell.of]))
                elif port in _ASYNCHRONOUS:
                    self.outputs[signal] = {f"{label}/{port}"}
                elif domain(port) is not None:
                    self.registers[signal] = domain(port)
                elif cell.of not in _PAD_CELLS:
                    self.outputs[signal] = set()
        if cell.of in _CLOCK_CELLS:
            steps = [self.signals(inputs[port]) for port in ("PSEN", "PSINCDEC") if port in inputs]
            self.ends += [(clocks["PSCLK"], signals, label) for signals in steps if "PSCLK" in clocks]
            return
        for port, expression in inputs.items():
            data = port not in clocks and not any(name in port for name in _WITHOUT_CLOCK)
            if data and domain(port) is not None:
                self.ends.append((domain(port), self.signals(expression), f"{label}/{port}"))

    def _domain(self, expression):
        """The domain whose clock an expression is, or None."""
        if not isinstance(expression, (ClockSignal, Signal)):
            return None
        (signal,) = self.signals(expression)
        return self.clocks.get(signal)

    def origins(self, signals):
        """(signal, domains) of the registers and outputs that signals are computed from."""
        seen, left = set(), list(signals)
        while left:
            signal = left.pop()
            if signal in seen:
                continue
            seen.add(signal)
            if signal in self.registers:
                yield signal, {self.registers[signal]}
            else:
                if signal in self.outputs:
                    yield signal, self.outputs[signal]
                left += self.drivers[signal]

    def crossings(self):
        """(from, to, source, target) of each register that samples one of another clock."""
        for domain, sources, target in self.ends:
            for signal, domains in self.origins(sources):
                for other in domains - {domain}:
                    if self.roots(other) != self.roots(domain):
                        if name_of(signal) not in _HELD.get((other, domain), ()):
                            yield other, domain, name_of(signal), target

    def resets(self):
        """What is wrong with the reset of each domain that has one."""
        for name, domain in self.domains.items():
            if domain.rst is None:
                continue
            ends = [(signal, other) for signal, domains in self.origins([domain.rst]) for other in domains]
            if not ends:
                yield f"reset of {name} never begins"
            for signal, other in ends:
                if self.roots(other) != self.roots(name):
                    yield f"reset of {name} ends with {name_of(signal)} of {other}"

    def roots(self, domain):
        """Signals without a known driver from which a domain's clock comes."""
        if domain not in self._roots:
            self._roots[domain] = self._sources(self.domains[domain].clk) if domain in self.domains else {domain}
        return self._roots[domain]

    def _sources(self, signal):
        found, seen, left = set(), set(), [signal]
        while left:
            signal = left.pop()
            if signal not in seen:
                seen.add(signal)
                left += self.drivers[signal]
                if not self.drivers[signal]:
                    found.add(signal)
        return found


class Checked:
    """A board's design with its Verilog and constraints."""

    def __init__(self, name, variant, output, change=lambda top: None):
        self.board = board(name)
        platform = self.board.platform()
        top = Top(self.board, platform, variant)
        change(top)
        fragment = top.get_fragment()
        self.design = Design(fragment)
        self.names = {
            signal: f"{cell.name_override}/{item.name}"
            for cell in fragment.specials
            if isinstance(cell, Instance)
            for item in cell.items
            if isinstance(item, Instance.Output)
            for signal in self.design.signals(item.expr)
        }
        self.names |= {signal: "ps7/FCLKCLK[0]" for signal in self.names if self.names[signal] == "ps7/FCLKCLK"}
        platform.build(fragment, build_dir=str(output), build_name=self.board.build_name, run=False)
        self.xdc = (output / f"{self.board.build_name}.xdc").read_text()
        self.verilog = (output / f"{self.board.build_name}.v").read_text()

    def findings(self, xdc=None):
        xdc = self.xdc if xdc is None else xdc
        clocks, apart = self._clocks(xdc), set(re.findall(r"set_clock_groups .*?get_clocks .*?(\w+)\]", xdc))
        yield from self._pins(xdc)
        for domain in self.design.domains:
            for root in self.design.roots(domain):
                if self._root(root) not in clocks:
                    yield f"clock {domain}: {self._root(root)} has no period"
        yield from (
            f"{source} of {one} is sampled by {target} of {other} without a synchroniser"
            for one, other, source, target in self.design.crossings()
        )
        yield from self.design.resets()
        if "set_false_path -quiet -to [get_nets -filter {mr_ff == TRUE}]" not in xdc and "mr_ff" in self.verilog:
            yield "the paths to synchronisers are not false paths"
        for memory, pairs in self.design.memories.items():
            for one, other in pairs:
                # Those without a period have been reported
                roots = [
                    {clocks[self._root(root)] for root in self.design.roots(each) if self._root(root) in clocks}
                    for each in (one, other)
                ]
                if any(a != b and not {a, b} & apart for a in roots[0] for b in roots[1]):
                    yield f"{memory} is between {one} and {other}, which are not declared independent"

    def _root(self, signal):
        return self.names.get(signal) or (signal if isinstance(signal, str) else name_of(signal))

    def _clocks(self, xdc):
        """{root: name} of the clocks with a period."""
        found = re.findall(
            r"create_clock -name (\w+) -period [\d.]+ \[get_(?:pins|ports) \{?([\w/\[\]]+?)\}?\]$", xdc, re.M
        )
        return {place: name for name, place in found}

    def _pins(self, xdc):
        header = re.search(r"^module \w+\s*\((.*?)\);", self.verilog, re.S | re.M).group(1)
        gigabit = re.findall(r"^IBUFDS_GTE2 .*?\.I\((\w+)\),\s*\.IB\((\w+)\)", self.verilog, re.M | re.S)
        fixed = set(sum(gigabit, ()))
        for msb, name in re.findall(r"(?:input|output|inout)\s+(?:(?:wire|reg)\s+)?(?:\[(\d+):0\])?\s*(\w+)", header):
            for pin in [name] if not msb else [f"{name}[{i}]" for i in range(int(msb) + 1)]:
                if f"[get_ports {{{pin}}}]" not in "".join(re.findall(r"set_property LOC .*", xdc)):
                    yield f"pin {pin} has no place"
                analogue = name in fixed or re.fullmatch(r"sfp\w*_[tr]x[pn](_\d+)?", name)
                if not analogue and f"[get_ports {{{pin}}}]" not in "".join(
                    re.findall(r"set_property IOSTANDARD .*", xdc)
                ):
                    yield f"pin {pin} has no I/O standard"


def variant_of(name):
    return OWN[name] if name in OWN else VARIANTS[name]


DESCRIBED = [
    pytest.param(("kasli_soc", "ion"), id="kasli_soc-ion", marks=pytest.mark.long),
]
"""Systems of `description` that no other test builds."""


@pytest.mark.parametrize("of", [*ALL_BUILDS, *DESCRIBED])
def test_constraints_of_a_build_are_complete(of, tmp_path):
    name, variant = of
    assert list(Checked(name, variant_of(variant), tmp_path).findings()) == []


def test_every_description_and_board_is_checked():
    checked = {of for of in (parameter.values[0] for parameter in [*ALL_BUILDS, *DESCRIBED])}
    names = {path.stem for path in DESCRIPTIONS.glob("*.json")} - {"schema"}
    assert names <= {variant for _, variant in checked}
    assert {board for board, _ in checked} == set(BOARDS) - {"sim"}


@pytest.fixture(scope="module")
def linked(tmp_path_factory):
    """The master with one link: it has all kinds of clocks."""
    return Checked("zc706", OWN["zc706_master"], tmp_path_factory.mktemp("linked"))


@pytest.mark.parametrize(
    "line, said",
    [
        (r"set_property LOC \w+ \[get_ports \{user_led\}\]", {"pin user_led has no place"}),
        (r"set_property IOSTANDARD \w+ \[get_ports \{user_led\}\]", {"pin user_led has no I/O standard"}),
        (r"create_clock -name external .*", {"clock external: user_sma_clock_p has no period"}),
        (r"create_clock -name link0_rx .*", {"clock link0_rx: link0_gtx/RXOUTCLK has no period"}),
        (
            r"create_clock -name sys_clk .*",
            {f"clock {d}: ps7/FCLKCLK[0] has no period" for d in ("sys", "fast", "boot", "sys_half")},
        ),
        (r"set_false_path .*mr_ff.*", {"the paths to synchronisers are not false paths"}),
        (
            r"set_clock_groups .* link_tx\]",
            {"memory storage is between sys and link_tx, which are not declared independent"},
        ),
    ],
)
def test_omitted_constraint_is_found_by_the_check(linked, line, said):
    xdc, count = re.subn(rf"^ ?{line}$", "", linked.xdc, flags=re.M)
    assert count == 1
    assert set(linked.findings(xdc)) == said


def test_crossing_without_a_synchroniser_is_found(tmp_path):
    """Through logic, into a register and into a cell; through a synchroniser it is none. So are resets that end with
    another clock, or never begin."""
    begin, middle, end, apart, safe = (Signal(name=name) for name in ["begin", "middle", "end", "apart", "safe"])

    def change(top):
        top.sync.boot += begin.eq(~begin)
        top.comb += middle.eq(begin | apart)
        top.sync.sys += [If(middle, end.eq(~end)), apart.eq(safe)]
        top.sync.external += If(begin, Signal(name="other").eq(1))
        top.specials += MultiReg(begin, safe)
        for name, reset in (("late", begin), ("never", 0), ("right", ResetSignal())):
            setattr(top.clock_domains, f"cd_{name}", domain := ClockDomain(name))
            top.comb += [domain.clk.eq(ClockSignal()), domain.rst.eq(reset)]

    found = set(Checked("zc706", VARIANTS["clocked"], tmp_path, change).findings())
    assert found == {
        "begin of boot is sampled by end of sys without a synchroniser",
        "begin of boot is sampled by other of external without a synchroniser",
        "reset of late ends with begin of boot",
        "reset of never never begins",
    }
