"""The whole logic, verilated: registers, latencies of the kernel initiator, skipping time."""

import struct

import pytest

from kairos_gateware.contracts.initiator import ATTENTION, CREDIT, POSTED_ERROR
from kairos_gateware.contracts.memory import PL_DESCRIPTOR, PL_REGISTERS
from kairos_gateware.verilated.library import ACCEPTED, LATENCY, NEVER, Ps


def test_registers_of_the_descriptor_answer_in_time(library, registers):
    ps = Ps(library)
    ps.step()
    assert registers.keys() >= {
        *("rtio_reset rtio_phy_reset rtio_counter_update rtio_counter rtio_async_error rtio_collision_channel".split()),
        *("rtio_busy_channel rtio_sequence_error_channel initiator_enable initiator_ring initiator_busy".split()),
    }
    assert all(address in PL_REGISTERS for address in registers.values())
    assert ps.read(registers["rtio_phy_reset"]) == 1
    ps.write(registers["initiator_ring"], 0x1234_5680)
    assert ps.read(registers["initiator_ring"]) == 0x1234_5680
    before = ps.cycle
    assert ps.read(PL_DESCRIPTOR.start) == int.from_bytes(b"KAIR", "little")
    assert ps.cycle - before == 3  # the answer is in the third cycle of the address
    before = ps.cycle
    ps.write(registers["initiator_enable"], 0)
    assert ps.cycle - before == 2
    before = ps.out.sim_tsc
    ps.write(registers["rtio_counter_update"], 1)
    counter = ps.read(registers["rtio_counter"]) << 32 | ps.read(registers["rtio_counter"] + 4)
    assert counter & 7 == 0 and before < counter >> 3 <= before + 3
    ps.close()


def test_double_word_load_is_a_burst_of_two(library, registers):
    ps = Ps(library)
    ps.inputs.gp0_arlen = 1
    ps.read(PL_DESCRIPTOR.start)
    first = ps.out.gp0_rdata, ps.out.gp0_rlast
    while True:
        ps.step()
        if ps.out.gp0_rvalid:
            break
    assert first == (int.from_bytes(b"KAIR", "little"), 0)
    assert (ps.out.gp0_rdata, ps.out.gp0_rlast) == (1, 1)
    ps.close()


def test_output_status_follows_five_cycles_after_read_latency(boot):
    """One-word output: request burst of 3 beats, status on the bus L + 5 cycles after the toggle,
    one beat."""
    ps = boot(read_latency=LATENCY)
    start = ps.cycle
    assert ps.output(4, 8 * (ps.out.sim_tsc + 100), 1) == 0
    assert ps.bursts == [(start + 2, "r", 128, 3), (start + LATENCY + 5, "w", 2056, 1)]
    assert ps.cycle - start == LATENCY + 6 + ps.visible
    ps.close()


@pytest.mark.parametrize("cost", [0, 10, 25, 50])
def test_awaited_outputs_have_the_documented_period(boot, cost):
    """Distance of two outputs is L + W + C + 7 cycles: 67 at L = 20, W = 15, C = 25, where the
    reference needs 71."""
    ps = boot(read_latency=LATENCY, visible=15)
    starts = []
    for n in range(6):
        starts.append(ps.cycle)
        assert ps.output(4, 8 * (ps.out.sim_tsc + 1000), n & 1) == 0
        for _ in range(cost + 1):  # sees the status in the next cycle, toggles C cycles later
            ps.step()
    assert {b - a for a, b in zip(starts, starts[1:], strict=False)} == {LATENCY + 15 + cost + 7}
    ps.close()


def test_seven_cycles_of_slack_suffice_for_output(boot):
    """Seven cycles of slack at acceptance (L + 4 cycles after the toggle) suffice; the pad changes
    at the timestamp."""
    for slack, status in [(6, 2), (7, 0)]:
        ps = boot(read_latency=LATENCY)
        coarse = ps.out.sim_tsc + 1 + ACCEPTED + slack
        assert ps.output(4, 8 * coarse, 1) == status
        ps.advance(coarse + 5)
        assert ps.changes == ([] if status else [(coarse, 4, (255, 1))])
        assert ps.output(4, 8 * (ps.out.sim_tsc + 100), 0) == 0  # the status was that event's own
        ps.close()


@pytest.mark.parametrize("words", [1, 2, 3, 4, 7, 8, 15, 16])
def test_wide_outputs_fetch_only_their_words(boot, words):
    ps = boot(read_latency=LATENCY)
    beats = 2 + (words + 1) // 2
    data = [1] + [0] * (words - 1)
    assert ps.output(4, 8 * (ps.out.sim_tsc + 200), *data) == 0
    reads = [beats for _, kind, _, beats in ps.bursts if kind == "r"]
    assert sum(reads) == max(3, beats) and len(reads) == (1 if words <= 2 else 2)
    for _ in range(10):
        ps.step()
    ps.bursts.clear()
    assert ps.output(4, 8 * (ps.out.sim_tsc + 200), *data) == 0  # the second is fetched in one burst
    assert [b[2:] for b in ps.bursts if b[1] == "r"] == [(256, max(3, beats))]
    ps.close()


