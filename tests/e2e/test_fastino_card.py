"""A Fastino on the bench: voltages set by drivers appear at its outputs, where a Sampler may
measure them."""

from pathlib import Path

import numpy as np
import pytest

from kairos.testing import Bench

EXPERIMENTS = Path(__file__).with_name("experiments") / "dac_ramp.py"
FRAME = 392e-9


@pytest.fixture(scope="module")
def bench(lab):
    with Bench(lab) as made:
        yield made


def test_fastino_voltages_ramp_and_hold_as_set(bench):
    bench.run(EXPERIMENTS, "Ramp")
    assert bench.warnings == []
    changes = bench.dac("fastino0", 5).changes
    steps = [pytest.approx(2 * n - 9, abs=2e-4) for n in range(10)]
    begun = next(n for n, (_, volts) in enumerate(changes) if volts == steps[0])
    ramp = [change for change in changes[begun:] if change[1] in steps][:10]
    assert [volts for _, volts in ramp] == steps
    gaps = [after[0] - before[0] for before, after in zip(ramp, ramp[1:], strict=False)]
    assert gaps == [pytest.approx(FRAME, abs=1e-12)] * 9
    held = next(time for time, volts in changes[begun:] if volts == pytest.approx(6, abs=2e-4))
    # An event is sent in the following frame, and arrives at the card one frame later.
    begin, end = bench.pin("ttl4").pulses[-1]
    assert FRAME <= held - end - 8e-9 <= 2 * FRAME
    assert bench.dac("fastino0", 4).at(begin) == pytest.approx(1, abs=2e-4)
    last = [volts for _, volts in changes[-3:]]
    assert last == [pytest.approx(6, abs=2e-4), 0, pytest.approx(6, abs=2e-4)], "powered down, and up again"
    part = bench.part("fastino0")
    assert part["leds"] == 0x5A and part["configuration"] == 0
    assert part["ch5"]["interpolator"] == 3 | 2 << 6 | 1 << 10


def test_fastino_clear_sets_outputs_to_zero(bench):
    bench.run(EXPERIMENTS, "Clear")
    assert [volts for _, volts in bench.dac("fastino0", 5).changes[-2:]] == [pytest.approx(5, abs=2e-4), 0]
    assert bench.part("fastino0")["ch5"]["code"] == 0x8000


@pytest.mark.parametrize(
    "what, error",
    [
        ("volts", (ValueError, "DAC voltage out of bounds")),
        ("group", (ValueError, "no group of DACs begins with this one")),
        ("read", (NotImplementedError, "NotImplementedError")),
    ],
)
def test_fastino_driver_rejects_invalid_arguments(bench, what, error):
    kind, text = error
    with pytest.raises(kind, match=text):
        bench.run(EXPERIMENTS, "Refused", what=what)


def test_scope_page_shows_fastino_voltages(page_of, lab):
    found = page_of(EXPERIMENTS, "-c", "Ramp", device_db=lab)
    times, volts = found["bench/fastino0/ch5"]
    first = next(n for n, value in enumerate(volts) if value == pytest.approx(-9, abs=2e-4))
    assert volts[first : first + 10] == [pytest.approx(2 * n - 9, abs=2e-4) for n in range(10)]
    assert np.diff(times[first : first + 10]) == pytest.approx([FRAME * 1e9] * 9)
    # Held codes are applied by the update after the pulse.
    edges, _ = found["pins/ttl4"]
    held = next(time for time, value in zip(times, volts, strict=True) if value == pytest.approx(6, abs=2e-4))
    assert FRAME * 1e9 <= held - edges[-1] - 8 <= 2 * FRAME * 1e9
    _, volts = found["bench/fastino0/ch4"]
    assert volts[-1] == pytest.approx(1, abs=2e-4)
