"""Migen's simulator with the design compiled: the same results in every cycle, some tens of times
faster.

Migen's own simulator iterates over all statements until nothing changes. Here statements with
common targets become one Python function, which is called when something that it reads has changed.
Combinational loops are iterated until they settle, as there.
"""

from collections import Counter

from migen.fhdl.bitcontainer import value_bits_sign
from migen.fhdl.structure import (
    Case,
    Cat,
    ClockSignal,
    Constant,
    If,
    Replicate,
    ResetSignal,
    Signal,
    _ArrayProxy,
    _Assign,
    _Operator,
    _Part,
    _Slice,
    _Statement,
)
from migen.fhdl.tools import list_targets
from migen.sim.core import Simulator

from ..verilog import group_by_targets

__all__ = ["CompiledSimulator", "run_simulation"]

DEEPEST = 40
"""Maximum nesting of operators in one Python expression: its parser has a limit."""
PYTHON = {">>>": ">>", "<<<": "<<"}
COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")


def run_simulation(design, generators, clocks=None):
    """Simulate `design` with test benches, as Migen's function of this name does (which can also
    record waveforms)."""
    with CompiledSimulator(design, generators, clocks or {"sys": 10}) as simulator:
        simulator.run()


class Group:
    """Statements with common targets as one Python function: the signals it reads and drives, and
    its lines.

    `V` is the list of all values. Each target has a local variable; if an index selects the target,
    all of them are in a dictionary.
    """

    def __init__(self, statements, domains, constants, resets):
        self.domains, self.constants = domains, constants
        self.reads, self.lines, self.temporaries = set(), [], 0
        self.targets = sorted(list_targets(statements), key=lambda signal: signal.duid)
        self.chosen = _has_choice(statements)
        before = ((s.duid, s.reset.value if resets else f"V[{s.duid}]") for s in self.targets)
        if not self.chosen:
            self.lines += [f" t{number}={value}" for number, value in before]
        else:
            entries = ",".join(f"{number}:{value}" for number, value in before) if resets else ""
            self.lines.append(f" t={{{entries}}}")
        self.block(statements, 1)

    def line(self, depth, text):
        self.lines.append(" " * depth + text)

    # Statements

    def block(self, statements, depth):
        count = len(self.lines)
        for statement in statements:
            if isinstance(statement, _Assign):
                self.assign(statement.l, *self.value(statement.r, depth), depth)
            elif isinstance(statement, If):
                self.condition(statement, depth)
            elif isinstance(statement, Case):
                self.case(statement, depth)
            elif isinstance(statement, (list, tuple)):
                self.block(statement, depth)
            else:
                raise NotImplementedError(f"cannot simulate {statement}")
        if len(self.lines) == count:
            self.line(depth, "pass")

    def condition(self, statement, depth):
        code, width = self.value(statement.cond, depth)
        self.line(depth, f"if {_masked(code, width, len(statement.cond))}:")
        self.block(statement.t, depth + 1)
        if statement.f:
            self.line(depth, "else:")
            self.block(statement.f, depth + 1)

    def case(self, statement, depth):
        bits, signed = value_bits_sign(statement.test)
        name = self.name()
        self.line(depth, f"{name}={_fitted(*self.value(statement.test, depth), bits, signed)}")
        word = "if"
        for key, body in statement.cases.items():
            if isinstance(key, Constant):
                self.line(depth, f"{word} {name}=={key.value}:")
                self.block(body, depth + 1)
                word = "elif"
        default = statement.cases.get("default")
        if default and word == "if":
            self.block(default, depth)
        elif default:
            self.line(depth, "else:")
            self.block(default, depth + 1)

    def assign(self, target, code, width, depth):
        if isinstance(target, Signal):
            self.line(depth, f"{self.target(target)}={_fitted(code, width, target.nbits, target.signed)}")
        elif isinstance(target, Cat):
            name, shift = self.name(), 0
            self.line(depth, f"{name}={code}")
            for part in target.l:
                self.assign(part, f"({name}>>{shift}&{_ones(len(part))})", len(part), depth)
                shift += len(part)
        elif isinstance(target, _Slice):
            ones = _ones(target.stop - target.start)
            before = self.before(target.value, depth)
            after = f"({before}&{~(ones << target.start)}|({code}&{ones})<<{target.start})"
            self.assign(target.value, after, None, depth)
        elif isinstance(target, _Part):
            name, ones = self.name(), _ones(target.width)
            self.line(depth, f"{name}={self.value(target.offset, depth)[0]}")
            before = self.before(target.value, depth)
            self.assign(target.value, f"({before}&~({ones}<<{name})|({code}&{ones})<<{name})", None, depth)
        elif isinstance(target, _ArrayProxy):
            self.choose(target, code, width, depth)
        else:
            raise NotImplementedError(f"cannot assign to {target}")

    def choose(self, target, code, width, depth):
        """Assigns to the one of many targets that an index selects."""
        index, first = self.index(target, depth), target.choices[0]
        if all(isinstance(c, Signal) and (c.nbits, c.signed) == (first.nbits, first.signed) for c in target.choices):
            place = self.constant(tuple(choice.duid for choice in target.choices))
            self.line(depth, f"t[{place}[{index}]]={_fitted(code, width, first.nbits, first.signed)}")
            return
        at, value = self.name(), self.name()
        self.line(depth, f"{at},{value}={index},{code}")
        for number, choice in enumerate(target.choices):
            self.line(depth, f"if {at}=={number}:")
            self.assign(choice, value, width, depth + 1)

    def before(self, node, depth):
        """The value so far in this step of a target that is partly assigned."""
        if isinstance(node, Signal):
            return f"t.get({node.duid},V[{node.duid}])" if self.chosen else self.target(node)
        if isinstance(node, _Slice):
            return f"({self.before(node.value, depth)}>>{node.start}&{_ones(node.stop - node.start)})"
        if isinstance(node, Cat):
            return self.joined([(self.before(part, depth), len(part)) for part in node.l])
        if isinstance(node, _ArrayProxy):
            choices = ",".join(self.before(choice, depth) for choice in node.choices)
            return f"({choices},)[{self.index(node, depth)}]"
        raise NotImplementedError(f"cannot assign to a part of {node}")

    def target(self, signal):
        return f"t[{signal.duid}]" if self.chosen else f"t{signal.duid}"

    # Values: the code, and the number of bits in which it fits if it is never negative, else None

    def value(self, node, depth, deep=0):
        if isinstance(node, Constant):
            return f"({node.value})", node.value.bit_length() if node.value >= 0 else None
        if isinstance(node, Signal):
            self.reads.add(node)
            return f"V[{node.duid}]", None if node.signed else node.nbits
        if isinstance(node, ClockSignal):
            return self.value(self.domains[node.cd].clk, depth)
        if isinstance(node, ResetSignal):
            reset = self.domains[node.cd].rst
            if reset is None and not node.allow_reset_less:
                raise ValueError(f"the clock domain {node.cd} has no reset")
            return ("0", 0) if reset is None else self.value(reset, depth)
        code, width = self.composed(node, depth, (deep + 1) % DEEPEST)
        if deep + 1 == DEEPEST:
            name = self.name()
            self.line(depth, f"{name}={code}")
            return name, width
        return code, width

    def composed(self, node, depth, deep):
        if isinstance(node, _Operator):
            return self.operator(node, depth, deep)
        if isinstance(node, _Slice):
            width = node.stop - node.start
            code, inner = self.value(node.value, depth, deep)
            shifted = f"{code}>>{node.start}" if node.start else code
            return f"({_masked(shifted, None if inner is None else inner - node.start, width)})", width
        if isinstance(node, _Part):
            code, offset = self.value(node.value, depth, deep)[0], self.value(node.offset, depth, deep)[0]
            return f"({code}>>{offset}&{_ones(node.width)})", node.width
        if isinstance(node, Cat):
            parts = [(_masked(*self.value(part, depth, deep), len(part)), len(part)) for part in node.l]
            return self.joined(parts), sum(width for _, width in parts)
        if isinstance(node, Replicate):
            bits = len(node.v)
            factor = sum(1 << n * bits for n in range(node.n))
            return f"(({_masked(*self.value(node.v, depth, deep), bits)})*{factor})", bits * node.n
        if isinstance(node, _ArrayProxy):
            return self.chosen_value(node, depth, deep)
        raise NotImplementedError(f"cannot compute {node}")

    def operator(self, node, depth, deep):
        operands = [self.value(operand, depth, deep) for operand in node.operands]
        (a, width), *others = operands
        if node.op == "m":
            (b, second), (c, third) = others
            return f"({b} if {a} else {c})", None if None in (second, third) else max(second, third)
        if not others:
            return f"({node.op}{a})", None
        b, second = others[0]
        code = f"({a}{PYTHON.get(node.op, node.op)}{b})"
        if node.op in COMPARISONS:
            return f"(+{code})", 1
        known = [each for each in (width, second) if each is not None]
        if node.op == "&":
            return code, min(known, default=None)
        if node.op == ">>>":
            return code, width
        if len(known) < 2:
            return code, None
        widths = {"|": max(known), "^": max(known), "+": max(known) + 1, "*": sum(known), "<<<": width + _ones(second)}
        return code, widths.get(node.op)

    def chosen_value(self, node, depth, deep):
        index = self.index(node, depth)
        if all(isinstance(choice, Signal) for choice in node.choices):
            self.reads |= set(node.choices)
            place = self.constant(tuple(choice.duid for choice in node.choices))
            signed = any(choice.signed for choice in node.choices)
            return f"V[{place}[{index}]]", None if signed else max(choice.nbits for choice in node.choices)
        values = [self.value(choice, depth, deep) for choice in node.choices]
        widths = [width for _, width in values]
        code = ",".join(code for code, _ in values)
        return f"({code},)[{index}]", None if None in widths else max(widths)

    def index(self, node, depth):
        code, width = self.value(node.key, depth)
        last = len(node.choices) - 1
        name = self.name()
        self.line(depth, f"{name}={code if width is not None and _ones(width) <= last else f'min({last},{code})'}")
        return name

    def joined(self, parts):
        """As in `Cat`: (code, bits), least significant first."""
        shift, shifted = 0, []
        for code, bits in parts:
            shifted.append(f"({code})<<{shift}" if shift else f"({code})")
            shift += bits
        return f"({'|'.join(shifted) or 0})"

    def name(self):
        self.temporaries += 1
        return f"x{self.temporaries}"

    def constant(self, value):
        return self.constants.setdefault(value, f"k{len(self.constants)}")

    def ended(self, changed):
        """The body's lines, with `changed` executed for each target that has changed: its number
        `n`, its value `v`."""
        if self.chosen:
            return [*self.lines, " for n,v in t.items():", f"  if V[n]!=v: {changed.format(n='n', v='v')}"]
        ends = (f" if V[{s.duid}]!=t{s.duid}: {changed.format(n=s.duid, v=f't{s.duid}')}" for s in self.targets)
        return [*self.lines, *ends]


