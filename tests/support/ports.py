"""Ports for what a test starts itself."""

import random
import socket
from pathlib import Path

__all__ = ["free_port"]

LOWEST = 10_000
HANDED_OUT = Path("/proc/sys/net/ipv4/ip_local_port_range")
"""Of these the kernel gives one to whoever asks for any: a free one may be taken before it is used."""
_chance = random.SystemRandom()


def free_port(*more: int) -> int:
    """Return a port of this computer that nobody uses, nor those that are `more` behind it. No process gets it
    without asking for this one."""
    while True:
        port = _chance.randrange(LOWEST, int(HANDED_OUT.read_text().split()[0]) - max(more, default=0))
        try:
            for behind in (0, *more):
                socket.create_server(("127.0.0.1", port + behind)).close()
        except OSError:
            continue
        return port
