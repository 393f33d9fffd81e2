"""Devices that send what no device sends: lengths without data, impossible values, exceptions that are
none. Each is one clear error, no memory is filled, and nothing that the device names is executed."""

import json
import struct
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kairos.compiler import EmbeddingMap
from kairos.contracts.management import Reply as ManagementReply
from kairos.contracts.session import Reply
from kairos.errors import ConnectionLost, KairosError
from kairos.network import analyzer
from kairos.network.management import Management, ManagementError
from kairos.network.moninj import MonInj
from kairos.session import Session
from tests.support.hostile_device import (
    CASES,
    GIGABYTES,
    LOADED,
    device,
    message,
    peak_mib,
    raised,
    run,
    text,
)

MEMORY_MIB = 300
"""Maximum resident memory of a host whose device announces gigabytes; also a figure of the benchmark."""


@pytest.mark.parametrize("case", CASES)
def test_impossible_message_is_one_protocol_error(case):
    with device(CASES[case]) as port, pytest.raises(ConnectionLost) as failed:
        run(port)
    said = str(failed.value)
    assert said.startswith("the core device violated the session protocol: ") and "\n" not in said, said


def test_announced_gigabytes_fill_no_memory():
    peaks = {case: peak_mib(case) for case in GIGABYTES}
    assert max(peaks.values()) <= MEMORY_MIB, peaks


def test_message_without_end_fills_no_memory():
    """What the device really sends, in parts that are small: values, keyword arguments, texts of exceptions."""
    many, megabyte = 1 << 23, b"x" * (1 << 20)
    arguments = LOADED + message(Reply.RPC_REQUEST, b"\0" + struct.pack("<I", 7))
    one = struct.pack("<I", 0) + text(megabyte) + bytes(24) + text(megabyte) + bytes(8) + text(megabyte)
    report = message(Reply.KERNEL_EXCEPTION, struct.pack("<I", 2)) + one
    for content, why in (
        (arguments + b"n" * (many + 1), "8388608 values"),
        (arguments + b"l" + struct.pack("<I", many + 1) + b"n" * (many + 1), "8388608 values"),
        (arguments + b"l" + struct.pack("<I", many + 1) + b"I", "8388608 values"),
        (LOADED + report, "in all are sensible"),
    ):
        with device(content) as port, pytest.raises(ConnectionLost, match=why):
            run(port)


def test_name_of_exception_is_not_called():
    """Only exception classes are, whatever the device says."""
    for name in (b"eval", b"exec", b"__import__", b"print", b"SystemExit", b"KeyboardInterrupt", b"nothing"):
        embedding = EmbeddingMap()
        key = embedding.store_str(f"0:{name.decode()}")
        report = message(
            Reply.KERNEL_EXCEPTION,
            struct.pack("<II", 1, key) + text(b"1/0") + bytes(24) + text(b"f") + bytes(8) + text(b"g") + bytes(17),
        )
        compiled = SimpleNamespace(
            library=b"", subkernels=(), embedding=embedding, symbolize=lambda addresses: [], timings={"total": 0.0}
        )
        with device(LOADED + report) as port, pytest.raises(RuntimeError, match=f"{name.decode()}: 1/0"):
            Session("127.0.0.1", port).run_kernel(compiled)


def test_message_of_exception_formats_numbers_only():
    for said, shown in (
        (b"{0:999999999}", "{0:999999999}"),
        (b"{0.__class__}", "{0.__class__}"),
        (b"{0} {{x}} {1:#x}", "0 {x} 0x0"),
        (b"run_{7}.h5", "run_{7}.h5"),
    ):
        with device(raised(said=said)) as port, pytest.raises(Exception) as failed:
            run(port)
        assert failed.value.artiq_core_exception.message == shown


@given(st.sampled_from(list(Reply)), st.binary(max_size=80))
def test_any_message_ends_session_with_clear_error(kind, payload):
    with device(LOADED + message(kind, payload)) as port:
        try:
            run(port)
        except KairosError as error:
            assert "\n" not in str(error)
        except Exception as error:
            # Raised by the "kernel", or for it.
            assert hasattr(error, "artiq_core_exception") or type(error).__name__ == "ClockFailure", repr(error)


JSON = [
    b"[" * 100_000,
    b"{}",
    b'[{"name": 3}]',
    b'[{"destination": true, "upstream": 1}]',
    b"\xff",
    b"",
    json.dumps([{"name": "a", "state": "good", "text": "", "values": {"x": "y"}}]).encode(),
]


@pytest.mark.parametrize("content", JSON)
@pytest.mark.parametrize("request_", ["links", "health"])
def test_impossible_management_reply_is_one_line(content, request_):
    reply = bytes([ManagementReply.LOG_CONTENT]) + struct.pack("<I", len(content)) + content
    with device(b"e" + reply) as port, Management("127.0.0.1", port) as management:
        with pytest.raises(ManagementError, match="violated the management protocol") as failed:
            getattr(management, request_)()
    assert "\n" not in str(failed.value)


@given(st.binary(max_size=60))
def test_any_management_reply_is_clear(content):
    with device(b"e" + content) as port, Management("127.0.0.1", port) as management:
        for request in (management.log, management.links, management.health, management.descriptor):
            try:
                request()
            except KairosError as error:
                assert "\n" not in str(error)


@given(st.binary(min_size=1, max_size=60))
def test_any_monitor_or_analyzer_reply_is_clear(content):
    with device(content) as port:
        for use in (lambda: MonInj("127.0.0.1", port), lambda: analyzer.decode(analyzer.fetch("127.0.0.1", port))):
            try:
                use()
            except KairosError as error:
                assert "\n" not in str(error)


def test_endless_record_of_analyzer_is_refused(monkeypatch):
    monkeypatch.setattr(analyzer, "DUMP_MAX", 1 << 20)
    with device(bytes(2 << 20)) as port, pytest.raises(ConnectionLost, match="more than 1048576 bytes"):
        analyzer.fetch("127.0.0.1", port)