def _ones(bits):
    return (1 << bits) - 1


def _masked(code, width, bits):
    return code if width is not None and width <= bits else f"{code}&{_ones(bits)}"


def _fitted(code, width, bits, signed):
    """The code of a value truncated to a signal of so many bits."""
    if width is not None and width + signed <= bits:
        return code
    half = 1 << bits - 1
    return f"({code}+{half}&{_ones(bits)})-{half}" if signed else f"{code}&{_ones(bits)}"


def _has_choice(node):
    """Whether an index selects a target anywhere in these statements."""
    if isinstance(node, (list, tuple)):
        return any(map(_has_choice, node))
    if isinstance(node, _Assign):
        return _has_choice(node.l)
    if isinstance(node, If):
        return _has_choice(node.t) or _has_choice(node.f)
    if isinstance(node, Case):
        return _has_choice(list(node.cases.values()))
    if isinstance(node, (_Slice, _Part)):
        return _has_choice(node.value)
    return _has_choice(list(node.l)) if isinstance(node, Cat) else isinstance(node, _ArrayProxy)


def _in_order(groups):
    """Orders the groups so that each follows those that it reads from, except within loops."""
    driver = {signal: group for group in groups for signal in group.targets}
    ordered, seen = [], set()

    def drivers(group):
        return iter(driver[s] for s in sorted(group.reads, key=lambda signal: signal.duid) if s in driver)

    for start in groups:
        way = [(start, drivers(start))] if start not in seen else []
        seen.add(start)
        while way:
            group, unseen = way[-1]
            before = next((each for each in unseen if each not in seen), None)
            if before is None:
                ordered.append(group)
                way.pop()
            else:
                seen.add(before)
                way.append((before, drivers(before)))
    return ordered


