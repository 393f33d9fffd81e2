"""Shared by tests of several directories: devices, clients on bare sockets, kernels, the command,
pin recordings.

The clients share nothing with `src/kairos`: they are written only from the description of the
protocols (docs/spec/wire-protocols.md), so that an error there is not repeated here. Tests import
from here, and from no other test.
"""

TIMEOUT = 180
"""Timeout in seconds of real time for anything awaited: far more than a busy machine needs, so that
no verdict depends on it."""
