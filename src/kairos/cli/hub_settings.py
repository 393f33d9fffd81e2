"""Settings of a hub (``hub.toml``), generated from the core devices of a device database."""

import json
from pathlib import Path
from typing import NamedTuple

from ..contracts.analyzer import PORT as ANALYZER
from ..emulator import is_emulated, variant_of
from ..network.management import PORT
from .address import service_of

__all__ = ["FILE", "Core", "cores", "render"]

FILE = Path("hub.toml")

APART = 1000
"""Offset between the ports of emulated devices on one machine."""


class Core(NamedTuple):
    """A core device: its name for the hub, the address of its management service, how an emulated
    one is started, and the address of its analyzer if it is not the default."""

    name: str
    address: str
    emulated: str = ""
    start: str = ""
    analyzer: str = ""


def cores(entries: dict) -> list[Core]:
    """Return the core devices of a database that have an address, without duplicates."""
    found: dict[str, Core] = {}
    emulated = 0
    for name, entry in entries.items():
        if not isinstance(entry, dict) or entry.get("class") != "Core":
            continue
        host = (entry.get("arguments") or {}).get("host")
        # A core without a host can only compile.
        if not isinstance(host, str) or not host:
            continue
        # In names of registers the device's name ends at the first slash.
        core = _real(name.replace("/", "_"), host)
        if is_emulated(host):
            core = _emulated(core.name, host, emulated)
            emulated += 1
        found.setdefault(host if core.emulated else core.address, core)
    return list(found.values())


def _real(name: str, host: str) -> Core:
    """Return a device with an address; ports are named if they are not the defaults."""
    (address, management), (_, analyzer) = service_of(host, PORT), service_of(host, ANALYZER)
    if management == PORT:
        return Core(name, address)
    shown = f"[{address}]" if ":" in address else address
    return Core(name, f"{shown}:{management}", analyzer=f"{shown}:{analyzer}")


def _emulated(name: str, url: str, number: int) -> Core:
    """Return an emulated device of a database, which has the address of the machine on which it is
    started."""
    offset = number * APART
    option = f" --offset {offset}" if offset else ""
    analyzer = f"127.0.0.1:{ANALYZER + offset}" if offset else ""
    return Core(name, f"127.0.0.1:{PORT + offset}", url, f"kairos emulate {variant_of(url)}{option}", analyzer)


def render(cores: list[Core]) -> str:
    """Return their entries of hub.toml."""
    return "\n".join(_entry(core) for core in cores)


def _entry(core: Core) -> str:
    text = ""
    if core.emulated:
        text += f"# In the device database it is {core.emulated}, which each run starts. To keep one running, start\n"
        text += f"# '{core.start}' and set its host to 127.0.0.1 in the database.\n"
    text += f"[[device]]\nname = {json.dumps(core.name)}\naddress = {json.dumps(core.address)}\n"
    if core.analyzer:
        text += f"analyzer = {json.dumps(core.analyzer)}\n"
    return text + f'# key_file = "{core.name}.key"\n'
