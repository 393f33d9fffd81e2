"""Variant `cards`, verilated whole: what the recording shows of a Shuttler, with and without skipping
time, and with and without clocks that rest."""

import random

import pytest

from kairos_gateware.contracts import shuttler as facts
from kairos_gateware.rtio.cri import INPUT_TIMEOUT
from kairos_gateware.variants import VARIANTS

from .test_playing import Watched

CHANNEL = {spec.name: number for number, spec in enumerate(VARIANTS["cards"].channels)}
SETTINGS, TRIGGER = CHANNEL["shuttler0"], CHANNEL["shuttler0_trigger"]
GAIN, OFFSET, CLEAR = (getattr(facts, f"PORT_SETTING_{name}") << 4 for name in ("GAIN", "OFFSET", "CLEAR"))
READ = 1 << 6
NEVER = 2**62
PHASE, PHASE_RATE, SETTINGS_FIELD = 8, 9, 11


def boot(built, skip=False, together=False):
    return built("cards").boot(kind=Watched, together=together, skip=skip)


def changes(words):
    """[(cycle, output, {field: content})] of a recording."""
    found, words = [], iter(words)
    for head in words:
        fields = [n for n in range(12) if head >> n & 1]
        found.append((head >> 16, head >> 12 & 15, {n: next(words) for n in fields}))
    return found


def write(ps, time, channel, *words):
    for address, word in enumerate(words):
        assert ps.output(CHANNEL[channel], time + 8 * address, word, address=address) == 0


def test_shuttlers_are_announced_by_the_library(built):
    info = built("cards").library.info
    assert (
        info["waveforms"] == [{"kind": "shuttler", "name": "shuttler0", "channel": SETTINGS, "outputs": 16}]
        and info["outputs"] == []
    )
    assert built("demo").library.info["waveforms"] == []


@pytest.mark.parametrize("skip", [False, True], ids=["stepped", "skipping"])
def test_recording_changes_at_the_time_of_the_event(built, skip):
    ps = boot(built, skip)
    start = ps.out.sim_tsc + 2000
    write(ps, 8 * start, "shuttler0_dcbias3", 0x8000, 2)
    # An eighth of a turn in 2^20 cycles
    write(ps, 8 * start, "shuttler0_dds3", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x1000, 0x200)
    first, setting, second = start + 100, start + 200, start + 100 + 2**20
    assert ps.output(TRIGGER, 8 * first, 1 << 3) == 0
    assert ps.output(SETTINGS, 8 * setting, 0x8001, address=GAIN | 3) == 0
    assert ps.output(SETTINGS, 8 * setting + 80, 0xFFFF, address=OFFSET | 15) == 0
    ps.advance(setting + 1000)
    if not skip:
        second = setting + 2000
    assert ps.output(TRIGGER, 8 * second, 1 << 3) == 0
    ps.advance(second + 10)
    assert changes(ps.shown()) == [
        (first, 3, {0: 0xFFFF_8000 << 32, 1: 2 << 16, PHASE: 0x1000_0000, PHASE_RATE: 0x200, SETTINGS_FIELD: 1 << 32}),
        (setting, 3, {SETTINGS_FIELD: 1 << 32 | 0x8001}),
        (setting + 10, 15, {SETTINGS_FIELD: 0xFFFF_0000}),
        # The accumulator goes on, with the phase that it has been given.
        (second, 3, {SETTINGS_FIELD: 2 << 32 | 0x8001}),
    ]
    ps.close()


def test_phy_reset_clears_the_recorded_shuttler(built):
    ps = boot(built)
    start = 8 * (ps.out.sim_tsc + 1000)
    assert ps.output(SETTINGS, start, 5, address=GAIN | 1) == 0
    ps.advance(start // 8 + 100)
    for value in [1, 0]:
        ps.write(built("cards").registers["rtio_phy_reset"], value)
    assert [content for _, _, content in changes(ps.shown())] == [{SETTINGS_FIELD: 5}, {SETTINGS_FIELD: 0}]
    ps.close()


def play(ps, seed):
    """Random words, settings, triggers and reads, with pauses; returns what is read and shown."""
    rng = random.Random(seed)
    names = [name for name in CHANNEL if name.startswith(("shuttler0_dc", "shuttler0_dds"))]
    seen, time = [], 0
    for _ in range(60):
        # In order: of other orders lanes could run out
        time = max(time + 8, 8 * (ps.out.sim_tsc + rng.choice([60, 200, 3000])))
        output, kind = rng.randrange(facts.OUTPUTS), rng.random()
        if kind < 0.4:
            for name in rng.sample(names, 3):
                ps.output(CHANNEL[name], time, rng.getrandbits(16), address=rng.randrange(14))
        elif kind < 0.6:
            ps.output(TRIGGER, time, rng.getrandbits(16))
        elif kind < 0.8:
            address = rng.choice([GAIN | output, OFFSET | output, CLEAR])
            ps.output(SETTINGS, time, rng.getrandbits(16), address=address)
        elif kind < 0.9:
            ps.output(SETTINGS, time, 0, address=READ | rng.choice([GAIN | output, OFFSET | output, CLEAR]))
            status, stamp, data = ps.input(SETTINGS, NEVER)
            assert status != INPUT_TIMEOUT and stamp == time
            seen.append(data)
        else:
            ps.advance(ps.out.sim_tsc + rng.choice([20, 500, 5000]))
    ps.advance(ps.out.sim_tsc + 5000)
    return seen, ps.shown()


@pytest.mark.parametrize("skip", [False, True], ids=["stepped", "skipping"])
@pytest.mark.parametrize("seed", range(3))
def test_resting_parts_change_no_output(built, seed, skip):
    found = []
    for together in [True, False]:
        ps = boot(built, skip, together)
        found.append((play(ps, seed), ps.seen))
        ps.close()
    assert found[0] == found[1]
    assert len(found[0][0][1]) > 100
