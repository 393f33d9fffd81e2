"""Malformed input of every kind on all four services: truncated at every byte, flipped bits,
excessive lengths, random bytes; requests in one piece and byte by byte.

The expected behaviour comes from models of the protocols, written from their description: answer
valid requests, close the connection, log a line, and serve the next client. At the end the device
must work at the same cost as at the start.
"""

import select
import struct

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kairos.contracts import management
from tests.support.connection import Closed, Connection, assert_closed
from tests.support.kernels import run_empty
from tests.support.raw_management import Management
from tests.support.raw_moninj import Client
from tests.support.raw_session import SYNC, Session
from tests.support.states import STATES, absent, running, waiting
from tests.support.waiting import patiently, until

SETTINGS = settings(
    deadline=None,
    max_examples=60,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much],
)


def string(data):
    return struct.pack("<I", len(data)) + data


EXCEPTION = SYNC + b"\x08" + struct.pack("<IIqqqIiiI", 40, 41, 1, -2, 3, 42, 7, -1, 43)
SESSION = [
    SYNC + b"\x03",
    SYNC + b"\x05" + string(b"\x7fELF, not more"),
    SYNC + b"\x06",
    SYNC + b"\x07" + string(b"i") + b"\3\0\0\0",
    EXCEPTION,
    SYNC + b"\x09" + struct.pack("<IB", 1, 2) + string(b"\x7fELF"),
]
MANAGEMENT = [
    b"\x01",
    b"\x02",
    b"\x08",
    b"\x09" + string(b"image and no checksum"),
    b"\x0c" + string(b"key"),
    b"\x0d" + string(b"key") + string(b"value"),
    b"\x0e" + string(b"key"),
    b"\x0f",
    b"\x07",
]
MONITOR = [
    struct.pack("<BBIB", 0, 1, 4, 0),
    struct.pack("<BIBB", 1, 4, 1, 1),
    struct.pack("<BIB", 2, 4, 1),
    struct.pack("<BBIB", 3, 1, 4, 1),
]


@pytest.fixture(scope="module")
def device(device_with_card):
    return device_with_card


@pytest.fixture(scope="module", autouse=True)
def nothing_is_lost(device):
    """After everything else, the device does the same work at the same cost."""

    def cost():
        costs = []
        for _ in range(12):
            before = sum(device.control("status")["instructions"])
            with Session(device) as session:
                run_empty(session)
            costs.append(sum(device.control("status")["instructions"]) - before)
        return min(costs)

    before = cost()
    yield
    # The device cleans up disconnected clients one after the other, in its own time.
    last = []

    def as_before():
        last.append(cost())
        return last[-1] < 1.1 * before

    until(as_before, lambda: f"a session costs {last[-3:]} instructions, and {before} before")


def damaged(vectors):
    """Strategy for sequences of requests, intact or damaged."""
    whole = st.sampled_from(vectors)

    @st.composite
    def flipped(draw):
        request = bytearray(draw(whole))
        for _ in range(draw(st.integers(1, 3))):
            request[draw(st.integers(0, len(request) - 1))] ^= 1 << draw(st.integers(0, 7))
        return bytes(request)

    @st.composite
    def cut(draw):
        request = draw(whole)
        return request[: draw(st.integers(0, len(request)))]

    @st.composite
    def oversized(draw):
        """Replaces four bytes at any position by a large number."""
        request = draw(whole)
        at = draw(st.integers(0, len(request)))
        number = draw(st.sampled_from([513, 1 << 20, (1 << 31) - 1, 1 << 31, (1 << 32) - 1]))
        return request[:at] + struct.pack("<I", number) + request[at + 4 :]

    pieces = st.one_of(whole, flipped(), cut(), oversized(), st.binary(max_size=40))
    return st.lists(pieces, min_size=1, max_size=5).map(b"".join)


class Log:
    """The log as a stream (pulled), in which each line occurs once."""

    def __init__(self, device):
        self.device, self.client = device, None
        self.restart()

    def restart(self):
        """Reconnects, as only the newest puller receives lines."""
        self.close()
        self.client = patiently(lambda: Management(self.device))
        self.client.write(b"\x07")

    def close(self):
        if self.client:
            self.client.close()

    def new(self, wait=0.0):
        """Returns the text since the last call, waiting at most `wait` seconds for the first of it."""
        text = b""
        while select.select([self.client.socket], [], [], 0 if text else wait)[0]:
            text += self.client.bytes()
        return text.decode()

    def until(self, *texts):
        """Waits until one of the texts has been logged."""
        log = ""

        def found():
            nonlocal log
            log += self.new(0.1)
            return any(text in log for text in texts)

        until(found, lambda: (texts, log))
        return log


@pytest.fixture(scope="module")
def log(device):
    log = Log(device)
    yield log
    log.close()