def test_toggle_without_a_request_is_only_counted(boot, registers):
    """Such a toggle has no other effect, even among proper ones."""
    ps = boot()
    time = 8 * (ps.out.sim_tsc + 1000)
    for n in range(4):
        for _ in range(4):
            ps.step()
        if n == 2:
            ps.inputs.event_o ^= 1
            for _ in range(4):
                ps.step()
        ps.submit(2, 4 << 8, time + 80 * n, [1 - n % 2])
    for _ in range(150):
        ps.step()
    assert ps.status() == (4, 0)
    assert ps.read(registers["initiator_busy"]) == 0
    ps.inputs.event_o ^= 1
    for _ in range(150):
        ps.step()
    assert ps.read(registers["initiator_lost"]) >= 1
    ps.write(registers["initiator_clear"], 1)
    assert ps.read(registers["initiator_lost"]) == 0
    assert ps.output(4, time + 400, 1) == 0
    ps.advance(time // 8 + 60)
    assert [c[0] for c in ps.changes] == [time // 8 + 10 * n for n in [0, 1, 2, 3, 5]]
    ps.close()


@pytest.mark.parametrize("read_latency", [10, 20, 30])
def test_posted_outputs_take_eight_cycles_each(boot, read_latency):
    """Posted one-word outputs are executed at one per 8 cycles, in bursts at one per 3 or (L + 3) /
    8 cycles."""
    ps = boot(read_latency=read_latency)
    time = 8 * (ps.out.sim_tsc + 2000)
    starts = []
    for n in range(100):
        while n + 1 - ps.status()[0] >= 15:
            ps.step()
        starts.append(ps.cycle)
        assert ps.submit(2, 4 << 8, time + 80 * n, [1 - n % 2]) == n + 1
        for _ in range(8):
            ps.step()
    assert max(b - a for a, b in zip(starts, starts[1:], strict=False)) == 8
    assert all(beats == 3 for _, kind, _, beats in ps.bursts if kind == "r")
    assert ps.wait(100) == 0
    ps.advance(time // 8 + 1100)
    assert [c[0] for c in ps.changes] == [time // 8 + 10 * n for n in range(100)]
    ps.close()


def test_posted_events_of_any_width_arrive_in_order(boot):
    """Widths that change from event to event: all events arrive, in order, in as many reads as
    necessary."""
    ps = boot(read_latency=LATENCY)
    time = 8 * (ps.out.sim_tsc + 3000)
    widths = [1, 1, 3, 16, 16, 1, 2, 7, 8, 1, 1, 1, 16, 1, 5, 4, 3, 2, 1, 9]
    for n, words in enumerate(widths):
        while n + 1 - ps.status()[0] >= 15:
            ps.step()
        ps.submit(2, 4 << 8, time + 80 * n, [1 - n % 2] + [0xFFFFFFFF] * (words - 1))
        for _ in range(3):
            ps.step()
    assert ps.wait(len(widths)) == 0
    ps.advance(time // 8 + 300)
    assert [c[0] for c in ps.changes] == [time // 8 + 10 * n for n in range(len(widths))]
    ps.close()


def test_first_error_of_a_posted_event_is_kept_until_cleared(boot, registers):
    """The first one, with its number, until it is cleared; later ones are executed, awaited ones
    have their own status."""
    ps = boot()
    time = 8 * (ps.out.sim_tsc + 1000)
    for n, channel in enumerate([4, 999, 4, 998]):
        ps.submit(2, channel << 8, time + 80 * n, [1 - n // 2])
        for _ in range(3):
            ps.step()
    assert ps.output(997, time, 1) == 4
    assert ps.status_word() & (ATTENTION | POSTED_ERROR) == ATTENTION | POSTED_ERROR
    assert struct.unpack_from("<I", ps.memory, 2060)[0] == 2 << 16 | 4
    ps.write(registers["initiator_clear"], 1)
    assert ps.output(4, time + 400, 1) == 0
    assert ps.status_word() & (ATTENTION | POSTED_ERROR) == 0
    ps.advance(time // 8 + 100)
    assert [c[0] for c in ps.changes] == [time // 8, time // 8 + 20, time // 8 + 50]
    ps.close()


def test_disabled_initiator_ignores_events(boot, registers):
    ps = boot()
    ps.write(registers["initiator_enable"], 0)
    for _ in range(5):
        ps.inputs.event_o ^= 1
        for _ in range(20):
            ps.step()
    assert ps.bursts == []
    ps.write(registers["initiator_enable"], 1)
    for _ in range(50):
        ps.step()
    assert ps.bursts == []
    ps.close()


def test_full_lanes_wait_without_loss(boot):
    """Increasing timestamps use all lanes; when they are full the initiator waits for the first
    event to leave."""
    ps = boot(skip=True)
    first = ps.out.sim_tsc + 200_000
    count = 8 * 129 + 20
    for n in range(count):
        assert ps.output(4, 8 * (first + 100 * n), (n + 1) & 1) == 0
    ps.advance(first + 100 * count)
    assert [c[0] for c in ps.changes] == [first + 100 * n for n in range(count)]
    ps.close()


def test_last_submitted_event_replaces_across_many_others(boot):
    """The event submitted last takes effect, even 2200 events after the one that it replaces."""
    ps = boot(skip=True)
    last = ps.out.sim_tsc + 1_000_000
    assert ps.output(4, 8 * last, 0) == 0
    for n in range(2200):
        assert ps.output(5, 8 * (ps.out.sim_tsc + 100), n & 1) == 0
    assert ps.output(4, 8 * last, 1) == 0
    ps.advance(last + 20)
    assert [c for c in ps.changes if c[1] == 4] == [(last, 4, (255, 1))]
    ps.close()


def test_reset_ends_a_waiting_input_read(boot, registers):
    ps = boot()
    sequence = ps.submit(1, 0, -1)
    for _ in range(200):
        ps.step()
    assert ps.read(registers["initiator_busy"]) == 1
    ps.write(registers["rtio_reset"], 1)
    assert ps.wait(sequence) == 1
    ps.close()


def test_looped_back_output_has_its_own_timestamp(boot):
    ps = boot()
    start = ps.out.sim_tsc + 200
    assert ps.output(0, 8 * start, 3, address=2) == 0
    ps.schedule = [(start + 10, 0, 255), (start + 20, 0, 0), (start + 30, 0, 255)]
    assert ps.output(0, 8 * (start + 30), 0, address=2) == 0  # closes just before the third edge
    ps.advance(start + 40)
    assert ps.input(0, 8 * (start + 30)) == (0, 8 * (start + 10), 1)
    assert ps.input(0, 8 * (start + 30)) == (0, 8 * (start + 20), 0)
    assert ps.input(0, 8 * (start + 30)) == (1, -1, 0)
    assert ps.input(5, 8 * (start + 30))[0] == 8  # no input channel
    ps.close()


def test_bus_error_is_reported_until_cleared(boot, registers):
    ps = boot()
    ps.inputs.acp_rresp = 2
    assert ps.output(4, 8 * (ps.out.sim_tsc + 1000), 1) == 4
    assert ps.read(registers["initiator_error"]) == 1
    ps.inputs.acp_rresp = 0
    ps.write(registers["initiator_clear"], 1)
    assert ps.output(4, 8 * (ps.out.sim_tsc + 1000), 1) == 0
    assert ps.read(registers["initiator_error"]) == 0
    ps.close()


def test_run_stops_when_a_watched_output_changes(boot):
    """kairos_pl_run ends in the cycle in which a watched output changes, and at `until_tsc`."""
    from ctypes import byref

    ps = boot()
    coarse = ps.out.sim_tsc + 500
    assert ps.output(4, 8 * coarse, 1) == 0
    for _ in range(20):
        ps.step()
    before = ps.out.sim_tsc
    run = ps.library.dll.kairos_pl_run
    assert run(ps.pl, byref(ps.inputs), byref(ps.out), 10**6, before + 100) == 100
    assert ps.out.sim_tsc == before + 100 and ps.out.sim_quiet
    run(ps.pl, byref(ps.inputs), byref(ps.out), 10**6, NEVER)
    assert not ps.out.sim_quiet and ps.out.sim_tsc == coarse - 4
    run(ps.pl, byref(ps.inputs), byref(ps.out), 10**6, NEVER)
    assert ps.out.sim_tsc == coarse and ps.out.pads_o[4] == 255
    ps.close()


def test_skipping_saves_cycles_and_keeps_times(boot):
    """A second of device time with 100 events takes a few thousand evaluated cycles, and is exact."""
    ps = boot(skip=True)
    first = ps.out.sim_tsc + 100_000
    before = ps.cycle
    for n in range(100):
        assert ps.output(4 + n % 8, 8 * (first + 1_250_000 * n), 1 - n // 8 % 2) == 0
    ps.advance(first + 125_000_000)
    assert [c[0] for c in ps.changes] == [first + 1_250_000 * n for n in range(100)]
    assert ps.cycle - before < 10_000
    ps.close()


def test_transaction_words_are_little_endian(boot):
    """The reply's number is the request's, all lanes have room, the data word of an output is zero."""
    ps = boot()
    for _ in range(3):
        assert ps.output(4, 8 * (ps.out.sim_tsc + 500), 1) == 0
    assert struct.unpack_from("<II", ps.memory, 2056) == (3 + CREDIT << 1, 0)
    ps.close()
