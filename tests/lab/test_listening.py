"""Where a laboratory listens: on localhost only, by IPv4 and IPv6, unless `bind` of lab.toml says otherwise."""

import json
import socket
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path

import pytest

from tests.support import TIMEOUT
from tests.support.laboratory import Laboratory
from tests.support.raw_master import Lines

LOCAL = {"127.0.0.1", "::1"}
NAMES = ("notify", "control", "logging", "broadcast", "controllers")
LISTENING = "0A"
"""State of a socket in the tables of Linux."""


@contextmanager
def laboratory(folder, settings=""):
    made = Laboratory(folder, settings).start()
    try:
        yield made
    finally:
        made.close()


def family_of(pid: int) -> list[int]:
    """Returns a process and all below it."""
    children = [
        int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()
    ]
    return [pid, *(each for child in children for each in family_of(child))]


def listening(pid: int) -> set[tuple[str, int]]:
    """Returns the address and port of each TCP socket on which a process, or one below it, listens."""
    links = [
        link.readlink() for each in family_of(pid) for link in Path(f"/proc/{each}/fd").iterdir() if link.is_symlink()
    ]
    inodes = {str(link)[len("socket:[") : -1] for link in links if str(link).startswith("socket:[")}
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTENING and fields[9] in inodes:
                address, port = fields[1].split(":")
                words = [bytes.fromhex(address[at : at + 8])[::-1] for at in range(0, len(address), 8)]
                found.add((str(ip_address(b"".join(words))), int(port, 16)))
    return found


def assert_served(lab, host):
    """Each port answers at an address as it does everywhere."""
    for name, first in (("control", []), ("controllers", []), ("notify", ["schedule"])):
        lines = Lines(lab.ports[name], f"ARTIQ {'sync_struct' if first else 'pc_rpc'}", *first, host=host)
        assert json.loads(lines.line()), name
        lines.close()
    for name in ("logging", "broadcast"):
        socket.create_connection((host, lab.ports[name]), TIMEOUT).close()


def assert_refused(lab, host):
    for name in NAMES:
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((host, lab.ports[name]), TIMEOUT)


def test_laboratory_listens_on_localhost_only_by_default(tmp_path):
    with laboratory(tmp_path) as lab:
        assert listening(lab.process.pid) == {(address, lab.ports[name]) for address in LOCAL for name in NAMES}
        for host in LOCAL:
            assert_served(lab, host)
        assert_refused(lab, "127.0.0.2")


def test_laboratory_listens_at_an_address_of_its_settings_too(tmp_path):
    with laboratory(tmp_path, 'bind = ["127.0.0.2"]\n') as lab:
        wanted = {*LOCAL, "127.0.0.2"}
        assert listening(lab.process.pid) == {(address, lab.ports[name]) for address in wanted for name in NAMES}
        for host in wanted:
            assert_served(lab, host)
        assert_refused(lab, "127.0.0.3")


def test_laboratory_listens_everywhere_if_its_settings_name_all_addresses(tmp_path):
    with laboratory(tmp_path, 'bind = ["*"]\n') as lab:
        assert listening(lab.process.pid) == {
            (address, lab.ports[name]) for address in ("0.0.0.0", "::") for name in NAMES
        }
        for host in (*LOCAL, "127.0.0.3"):
            assert_served(lab, host)
