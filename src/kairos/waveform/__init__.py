"""Pin activity of a device during a run: recorded, and shown as a table, a VCD file or a picture."""

from .recording import Channel, Clock, Pulse, Recording
from .wave import Wave

__all__ = ["Channel", "Clock", "Pulse", "Recording", "Wave"]
"""The writers are imported on demand: :mod:`.table`, :mod:`.vcd`, :mod:`.plot`."""
