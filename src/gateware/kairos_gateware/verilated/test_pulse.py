"""Variant `pulse`, verilated whole, with and without skipping time: the pulse core behind the
kernel initiator."""

import struct

import pytest

from kairos_gateware.contracts import pulse as facts
from kairos_gateware.contracts.pulse import Error, Mode, ToneFlag
from kairos_gateware.dma.stream import DESCRIPTOR_BYTES
from kairos_gateware.phy import pulse as phy
from kairos_gateware.testbenches.pulse_blocks import Body, bypass, gates, glut, mlut, plut
from kairos_gateware.variants import VARIANTS

CHANNEL = {spec.name: number for number, spec in enumerate(VARIANTS["pulse"].channels)}
CORE = CHANNEL["pulse0"]
RISING, SEND = 0b1001, 0b0100
"""Configurations of an edge counter."""
NEVER = 2**62
BEHIND = {1: 25, 3: 18}
"""Cycles from a change to the first level at the pins, if channel 0 alone plays, and if all do."""
CHANNELS_AT = facts.CHANNEL_MASK_AT


@pytest.fixture(scope="module")
def pad(built):
    """Pad index by name."""
    return {entry["name"]: entry["index"] for entry in built("pulse").library.info["pads"]}


@pytest.fixture(params=[False, True], ids=["stepped", "skipping"])
def ps(built, request):
    ps = built("pulse").boot(skip=request.param)
    yield ps
    ps.close()


def send(ps, time, *words, apart=1):
    """Words of the stream, one per `apart` cycles from `time` on."""
    for n, word in enumerate(words):
        parts = [word >> 32 * part & 0xFFFF_FFFF for part in range(8)]
        assert ps.output(CORE, time + 8 * apart * n, *parts, address=phy.WORD) == 0


def soon(ps):
    return 8 * (ps.out.sim_tsc + 400)


def lengths(ps, index):
    """(first cycle, cycles) of each pulse of a pad."""
    edges = [(coarse, samples != 0) for coarse, at, (samples, _) in ps.changes if at == index]
    ups = [coarse for coarse, level in edges if level]
    downs = [coarse for coarse, level in edges if not level and ups and coarse > ups[0]]
    return [(up, down - up) for up, down in zip(ups, downs, strict=True)]


def branching():
    """Words for a branch whose gate lasts 4, 8, 12 or 16 cycles depending on its result, with the
    enable of tone 0 high; then zeros, then waiting segments."""
    words = [plut(n, Body(tau=4 * n + 4, flags=int(ToneFlag.ENABLE))) for n in range(4)]
    words += [plut(8 + n, Body(tau=4 * n + 4)) for n in range(4)]
    words += [plut(14, Body()), plut(15, Body(flags=int(ToneFlag.WAIT)))]
    entries = [(2 * n, 1 << 1, n) for n in range(4)] + [(2 * n + 1, 0xFD, 8 + n) for n in range(4)]
    words += [mlut(entries[:6]), mlut(entries[6:]), mlut([(20, 0xFF, 15), (21, 0xFF, 14)])]
    words += [
        glut([(0x800 | state << 7, 2 * state, 2 * state + 1) for state in range(4)]),
        glut([(1, 20, 20), (2, 21, 21)]),
    ]
    return [*words, gates([0], mode=Mode.BRANCH), gates([2, 1])]


