"""Exceptions and faults in handwritten libraries: as the reference compiler emits them, and as no compiler should.

Whatever a kernel does, the host receives one report, and session and device remain usable.
"""

import pytest

from tests.support.kernels import kernel, marks, run_empty
from tests.support.raw_session import Session

INDEX_ERROR, RUNTIME_ERROR, VALUE_ERROR, ZERO_DIVISION_ERROR = 10, 15, 18, 19


def run(session, library, what):
    """Returns marks, [(id, message)], and the report."""
    assert session.load(kernel(library)) is None
    session.run()
    session.message(10)
    assert session.request().service == 101
    session.reply(b"i", what.to_bytes(4, "little"))
    requests, report = session.until_end()
    return marks(requests), [(one["id"], one["message"]) for one in report.exceptions] if report else None, report


@pytest.fixture
def session(device):
    with Session(device) as session:
        yield session
        run_empty(session)


FAULT = "data abort (not permitted) at address 0xf0000000, at +0x"


@pytest.mark.parametrize(
    ("what", "steps", "exceptions"),
    [
        pytest.param(0, [], [(RUNTIME_ERROR, FAULT)], id="fault within try and finally: neither runs"),
        pytest.param(1, [3], [(INDEX_ERROR, "ab"), (RUNTIME_ERROR, FAULT)], id="fault in a handler"),
        pytest.param(2, [4, VALUE_ERROR], [(ZERO_DIVISION_ERROR, "ab")], id="finally that raises"),
        pytest.param(3, [5, 6, 7], [(20, "ab")], id="two try blocks on one landing pad"),
        pytest.param(4, [8, 9], None, id="_Unwind_Resume"),
        pytest.param(5, list(range(20)), [(ZERO_DIVISION_ERROR, "ab")], id="handlers left by a raise"),
        pytest.param(6, [], [(RUNTIME_ERROR, "the kernel resumed an exception")], id="resume of nothing"),
        pytest.param(7, [3702, 3802, 3735, 2501, 12505, 16207, 24310, 16207], None, id="registers"),
        pytest.param(
            8,
            list(range(1, 11)),
            [(INDEX_ERROR, "ab")] * 10 + [(RUNTIME_ERROR, "too many nested exceptions")],
            id="eleven at once",
        ),
    ],
)
def test_handlers_catch_exceptions_in_the_expected_order(session, what, steps, exceptions):
    seen, raised, report = run(session, "handlers", what)
    assert seen == steps
    assert (raised is None) == (exceptions is None)
    for (number, message), (wanted, start) in zip(raised or [], exceptions or [], strict=True):
        assert number == wanted and message.startswith(start)
    if report:
        assert report.backtrace and all(0 < frame.address < len(kernel("handlers")) for frame in report.backtrace)


BAD = "address 0xf0000000 (+{}) is not memory of the kernel"
FAULTS = {
    0: "data abort (not permitted) at address 0x00000000, at +0x",
    1: "data abort (not permitted) at address 0x00000000, at +0x",
    2: "prefetch abort (not permitted), at 0x00000000",
    3: "prefetch abort (not permitted), at 0x00000000",
    4: "data abort (not permitted) at address 0x00200000, at +0x",
    5: "data abort (not permitted) at address 0x06000000, at +0x",
    7: "stack overflow, at +0x",
    8: "supervisor call, at +0x",
    9: "prefetch abort (debug event), at +0x",
    10: "undefined instruction, at +0x",
    11: "data abort (not permitted) at address 0x0000003c, at +0x",
    12: "undefined instruction, at +0x",
    13: "data abort (not permitted) at address 0xf0000000, at 0x08",
    14: "data abort (not permitted) at address 0xf0000000, at 0x08",
    15: "data of a wide output: " + BAD.format(4),
    16: "data of a wide output: " + BAD.format(16),
    17: "name of a DMA trace: " + BAD.format(5),
    18: "value for the cache: " + BAD.format(8),
    19: "value for the cache: " + BAD.format(16),
    22: "RPC to service 100: tag: " + BAD.format(4),
    23: "RPC to service 100: tag: " + BAD.format(5),
    24: "RPC to service 100: " + BAD.format(4),
    25: "RPC to service 100: " + BAD.format(4),
    26: "RPC to service 100: " + BAD.format(4),
    27: "RPC to service 100: " + BAD.format(4),
    28: "RPC to service 100: RPC tag has an unexpected byte 0x78",
    29: "RPC to service 100: tag: address 0x09",
    31: "the kernel waits for the reply to an RPC it has not sent",
    32: "data abort (not permitted) at address 0x00000000, at +0x",
}
"""Case of the kernel `faults`: expected message at the host."""


@pytest.mark.parametrize("what", FAULTS)
def test_fault_of_a_library_raises_runtime_error(session, what):
    seen, raised, report = run(session, "faults", what)
    assert seen == [what]
    ((number, message),) = raised
    assert number == RUNTIME_ERROR and message.startswith(FAULTS[what])
    # Whatever the stack pointer was, at least the address of the fault is reported.
    assert report.backtrace and all(0 < frame.address < len(kernel("faults")) for frame in report.backtrace)
    # A new recording can start, whatever the state of the previous one.
    assert run(session, "dma", 0)[:2] == ([], None)


@pytest.mark.parametrize("what", [6, 20, 21])
def test_harmless_accesses_raise_no_exception(session, what):
    seen, raised, _ = run(session, "faults", what)
    assert raised is None and seen[-1] == 99


def test_reply_slot_outside_memory_ends_session(device):
    """The rest of the reply could not be distinguished from the data after it."""
    with Session(device) as session:
        assert session.load(kernel("faults")) is None
        session.run()
        for answer in (30, 1):
            while session.message(10) and session.request().service != 101:
                pass
            session.reply(b"i", answer.to_bytes(4, "little"))
        with pytest.raises(Exception, match="^$"):
            session.message(10)
    assert "reply to an RPC: " + BAD.format(4) in device.uart()
    with Session(device) as after:
        run_empty(after)


@pytest.mark.long
def test_kernel_with_masked_interrupts_is_reset(device):
    """It loops with interrupts masked: its core is reset."""
    with Session(device) as session:
        assert session.load(kernel("faults")) is None
        session.run()
        session.message(10)
        session.request()
        session.reply(b"i", (33).to_bytes(4, "little"))
        session.message(10)
        assert session.request().arguments == [33]
    with Session(device) as after:
        run_empty(after)
        assert run(after, "faults", 10)[1][0][1].startswith(FAULTS[10])
    assert "the kernel core does not answer, resetting it" in device.uart()
