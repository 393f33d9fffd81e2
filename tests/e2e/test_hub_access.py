"""Access control of a hub: tokens, roles, TLS. The methods are taken from the hub's own
description."""

import re
import subprocess
import urllib.error
import urllib.request

import grpc
import pytest

import kairos.hub
from kairos.hub import HubError
from kairos.hub.client import GetMessageClass
from tests.support.command import run_kairos
from tests.support.hub import HUB, PROTOCOL, Hub, certificate, expired_certificate, token_entry

DEVICES = {"away": "127.0.0.1:9"}
"""No request here would reach a device."""

ROLES = ("view", "operate", "administer")

GRPC = {
    "grpc.health.v1.Health/Check": "view",
    "grpc.health.v1.Health/Watch": "view",
    "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": "view",
}
"""The role required by each method of gRPC's own services."""


@pytest.fixture(scope="module")
def asked():
    """The role required by each method: that of the promised protocol."""
    promised = PROTOCOL.promised_roles()
    return {"/".join(name.rsplit(".", 1)): role for name, role in promised.items()} | GRPC


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """A hub with one token per role."""
    entries = "".join(token_entry(role, role) for role in ROLES)
    hub = Hub(tmp_path_factory.mktemp("hub"), DEVICES, entries=entries)
    yield hub
    hub.close()


def methods(lab):
    """Yield every method of every service described by the hub: its name, and descriptor."""
    for service in lab._protocol.get_services():
        for method in lab._pool.FindServiceByName(service).methods:
            yield f"{service}/{method.name}", method


def answer(address, name, method, token):
    """Return gRPC's status name of a call with an empty request; for a stream of its beginning."""
    request = GetMessageClass(method.input_type)()
    metadata = [("authorization", token)] if token is not None else []
    with grpc.insecure_channel(address) as channel:
        kinds = {
            (False, False): channel.unary_unary,
            (False, True): channel.unary_stream,
            (True, False): channel.stream_unary,
            (True, True): channel.stream_stream,
        }
        call = kinds[method.client_streaming, method.server_streaming](f"/{name}", type(request).SerializeToString)
        given = iter([request]) if method.client_streaming else request
        try:
            reply = call(given, metadata=metadata, timeout=10)
            if method.server_streaming:
                next(reply)
                reply.cancel()
            return "OK"
        except grpc.RpcError as error:
            return error.code().name


def test_every_method_refuses_missing_token(hub, asked):
    with kairos.hub.connect(hub.address, token="view") as lab:
        found = dict(methods(lab))
    assert found.keys() == asked.keys()
    for name, method in found.items():
        for token in (None, "", "view", "Bearer", "Bearer ", "Bearer  view", "Bearer views", "Basic view"):
            assert answer(hub.address, name, method, token) == "UNAUTHENTICATED", (name, token)


def test_every_method_refuses_lower_role(hub, asked):
    with kairos.hub.connect(hub.address, token="administer") as lab:
        found = dict(methods(lab))
    for name, method in found.items():
        for role in ROLES:
            ended = answer(hub.address, name, method, f"Bearer {role}")
            less = ROLES.index(role) < ROLES.index(asked[name])
            assert (ended == "PERMISSION_DENIED") == less and ended != "UNAUTHENTICATED", (name, role, ended)


def test_refusal_names_the_missing_role(hub):
    with pytest.raises(HubError, match="this hub requires a token") as failed:
        kairos.hub.connect(hub.address)
    assert failed.value.code == "UNAUTHENTICATED"
    with kairos.hub.connect(hub.address, token="view") as lab:
        assert [device.name for device in lab.devices()] == ["away"]
        with pytest.raises(HubError, match="one who may view may view; this requires a token that may operate"):
            lab.call("Registers", "Write", device="away", register="a/b", value=1)


def test_metrics_are_served_only_with_role_view(hub):
    for token, status in ((None, 401), ("none", 401), ("view", 200)):
        request = urllib.request.Request(f"http://{hub.address}/metrics")
        if token is not None:
            request.add_header("Authorization", f"Bearer {token}")
        try:
            assert urllib.request.urlopen(request, timeout=10).status == status
        except urllib.error.HTTPError as error:
            assert error.code == status


