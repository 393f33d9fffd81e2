"""Every request in every state of a kernel session (wire protocols, section 1.11), and interleaved messages."""

import struct

import pytest

from tests.support.connection import Closed, assert_closed
from tests.support.kernels import kernel, marks, run_empty
from tests.support.raw_management import Management
from tests.support.raw_session import Session
from tests.support.states import STATES, absent, loaded, running, waiting
from tests.support.waiting import settled

LOAD_COMPLETED, LOAD_FAILED, FINISHED, STARTUP_FAILED = 5, 6, 7, 8


@pytest.fixture
def session(device):
    with Session(device) as session:
        yield session
    with Session(device) as after:
        run_empty(after)


def answer(session):
    """Ends the kernel of `waiting`."""
    session.raise_exception(name=40, message=41)
    requests, exception = session.until_end()
    assert marks(requests) == [40] and exception is not None


def carry_on(session, state):
    """Verifies that the state of the kernel is unchanged."""
    if state is waiting:
        answer(session)
    if state is loaded:
        session.run()
        assert session.until_end() == ([], None)
    if state in (absent, loaded, waiting):
        run_empty(session)


@pytest.mark.parametrize("state", STATES)
def test_system_info_is_answered_in_every_state(session, state):
    state(session)
    for _ in range(2):
        session.send(3)
        assert session.read(9) == b"ZZZZ\x02ARZQ"
    carry_on(session, state)


@pytest.mark.parametrize("state", STATES)
def test_load_is_accepted_or_refused_by_state(session, state):
    state(session)
    reason = session.load(kernel("rtio"))
    if state in (running, waiting):
        assert reason == "a kernel is running"
        carry_on(session, state)
    else:
        # A loaded kernel that was not run is replaced.
        assert reason is None
        session.run()
        assert marks(session.until_end()[0]) == [1]


@pytest.mark.parametrize("state", STATES)
def test_run_without_loaded_kernel_is_refused(session, state):
    state(session)
    if state is not loaded:
        session.run()
        assert session.message(STARTUP_FAILED) == STARTUP_FAILED
    carry_on(session, state)


@pytest.mark.parametrize("state", STATES)
def test_subkernel_is_refused_in_every_state(session, state):
    """The device has no satellites."""
    state(session)
    session.send(9, struct.pack("<IBI", 1, 2, 3) + b"elf")
    session.message(LOAD_FAILED)
    assert session.string() == "No DRTIO on this system, subkernels are not supported"
    carry_on(session, state)


@pytest.mark.parametrize("reply", [b"\x01\0\0\0i\x03\0\0\0", None])
@pytest.mark.parametrize("state", [absent, loaded, running])
def test_unexpected_reply_closes_the_session(device, session, state, reply):
    state(session)
    session.send(7, reply) if reply else session.send(8, bytes(48))
    assert_closed(session)
    with Management(device) as management:
        assert "malformed input, unsolicited RPC reply" in management.log()


@pytest.mark.parametrize("kind", [0, 1, 2, 4, 10, 0x5A, 0xFF])
@pytest.mark.parametrize("state", STATES)
def test_unknown_request_closes_the_session_in_every_state(device, session, state, kind):
    state(session)
    session.send(kind)
    assert_closed(session)
    with Management(device) as management:
        assert f"malformed input, request of unknown type {kind}" in management.log()


@pytest.mark.parametrize("tag", [b"", b"n", b"I", b"ii", b"li", b"i" * 512])
def test_reply_with_tag_of_another_call_closes_the_session(device, session, tag):
    waiting(session)
    session.reply(tag, bytes(8))
    assert_closed(session)
    with Management(device) as management:
        assert "the reply to an RPC has another return tag than the call" in management.log()


@pytest.mark.parametrize("length", [513, (1 << 31) - 1, 1 << 31, (1 << 32) - 1])
def test_too_long_tag_closes_the_session(device, session, length):
    waiting(session)
    session.send(7, struct.pack("<I", length))
    assert_closed(session)
    with Management(device) as management:
        assert "the reply to an RPC has another return tag than the call" in management.log()


def test_too_long_reply_closes_the_session(device, session):
    waiting(session)
    session.reply(b"i", bytes(4) + b"more")
    assert_closed(session)
    with Management(device) as management:
        assert "RPC reply is 4 bytes too long" in management.log()


