"""The hub from Python: registers of a laboratory's core devices, over gRPC.

    with kairos.hub.connect("localhost") as lab:
        errors = lab["zc706"].registers.rtio.async_error.read()

The hub is a program of its own (``kairos hub serve``); what it offers, in any language, stands in ``src/hub/proto``.
"""

from .client import PORT, SYSTEM, Device, HubError, Lab, Program, Register, Subsystem, connect
from .linux import Board, Buffer

__all__ = [
    "PORT",
    "SYSTEM",
    "Board",
    "Buffer",
    "Device",
    "HubError",
    "Lab",
    "Program",
    "Register",
    "Subsystem",
    "connect",
]
