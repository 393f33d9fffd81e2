"""The kernel service on a bare socket: greeting, load, run, calls, exceptions, bad input, lost connections."""

import math
import random

import pytest

from tests.support.connection import assert_closed
from tests.support.kernels import kernel, marks, run_empty, run_rtio
from tests.support.raw_session import Object, Session, encode
from tests.support.waiting import let_pass, printed, settled


@pytest.fixture
def session(device):
    with Session(device) as session:
        yield session
        # The device must run the next kernel on a new connection, whatever the test did.
    with Session(device) as after:
        run_empty(after)


def test_system_info_request_is_answered_repeatedly(session):
    for _ in range(3):
        session.send(3)
        assert session.read(9) == b"ZZZZ\x02ARZQ"


def test_wrong_greeting_is_closed_without_an_answer(device):
    session = Session(device, greeting=None)
    session.write(b"GET / HTTP/1.1")
    assert_closed(session)


def test_greeting_arriving_in_pieces_is_accepted(device):
    session = Session(device, greeting=None)
    for byte in b"ARTIQ coredev\n":
        session.write(bytes([byte]))
        settled(device)
    assert session.read(1) == b"e"
    run_empty(session)
    session.close()


def test_many_kernels_run_on_one_connection(session):
    for _ in range(20):
        run_empty(session)


def test_requests_split_or_joined_are_executed(session):
    library = kernel("empty")
    sync = b"\x5a" * 4
    requests = sync + b"\x03" + sync + b"\x05" + len(library).to_bytes(4, "little") + library
    session.write(requests)
    assert session.read(9) == b"ZZZZ\x02ARZQ"
    session.message(5)
    session.write_slowly(sync + b"\x06")
    assert session.until_end() == ([], None)


def test_values_of_every_type_round_trip(session):
    assert session.load(kernel("rpc")) is None
    session.run()
    seen = {}
    returned = {}
    while (kind := session.message(7, 10)) == 10:
        request = session.request()
        if request.is_async:
            returned[request.service - 200] = request.arguments[0]
            continue
        seen[request.service] = (request.tag, request.arguments[0])
        data, rest = encode(request.tag, request.arguments[0])
        assert rest == b""
        session.reply(request.tag, data)
    assert kind == 7 and session.unpack("B") == 0
    assert {service: value for service, (_, value) in seen.items()} == returned
    assert [value for _, value in seen.values()] == [
        None,
        True,
        -5,
        0x123456789ABCDEF0,
        1.5,
        "h\xe9llo",
        "h\xe9llo".encode(),
        b"",
        [1, -2, 3],
        [],
        [0.5, -0.25],
        [True, False, True],
        ["a", "", "bcd"],
        [[1, -2, 3], []],
        (7, True, -8, "t"),
        ("array", (1, 3), [1, -2, 3]),
        ("array", (0,), []),
        range(0, 10, 2),
        range(0, 1 << 40, 3),
        [(1, [1, -2, 3]), (2, [])],
        (),
    ]


def test_reply_arriving_in_pieces_is_reassembled(session):
    """A reply arriving in pieces is reassembled; a long one takes many frames between the cores."""
    assert session.load(kernel("rpc")) is None
    session.run()
    texts = {5: "x" * 300_000, 8: list(range(100_000))}
    while session.message(7, 10) == 10:
        request = session.request()
        if request.is_async:
            if request.service - 200 in texts:
                assert request.arguments[0] == texts[request.service - 200]
            continue
        value = texts.get(request.service, request.arguments[0])
        data, _ = encode(request.tag, value)
        message = b"ZZZZ\x07" + len(request.tag).to_bytes(4, "little") + request.tag + data
        if request.service in texts:
            session.write(message)
        else:
            session.write_slowly(message)
    assert session.unpack("B") == 0


def test_asynchronous_calls_arrive_complete_and_in_order(session):
    assert session.load(kernel("flood")) is None
    session.run()
    requests, exception = session.until_end()
    assert exception is None
    assert marks(requests) == list(range(300))
    assert all(len(request.arguments[1]) == 2000 for request in requests)
    assert requests[-1].arguments[1][:301] == [*range(300), 0]


def test_asynchronous_calls_wait_for_a_slow_host(device, session):
    assert session.load(kernel("flood")) is None
    session.run()
    # Neither core can make progress.
    settled(device)
    assert marks(session.until_end()[0]) == list(range(300))


def test_exceptions_run_finally_and_are_reported_with_backtrace(session):
    assert session.load(kernel("exceptions")) is None
    session.run()
    requests, exception = session.until_end()
    assert marks(requests) == [
        1, 101,  # IndexError, caught by name; then `finally`
        2, 102,  # ValueError
        103, 19,  # ZeroDivisionError matches neither name, runs `finally`, is caught by the catch-all
        500, 10, 502,  # nested handlers, then the outer exception re-raised
        16,  # raised by the firmware
        601, 602,  # cleanup during unwinding of an uncaught exception
    ]  # fmt: skip
    first, second = exception.exceptions
    assert (first["id"], second["id"]) == (10, 19)
    assert second["params"] == (19, -1, 1 << 40)
    assert (second["file"], second["line"], second["column"]) == ("test.py", 42, 4)
    assert (second["function"], second["message"]) == ("work", "values {0}")
    assert exception.async_errors == 0
    (_, start, middle), (_, again, end) = exception.extents
    assert (start, middle) == (0, again) and end == len(exception.backtrace)
    for begin, stop in ((start, middle), (again, end)):
        pointers = [frame.stack_pointer for frame in exception.backtrace[begin:stop]]
        assert pointers == sorted(pointers) and pointers
    assert all(0 < frame.address < len(kernel("exceptions")) for frame in exception.backtrace)


