"""The libraries of tests/kernels, built with a stock compiler and linker, and functions to run
them."""

from .paths import KERNELS
from .raw_session import Session


def kernel(name):
    return (KERNELS / f"{name}.elf").read_bytes()


def marks(requests):
    """Return the arguments of the calls of service 100, by which kernels report progress."""
    assert all(request.service == 100 for request in requests)
    return [request.arguments[0] for request in requests]


def run_empty(session):
    """Check that the device still works."""
    assert session.load(kernel("empty")) is None
    session.run()
    assert session.until_end() == ([], None)


def answer(session, value):
    """Answer the call of service 101, by which kernels ask for a command."""
    session.message(10)
    assert session.request().service == 101
    session.reply(b"i", value.to_bytes(4, "little"))


def begin(session, name, what):
    """Run a kernel, and send it a command."""
    assert session.load(kernel(name)) is None
    session.run()
    answer(session, what)


def run_dma(session, what):
    """Run the kernel `dma`: (marks, id and message of the exception or None)."""
    begin(session, "dma", what)
    requests, exception = session.until_end()
    if exception:
        (exception,) = [(one["id"], one["message"]) for one in exception.exceptions]
    return marks(requests), exception


def edges(device, channel=4):
    """Return (time since the first one, level) of the recorded changes of a pin."""
    trace = device.control("trace", **{"from": 0})
    (pad,) = [pad["index"] for pad in trace["pads"] if pad["channel"] == channel]
    changes = [(when, level) for when, index, level in trace["events"] if index == pad and level is not None]
    return [(when - changes[0][0], level) for when, level in changes] if changes else []


def run_rtio(device):
    """Check that outputs and waiting work, with the pulses of the kernel `rtio`."""
    device.control("trace_clear")
    with Session(device) as session:
        assert session.load(kernel("rtio")) is None
        session.run()
        requests, exception = session.until_end()
    assert exception is None and marks(requests) == [1]
    assert edges(device) == [(0, 1), (1000, 0), (4000, 1), (5000, 0)]
