"""Pulse definitions written for JaqalPaw, and Jaqal circuits, as gate sets.

A definition is a class whose methods ``gate_NAME`` take qubits and numbers and return lists of ``PulseData``. After
:func:`install`, ``from jaqalpaw.ir.pulse_data import PulseData`` gives ours; nothing is done where JaqalPaw itself is
installed. :func:`circuit` reads a circuit, with the parser of the package ``jaqalpaq``.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Iterator

from ..errors import UsageError
from .gates import NAMES, Pulse
from .gateset import Core, GateSet

__all__ = ["PulseData", "circuit", "install"]

FLAGS = {
    "waittrig": "wait",
    "sync_mask": "sync",
    "enable_mask": "enable",
    "fb_enable_mask": "feed_forward",
    "gpo_mask": "gpo",
    "rst_frame_mask": "clear",
    "apply_at_end_mask": "at_end",
}
"""Flags by their names in such definitions."""
ROUTES = {
    "forward": ("fwd_frame0_mask", "fwd_frame1_mask"),
    "invert": ("inv_frame0_mask", "inv_frame1_mask"),
}
SHORTEST = 4
"""Cycles: shorter pulses are left out, as such definitions expect."""


def PulseData(channel: int, dur: float, **parameters) -> Pulse:
    """What a channel does for `dur` seconds: parameters as those of :class:`Pulse`, tuples for splines and lists for
    steps, and flags by the names of :data:`FLAGS`. TypeError names one that is not known."""
    routes = {name: tuple(int(parameters.pop(mask, 0)) for mask in masks) for name, masks in ROUTES.items()}
    flags = {ours: int(parameters.pop(theirs)) for theirs, ours in FLAGS.items() if theirs in parameters}
    if unknown := parameters.keys() - set(NAMES):
        known = ", ".join([*NAMES, *FLAGS, *(mask for masks in ROUTES.values() for mask in masks)])
        raise TypeError(f"PulseData has no {', '.join(sorted(unknown))}; it has {known}")
    return Pulse(channel=channel, duration=dur, **parameters, **{**flags, "wait": bool(flags.get("wait"))}, **routes)


MODULES = {
    "jaqalpaw": {},
    "jaqalpaw.ir": {},
    "jaqalpaw.ir.pulse_data": {"PulseData": PulseData},
}
"""Modules that definitions import, and their names."""


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, fullname, path=None, target=None):
        if fullname in MODULES:
            return importlib.machinery.ModuleSpec(fullname, self, is_package=fullname != "jaqalpaw.ir.pulse_data")
        if fullname.startswith("jaqalpaw."):
            raise ModuleNotFoundError(
                f"Kairos has no counterpart of {fullname}; it has {', '.join(MODULES)}", name=fullname
            )
        return None

    def create_module(self, spec):
        return types.ModuleType(spec.name, "Names of JaqalPaw that Kairos has.")

    def exec_module(self, module):
        vars(module).update(MODULES[module.__name__])


def install():
    """Make imports of ``jaqalpaw`` give what is ours, unless it is installed."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path) and not importlib.util.find_spec("jaqalpaw"):
        sys.meta_path.append(_Finder())


def circuit(text: str, definition, core: Core | None = None) -> GateSet:
    """The gate set of a Jaqal circuit, with the circuit as its sequence. `definition`: an object with ``gate_NAME``
    methods. UsageError where `jaqalpaq` is missing, or a gate has no definition."""
    try:
        # An optional package: only circuits need it.
        from jaqalpaq.parser import parse_jaqal_string
    except ImportError:
        raise UsageError("Jaqal circuits are read by the package jaqalpaq: pip install jaqalpaq") from None
    options = {"expand_macro": True, "expand_let": True, "expand_let_map": True, "autoload_pulses": False}
    parsed = parse_jaqal_string(text, **options)
    core = core or Core()
    gates: dict[str, list[Pulse]] = {}
    steps = []
    for together in _steps(parsed.body):
        names = []
        for gate in together:
            name, pulses = _gate(gate, definition, core)
            gates.setdefault(name, pulses)
            names.append(name)
        steps.append(tuple(names))
    return GateSet(gates, steps, core)


def _steps(statement) -> Iterator[list]:
    """Gates that begin together, one group after another; loops are unrolled."""
    if hasattr(statement, "gate_def"):
        yield [statement]
    elif getattr(statement, "parallel", False) is True:
        inner = [list(_steps(part)) for part in statement.statements]
        if any(len(groups) > 1 for groups in inner):
            raise UsageError("gates one after another within a parallel block: give each its own block")
        yield [gate for groups in inner for group in groups for gate in group]
    elif hasattr(statement, "iterations") and not isinstance(statement.statements, list):
        for _ in range(int(statement.iterations)):
            yield from _steps(statement.statements)
    else:
        for part in statement.statements:
            yield from _steps(part)


def _gate(gate, definition, core: Core) -> tuple[str, list[Pulse]]:
    arguments = [
        value.resolve_qubit()[1] if hasattr(value, "resolve_qubit") else value for value in gate.parameters_linear
    ]
    method = getattr(definition, f"gate_{gate.name}", None)
    if method is None:
        raise UsageError(f"{type(definition).__name__} has no gate_{gate.name}, which the circuit uses")
    pulses = [pulse for pulse in method(*arguments) or [] if int(pulse.duration * core.clock) >= SHORTEST]
    return f"{gate.name}({', '.join(f'{value:g}' for value in arguments)})", pulses