def test_exception_raised_by_host_reaches_the_kernel(session):
    assert session.load(kernel("rpc_exception")) is None
    session.run()
    assert session.message(10) == 10
    request = session.request()
    assert (request.is_async, request.service, request.arguments, request.tag) == (False, 7, [3], b"i")
    session.raise_exception(name=40, message=41, params=(1, -2, 1 << 50), file=42, line=7, column=-1, function=43)
    requests, exception = session.until_end()
    assert marks(requests) == [40]
    (raised,) = exception.exceptions
    assert raised == {
        "id": 40, "message": 41, "params": (1, -2, 1 << 50), "file": 42, "line": 7, "column": -1, "function": 43,
    }  # fmt: skip
    assert len(exception.backtrace) >= 1


def test_attributes_of_kernel_are_written_back(session):
    assert session.load(kernel("writeback")) is None
    session.run()
    requests, exception = session.until_end()
    assert exception is None
    assert all(request.service == 0 and request.tag == b"n" for request in requests)
    assert [request.arguments for request in requests] == [
        [Object(3), "count", 11],
        [Object(3), "level", 0.5],
        [Object(3), "name", "one"],
        [Object(4), "count", 20],
        [Object(4), "level", -2.0],
        [Object(4), "name", "two"],
    ]


def test_mathematical_functions_return_exact_results(session):
    assert session.load(kernel("math")) is None
    session.run()
    requests, exception = session.until_end()
    assert exception is None
    large, small = -1234567890123, -17
    quotient = abs(large) // abs(small)
    expected = [
        math.sin(0.5), math.sin(0.5), math.cos(0.5), 0.125, 16.0, math.gamma(0.5), 1.0, math.fmod(7.25, 1.5),
        0.03060402345868265, 8.0, math.nextafter(0.5, 1.0), 0.75, quotient, -(abs(large) - quotient * 17),
        -302.0, float(large + (1 << 64)), 5e17,
    ]  # fmt: skip
    assert [request.service for request in requests] == list(range(len(expected)))
    for request, value in zip(requests, expected, strict=True):
        assert request.arguments[0] == pytest.approx(value, rel=1e-14), request.service


def test_library_with_missing_symbol_is_rejected(session):
    assert "symbol lookup error: no_such_function" in session.load(kernel("missing"))
    run_empty(session)


def test_corrupt_libraries_are_rejected_with_reason(session):
    """The connection stays open."""
    good = kernel("rpc")
    for library in (b"", b"\x7fELF", b"not a library", good[:700], good[:18] + b"\x3e" + good[19:]):
        assert "parse error" in session.load(library)
    run_empty(session)


def test_randomly_damaged_libraries_leave_device_working(device):
    """Loaded or rejected, the device keeps working. Loaded code is not run: it may do anything."""
    rng = random.Random(1)
    good = kernel("exceptions")
    with Session(device) as session:
        for _ in range(60):
            library = bytearray(good)
            for _ in range(rng.randrange(1, 8)):
                library[rng.randrange(len(library))] = rng.randrange(256)
            reason = session.load(bytes(library))
            assert reason is None or "parse error" in reason or "symbol lookup error" in reason
        run_empty(session)


def test_run_without_kernel_is_answered_as_failed(session):
    session.run()
    assert session.message(7, 8) == 8
    run_empty(session)


def test_loaded_kernel_runs_only_once(session):
    run_empty(session)
    session.run()
    session.message(8)


@pytest.mark.parametrize("kind", [0, 1, 2, 4, 0x5A, 0xFF])
def test_unknown_request_ends_the_connection(session, kind):
    session.send(kind)
    assert_closed(session)


@pytest.mark.parametrize("kind", [7, 8])
def test_unsolicited_reply_ends_the_connection(session, kind):
    session.send(kind, b"\x01\0\0\0n" if kind == 7 else bytes(48))
    assert_closed(session)


def test_garbage_between_requests_is_skipped(session):
    """The receiver searches for four consecutive bytes 0x5a and skips everything before them."""
    session.write(b"garbage ZZZ garbage" * 10)
    session.send(3)
    assert session.read(9) == b"ZZZZ\x02ARZQ"


