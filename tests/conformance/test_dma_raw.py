"""DMA with a handwritten kernel library: state that outlives a kernel, and killed kernels."""

import pytest

from tests.support.kernels import begin, edges, kernel, marks, run_dma, run_empty
from tests.support.raw_session import Session

RECORD, PLAY, RECORD_FOR_EVER, RECORD_AND_END, PLAY_LONG, PLAY_NOTHING, RECORD_TOO_MUCH, ERASE, UNREACHABLE = range(9)
DMA_ERROR, DESTINATION_UNREACHABLE = 3, 2


PULSES = [(0, 1), (1000, 0), (4000, 1), (5000, 0), (8000, 1), (9000, 0)]


@pytest.fixture(autouse=True)
def recorded(device):
    with Session(device) as session:
        assert run_dma(session, RECORD) == ([], None)
        device.control("trace_clear")
        yield
    with Session(device) as after:
        run_empty(after)


def test_traces_outlive_kernels_and_sessions(device):
    assert edges(device) == []
    for _ in range(2):
        device.control("trace_clear")
        with Session(device) as session:
            assert run_dma(session, PLAY) == ([12000], None)
        assert edges(device) == PULSES
    with Session(device) as session:
        assert run_dma(session, ERASE) == ([], None)
        assert run_dma(session, PLAY) == ([], (DMA_ERROR, "DMA trace not found"))


@pytest.mark.parametrize("what", [RECORD_FOR_EVER, RECORD_AND_END])
def test_unfinished_recording_is_dropped_and_outputs_are_submitted(device, what):
    with Session(device) as session:
        begin(session, "dma", what)
        session.message(10)
        assert session.request().arguments == [what]
    with Session(device) as session:
        # Starting the recording erased the trace of that name.
        assert run_dma(session, PLAY) == ([], (DMA_ERROR, "DMA trace not found"))
        assert session.load(kernel("rtio")) is None
        session.run()
        assert marks(session.until_end()[0]) == [1]
    assert edges(device) == PULSES[:4]


def test_kernel_killed_during_playback_leaves_dma_and_rtio_usable(device):
    with Session(device) as session:
        begin(session, "dma", PLAY_LONG)
        session.message(10)
        assert session.request().arguments == [PLAY_LONG]
    with Session(device) as session:
        assert run_dma(session, RECORD) == ([], None)
        # The level is the one that the killed kernel left; a trace ends low.
        assert run_dma(session, PLAY) == ([12000], None)
        device.control("trace_clear")
        assert run_dma(session, PLAY) == ([12000], None)
    assert edges(device) == PULSES


def test_invalid_dma_operations_raise_their_exception(device):
    with Session(device) as session:
        assert run_dma(session, PLAY_NOTHING) == ([], (DMA_ERROR, "DMA trace not found"))
        marked, exception = run_dma(session, RECORD_TOO_MUCH)
        assert marked == [] and exception[0] == DMA_ERROR and "no memory left" in exception[1]
        assert run_dma(session, RECORD) == ([], None)
        marked, exception = run_dma(session, UNREACHABLE)
        assert marked == [] and exception[0] == DESTINATION_UNREACHABLE
        assert "channel 0x03e7:unknown" in exception[1]
