"""A hub follows the tokens of hub.toml: calls with one that is removed, or may less, end with the reason."""

import http.client
import json

import grpc
import pytest

import kairos.hub
from tests.support import TIMEOUT
from tests.support.hub import Hub, token_entry
from tests.support.waiting import until
from tests.support.websocket import Live

DEVICES = {"away": "127.0.0.1:9"}
LEFT = token_entry("other", "view").replace("one who may view", "another one")


@pytest.fixture
def hub(tmp_path):
    hub = Hub(tmp_path, DEVICES, entries=LEFT + token_entry("me", "operate"))
    yield hub
    hub.close()


def admit(hub, entries):
    """Replace the tokens of hub.toml."""
    text = (hub.folder / "hub.toml").read_text()
    (hub.folder / "hub.new").write_text(entries + text[text.index("[[device]]") :])
    (hub.folder / "hub.new").rename(hub.folder / "hub.toml")


def watch(channel, method, token):
    """Begin a call of the health service, whose stream never ends; returns it with its first response received."""
    metadata = [("authorization", f"Bearer {token}")]
    call = channel.unary_stream(method)(b"", metadata=metadata, timeout=2 * TIMEOUT)
    next(call)
    return call


def ends_with(call) -> tuple:
    """Return how a stream ends."""
    with pytest.raises(grpc.RpcError) as failed:
        while True:
            next(call)
    return failed.value.code().name, failed.value.details()


WATCH = "/grpc.health.v1.Health/Watch"


def test_streams_end_when_their_token_is_removed(hub):
    removed = "the token of one who may operate has been removed from hub.toml"
    with grpc.insecure_channel(hub.address) as channel, kairos.hub.connect(hub.address, token="other") as lab:
        mine, others = watch(channel, WATCH, "me"), watch(channel, WATCH, "other")
        with Live(hub.address, "me", lab._pool) as live, Live(hub.address, "other", lab._pool) as other:
            for each in (live, other):
                each.call(1, WATCH, credit=2)
                assert each.receive().message == b"\x08\x01"
            admit(hub, LEFT)
            assert ends_with(mine) == ("UNAUTHENTICATED", removed)
            end = live.receive()
            assert (end.stream, end.end.code, end.end.text) == (1, 16, removed)
            assert live.receive() == (1008, removed)
            # Those of others go on.
            assert others.is_active()
            other.call(2, WATCH)
            assert other.receive().stream == 2
        others.cancel()
        connection = http.client.HTTPConnection(*hub.address.rsplit(":", 1), timeout=60)
        connection.request("GET", "/session", headers={"Cookie": "kairos-token=me"})
        assert json.loads(connection.getresponse().read())["role"] is None
        connection.close()
    log = (hub.folder / "hub.log").read_text()
    assert f"ended: {removed}" in log and "the tokens of hub.toml are now those of another one" in log


def test_token_reduced_to_the_role_view_is_refused_writes_and_keeps_its_streams(hub):
    with grpc.insecure_channel(hub.address) as channel:
        looking = watch(channel, WATCH, "me")
        admit(hub, LEFT + token_entry("me", "view").replace("may view", "may operate"))
        reason = "one who may operate may view; this requires a token that may operate"

        def refused():
            try:
                write = channel.unary_unary("/kairos.hub.v1.Registers/Write")
                write(b"", metadata=[("authorization", "Bearer me")], timeout=TIMEOUT)
            except grpc.RpcError as error:
                return error.code().name == "PERMISSION_DENIED" and error.details() == reason

        until(refused)
        assert looking.is_active()
        looking.cancel()


def test_file_that_cannot_be_read_leaves_the_tokens_as_they_are(hub):
    log = hub.folder / "hub.log"
    with grpc.insecure_channel(hub.address) as channel:
        mine = watch(channel, WATCH, "me")
        admit(hub, "[[token]\n")
        until(lambda: "the tokens remain those of before" in log.read_text())
        (hub.folder / "hub.toml").write_text("")
        until(lambda: log.read_text().count("the tokens remain those of before") == 2)
        assert mine.is_active()
        mine.cancel()
