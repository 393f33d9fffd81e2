"""A hub as the door of a laboratory: its methods, who called, restarts, and pages of other sites."""

import contextlib
import http.client
import json
import math
import re
from pathlib import Path

import grpc
import numpy
import pytest

import kairos.hub
from kairos.lab.rpc.protocol import message, services
from tests.support.hub import Hub, token_entry
from tests.support.laboratory import Laboratory
from tests.support.waiting import until
from tests.support.websocket import Live

ENTRY = "[laboratory]\nfolder = 'lab'\n"
ROLES = ("view", "operate")
VIEWS = ("Status", "History", "Find", "Show", "Fit", "Thumbnail", "Waveform", "Diff")
"""Methods that change nothing, whatever their service."""
SERVICES = {service.name: service for service in services()}


@pytest.fixture
def lab(tmp_path):
    """A laboratory without devices."""
    folder = tmp_path / "lab"
    folder.mkdir()
    laboratory = Laboratory(folder)
    laboratory.start()
    yield laboratory
    laboratory.close()


@pytest.fixture
def hub(tmp_path, lab):
    """Its hub, with tokens for two roles."""
    hub = Hub(tmp_path, {}, entries=ENTRY + "".join(token_entry(role, role) for role in ROLES))
    yield hub
    hub.close()


def call(hub, name, method, role="operate", **fields):
    """Call a method of the laboratory through the hub; returns the response, of a stream the first."""
    service = SERVICES[name]
    described = service.methods_by_name[method]
    with grpc.insecure_channel(hub.address) as channel:
        kind = channel.unary_stream if described.server_streaming else channel.unary_unary
        response = type(message(described.output_type.name))
        given = message(described.input_type.name, **fields)
        metadata = [("authorization", f"Bearer {role}")]
        path = f"/{service.full_name}/{method}"
        made = kind(path, type(given).SerializeToString, response.FromString)(given, metadata=metadata, timeout=60)
        if not described.server_streaming:
            return made
        first = next(made)
        made.cancel()
        return first


def test_calls_reach_the_laboratory_with_their_person(hub, lab):
    rid = call(hub, "Queue", "Submit", file="lab.py", class_name="Quick", arguments={"n": "4"}).rid
    assert lab.ends(rid)["person"] == "one who may operate"
    call(hub, "Datasets", "Set", key="power", value="2.5", persist=True)
    (write,) = call(hub, "Parameters", "History", "view", key="power").writes
    assert (write.value, write.person) == ("2.5", "one who may operate")
    log = (hub.folder / "hub.log").read_text()
    assert "/kairos.lab.v1.Queue/Submit" in log and "one who may operate" in log


def test_methods_that_change_something_refuse_role_view(hub, lab):
    for name, service in SERVICES.items():
        for method in service.methods:
            if method.server_streaming or method.name in VIEWS:
                continue
            if f"{name}.{method.name}" in ("Devices.Channels", "Layouts.Get", "Logbook.Picture", "Logbook.Export"):
                continue
            with pytest.raises(grpc.RpcError) as failed:
                call(hub, name, method.name, "view")
            assert failed.value.code().name == "PERMISSION_DENIED", f"{name}.{method.name}"
    assert lab.queue() == [] and lab.datasets() == {}


def test_impossible_request_is_refused_with_reason(hub, lab):
    for name, method, fields, code, text in [
        ("Queue", "Terminate", {"rid": 9}, "INVALID_ARGUMENT", "there is no run 9 in the queue"),
        ("Queue", "Submit", {"file": "lab.py", "arguments": {"n": "{"}}, "INVALID_ARGUMENT", "argument n is no JSON"),
        ("Datasets", "Delete", {"key": "none"}, "NOT_FOUND", "there is no dataset 'none'"),
        ("Datasets", "Set", {"key": "a", "value": "("}, "INVALID_ARGUMENT", ""),
        ("Runs", "Show", {"rid": 9}, "INVALID_ARGUMENT", "there is no finished run 9"),
        ("Fits", "Follow", {}, "INVALID_ARGUMENT", "a fit needs the name of a dataset"),
    ]:
        with pytest.raises(grpc.RpcError) as failed:
            call(hub, name, method, **fields)
        assert failed.value.code().name == code and text in failed.value.details(), failed.value.details()
    assert call(hub, "Laboratory", "Status").name == "lab"


