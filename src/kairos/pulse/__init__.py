"""The pulse core: gates of two-tone pulses, the words that play them, and a model of the core.

A :class:`Pulse` describes a channel's output for some time, a :class:`GateSet` packs gates into the
core's tables and produces words, a :class:`Model` plays words sample for sample as the logic does.
``docs/pulse.md`` is the page for physicists.
"""

from .gates import Adjustable, Follow, Mixed, Pulse, Room, Spline, Steps
from .gateset import Branch, Core, GateSet, PulseError, TableUse, load
from .model import Model, Played
from .recording import Recording

__all__ = [
    "Adjustable",
    "Branch",
    "Core",
    "Follow",
    "GateSet",
    "Mixed",
    "Model",
    "Played",
    "Pulse",
    "PulseError",
    "Recording",
    "Room",
    "Spline",
    "Steps",
    "TableUse",
    "load",
]
