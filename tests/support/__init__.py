"""What tests of several folders use: devices, clients on bare sockets, kernels, the command, pictures of pins.

The clients share nothing with `src/kairos`: they are written from the description of the protocols
alone (docs/spec/wire-protocols.md), so that a mistake made there is not made here again. Tests
import from here, and from no other test.
"""

PATIENCE = 180
"""Seconds of the machine's time after which what is waited for counts as broken: far more than a
busy machine needs, so that no verdict depends on it."""
