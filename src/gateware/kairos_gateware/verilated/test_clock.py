"""Variant `clocked` in the verilated library: the switch to the synthesiser, events around it, and
its loss."""

import pytest

SELECTED, SWITCHING, LOCKED, HELD = 1, 2, 4, 8
TTL = 4
PLAYED = 125_000_000 * 2**20 // (4 * 125_000_000)
"""125 MHz, as measured."""


@pytest.fixture(scope="module")
def clocked(built):
    return built("clocked")


def measured(ps, name, count):
    """Makes the logic measure this frequency from now on."""
    for pad, byte in zip(ps.library.info["clocks"][name], count.to_bytes(3, "little"), strict=True):
        ps.inputs.pads_i[pad] = byte
    for _ in range(8):
        ps.step()


def levels(ps):
    """[(coarse time, level)] of the output."""
    return [(when, state[0] & 1) for when, pad, state in ps.changes if pad == TTL]


def play(clocked, skip):
    """Events before, at and after each change; returns the observed statuses and changes of the
    pad, with their times."""
    ps = clocked.boot(skip=skip)
    register = {name: clocked.registers[f"clock_{name}"] for name in ["select", "status", "lost", "synthesiser"]}
    ps.advance(1000)
    seen = [ps.read(register["status"])]
    measured(ps, "synthesiser", PLAYED)
    seen.append(ps.read(register["synthesiser"]))
    base = 2000
    for way in range(4):
        # The second is at the time of the change, the third is waiting when it ends
        for time, level in [(base, 1), (base + 550, 0), (base + 2000, 1)]:
            assert ps.output(TTL, 8 * time, level) == 0
        ps.advance(base + 500)
        if way < 2:
            ps.write(register["select"], 1 - way)
        elif way == 2:
            ps.write(register["select"], 1)
            ps.advance(base + 1000)
            measured(ps, "synthesiser", 0)
        ps.advance(ps.out.sim_tsc + 20)
        seen.append(ps.read(register["status"]))
        ps.advance(base + 1500)
        seen += [ps.read(register["status"]), ps.read(register["lost"])]
        ps.write(register["lost"], 1)
        ps.advance(base + 3000)
        seen.append(ps.read(register["status"]))
        base += 4000
    changes = levels(ps)
    ps.close()
    return seen, changes


def test_clock_switch_and_loss_execute_no_stale_event(clocked):
    seen, changes = play(clocked, skip=False)
    start, measurement, *rest = seen
    assert (start, measurement) == (LOCKED, PLAYED)
    assert rest[0] & (SWITCHING | HELD) and rest[1:4] == [SELECTED | LOCKED, 0, SELECTED | LOCKED]
    assert rest[4] & (SWITCHING | HELD) and rest[5:8] == [LOCKED, 0, LOCKED]
    assert rest[8] & SWITCHING or rest[8] & HELD
    assert rest[9:12] == [LOCKED | HELD, 1, LOCKED], "lost: held until acknowledged"
    assert rest[12:] == [LOCKED, LOCKED, 0, LOCKED], "nothing is changed"
    # Rises at its time, falls by the reset, and waiting events are never executed; the last switch
    # changes nothing.
    rising = [when for when, level in changes if level]
    assert rising == [2000, 6000, 10000, 14000, 16000]
    assert (14550, 0) in changes
    for begin, (when, level) in zip([2000, 6000, 10000], [c for c in changes if not c[1]][-4:-1], strict=True):
        assert level == 0 and begin + 500 < when < begin + 550


def test_clock_switch_and_loss_are_equal_with_skipped_time(clocked):
    assert play(clocked, skip=True) == play(clocked, skip=False)