@pytest.mark.parametrize("length", [1 << 31, (1 << 32) - 1])
@pytest.mark.parametrize("kind", [5, 9])
def test_impossible_length_closes_the_session(device, session, kind, length):
    session.send(kind, (b"" if kind == 5 else bytes(5)) + struct.pack("<I", length))
    assert_closed(session)
    with Management(device) as management:
        assert f"length {length:#x} in a request" in management.log()


def test_too_long_library_is_refused_with_reason(session):
    """It is received and rejected with a reason; the connection stays open."""
    library = kernel("empty") + bytes(8 * 1024 * 1024)
    assert session.load(library) == f"the library has {len(library)} bytes, the limit is {8 * 1024 * 1024}"
    run_empty(session)


def test_queued_requests_are_answered_in_order(session):
    """Several requests arrive in one piece."""
    library = kernel("empty")
    load = b"ZZZZ\x05" + struct.pack("<I", len(library)) + library
    bad = b"ZZZZ\x05\x03\0\0\0bad"
    session.write(b"ZZZZ\x03" + bad + b"ZZZZ\x06" + load + b"ZZZZ\x06" + b"ZZZZ\x03")
    assert session.read(9) == b"ZZZZ\x02ARZQ"
    session.message(LOAD_FAILED)
    assert "parse error" in session.string()
    session.message(STARTUP_FAILED)
    session.message(LOAD_COMPLETED)
    # The kernel may end before or after the last request is answered.
    assert session.read(15) in (b"ZZZZ\x02ARZQ" + b"ZZZZ\x07\0", b"ZZZZ\x07\0" + b"ZZZZ\x02ARZQ")


def test_reason_is_sent_before_the_connection_closes(device):
    """Data sent before the connection is closed because of an error arrives."""
    with Session(device) as session:
        session.write(b"ZZZZ\x05\x03\0\0\0bad" + b"ZZZZ\x04")
        session.message(LOAD_FAILED)
        assert "parse error" in session.string()
        assert_closed(session)


@pytest.mark.parametrize(
    "greeting, why",
    [
        (b"ARTIQ management\n\0", "its greeting is not for this service"),
        (b"ARTIQ coredew\n", "its greeting is not for this service"),
        (b"\0" * 14, "its greeting is not for this service"),
        (b"ARTIQ coredev", "it disconnected before its greeting was complete"),
        (b"A", "it disconnected before its greeting was complete"),
    ],
)
def test_refused_greeting_leaves_first_session_open(device, greeting, why):
    with Management(device) as management, Session(device) as first:
        assert management.reply(b"\x02") == 1
        client = Session(device, greeting=None)
        client.write(greeting)
        if len(greeting) < 14:
            client.socket.shutdown(1)
        with pytest.raises(Closed):
            client.read(1)
        assert f"client refused: {why}" in management.log()
        # It has not superseded the first session.
        run_empty(first)


def test_late_greeting_is_refused(device):
    with Management(device) as management, Session(device) as first:
        assert management.reply(b"\x02") == 1
        client = Session(device, greeting=None)
        client.write(b"ARTIQ co")
        assert_closed(client)
        assert "client refused: it sent no greeting within 3 s" in management.log()
        run_empty(first)


def test_third_client_supersedes_waiting_second(device):
    """The newest session gets the core; the others are closed."""
    with Session(device) as first:
        running(first)
        with Session(device) as second, Session(device) as third:
            run_empty(third)
            assert_closed(first)
            assert_closed(second)


def test_client_that_never_reads_is_superseded(device):
    """A kernel that sends more than the client reads does not block the core."""
    with Session(device) as deaf:
        assert deaf.load(kernel("flood")) is None
        deaf.run()
        # Neither core can make progress.
        settled(device)
        with Session(device) as after:
            run_empty(after)


def test_asynchronous_errors_are_reported_once(device):
    """As bits in the message that ends the kernel, and in the log with the channel's name (section 1.9)."""
    with Management(device) as management, Session(device) as session:
        assert management.reply(b"\x02") == 1
        assert session.load(kernel("collide")) is None
        session.run()
        assert session.message(FINISHED) == FINISHED and session.unpack("B") == 1
        assert management.log().count("RTIO collision involving channel 0x0004:ttl4") == 1
        run_empty(session)
