"""A device has one address, from which the ports of all its services follow."""

import re
import socket

import pytest

from kairos.cli import main
from kairos.cli.address import service_of
from kairos.cli.hub_settings import cores
from kairos.contracts import analyzer, hub, management, moninj, session


@pytest.mark.parametrize("service", [analyzer, management, moninj, session])
@pytest.mark.parametrize("host, offset", [("lab", 0), ("127.0.0.1", 20), ("fe80::1", 1000), ("lab", -81)])
def test_ports_of_all_services_are_shifted_alike(service, host, offset):
    shown = f"[{host}]" if ":" in host else host
    text = f"{shown}:{session.PORT + offset}" if offset else host
    assert service_of(text, service.PORT) == (host, service.PORT + offset)


@pytest.mark.parametrize("offset", [hub.PORT - service.PORT for service in (moninj, analyzer, session, management)])
def test_port_offset_that_collides_with_the_hub_is_refused(capsys, offset):
    assert main(["emulate", "--offset", str(offset)]) == 2
    assert f"would be {hub.PORT}, that of the hub; use 20" in capsys.readouterr().err


def test_emulator_with_a_port_in_use_asks_for_an_offset(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        offset = taken.getsockname()[1] - session.PORT
        assert main(["emulate", "demo", "--offset", str(offset)]) == 1
    # A port beside it may be in use, too, and is then named.
    named = "|".join(str(service.PORT + offset) for service in (management, session, analyzer, moninj))
    said = rf"port ({named}) is in use: stop the program that uses it, or choose others with --offset\n$"
    assert re.search(said, capsys.readouterr().err)


def test_hub_settings_follow_the_port_of_the_database():
    core = {"class": "Core", "arguments": {"host": "127.0.0.1:1401"}}
    (found,) = cores({"core": core})
    assert (found.address, found.analyzer) == ("127.0.0.1:1400", "127.0.0.1:1402")
    core["arguments"]["host"] = "[fe80::1]:1401"
    (found,) = cores({"core": core})
    assert (found.address, found.analyzer) == ("[fe80::1]:1400", "[fe80::1]:1402")
