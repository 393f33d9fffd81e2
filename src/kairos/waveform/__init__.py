"""Recordings of the pins of a device during a run, shown as a table, a VCD file or a plot."""

from .changes import Changes, Edges
from .recording import Channel, Clock, Pulse, Recording
from .wave import Wave

__all__ = ["Changes", "Channel", "Clock", "Edges", "Pulse", "Recording", "Wave"]
"""The writers are imported on demand: :mod:`.table`, :mod:`.vcd`, :mod:`.plot`."""