@pytest.mark.parametrize("name", ["grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "none.Such/Method"])
def test_undescribed_method_is_refused_without_token(hub, name):
    with grpc.insecure_channel(hub.address) as channel:
        with pytest.raises(grpc.RpcError) as failed:
            channel.unary_unary(f"/{name}")(b"", timeout=10)
        assert failed.value.code().name == "UNAUTHENTICATED"


@pytest.mark.parametrize("role", ["view", "look"])
def test_command_line_token_is_accepted(tmp_path, role):
    """The token on standard error matches the entry on standard output, which may go to hub.toml
    without it. `look` is an older name of the role `view`."""
    done = run_kairos("hub", "token", "me", role)
    assert done.returncode == 0 and 'role = "view"' in done.stdout, done.stderr
    shown = done.stderr.split()[-1]
    assert len(shown) > 40 and shown not in done.stdout
    token = tmp_path / "token"
    token.write_text(f"{shown}\n")
    hub = Hub(tmp_path, DEVICES, entries=done.stdout)
    try:
        known = run_kairos("hub", "ls", "--hub", hub.address, "--token-file", token)
        assert known.returncode == 0 and "away" in known.stdout, known.stderr
        unknown = run_kairos("hub", "ls", "--hub", hub.address)
        assert unknown.returncode == 1 and "this hub requires a token" in unknown.stderr, unknown.stderr
    finally:
        hub.close()


def test_tls_connection_requires_the_certificate_of_the_hub(tmp_path):
    """A hub reachable by others."""
    entries = token_entry("secret", "view") + certificate(tmp_path)
    hub = Hub(tmp_path, DEVICES, listen="0.0.0.0:0", entries=entries)
    address = f"localhost:{hub.address.rpartition(':')[2]}"
    try:
        with kairos.hub.connect(address, token="secret", certificate=tmp_path / "hub.crt") as lab:
            assert list(lab) == ["away"]
            assert 'kairos_device_up{device="away"} 0' in lab.metrics()
        for wrong in ({}, {"certificate": "system"}):
            with pytest.raises(HubError) as failed:
                kairos.hub.connect(address, token="secret", **wrong)
            assert failed.value.code == "UNAVAILABLE"
    finally:
        hub.close()


def test_unreachable_hub_is_reported_with_reason(tmp_path):
    """Each cause is reported in one line."""
    folders = {name: tmp_path / name for name in ("good", "other", "expired", "plain")}
    for folder in folders.values():
        folder.mkdir()
    certificate(folders["other"])
    hubs = {
        "good": Hub(folders["good"], DEVICES, entries=certificate(folders["good"])),
        "expired": Hub(folders["expired"], DEVICES, entries=expired_certificate(folders["expired"])),
        "plain": Hub(folders["plain"], DEVICES),
    }
    address = {name: f"localhost:{hub.address.rpartition(':')[2]}" for name, hub in hubs.items()}
    garbage = tmp_path / "garbage.crt"
    garbage.write_text("-----BEGIN CERTIFICATE-----\nnone\n")
    try:
        for where, shown, said in (
            (address["good"], None, "has TLS: give its certificate"),
            (address["good"], folders["other"] / "hub.crt", "shows another certificate"),
            (hubs["good"].address, folders["good"] / "hub.crt", "or one for another name"),
            (address["good"], garbage, "contains no PEM certificate"),
            (address["good"], tmp_path / "none", "none cannot be read"),
            (address["expired"], folders["expired"] / "hub.crt", "has expired"),
            (address["plain"], folders["good"] / "hub.crt", "does not use TLS: omit the certificate"),
            ("localhost:9", None, "is 'kairos hub' running there?"),
            ("localhost:http", None, "'localhost:http' is not a hub address"),
            ("http://localhost:1390", None, "is not a hub address"),
            ("no.such.host.invalid", None, "there is no host 'no.such.host.invalid'"),
        ):
            with pytest.raises(HubError, match=re.escape(said)) as failed:
                kairos.hub.connect(where, certificate=shown)
            assert "\n" not in str(failed.value), failed.value
        with kairos.hub.connect(address["good"], certificate=folders["good"] / "hub.crt") as lab:
            assert list(lab) == ["away"]
    finally:
        for hub in hubs.values():
            hub.close()


@pytest.mark.parametrize("entries", ["", token_entry("a", "view"), "[tls]\ncertificate_file = 'c'\nkey_file = 'c'\n"])
def test_client_needs_certificate_and_token(tmp_path, entries):
    (tmp_path / "c").touch()
    settings = tmp_path / "hub.toml"
    settings.write_text(entries + "[[device]]\nname = 'a'\naddress = 'lab'\n")
    done = subprocess.run([HUB, settings, "--listen", "0.0.0.0:0"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 1 and "requires [tls], and a [[token]]" in done.stderr, done.stderr
