"""Each door of a hub refuses each method to each role that may not call it; the methods and their roles are those of
the promised protocol. Calls of gRPC itself are in `test_hub_access`."""

import http.client
import socket
from functools import cache

import pytest

import kairos.hub
from tests.support.hub import PROTOCOL, Hub, token_entry
from tests.support.laboratory import Laboratory
from tests.support.strangers import as_stranger, open_to_strangers
from tests.support.websocket import Live

ROLES = ("view", "operate", "administer")
UNAUTHENTICATED, PERMISSION_DENIED = 16, 7


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    entries = "".join(token_entry(role, role) for role in ROLES) + "[laboratory]\nfolder = 'lab'\n"
    hub = Hub(tmp_path_factory.mktemp("hub"), {"away": "127.0.0.1:9"}, entries=entries)
    yield hub
    hub.close()


@cache
def methods() -> dict[str, str]:
    """Return the role that each method requires, by its path."""
    return {"/" + "/".join(name.rsplit(".", 1)): role for name, role in PROTOCOL.promised_roles().items()}


def web_status(address: str, path: str, headers: dict) -> int:
    """Return gRPC's status of a gRPC-web call with an empty request."""
    connection = http.client.HTTPConnection(*address.rsplit(":", 1), timeout=60)
    kind = {"Content-Type": "application/grpc-web+proto", **headers}
    connection.request("POST", path, bytes(5), kind)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    if "grpc-status" in response.headers:
        return int(response.headers["grpc-status"])
    _, _, after = body.rpartition(b"grpc-status:")
    return int(after.split(b"\r")[0])


def test_every_method_refuses_lower_roles_to_browsers(hub):
    for path, asked in methods().items():
        for token, expected in [(None, UNAUTHENTICATED), ("none", UNAUTHENTICATED)] + [
            (role, PERMISSION_DENIED) for role in ROLES[: ROLES.index(asked)]
        ]:
            given = [{}] if token is None else [{"Cookie": f"kairos-token={token}"}]
            given += [{"Authorization": f"Bearer {token}"}] if token else []
            for headers in given:
                assert web_status(hub.address, path, headers) == expected, (path, headers)


def test_every_method_refuses_lower_roles_to_streams_of_pages(hub):
    with kairos.hub.connect(hub.address, token="view") as lab:
        for token in (None, "none"):
            with Live(hub.address, token, lab._pool) as live:
                assert live.status == 401
        for role in ROLES[:-1]:
            refused = [path for path, asked in methods().items() if ROLES.index(role) < ROLES.index(asked)]
            with Live(hub.address, role, lab._pool) as live:
                for stream, path in enumerate(refused):
                    live.call(stream, path)
                    said = live.receive()
                    assert (said.stream, said.end.code) == (stream, PERMISSION_DENIED), (path, said)
                    assert f"one who may {role} may {role}; this requires" in said.end.text


def test_sockets_of_a_laboratory_refuse_other_users(tmp_path):
    lab = Laboratory(tmp_path)
    lab.start()
    try:
        sockets = [path for path in (tmp_path / ".kairos").rglob("*") if path.is_socket()]
        assert {"rpc.sock", "runs.sock"} < {path.name for path in sockets}
        open_to_strangers(tmp_path)
        for mode in (0o700, 0o755):  # as it is made, and as somebody may have opened it
            (tmp_path / ".kairos").chmod(mode)
            for path in sockets:
                said = as_stranger(lambda path=path: socket.socket(socket.AF_UNIX).connect(str(path)))
                assert said.startswith("PermissionError"), (path, said)
    finally:
        lab.close()
