"""Random requests to every method of the hub and of its laboratory, well-formed and malformed: each is answered, or
refused with a reason, and never with an error of the service itself."""

import math
import os
import signal

import grpc
import pytest
from google.protobuf.message import Message
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import kairos.hub
from kairos.hub.client import GetMessageClass
from tests.support.hub import Hub
from tests.support.laboratory import Laboratory

OURS = ("INTERNAL", "UNKNOWN", "UNAVAILABLE", "DATA_LOSS", "ABORTED")
"""Status of what is not the client's fault."""
FIRST = 0.2
"""Seconds for the first response of a stream, which may have none."""
TEXTS = [
    "lab.py", "Quick", "Patient", "main", "points", "power", "core", "pipeline", "mine", "{}", "[", "1.5", "-", "..",
    '"\\ud800"', "'\\ud800'", '{"\\ud800": 1}', "\x00", "a\nb", "é" * 300, "nan", "1e999", "9" * 400, "x=1", "/",
    "rid>=\\ud800", "class_name=Quick", "[" * 2000, '{"__jsonclass__": ["npscalar", ["<f8", "AA=="]]}', "2026-01-01",
    "%s", "'; drop",
]  # fmt: skip
NUMBERS = {
    "float": [0.0, -1.0, 1e-300, 1e300, math.inf, -math.inf, math.nan, 1e10],
    "int": [0, 1, -1, 2, 7, 1 << 20],
}


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub")
    (folder / "lab").mkdir()
    laboratory = Laboratory(folder / "lab")
    laboratory.start()
    laboratory.ends(laboratory.run_of("Quick"))
    hub = Hub(folder, {"away": "127.0.0.1:9"}, entries="[laboratory]\nfolder = 'lab'\n")
    yield hub
    hub.close()
    # A request may have been one for a run that is repeated without end.
    laboratory.kill()
    for pid in laboratory.pids().values():
        os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def methods(hub):
    """Every method of every service, by its path."""
    with kairos.hub.connect(hub.address) as lab:
        yield {
            f"/{service}/{method.name}": method
            for service in sorted(lab._protocol.get_services())
            for method in lab._pool.FindServiceByName(service).methods
            if not method.client_streaming
        }


def values(field) -> st.SearchStrategy:
    """Return values of a field, of which there is one."""
    match field.type:
        case field.TYPE_STRING:
            return st.sampled_from(TEXTS) | st.text(max_size=20)
        case field.TYPE_BYTES:
            return st.binary(max_size=40)
        case field.TYPE_BOOL:
            return st.booleans()
        case field.TYPE_ENUM:
            return st.sampled_from([value.number for value in field.enum_type.values]) | st.integers(0, 99)
        case field.TYPE_DOUBLE:
            return st.sampled_from(NUMBERS["float"]) | st.floats()
        case field.TYPE_FLOAT:
            return st.floats(width=32)
    bits = 32 if field.cpp_type in (field.CPPTYPE_INT32, field.CPPTYPE_UINT32) else 64
    is_signed = field.cpp_type in (field.CPPTYPE_INT32, field.CPPTYPE_INT64)
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    usual = [number for number in NUMBERS["int"] if least <= number <= most]
    return st.sampled_from([*usual, least, most]) | st.integers(least, most)


def fill(draw, message: Message, depth=0):
    """Set some fields of a message."""
    for field in message.DESCRIPTOR.fields:
        if not draw(st.integers(0, 3)):
            continue
        own = getattr(message, field.name)
        is_message = field.type == field.TYPE_MESSAGE
        if is_message and field.message_type.GetOptions().map_entry:
            key, value = field.message_type.fields
            for _ in range(draw(st.integers(0, 2))):
                name = draw(values(key))
                if value.type == value.TYPE_MESSAGE:
                    fill(draw, own[name], depth + 1)
                else:
                    own[name] = draw(values(value))
        elif is_message and depth < 3:
            parts = [own.add() for _ in range(draw(st.integers(0, 2)))] if field.is_repeated else [own]
            for part in parts:
                part.SetInParent()
                fill(draw, part, depth + 1)
        elif not is_message and field.is_repeated:
            own.extend(draw(st.lists(values(field), max_size=3)))
        elif not is_message:
            setattr(message, field.name, draw(values(field)))


@st.composite
def requests(draw, methods) -> tuple[str, bytes]:
    """Return a path and an encoded request."""
    path = draw(st.sampled_from(sorted(methods)))
    if not draw(st.integers(0, 5)):
        return path, draw(st.binary(max_size=60))
    message = GetMessageClass(methods[path].input_type)()
    fill(draw, message)
    return path, message.SerializeToString()


def answer(channel, path, method, request: bytes) -> tuple[str, str]:
    """Return status and text of a call, of a stream of its beginning."""
    kind = channel.unary_stream if method.server_streaming else channel.unary_unary
    made = kind(path)
    try:
        if not method.server_streaming:
            made(request, timeout=60)
            return "OK", ""
        stream = made(request, timeout=FIRST)
        next(stream, None)
        stream.cancel()
        return "OK", ""
    except grpc.RpcError as error:
        return error.code().name, error.details()


def check(hub, methods, examples):
    with grpc.insecure_channel(hub.address) as channel:

        @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None)
        @given(requests(methods))
        @example(("/kairos.lab.v1.Datasets/Set", b"\n\x01a\x12\x08'\\ud800'"))
        @example(("/kairos.lab.v1.Queue/Submit", b"\xff"))
        @example(("/kairos.hub.v1.Registers/Read", b"\xff"))
        def is_answered(made):
            path, request = made
            code, text = answer(channel, path, methods[path], request)
            # The only device does not answer, which is none of ours.
            assert code not in OURS or "away" in text, (path, request, code, text)
            assert len(text) < 2000 and "\n" not in text, (path, request, text)

        is_answered()
        status = channel.unary_unary("/kairos.lab.v1.Laboratory/Status")
        assert status(b"", timeout=60)
        follow = channel.unary_stream("/kairos.lab.v1.Queue/Follow")(b"", timeout=60)
        assert next(follow) is not None


def test_random_request_is_answered_or_refused_with_a_reason(hub, methods):
    check(hub, methods, 60)


@pytest.mark.long
def test_thousands_of_random_requests_are_answered_or_refused_with_a_reason(hub, methods):
    check(hub, methods, 5000)
