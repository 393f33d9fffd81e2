"""A kernel that posts outputs with inline code (docs/interfaces.md, section 5): all reach the pin on
time, nearly all without the firmware, and exceptions are raised at the right place."""

from tests.support.kernels import edges, kernel, marks, run_empty
from tests.support.raw_session import Session

UNDERFLOW = 0
OUTPUTS = 300


def test_inline_posted_outputs_are_exact_and_late_one_raises(device):
    device.control("trace_clear")
    before = device.control("status")["sev_count"]
    with Session(device) as session:
        assert session.load(kernel("inline")) is None
        session.run()
        requests, exception = session.until_end()
    posted, while_recording, last = marks(requests)
    # All but the first and those that renew the permit.
    assert OUTPUTS - 20 <= posted < OUTPUTS
    assert while_recording == 0
    # The late output raises: the mark after it is not reached.
    assert last == -1 and exception is not None
    (raised,) = exception.exceptions
    assert raised["id"] == UNDERFLOW and raised["params"][0] == 4
    # One request per output, including the late one; recorded outputs cause none.
    assert device.control("status")["sev_count"] - before == OUTPUTS + 1
    assert edges(device) == [(2000 * number, number % 2 ^ 1) for number in range(OUTPUTS)]
    with Session(device) as session:
        run_empty(session)


def test_other_version_of_layout_is_refused(device):
    library = kernel("inline")
    assert b"rtio_post_2\0" in library
    with Session(device) as session:
        refusal = session.load(library.replace(b"rtio_post_2\0", b"rtio_post_3\0"))
        assert refusal is not None and "symbol lookup error: rtio_post_3" in refusal
        run_empty(session)