def test_values_arrive_as_typed_bytes(hub, lab):
    lab.set_dataset("points", [1.5, 2.5])
    lab.set_dataset("long", list(range(1000)))
    change = call(hub, "Datasets", "Follow", keys=["points"]).changes[0]
    assert (change.set.value.kind, change.set.value.dtype, list(change.set.shape)) == ("floats", "<f8", [2])
    found = {each.key: each.set for each in call(hub, "Datasets", "Follow").changes}
    assert found["points"].HasField("value") and not found["long"].HasField("value")
    assert found["long"].text == "list of 1000" and list(found["long"].shape) == [1000]
    # What no message can contain.
    lab.set_dataset("half \ud800", "\udcff", metadata={"unit": "\ud800", "precision": math.inf, "scale": 2**2000})
    found = {each.key: each.set for each in call(hub, "Datasets", "Follow").changes}
    odd = found["half \\ud800"]
    assert (odd.text, odd.unit, odd.precision, odd.scale) == ("\\udcff", "\\ud800", -1, 0.0)


def test_lists_of_runs_have_long_arguments_in_part(hub, lab):
    rid = lab.run_of("Patient", name="n" * 100_000)
    lab.terminate(rid, force=True)
    lab.ends(rid)
    (found,) = call(hub, "Runs", "Find", "view", words=[f"rid={rid}"]).runs
    assert found.arguments["name"] == '"' + "n" * 199 + "…" and found.class_name == "Patient"
    whole = call(hub, "Runs", "Show", "view", rid=rid).run
    assert whole.arguments["name"] == '"' + "n" * 100_000 + '"'
    assert call(hub, "Runs", "Find", "view", words=["nnnn"]).runs == [found]


def test_clients_that_never_read_stop_no_other_client(hub, lab):
    """Each has more to read than fits anywhere on the way to it."""
    lab.set_dataset("wide", numpy.zeros(1 << 20))
    path, metadata = "/kairos.lab.v1.Datasets/Follow", [("authorization", "Bearer view")]
    request = message("FollowDatasetsRequest", keys=["wide"]).SerializeToString()
    limits = [("grpc.max_receive_message_length", -1)]
    with contextlib.ExitStack() as left:
        # Some share a connection to the hub, which then is their own affair, but not the laboratory's.
        channels = [left.enter_context(grpc.insecure_channel(hub.address, options=limits)) for _ in range(8)]
        streams = [channel.unary_stream(path)(request, metadata=metadata) for channel in channels for _ in range(5)]
        for stream in streams:
            stream.initial_metadata()  # the laboratory has begun to answer
        for _ in range(10):
            assert call(hub, "Laboratory", "Status").name == "lab"
        assert call(hub, "Datasets", "Follow", "view").changes[0].set.text == "float64[1048576]"
        held = int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{hub.process.pid}/status").read_text())[1])
        assert held < 150_000, f"{held} KiB of {len(streams) * 8192}"
        assert len(next(streams[0])) > 8 << 20, "whoever reads again gets everything"


def test_laboratory_may_be_killed_and_started_again(hub, lab):
    rid = call(hub, "Queue", "Submit", file="lab.py", class_name="Patient").rid
    until(lambda: lab.status_of(rid) == "running")
    lab.set_dataset("first", 1)
    before = call(hub, "Datasets", "Follow", "view", keys=["first"])
    lab.set_dataset("first", 2)
    after = call(hub, "Datasets", "Follow", "view", keys=["first"])
    assert after.number > before.number > 0 and after.start == before.start, (
        "a viewer sees that it has missed something"
    )
    lab.kill()
    with pytest.raises(grpc.RpcError) as failed:
        call(hub, "Laboratory", "Status")
    assert failed.value.code().name == "UNAVAILABLE" and "kairos lab" in failed.value.details()
    lab.start()
    (run,) = call(hub, "Queue", "Follow", "view").runs
    assert run.rid == rid
    assert call(hub, "Datasets", "Follow", "view").start != before.start
    lab.release_run("patient")
    assert lab.ends(rid)["status"] == "completed"


def ask(hub, method, path, body=None, **headers):
    """Return status, headers and body of a request."""
    connection = http.client.HTTPConnection(*hub.address.split(":"), timeout=60)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, named)
    response = connection.getresponse()
    found = response.status, response.headers, response.read()
    connection.close()
    return found


UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec_WebSocket_Version": "13",
    "Sec_WebSocket_Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}


