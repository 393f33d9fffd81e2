"""A device has one address, from which the ports of all its services follow."""

import pytest

from kairos.cli import main
from kairos.cli.address import service_of
from kairos.cli.hub_settings import cores
from kairos.contracts import analyzer, management, moninj, session


@pytest.mark.parametrize("service", [analyzer, management, moninj, session])
@pytest.mark.parametrize("host, offset", [("lab", 0), ("127.0.0.1", 20), ("fe80::1", 1000), ("lab", -81)])
def test_ports_of_all_services_are_shifted_alike(service, host, offset):
    shown = f"[{host}]" if ":" in host else host
    text = f"{shown}:{session.PORT + offset}" if offset else host
    assert service_of(text, service.PORT) == (host, service.PORT + offset)


@pytest.mark.parametrize("offset", [7, 8, 9, 10])
def test_port_offset_that_collides_with_the_hub_is_refused(capsys, offset):
    assert main(["emulate", "--offset", str(offset)]) == 1
    assert "would be 1390, that of the hub; use 20" in capsys.readouterr().err


def test_hub_settings_follow_the_port_of_the_database():
    core = {"class": "Core", "arguments": {"host": "127.0.0.1:1401"}}
    (found,) = cores({"core": core})
    assert (found.address, found.analyzer) == ("127.0.0.1:1400", "127.0.0.1:1402")
    core["arguments"]["host"] = "[fe80::1]:1401"
    (found,) = cores({"core": core})
    assert (found.address, found.analyzer) == ("[fe80::1]:1400", "[fe80::1]:1402")
