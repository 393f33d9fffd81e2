"""Variant `lab`, verilated: every kind of PHY behind the kernel initiator, with and without
skipping time."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kairos_gateware.phy.camera import frame_words, lane_samples
from kairos_gateware.phy.fastino_card import FastinoCard
from kairos_gateware.variants import VARIANTS

END, INPUT, CS_POLARITY, CLK_PHASE = 0x02, 0x04, 0x08, 0x20
CHANNEL = {spec.name: number for number, spec in enumerate(VARIANTS["lab"].channels)}
WIDTH = 24


@pytest.fixture(scope="module")
def pad(built):
    """Pad index by name."""
    return {entry["name"]: entry["index"] for entry in built("lab").library.info["pads"]}


@pytest.fixture(scope="module")
def registers(built):
    return built("lab").registers


@pytest.fixture
def boot(built):
    made = []

    def make(**options):
        made.append(built("lab").boot(**options))
        return made[-1]

    yield make
    for ps in made:
        ps.close()


def edges(ps, index):
    """Changes of a pad as (time in ns, level), to the sample."""
    result, level = [], 0
    last = None
    for coarse, pad, (samples, _) in ps.changes:
        if pad != index:
            continue
        if last is not None and coarse > last + 1 and samples != 255 * level:
            assert level in (0, 1)
        for i in range(8):
            if samples >> i & 1 != level:
                level = samples >> i & 1
                result.append((8 * coarse + i, level))
        last = coarse
    return result


def spi_config(flags, length, div, cs):
    return flags | length - 1 << 8 | div - 2 << 16 | cs << 24


def test_pulse_edges_are_exact_to_the_nanosecond(boot, pad):
    ps = boot(skip=True)
    start = 8 * (ps.out.sim_tsc + 400)
    times = [start + 3, start + 14, start + 24, start + 33, start + 1003, start + 20_006]
    for n, time in enumerate(times):
        assert ps.output(CHANNEL["ttl4"], time, ~n & 1) == 0
    ps.advance(start // 8 + 3000)
    assert edges(ps, pad["ttl4"]) == [(time, ~n & 1) for n, time in enumerate(times)]


def test_edges_submitted_in_reverse_are_on_time(boot, pad, registers):
    """Two hundred edges, submitted from the last to the first."""
    ps = boot(skip=True)
    start = 8 * (ps.out.sim_tsc + 40_000)
    times = [start + 1000 * n + 3 for n in range(200)]
    for n in reversed(range(200)):
        assert ps.output(CHANNEL["ttl4"], times[n], ~n & 1) == 0
    ps.advance(start // 8 + 25_100)
    assert edges(ps, pad["ttl4"]) == [(time, ~n & 1) for n, time in enumerate(times)]
    assert ps.read(registers["rtio_async_error"]) == 0


def test_edge_stamps_and_counter_share_the_gate(boot, pad):
    """Stamps to the sample, and the counter beside the input has the same gate."""
    ps = boot()
    start = ps.out.sim_tsc + 400
    ttl, counter = CHANNEL["ttl1"], CHANNEL["ttl1_counter"]
    assert ps.output(ttl, 8 * start + 5, 1, address=2) == 0
    assert ps.output(counter, 8 * start + 5, 0b1001) == 0
    assert ps.output(ttl, 8 * (start + 20) + 2, 0, address=2) == 0
    assert ps.output(counter, 8 * (start + 20) + 2, 0b0100) == 0
    samples = {start: 0b00001000, start + 4: 0b11100000, start + 5: 255, start + 8: 0b00000001, start + 9: 0}
    samples |= {start + 1: 0, start + 20: 0b10100010}
    while ps.out.sim_tsc < start + 40:
        ps.inputs.pads_i[pad["ttl1"]] = samples.get(ps._next_tsc, ps.inputs.pads_i[pad["ttl1"]])
        ps.step()
    stamps = []
    while (result := ps.input(ttl, 0))[0] == 0:
        stamps.append(result[1] - 8 * start)
    # the edge at sample 3 of the first cycle is before the gate, those from sample 2 of the last
    # one after it
    assert stamps == [4 * 8 + 5, 20 * 8 + 1]
    assert ps.input(counter, -1) == (0, 8 * (start + 20) + 2, 2)


def test_clock_generator_edges_follow_its_accumulator(boot, pad):
    """10 MHz for a millisecond: every edge is where the accumulator's highest bit changes."""
    ps = boot()
    start = ps.out.sim_tsc + 400
    word = round(2**WIDTH * 10e6 * 8e-9)
    clock = CHANNEL["ttl12"]
    assert ps.output(clock, 8 * start, word) == 0
    assert ps.output(clock, 8 * (start + 125_000), 0) == 0
    ps.advance(start + 126_000)
    levels = [(2 ** (WIDTH - 1) + n * word >> (WIDTH - 1)) & 1 for n in range(125_000)]
    expected = [(8 * (start + n), levels[n]) for n in range(125_000) if n == 0 or levels[n] != levels[n - 1]]
    expected += [(8 * (start + 125_000), 0)] if levels[-1] else []
    assert edges(ps, pad["ttl12"]) == expected