class CompiledSimulator(Simulator):
    """Migen's simulator with the statements as functions. Groups have numbers: bit n of a mask
    represents group n."""

    def __init__(self, design, generators, clocks):
        super().__init__(design, generators, clocks)
        fragment, constants = self.fragment, {}
        # Resets of combinatorial signals are part of each group.
        comb = fragment.comb[len(list_targets(fragment.comb)) :]
        groups = [Group(s, fragment.clock_domains, constants, True) for _, s in group_by_targets(comb)]
        groups = _in_order(groups)
        self.combinatorial, self.domains = len(groups), {}
        for name, statements in fragment.sync.items():
            first = len(groups)
            groups += [Group(s, fragment.clock_domains, constants, False) for _, s in group_by_targets(statements)]
            self.domains[name] = (1 << len(groups)) - (1 << first)
        self._set_resets(groups)
        self._mark(groups)
        self._compile(groups, constants)
        self.dirty, self.assigned = (1 << len(groups)) - 1, set()

    def _set_resets(self, groups):
        """Sets initial values, since the compiled design looks up values without checking that they
        exist."""
        signals = {signal for group in groups for signal in group.reads.union(group.targets)}
        for signal in signals:
            self.evaluator.signal_values[signal.duid] = signal.reset.value

    def _mark(self, groups):
        """Determines the groups to evaluate when a signal changes, or when a test bench has
        assigned it."""
        self.readers, self.drivers = Counter(), Counter()
        for number, group in enumerate(groups):
            for signal in group.targets:
                self.drivers[signal.duid] |= 1 << number
            for signal in group.reads:
                self.readers[signal.duid] |= 1 << number

    def _compile(self, groups, constants):
        lines = []
        for number, group in enumerate(groups):
            if number < self.combinatorial:
                lines += [f"def g{number}(d):", *group.ended("V[{n}]={v};d|=R[{n}]"), " return d"]
            else:
                lines += [f"def g{number}():", *group.ended("M[{n}]={v}")]
        self.names = names = {name: value for value, name in constants.items()}
        names |= {"V": self.evaluator.signal_values, "R": self.readers, "M": self.evaluator.modifications}
        exec(compile("\n".join(lines), "compiled design", "exec"), names)
        self.functions = [names[f"g{number}"] for number in range(len(groups))]

    def close(self):
        super().close()
        self.names.clear()  # breaks the reference cycle between it and the functions

    def _commit_and_comb_propagate(self):
        values, dirty = self.evaluator.signal_values, self.dirty
        for duid, value in self.evaluator.modifications.items():
            if values[duid] != value:
                values[duid] = value
                dirty |= self.readers[duid]
        for duid in self.assigned:
            dirty |= self.drivers[duid]
        self.evaluator.modifications.clear()
        self.assigned.clear()
        functions, combinatorial = self.functions, self.combinatorial
        while dirty:
            first = dirty & -dirty
            number = first.bit_length() - 1
            if number >= combinatorial:
                break
            dirty = functions[number](dirty ^ first)
        self.dirty = dirty

    def _evalexec_nested_lists(self, x):
        if isinstance(x, _Statement):
            self.assigned |= {signal.duid for signal in list_targets(x)}
        return super()._evalexec_nested_lists(x)

    def _clock(self, domain):
        """The registers of a clock domain get new values, which take effect once all domains of
        this moment have theirs."""
        pending = self.dirty & self.domains.get(domain, 0)
        self.dirty ^= pending
        while pending:
            first = pending & -pending
            pending ^= first
            self.functions[first.bit_length() - 1]()

    def run(self):
        self._commit_and_comb_propagate()
        while True:
            _, rising, falling = self.time.tick()
            for domain in rising:
                self.evaluator.assign(self.fragment.clock_domains[domain].clk, 1)
                self._clock(domain)
                if domain in self.generators:
                    self._process_generators(domain)
            for domain in falling:
                self.evaluator.assign(self.fragment.clock_domains[domain].clk, 0)
            self._commit_and_comb_propagate()
            if not self._continue_simulation():
                break