@pytest.mark.parametrize("bright, dark", [(0, 0), (4, 0), (5, 0), (4, 2), (7, 1)])
def test_inputs_select_the_gate_without_a_processor(ps, pad, bright, dark):
    """A counter with a threshold of 5 is bit 0, the edges at a gated TTL with a threshold of 2 bit
    1."""
    start = soon(ps)
    for n, (address, value) in enumerate(
        [(phy.RESULT_INPUTS, 3), (phy.RESULT_THRESHOLD, 5), (phy.RESULT_THRESHOLD + 1, 2)]
    ):
        assert ps.output(CORE, start + 8 * n, value, address=address) == 0
    send(ps, start + 100, *branching(), apart=100)
    opens, closes, reads = start + 30_000, start + 34_000, start + 35_000
    assert ps.output(CHANNEL["ttl0_counter"], opens, RISING) == 0
    assert ps.output(CHANNEL["ttl1"], opens, 1, address=2) == 0
    assert ps.output(CHANNEL["ttl1"], closes, 0, address=2) == 0
    assert ps.output(CHANNEL["ttl0_counter"], reads, SEND) == 0
    for name, count in [("ttl0", bright), ("ttl1", dark)]:
        for n in range(count):
            at = opens // 8 + 20 + 40 * n
            ps.schedule += [(at, pad[name], 0xFF), (at + 10, pad[name], 0)]
    # One more after each gate, which does not count
    ps.schedule += [(closes // 8 + 10, pad["ttl1"], 0xFF), (closes // 8 + 20, pad["ttl1"], 0)]
    ps.schedule += [(reads // 8 + 10, pad["ttl0"], 0xFF), (reads // 8 + 20, pad["ttl0"], 0)]
    ps.schedule.sort()
    ps.advance(reads // 8 + 200)
    state = (bright >= 5) + 2 * (dark >= 2)
    [(begin, cycles)] = lengths(ps, pad["pulse0_0_enable0"])
    assert cycles == 4 * state + 4
    # 3 cycles to the result, then the branch, the tables, the engines and the pins
    assert begin - reads // 8 == 14
    assert ps.input(CHANNEL["ttl0_counter"], NEVER)[2] == bright


def test_first_underrun_is_reported_with_its_time(ps):
    """Parameter 5 of channel 1 lacks its second segment; requested long after that."""
    start = soon(ps)
    send(ps, start, bypass(Body(tau=50), 0xFF, 2), bypass(Body(tau=50), 0xFF & ~(1 << 5), 2))
    asked = start + 400_000
    assert ps.output(CORE, asked, 1, address=phy.UNDERRUN) == 0
    age, parameters = [ps.input(CORE, NEVER)[2] for _ in range(2)]
    assert parameters == 1 << 5
    # In the last cycle of the first segments, which start 7 cycles after their word
    assert asked // 8 - age == start // 8 + 7 + 50 - 1
    assert ps.output(CORE, asked + 800, Error.UNDERRUN | Error.MISALIGN, address=phy.STATUS) == 0
    assert ps.input(CORE, NEVER)[2] & 0x1FF == Error.UNDERRUN | Error.MISALIGN
    assert ps.output(CORE, asked + 1600, 1, address=phy.UNDERRUN) == 0
    assert [ps.input(CORE, NEVER)[2] for _ in range(2)][1] == 0


@pytest.mark.parametrize("channels", BEHIND)
def test_changed_settings_apply_and_earlier_words_are_refused(ps, pad, built, channels):
    def of_channels(words):
        return [word | channels << CHANNELS_AT for word in words]

    bright, dark = of_channels(plut(0, Body(tau=4, flags=flags)) for flags in (int(ToneFlag.ENABLE), 0))
    start = soon(ps)
    send(ps, start, *of_channels([*branching()[:-2], dark, glut([(3, 0, 1)]), gates([1])]), apart=100)
    at = start + 20_000
    for n, word in enumerate(of_channels([gates([3]), gates([2, 1])])):
        parts = [word >> 32 * part & 0xFFFF_FFFF for part in range(8)]
        assert ps.output(CORE, at + 8 * n, *parts, address=phy.KEEP) == 0
    for n, word in enumerate(of_channels([bright, bright, plut(30, Body(tau=4))])):
        parts = [word >> 32 * part & 0xFFFF_FFFF for part in range(8)]
        assert ps.output(CORE, at + 8000 * (n + 1), *parts, address=phy.CHANGE) == 0
        send(ps, at + 8000 * (n + 1) + 64, dark)
    ps.advance(at // 8 + 4000)
    begins = [(begin - at // 8, cycles) for begin, cycles in lengths(ps, pad["pulse0_0_enable0"])]
    assert begins == [(1000 * (n + 1) + BEHIND[channels], 4) for n in range(3)]
    assert ps.read(built("pulse").registers["rtio_busy_channel"]) == CORE


@pytest.fixture(scope="module")
def registers(built):
    """Addresses of the core's registers, without their prefix."""
    found = built("pulse").registers.items()
    return {name.removeprefix("pulse_"): address for name, address in found if name.startswith("pulse_")}


def listed(ps, at, *blocks):
    """Stores words in the port's memory from offset `at` on, and a list of them; returns the list's
    address."""
    memory, words = ps.hp.memory, at + 128
    for n, block in enumerate([*blocks, []]):
        struct.pack_into("<II8x", memory, at + DESCRIPTOR_BYTES * n, ps.hp.BASE + words, len(block))
        for word in block:
            memory[words : words + 32] = word.to_bytes(32, "little")
            words += 32
    return ps.hp.BASE + at


def wide(ps, address):
    return ps.read(address) << 32 | ps.read(address + 4)


def test_tables_and_sequences_are_played_from_memory(ps, pad, registers):
    """Tables started by a register, a sequence of them by an event, its trigger by a register."""
    tables, run = branching()[:-2], [gates([1]), *branching()[-2:]]
    ps.write(registers["stream_base"], listed(ps, 0, tables[:5], tables[5:]))
    ps.write(registers["stream_enable"], 1)
    assert ps.read(registers["stream_busy"])
    while ps.read(registers["stream_busy"]):
        pass
    assert ps.read(registers["stream_words"]) == len(tables) and not ps.read(registers["stream_error"])
    at = soon(ps)
    assert ps.output(CORE, at, listed(ps, 1 << 16, run), address=phy.STREAM) == 0
    ps.advance(at // 8 + 200)
    assert ps.read(registers["armed"]) == 1
    ps.write(registers["result"], 2)
    ps.write(registers["trigger"], 1)
    ps.advance(ps.out.sim_tsc + 200)
    [(_, cycles)] = lengths(ps, pad["pulse0_0_enable0"])
    assert cycles == 12
    assert ps.read(registers["armed"]) == 1
    assert ps.read(registers["error"]) == Error.TRIGGER_EARLY  # the other channel has no segments
    ps.write(registers["error"], Error.TRIGGER_EARLY)
    assert ps.read(registers["error"]) == 0


def test_registers_report_properties_and_first_underrun(ps, registers):
    assert ps.read(registers["config"]) == 2 | 8 << 4 | 12 << 8 | 11 << 13 | 10 << 18
    assert ps.read(registers["rate"]) * 100 == 10**9
    start = soon(ps)
    send(ps, start, bypass(Body(tau=50), 0xFF, 2))
    ps.advance(start // 8 + 200)
    ps.write(registers["cycle_update"], 1)
    now, coarse = wide(ps, registers["cycle"]), ps.out.sim_tsc
    ps.write(registers["first_channel"], 1)
    assert wide(ps, registers["underrun"]) == 0xFF00
    age = now - wide(ps, registers["first_cycle"])
    assert 140 < age < coarse - start // 8 - 50
    ps.write(registers["error"], Error.UNDERRUN)
    assert wide(ps, registers["underrun"]) == 0


def test_unreadable_list_is_an_error_and_second_start_is_busy(ps, registers, built):
    ps.write(registers["stream_base"], 0x1000_0000)
    ps.write(registers["stream_enable"], 1)
    while ps.read(registers["stream_busy"]):
        pass
    assert ps.read(registers["stream_error"])
    at = soon(ps)
    block = [bypass(Body(tau=10_000, flags=int(ToneFlag.WAIT)), 0xFF)] * 300
    for n in range(2):
        assert ps.output(CORE, at + 80 * n, listed(ps, 0, block), address=phy.STREAM) == 0
    ps.advance(at // 8 + 2000)
    assert ps.read(built("pulse").registers["rtio_async_error"]) == 2
    # The stream waits while the core is full, until it is stopped
    assert ps.read(registers["stream_words"]) < 120 and ps.read(registers["stream_busy"])
    ps.write(registers["stream_enable"], 0)
    for _ in range(300):
        ps.step()
    assert not ps.read(registers["stream_busy"]) and not ps.read(registers["stream_error"])