@pytest.mark.parametrize(
    "name, message",
    [
        ("abort", "data abort (not permitted) at address 0xf0000000, at +0x"),
        ("undefined", "undefined instruction, at +0x"),
        ("overflow", "stack overflow, at +0x"),
        ("astray", "prefetch abort (not permitted), at 0xf0000000"),
    ],
)
def test_fault_ends_kernel_with_exception_at_its_place(session, name, message):
    """A fault ends the kernel with an exception that names the place; session and device keep working."""
    assert session.load(kernel(name)) is None
    session.run()
    requests, exception = session.until_end()
    assert marks(requests) == [1]
    (fault,) = exception.exceptions
    assert fault["id"] == 15 and fault["message"].startswith(message)
    assert exception.backtrace and all(0 < frame.address < len(kernel(name)) for frame in exception.backtrace)
    if name in ("abort", "undefined"):
        # The reported address follows the instruction, like a return address.
        assert f"+{exception.backtrace[0].address - 4:#x} of the kernel" in fault["message"]
    run_empty(session)


# Kernel ABI, table 4.3; the last one does not exist in ARTIQ.
NAMES = """RTIOUnderflow RTIOOverflow RTIODestinationUnreachable DMAError I2CError CacheError SPIError SubkernelError
AssertionError AttributeError IndexError IOError KeyError NotImplementedError OverflowError RuntimeError TimeoutError
TypeError ValueError ZeroDivisionError LinAlgError UnwrapNoneError CXPError RemoteMemoryError""".split()


def test_every_exception_is_reported_by_its_id(session):
    for number, name in enumerate([*NAMES, "unallocated internal exception id"]):
        assert session.load(kernel("ids")) is None
        session.run()
        session.message(10)
        session.request()
        session.reply(b"i", number.to_bytes(4, "little"))
        _, exception = session.until_end()
        (raised,) = exception.exceptions
        assert (raised["id"], raised["message"], raised["params"]) == (number, name, (0, 0, 0))
        assert (raised["line"], raised["column"]) == (0, 0)
        assert len(exception.backtrace) == 1


@pytest.mark.parametrize("name", ["copy", "divide"])
def test_assembly_functions_return_expected_results(session, name):
    assert session.load(kernel(name)) is None
    session.run()
    requests, exception = session.until_end()
    assert exception is None and marks(requests) == [0]


def test_second_client_preempts_a_running_kernel(device):
    first = Session(device)
    assert first.load(kernel("endless")) is None
    first.run()
    first.message(10)
    assert first.request().arguments == [1]
    with Session(device) as second:
        run_empty(second)
        assert_closed(first)
    first.close()


def test_silent_client_does_not_preempt_a_kernel(device):
    with Session(device) as first:
        silent = Session(device, greeting=None)
        let_pass(device, 0.2)
        run_empty(first)
        silent.close()
        run_empty(first)


def test_lost_connection_stops_the_running_kernel(device):
    for linger in (False, True):
        session = Session(device)
        assert session.load(kernel("endless")) is None
        session.run()
        session.message(10)
        assert session.request().arguments == [1]
        if linger:
            session.reset()
        session.close()
        with Session(device) as after:
            run_empty(after)


def test_kernel_of_disconnected_client_stops_at_once(device):
    session = Session(device)
    assert session.load(kernel("endless")) is None
    session.run()
    session.message(10)
    assert session.request().arguments == [1]
    ended = device.uart().count("session ended: closed by the client")
    session.close()
    printed(device, "session ended: closed by the client", ended + 1)


def test_connection_lost_during_a_call_stops_the_kernel(device):
    session = Session(device)
    assert session.load(kernel("rpc_exception")) is None
    session.run()
    session.message(10)
    session.request()
    session.close()
    with Session(device) as after:
        run_empty(after)


def test_connection_lost_within_a_reply_stops_the_kernel(device):
    session = Session(device)
    assert session.load(kernel("rpc_exception")) is None
    session.run()
    session.message(10)
    session.request()
    session.write(b"ZZZZ\x07\x01\0\0\0i\x01")
    session.close()
    with Session(device) as after:
        run_empty(after)


def test_connection_lost_within_a_load_leaves_service_usable(device):
    session = Session(device)
    session.write(b"ZZZZ\x05\x00\x10\0\0" + bytes(100))
    session.close()
    with Session(device) as after:
        run_empty(after)


def test_rtio_outputs_and_waits_have_exact_times(device):
    run_rtio(device)


def test_kernel_killed_during_an_input_wait_leaves_rtio_usable(device):
    """The endless transaction is aborted by the restart; RTIO works afterwards."""
    device.control("status")
    session = Session(device)
    assert session.load(kernel("input")) is None
    session.run()
    session.message(10)
    assert session.request().arguments == [1]
    session.close()
    with Session(device) as after:
        assert after.load(kernel("rtio")) is None
        after.run()
        requests, exception = after.until_end()
        assert exception is None
        assert marks(requests) == [1]


def test_log_calls_of_the_kernel_reach_the_uart(device):
    with Session(device) as session:
        assert session.load(kernel("log")) is None
        session.run()
        assert session.until_end() == ([], None)
    log = device.control("uart", **{"from": 0})["text"]
    assert "number -3, 1099511627776, 0.1, text" in log
    assert "second" in log
