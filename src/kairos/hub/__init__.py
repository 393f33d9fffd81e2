"""The hub from Python: registers of a laboratory's core devices, over gRPC.

    with kairos.hub.connect("localhost") as lab:
        errors = lab["zc706"].registers.rtio.async_error.read()

The hub is a separate program (``kairos hub serve``); its language-independent interface is defined
in ``src/hub/proto``.
"""

from .buses import I2c, Pin, Spi
from .client import PORT, SYSTEM, Device, Lab, Register, Subsystem, connect
from .errors import HubError, ProgramError
from .linux import Board, Buffer
from .program import Program
from .waveforms import Event, Waveforms

__all__ = [
    "PORT",
    "SYSTEM",
    "Board",
    "Buffer",
    "Device",
    "Event",
    "HubError",
    "I2c",
    "Lab",
    "Pin",
    "Program",
    "ProgramError",
    "Register",
    "Spi",
    "Subsystem",
    "Waveforms",
    "connect",
]