# Kernel sessions


def model(stream):
    """Returns the answers of a session without a kernel, and how it ends."""
    answers = []
    while True:
        start = stream.find(SYNC)
        if start < 0:
            return answers, "middle" if stream.endswith(b"\x5a") else "closed"
        kind, stream = stream[start + 4 : start + 5], stream[start + 5 :]
        fixed = {b"\x03": 0, b"\x05": 4, b"\x06": 0, b"\x08": 48, b"\x09": 9}.get(kind)
        if kind == b"":
            return answers, "middle"
        if kind == b"\x07":
            return answers, "unsolicited"
        if fixed is None:
            return answers, f"unknown type {kind[0]}"
        if len(stream) < fixed:
            return answers, "middle"
        length = struct.unpack("<I", stream[fixed - 4 : fixed])[0] if kind in b"\x05\x09" else 0
        stream = stream[fixed:]
        if length >= 1 << 31:
            return answers, f"length {length:#x}"
        if len(stream) < length:
            return answers, "middle"
        stream = stream[length:]
        if kind == b"\x08":
            return answers, "unsolicited"
        answers.append({b"\x03": 2, b"\x05": 6, b"\x06": 8, b"\x09": 6}[kind])


ENDS = {"closed": "closed by the client", "middle": "malformed input, it ends in the middle of a request"}


def messages(session):
    """Returns the types of all messages until the end; each must be complete."""
    kinds = []
    while True:
        try:
            session.peek(1)
        except Closed:
            return kinds
        kind = session.message(2, 5, 6, 7, 8, 9, 10)
        kinds.append(kind)
        if kind == 2:
            assert session.read(4) == b"ARZQ"
        elif kind == 6:
            assert session.string()
        elif kind == 7:
            assert session.unpack("B") == 0
        elif kind == 9:
            session.exception()
        elif kind == 10:
            session.request()


def try_session(device, log, stream, slowly=False):
    answers, end = model(stream)
    with patiently(lambda: Session(device)) as session:
        session.write_all(stream, slowly)
        assert messages(session) == answers, end
    log.until(ENDS.get(end, end))
    with patiently(lambda: Session(device)) as after:
        after.send(3)
        assert after.read(9) == b"ZZZZ\x02ARZQ"
    log.until("session ended: closed by the client")


@SETTINGS
@given(stream=damaged(SESSION), slowly=st.booleans())
def test_malformed_session_input_closes_the_connection_only(device, log, stream, slowly):
    try_session(device, log, stream, slowly)


def test_session_truncated_at_every_byte_leaves_service_usable(device, log):
    for request in SESSION:
        for length in range(len(request)):
            try_session(device, log, request[:length])


@settings(SETTINGS, max_examples=40)
@given(stream=damaged(SESSION[:2] + SESSION[3:]), state=st.sampled_from([state for state in STATES if state != absent]))
def test_malformed_input_in_every_kernel_state_ends_session(device, log, stream, state):
    """In every state of the kernel, the session ends with a log line, and only complete messages were sent."""
    with patiently(lambda: Session(device)) as session:
        state(session)
        log.new()
        session.write_all(stream)
        kinds = messages(session)
    assert state is not running or not {7, 9} & set(kinds)
    assert state is not waiting or 5 not in kinds
    log.until("session ended: ")
    with patiently(lambda: Session(device)) as after:
        run_empty(after)


# Management


OWN_REQUESTS = {request for request in management.Request if request >= 128}
"""Requests beyond those of the model."""


def management_model(stream):
    """Returns the reply types (None: any bytes follow) and how the connection ends; None for a restart."""
    replies = []

    def take(count):
        nonlocal stream
        if len(stream) < count:
            raise EOFError
        taken, stream = stream[:count], stream[count:]
        return taken

    def length():
        return struct.unpack("<I", take(4))[0]

    while stream:
        kind = take(1)[0]
        try:
            if kind in (1, 2, 15):
                replies.append({1: 2, 2: 1, 15: 1}[kind])
            elif kind == 5 or kind in OWN_REQUESTS:
                return None
            elif kind == 7:
                return replies + [None], ""
            elif kind == 9:
                size = length()
                image = take(size if size < 1 << 31 else 0)
                replies.append(6)
                if len(image) < 4:
                    return replies, "has no checksum"
            elif kind in (12, 13, 14):
                size = length()
                if not 0 < size <= 128:
                    return replies + [6], f"configuration key of {size} bytes"
                key = take(size)
                if not key.isascii():
                    return replies + [6], "configuration key that is not ASCII"
                if kind == 13:
                    size = length()
                    take(size if size < 1 << 31 else 0)
                replies.append((6, 7) if kind == 12 else (1, 6))
            elif kind != 8:
                return replies, f"request of unknown type {kind}"
        except EOFError:
            return replies, "middle"
    return replies, ""