def test_skipped_time_keeps_the_clock_edges(boot, pad):
    """A clock costs nothing: a second of device time takes some hundred cycles, and its edges are
    unchanged."""
    ps = boot(skip=True)
    start, before = ps.out.sim_tsc + 400, ps.cycle
    word = round(2**WIDTH * 10e6 * 8e-9)
    assert ps.output(CHANNEL["ttl12"], 8 * start, word) == 0
    end = start + 125_000_000
    ps.advance(end)
    assert ps.cycle - before < 2000
    ps.skip = False
    ps.advance(end + 1000)
    levels = {n: (2 ** (WIDTH - 1) + (n - start) * word >> (WIDTH - 1)) & 1 for n in range(end, end + 1000)}
    found = {time // 8: level for time, level in edges(ps, pad["ttl12"]) if time >= 8 * end + 8}
    assert found and all(levels[n] == level and levels[n - 1] != level for n, level in found.items())


def test_spi_loopback_returns_the_written_data(boot, pad):
    """Written data return on MISO; chip select numbers as for an Urukul."""
    ps = boot()
    spi = CHANNEL["spi_urukul0"]
    start = ps.out.sim_tsc + 400
    duration = (24 + 1) * 2 + 1
    assert ps.output(spi, 8 * start, spi_config(CS_POLARITY | END | INPUT, 24, 2, 5), address=1) == 0
    assert ps.output(spi, 8 * (start + 1), 0xABCDEF00) == 0
    while ps.out.sim_tsc < start + duration + 10:
        ps.inputs.pads_i[pad["spi_urukul0_miso"]] = ps.out.pads_o[pad["spi_urukul0_mosi"]]
        ps.step()
    # MISO is one cycle behind MOSI here, and each bit lasts two
    assert ps.input(spi, -1) == (0, 8 * (start + 1 + 24 * 2 - 1), 0xABCDEF)
    for n, active in enumerate([1, 0, 1]):
        expected = [(8 * (start + 1), 1), (8 * (start + duration), 0)] if active else []
        assert edges(ps, pad[f"spi_urukul0_cs{n}"]) == expected


def test_overlapping_spi_transfers_report_collision_and_busy(boot, registers):
    ps = boot(skip=True)
    spi = CHANNEL["spi_urukul0"]
    start = ps.out.sim_tsc + 400
    assert ps.output(spi, 8 * start, spi_config(END, 8, 4, 1), address=1) == 0
    assert ps.output(spi, 8 * start + 3, spi_config(END, 8, 4, 1), address=1) == 0
    ps.advance(start + 10)
    assert ps.read(registers["rtio_async_error"]) == 1
    assert ps.read(registers["rtio_collision_channel"]) == spi
    ps.write(registers["rtio_async_error"], 7)
    start = ps.out.sim_tsc + 400
    # The same event twice in one cycle: a TTL would treat it as a replacement
    for time in [0, 100, 100]:
        assert ps.output(spi, 8 * (start + time), 0) == 0
    ps.advance(start + 200)
    assert ps.read(registers["rtio_async_error"]) == 1
    ps.write(registers["rtio_async_error"], 7)
    start = ps.out.sim_tsc + 400
    for time in [0, (8 + 1) * 4]:
        assert ps.output(spi, 8 * (start + time), 0) == 0
    ps.advance(start + 100)
    assert ps.read(registers["rtio_async_error"]) == 2
    assert ps.read(registers["rtio_busy_channel"]) == spi


def card(ps, pad):
    """A Fastino's card that has received all pad changes."""
    names = ["fastino0_clk", *(f"fastino0_mosi{i}" for i in range(6))]
    place = {pad[name]: i for i, name in enumerate(names)}
    result, samples, last = FastinoCard(), [0] * len(names), None
    for coarse, index, (value, _) in sorted(ps.changes):
        if index not in place:
            continue
        for cycle in range(last, coarse) if last is not None and coarse - last < 49 else []:
            result.feed(cycle, samples)
        last, samples[place[index]] = coarse, value
    result.feed(last, samples)
    return result


def test_fastino_frames_are_equal_with_and_without_skipping(boot, pad):
    """Four DACs with an event; frames are at the expected times, and skipping does not change what
    the card receives."""
    logs = []
    for skip in [False, True]:
        ps = boot(skip=skip)
        start = 49 * (ps.out.sim_tsc // 49 + 20)
        fastino = CHANNEL["fastino0"]
        for time, address, words in [
            (start, 4, (0x2222_1111, 0x4444_3333)),
            (start + 5, 35, (0xA5,)),
            (start + 1000, 33, (0xFFFF_FFFF,)),
            (start + 3001, 28, (1, 2)),
            (start + 9000, 32, (1 << 29,)),
        ]:
            assert ps.output(fastino, 8 * time, *words, address=address) == 0
        before = ps.cycle
        ps.advance(start + (20_000 if not skip else 10_000_000))
        seen = card(ps, pad)
        assert seen.outputs[4:8] == [0x1111, 0x2222, 0x3333, 0x4444] and seen.leds == 0xA5
        assert seen.outputs[28:] == [0, 0, 0, 0]  # the second one of a word, with the value 0
        logs.append([(cycle - start, mask) for cycle, mask in seen.log])
    assert logs[0] == logs[1] == [(49, 0xF0), (1029, 0), (3038, 0), (9016, 1 << 29)]
    assert ps.cycle - before < 5000


def test_frame_at_the_pads_gives_its_sums(boot, pad):
    """A frame at the pads, sums in the kernel's inputs; time advances in steps only while the
    camera has a clock."""
    ps = boot(skip=True)
    start = ps.out.sim_tsc + 400
    for i, value in enumerate([1, 0, 3, 2]):
        assert ps.output(CHANNEL["grabber0"], 8 * (start + i), value, address=4 * 2 + i) == 0
    assert ps.output(CHANNEL["grabber0_gate"], 8 * (start + 10), 0b0110) == 0
    frame = [[10, 200, 3000], [7, 400, 60000]]
    pads = [pad[f"grabber0_{name}"] for name in ["clk", "x0", "x1", "x2", "x3"]]
    camera = lane_samples([0] * 90 + frame_words(frame), 28.0)
    first = start + 1_000_000
    for n, lanes in enumerate([*camera, [0] * 5]):
        ps.schedule += [(first + n, index, samples) for index, samples in zip(pads, lanes, strict=True)]
    before = ps.cycle
    ps.advance(start + 3_000_000)
    assert ps.cycle - before < len(camera) + 2000
    events = [ps.input(CHANNEL["grabber0_gate"], -1) for _ in range(3)]
    assert [data for _, _, data in events] == [1 << 31, 0, 200 + 3000 + 400 + 60000]
    # The frame ends with word 90 + 10 + 2 * (3 + 2) of 3.5 cycles; the stamp is five cycles after
    # its last bit
    assert [status for status, _, _ in events] == [0] * 3
    ends = first + (110 + 6 / 7 + 0.5 / 7) * 3.5
    assert 0 <= events[0][1] / 8 - ends - 4 <= 1.5 and [t - events[0][1] for _, t, _ in events] == [0, 8, 16]


def test_probes_report_fastino_codes_and_grabber_size(boot, pad, registers):
    ps = boot()
    start = ps.out.sim_tsc + 400
    assert ps.output(CHANNEL["fastino0"], 8 * start, 0x2222_1111, 0x4444_3333, address=8) == 0
    camera = lane_samples([0] * 90 + frame_words([[1] * 5] * 3), 28.0)
    pads = [pad[f"grabber0_{name}"] for name in ["clk", "x0", "x1", "x2", "x3"]]
    for n, lanes in enumerate(camera):
        ps.schedule += [(start + n, index, samples) for index, samples in zip(pads, lanes, strict=True)]
    ps.advance(start + len(camera) + 10)
    for name, probe, value in [("fastino0", 10, 0x3333), ("fastino0", 32, 0), ("grabber0", 0, 5), ("grabber0", 1, 3)]:
        ps.write(registers["moninj_channel"], CHANNEL[name])
        ps.write(registers["moninj_probe"], probe)
        ps.write(registers["moninj_update"], 1)
        assert ps.read(registers["moninj_value"] + 4) == value


_ACTION = st.one_of(
    st.tuples(st.just("dac"), st.sampled_from([0, 9, 31, 32, 33, 35, 37, 38, 39]), st.integers(0, 2**64 - 1)),
    st.tuples(st.just("frame"), st.sampled_from([23.0, 28.0, 31.7]), st.integers(0, 15), st.booleans()),
    st.tuples(st.just("ttl"), st.sampled_from(["ttl4", "ttl5", "ttl0", "led0"]), st.integers(0, 1)),
    st.tuples(st.just("gate"), st.integers(0, 3), st.integers(0, 3)),
    st.tuples(st.just("count"), st.integers(0, 3), st.integers(0, 15)),
    st.tuples(st.just("clock"), st.sampled_from(["ttl12", "ttl13"]), st.sampled_from([0, 1, 77, 12345, 2**20 + 1])),
    st.tuples(st.just("spi"), st.integers(1, 32), st.integers(2, 20), st.integers(0, 255), st.integers(0, 2**32 - 1)),
    st.tuples(st.just("delay"), st.integers(0, 5000)),
    st.tuples(st.just("edge"), st.integers(0, 3), st.integers(0, 400)),
    st.tuples(
        st.just("read"),
        st.sampled_from(["ttl0", "ttl2", "ttl1_counter", "spi_urukul0", "grabber0_gate"]),
        st.integers(0, 500),
    ),
    st.tuples(st.just("wait"), st.integers(1, 3000)),
)


def play(ps, pad, stream):
    """Runs a stream; returns all that the CPU sees, with the time at which it sees it."""
    log = []
    cursor = 8 * (ps.out.sim_tsc + 300)

    def note(result):
        log.append((ps.out.sim_tsc, result))
        for _ in range(8):
            ps.step()

    levels = [0] * 4
    for action, *args in stream:
        if action == "ttl":
            note(ps.output(CHANNEL[args[0]], cursor, args[1]))
        elif action == "gate":
            note(ps.output(CHANNEL[f"ttl{args[0]}"], cursor, args[1], address=2))
        elif action == "count":
            note(ps.output(CHANNEL[f"ttl{args[0]}_counter"], cursor, args[1]))
        elif action == "clock":
            note(ps.output(CHANNEL[args[0]], cursor, args[1]))
        elif action == "spi":
            length, div, flags, data = args
            note(ps.output(CHANNEL["spi_urukul0"], cursor, spi_config(flags & ~1, length, div, flags), address=1))
            note(ps.output(CHANNEL["spi_urukul0"], cursor + 8, data))
        elif action == "dac":
            note(ps.output(CHANNEL["fastino0"], cursor, args[1] & 2**32 - 1, args[1] >> 32, address=args[0]))
        elif action == "frame":
            period, mask, cut = args
            for i, value in enumerate([0, 0, 1, 1]):
                note(ps.output(CHANNEL["grabber0"], cursor + 8 * i, value, address=i))
            note(ps.output(CHANNEL["grabber0_gate"], cursor, mask))
            camera = lane_samples([0] * 15 + frame_words([[3, 4]], frame_gap=5), period)
            time = max([ps.out.sim_tsc + 100] + [e[0] + 1 for e in ps.schedule])
            pads = [pad[f"grabber0_{name}"] for name in ["clk", "x0", "x1", "x2", "x3"]]
            for n, lanes in enumerate(camera[: -7 if cut else None]):
                ps.schedule += [(time + n, i, samples) for i, samples in zip(pads, lanes, strict=True)]
        elif action == "delay":
            cursor += args[0]
        elif action == "edge":
            index, distance = args
            time = max([ps.out.sim_tsc + 1 + distance] + [e[0] + 1 for e in ps.schedule])
            levels[index] ^= 1
            ps.schedule.append((time, pad[f"ttl{index}"], 255 * levels[index]))
        elif action == "read":
            note(ps.input(CHANNEL[args[0]], cursor + args[1]))
        else:
            ps.advance(ps.out.sim_tsc + 1 + args[0])
            for _ in range(8):
                ps.step()
            cursor = max(cursor, 8 * (ps.out.sim_tsc + 300))
    ps.advance(max(ps.out.sim_tsc, cursor // 8) + 3000)
    return log


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(st.lists(_ACTION, min_size=1, max_size=25))
def test_skipping_changes_no_output_status_or_input(boot, pad, registers, stream):
    """Pads, statuses, inputs, the times at which the CPU sees them, and errors are the same as
    without skipping. Edges of clocks are left to the emulator, which knows them without running the
    clocks (tests/e2e/test_clocks.py)."""
    results = []
    for skip in [False, True]:
        ps = boot(skip=skip)
        log = play(ps, pad, stream)
        errors = [ps.read(registers[f"rtio_{name}"]) for name in ["async_error", "collision_channel", "busy_channel"]]
        waves = {wave["pad"] for wave in ps.library.info["waves"]}
        results.append((log, [change for change in ps.changes if change[1] not in waves], errors))
        ps.close()
    assert results[0] == results[1]
