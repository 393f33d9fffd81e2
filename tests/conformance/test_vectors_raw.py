"""Calls given byte for byte in the protocol description, rare kinds of arguments, and log lines."""

import re

from tests.support.kernels import kernel, marks
from tests.support.raw_management import Management
from tests.support.raw_session import Object, Session

LOG_LINE = re.compile(r"\[ *\d+\.\d{6}s\] +(TRACE|DEBUG|INFO|WARN|ERROR)\([^)]+\): .+")


def test_calls_encode_to_reference_bytes(device):
    with Session(device) as session:
        assert session.load(kernel("vectors")) is None
        session.run()
        # Wire protocols, section 1.6: the example.
        call = bytes.fromhex("5a5a5a5a 0a 00 01000000  4f 03000000  66 000000000000f83f  00  01000000 69")
        assert session.read(len(call)) == call
        session.write(bytes.fromhex("5a5a5a5a 07 01000000 69 03000000"))
        session.message(10)
        assert marks([session.request()]) == [3]
        # A list of two strings.
        strings = "5a5a5a5a 0a 01 02000000  6c 02000000 73  73 01000000 61 73 02000000 62 63  00  01000000 6e"
        assert session.read(len(bytes.fromhex(strings))) == bytes.fromhex(strings)
        requests, exception = session.until_end()
    assert exception is None
    assert [(request.service, request.arguments, request.tag) for request in requests] == [
        (3, [([Object(4), Object(5)], Object(3))], b"n"),
        (4, [-1, {"to": 7}], b"n"),
        (5, [(True, *[False] * 56, True)], b"n"),
    ]


def test_log_lines_of_a_kernel_are_complete(device):
    with Management(device) as management:
        assert management.reply(b"\x02") == 1
        with Session(device) as session:
            assert session.load(kernel("lines")) is None
            session.run()
            assert session.until_end() == ([], None)
        log = management.log()
    lines = log.splitlines()
    assert all(LOG_LINE.fullmatch(line) for line in lines), log
    texts = [line.split("(kernel): ", 1)[1] for line in lines if "INFO(kernel): " in line]
    assert texts[-8:] == ["not \ufffd text", "one", "two", "three", "four", "five", "six", "without an end"]
    # An overlong line is split into several, between characters.
    assert "".join(texts[:-8]) == "odd" + "\xe9" * 3000
    assert len(texts) - 8 == -(-6003 // 1024)