def try_management(device, log, stream, slowly=False):
    replies, end = management_model(stream)
    with patiently(lambda: Management(device)) as client:
        client.write_all(stream, slowly)
        try:
            for reply in replies:
                if reply is None:
                    break
                kind = client.read(1)[0]
                assert kind == reply or kind in (reply if isinstance(reply, tuple) else ()), (kind, reply)
                if kind in (2, 7):
                    client.bytes()
            if None not in replies:
                client.read(1)
                raise AssertionError("more than the replies")
        except Closed:
            assert None not in replies
    if None in replies:
        log.restart()
    if end and b"\x02" not in stream:
        log.until("malformed input, it ends in the middle of a request" if end == "middle" else end)
    with patiently(lambda: Management(device)) as after:
        assert after.config_read(b"nothing") is None


@SETTINGS
@given(stream=damaged(MANAGEMENT), slowly=st.booleans())
def test_malformed_management_input_leaves_service_usable(device, log, stream, slowly):
    assume(management_model(stream) is not None)
    try_management(device, log, stream, slowly)


def test_management_truncated_at_every_byte_leaves_service_usable(device, log):
    for request in MANAGEMENT:
        for length in range(len(request)):
            try_management(device, log, request[:length])


# Monitor


def monitor_model(stream):
    """Returns the override requests that are answered, and how the connection ends."""
    asked = []
    while stream:
        if stream[0] > 3:
            return asked, f"request of unknown type {stream[0]}"
        length = 6 if stream[0] == 2 else 7
        if len(stream) < length:
            return asked, "middle"
        if stream[0] == 2:
            asked.append(stream[1:6])
        stream = stream[length:]
    return asked, ""


def monitor(device):
    client = Client(device)
    # The device answers once a slot is free.
    assert client.get(999, 0) == 0
    return client


def try_monitor(device, log, stream, slowly=False):
    asked, end = monitor_model(stream)
    with patiently(lambda: monitor(device)) as connection:
        connection.write_all(stream, slowly)
        data = connection.read_all()
    answers = []
    while data:
        length = {0: 14, 1: 7}[data[0]]
        assert len(data) >= length
        answers.append(data[1:6])
        data = data[length:]
    # Interleaved with watched values.
    rest = iter(answers)
    assert all(any(answer == one for answer in rest) for one in asked)
    if end:
        log.until("malformed input, it ends in the middle of a request" if end == "middle" else end)
    patiently(lambda: monitor(device)).close()


@SETTINGS
@given(stream=damaged(MONITOR), slowly=st.booleans())
def test_malformed_monitor_input_leaves_service_usable(device, log, stream, slowly):
    try_monitor(device, log, stream, slowly)


def test_monitor_truncated_at_every_byte_leaves_service_usable(device, log):
    for request in MONITOR:
        for length in range(len(request)):
            try_monitor(device, log, request[:length])


# Analyzer, and greetings


@settings(SETTINGS, max_examples=20)
@given(stream=st.binary(max_size=3000), reset=st.booleans())
def test_analyzer_input_of_any_kind_leaves_dump_complete(device, stream, reset):
    """A client receives a complete dump whatever it sends, also after a client that did not wait."""
    if reset:
        with Connection(device, 1382) as connection:
            connection.write(stream)
            connection.reset()

    def dump():
        with Connection(device, 1382) as connection:
            connection.write_all(stream)
            connection.peek(1)
            return connection.read_all()

    data = patiently(dump)
    assert data[:1] == b"e" and len(data) == 16 + int.from_bytes(data[1:5], "little") and len(data) % 32 == 16


@pytest.mark.parametrize(
    "port, greeting", [(1380, b"ARTIQ management\n"), (1381, b"ARTIQ coredev\n"), (1383, b"ARTIQ moninj\n")]
)
def test_greeting_with_a_wrong_byte_closes_the_connection(device, log, port, greeting):
    """A wrong byte at any position closes the connection without an answer."""
    for at in range(len(greeting)):
        wrong = bytearray(greeting)
        wrong[at] ^= 1 << at % 8
        with Connection(device, port, wrong) as connection:
            assert_closed(connection)
        log.until("client refused: its greeting is not")


@pytest.mark.parametrize(
    "port, greeting", [(1380, b"ARTIQ management\n"), (1381, b"ARTIQ coredev\n"), (1383, b"ARTIQ moninj\n")]
)
def test_greeting_truncated_at_every_byte_closes_the_connection(device, log, port, greeting):
    for length in range(1, len(greeting)):
        with Connection(device, port) as connection:
            connection.write_all(greeting[:length])
            assert_closed(connection)
        log.until("client refused: it disconnected before its greeting was complete")
