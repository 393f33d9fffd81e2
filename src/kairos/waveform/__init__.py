"""What happened at the pins of a device during a run: recorded, and shown as a table, a VCD file or a picture."""

from .recording import Channel, Pulse, Recording

__all__ = ["Channel", "Pulse", "Recording"]
"""The writers are imported where they are needed: :mod:`.table`, :mod:`.vcd`, :mod:`.plot`."""
