"""The compiled simulator behaves like Migen's own, in each cycle of random designs."""

from operator import add, and_, eq, ge, gt, le, lt, mul, ne, or_, sub, xor
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from migen import *
from migen.fhdl.structure import _Fragment, _Part
from migen.sim.core import run_simulation as interpreted

from kairos_gateware.testbenches.simulator import run_simulation as compiled

BINARY = [add, sub, mul, and_, or_, xor, lt, le, eq, ne, gt, ge]


class Choices:
    """Random expressions, statements and signals."""

    def __init__(self, seed):
        self.random = Random(seed)
        self.number = self.random.randint

    def one_of(self, *options):
        return self.random.choice(options)

    def signal(self):
        bits, signed = self.number(1, 9), self.number(0, 1)
        reset = self.number(0, (1 << bits - signed) - 1)
        return Signal((bits, signed), reset=reset)

    def unsigned(self, readable):
        """A non-negative value, small enough to shift by or to use as an index."""
        return Cat(self.value(readable, 1))[: self.number(1, 3)]

    def value(self, readable, depth=3):
        kind = self.number(0, 11) if depth else self.number(0, 2)
        if kind == 0:
            return C(self.number(-20, 300))
        if kind < 3:
            return self.one_of(*readable)
        a, b = self.value(readable, depth - 1), self.value(readable, depth - 1)
        if kind < 6:
            return self.one_of(*BINARY)(a, b)
        if kind == 6:
            return self.one_of(~a, -a)
        if kind == 7:
            return Mux(self.value(readable, depth - 1), a, b)
        if kind == 8:
            start = self.number(0, len(a) - 1)
            return Cat(a)[start : self.number(start + 1, len(a))]
        if kind == 9:
            return self.one_of(Cat(a, b), Replicate(a, self.number(1, 3)))
        if kind == 10:
            return self.one_of(a >> self.unsigned(readable), a << self.unsigned(readable))
        choice = self.one_of(
            Array([a, b, *readable[:3]])[self.unsigned(readable)],
            _Part(a, self.unsigned(readable), self.number(1, 4)),
        )
        return choice

    def target(self, readable, writable):
        signal, kind = self.one_of(*writable), self.number(0, 5)
        if kind < 2:
            return signal
        if kind == 2:
            start = self.number(0, len(signal) - 1)
            return signal[start : self.number(start + 1, len(signal))]
        if kind == 3:
            return Cat(signal, self.one_of(*writable)[0])
        return Array(writable)[self.unsigned(readable)] if kind == 4 else signal

    def statements(self, readable, writable, depth=2):
        return [self.statement(readable, writable, depth) for _ in range(self.number(1, 3))]

    def statement(self, readable, writable, depth):
        kind = self.number(0, 4) if depth else 0
        if kind < 3:
            return self.target(readable, writable).eq(self.value(readable))
        inner = [self.statements(readable, writable, depth - 1) for _ in range(3)]
        if kind == 3:
            return If(self.value(readable), *inner[0]).Elif(self.value(readable), *inner[1]).Else(*inner[2])
        cases = {self.number(0, 3): inner[0], 5: inner[1]}
        if self.number(0, 1):
            cases["default"] = inner[2]
        return Case(self.one_of(*readable), cases)


def design(seed):
    """(module, inputs, all signals): registers of two domains, and layers of combinatorial signals."""
    choices, module = Choices(seed), Module()
    inputs = [choices.signal() for _ in range(3)]
    registers = {domain: [choices.signal() for _ in range(3)] for domain in ("sys", "slow")}
    readable = inputs + registers["sys"] + registers["slow"]
    for _ in range(3):
        layer = [choices.signal() for _ in range(2)]
        module.comb += choices.statements(readable, layer)
        readable = readable + layer
    module.sync += choices.statements(readable, registers["sys"])
    module.sync.slow += choices.statements(readable, registers["slow"])
    memory = Memory(4, 4, init=[1, 2, 3])
    port = memory.get_port(write_capable=True)
    module.specials += memory, port
    module.comb += port.adr.eq(readable[-1]), port.dat_w.eq(inputs[0]), port.we.eq(inputs[1][0])
    return module, inputs, [*readable, port.dat_r]


def traced(simulate, design, stimuli):
    module, inputs, signals = design
    trace = []

    def play():
        for values in stimuli:
            for signal, value in zip(inputs, values, strict=True):
                yield signal.eq(value)
            yield
            trace.append((yield signals))

    simulate(module, {"sys": play(), "slow": idle()}, clocks={"sys": 10, "slow": (20, 5)})
    return trace


def idle():
    yield


STIMULI = st.lists(st.tuples(*3 * [st.integers(-4, 511)]), min_size=4, max_size=12)


@settings(max_examples=60)
@given(st.integers(0, 2**32), STIMULI)
def test_random_designs_simulate_as_in_migen(seed, stimuli):
    module, *signals = design(seed)
    fragment = module.get_fragment()
    # A simulator modifies the fragment that it is given.
    first, second = ((fragment + _Fragment(), *signals) for _ in range(2))
    assert traced(compiled, first, stimuli) == traced(interpreted, second, stimuli)


def test_long_chain_of_operators_is_compiled():
    module = Module()
    signals = [Signal(8, reset=n) for n in range(150)]
    total = Signal(16)
    module.comb += total.eq(sum(signals))

    def play():
        yield
        assert (yield total) == sum(range(150))
        yield signals[3].eq(100)
        yield
        yield
        assert (yield total) == sum(range(150)) + 97

    compiled(module, play())


def test_assigned_register_holds_until_its_clock():
    module, register, source = Module(), Signal(4), Signal(4, reset=3)
    module.sync += register.eq(source)
    seen = []

    def play():
        for _ in range(4):
            yield register.eq(9)
            yield
            seen.append((yield register))
            yield
            seen.append((yield register))

    compiled(module, play())
    assert seen == 4 * [9, 3]


def test_statements_that_depend_on_each_other_reach_their_final_values():
    """A loop of statements, not of signals: each part is driven by the other half of the same
    word."""
    module, word, source = Module(), Signal(8), Signal(4)
    module.comb += [word[4:].eq(word[:4] + 1), word[:4].eq(source)]

    def play():
        for n in range(5):
            yield source.eq(n)
            yield
            yield
            assert (yield word) == (n + 1) << 4 | n

    compiled(module, play())