def test_token_becomes_a_cookie_that_scripts_cannot_read(hub):
    assert json.loads(ask(hub, "GET", "/session")[2])["role"] is None
    assert ask(hub, "POST", "/login", "none")[0] == 401
    status, headers, _ = ask(hub, "POST", "/login", "view\n", Origin=f"http://{hub.address}")
    assert status == 200
    cookie, *rest = headers["Set-Cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(rest)
    said = json.loads(ask(hub, "GET", "/session", Cookie=cookie)[2])
    assert (said["role"], said["name"], said["laboratory"]) == ("view", "one who may view", True)
    assert ask(hub, "GET", "/live", Cookie=cookie, **UPGRADE)[0] == 101
    assert ask(hub, "GET", "/live", **UPGRADE)[0] == 401
    assert "kairos-token=;" in ask(hub, "POST", "/logout")[1]["Set-Cookie"]


def test_logins_with_unknown_tokens_fill_no_log(hub):
    for _ in range(30):
        assert ask(hub, "POST", "/login", "none")[0] == 401
    logged = (hub.folder / "hub.log").read_text().count("a login with an unknown token")
    assert 1 <= logged <= 10


def test_file_of_run_is_sent_with_role_view(hub, lab):
    rid = lab.run_of("Quick")
    lab.ends(rid)
    path, cookie = f"/runs/{rid}/file", {"Cookie": "kairos-token=view"}
    status, headers, body = ask(hub, "GET", path, **cookie)
    assert status == 200 and body == lab.file_of(rid).read_bytes()
    assert headers["Content-Disposition"] == f"attachment; filename*=UTF-8''{lab.file_of(rid).name}"
    assert ask(hub, "GET", path)[0] == ask(hub, "GET", path, Cookie="kairos-token=wrong")[0] == 401
    assert ask(hub, "GET", path, Sec_Fetch_Site="cross-site", **cookie)[0] == 403
    assert ask(hub, "GET", path, Origin="http://elsewhere", **cookie)[0] == 403
    assert ask(hub, "GET", "/runs/9/file", **cookie)[::2] == (404, b"there is no finished run 9\n")
    thumbnail = call(hub, "Runs", "Thumbnail", "view", rid=rid)
    assert (thumbnail.y, list(thumbnail.values)) == ("points", [0, 1, 2])
    with pytest.raises(grpc.RpcError, match="has no waveform"):
        call(hub, "Runs", "Waveform", "view", rid=rid)


def test_error_of_a_run_is_shown_with_its_source(hub, lab):
    rid = lab.run_of("Broken")
    lab.ends(rid)
    lab.folder.joinpath("repository", "lab.py").write_text("# changed since\n")
    (found,) = call(hub, "Runs", "Show", "view", rid=rid).excerpts
    assert (found.file, found.function, found.origin) == ("lab.py", "run", "run")
    assert found.lines[found.line - found.first] == '        raise ValueError("of the user")'


def test_page_of_other_site_is_refused(hub):
    call_body = b"\0\0\0\0\0"
    kinds = {"Content_Type": "application/grpc-web+proto", "Cookie": "kairos-token=view"}
    own = f"http://{hub.address}"
    path = "/kairos.lab.v1.Laboratory/Status"
    status, headers, body = ask(hub, "POST", path, call_body, Origin=own, **kinds)
    assert status == 200 and b"grpc-status:0" in body.replace(b" ", b""), (status, headers, body)
    for origin in ("http://elsewhere", "null", f"{own}.elsewhere", own.replace("127.0.0.1", "localhost")):
        status, headers, body = ask(hub, "POST", path, call_body, Origin=origin, **kinds)
        assert "7" in (headers.get("grpc-status"), body[-1:].decode(errors="replace")), (origin, headers, body)
        assert ask(hub, "GET", "/live", Origin=origin, Cookie="kairos-token=view", **UPGRADE)[0] == 403
        assert ask(hub, "POST", "/login", "view", Origin=origin)[0] == 403


def test_call_that_the_laboratory_cuts_at_its_deadline_has_exceeded_it(hub):
    kinds = {"Content_Type": "application/grpc-web+proto", "Cookie": "kairos-token=view", "Grpc_Timeout": "200m"}
    body = message("FollowLogRequest", level=99).SerializeToString()
    path = "/kairos.lab.v1.Log/Follow"
    status, headers, said = ask(hub, "POST", path, b"\0" + len(body).to_bytes(4, "big") + body, **kinds)
    assert status == 200 and (headers.get("grpc-status") == "4" or b"grpc-status:4" in said), (headers, said)


def test_stream_of_a_page_sends_no_more_than_its_credit(hub, lab):
    follow = "/kairos.lab.v1.Datasets/Follow"
    with kairos.hub.connect(hub.address, token="view") as client, Live(hub.address, "view", client._pool) as live:
        for stream in (1, 2):
            live.call(stream, follow, credit=stream)
            assert live.receive().stream == stream
        lab.set_dataset("later", 1)
        said = live.receive()
        assert said.stream == 2 and b"later" in said.message
        live.call(3, "/kairos.lab.v1.Queue/Follow")
        assert live.receive().stream == 3
        live.credit(1, 1)
        said = live.receive()
        assert said.stream == 1 and b"later" in said.message


def test_files_of_the_page_forbid_foreign_content(hub):
    status, headers, body = ask(hub, "GET", "/", Accept_Encoding="gzip")
    assert status == 200 and "default-src 'self'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"] and headers["X-Content-Type-Options"] == "nosniff"
    for path in ("/none", "/assets/none.js", "/assets/..%2f..%2fhub.toml", "/..%2fhub.toml"):
        assert ask(hub, "GET", path, Accept_Encoding="gzip")[0] == 404, path
