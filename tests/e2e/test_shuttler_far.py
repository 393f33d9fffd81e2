"""A Shuttler whose channels are those of a satellite: one timeline with the master, and a bench that
connects both."""

from dataclasses import replace
from pathlib import Path

import pytest
from kairos_gateware.device_db import render
from kairos_gateware.variants import VARIANTS, shuttler

from kairos.coredevice.chips.shuttler import LATENCY, LEVEL_BITS, OUTPUT_SPAN, TONE_GAIN
from kairos.testing import Bench
from tests.support.boards import pair_description
from tests.support.gateware import built_as

EXPERIMENT = Path(__file__).with_name("experiments") / "shuttler_far.py"
STEP = OUTPUT_SPAN / 2**LEVEL_BITS
BENCH = """
[shuttler.sat_shuttler0]
update_ns = 8000
[aom.aom_397]
tone = "sat_shuttler0.tone3"
centre_hz = 10e6
saturation_dbm = 10
[ion.ion0]
detection = { light = "aom_397", photons_hz = 20e6 }
[photomultiplier.pmt]
pin = "ttl0"
sees = ["ion0"]
efficiency = 0.1
"""

pytestmark = pytest.mark.long
"""The gateware of both boards takes half a minute to build."""


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    """A master and a satellite with a Shuttler: a file, with the bench beside it."""
    alone = VARIANTS["satellite"]
    channels = (*alone.channels, *shuttler("sat_shuttler0", len(alone.channels)))
    far = replace(alone, name="shuttler_far", channels=channels)
    near = replace(VARIANTS["pair"], name="shuttler_near", satellites=(far,))
    built_as(far)
    built_as(near)
    folder = tmp_path_factory.mktemp("far")
    (folder / "system.toml").write_text(pair_description(near.name, far.name, delay_ns=200))
    (folder / "bench.toml").write_text(BENCH)
    path = folder / "device_db.py"
    path.write_text(render(near, f"emulator://{folder / 'system.toml'}"))
    return path


def test_remote_waveform_starts_with_pulses_of_both_boards(db):
    hz, slope = 10e6, 1e4
    words = {
        "a1": round(slope * 8e-9 / STEP * 2**16),
        "b0": round(1 / STEP / TONE_GAIN),
        "c1": round(hz * 8e-9 * 2**32),
    }
    with Bench(db) as bench:
        bench.run(EXPERIMENT, **words)
        assert bench.warnings == []
        dark, bright, gain = bench.datasets["found"]
        assert dark == 0 and gain == -0x1000
        # 2 MHz for 20 us
        assert 15 < bright < 70
        ((near, _),), ((far, _),) = bench.pin("ttl4").pulses, bench.pin("sat_ttl4").pulses
        assert near == pytest.approx(far, abs=1e-12)
        tone, quieter = bench.dds("sat_shuttler0.tone3").changes
        assert tone.time - far == pytest.approx(LATENCY * 8e-9, abs=1e-12)
        assert (tone.frequency, tone.power) == (pytest.approx(hz, abs=0.03), pytest.approx(10, abs=1e-3))
        assert quieter.power - tone.power == pytest.approx(-0.5605, abs=1e-3)
        # Renewals are at whole periods of the tone.
        dac = bench.dac("sat_shuttler0.ch3")
        for n in range(5):
            at = tone.time + n * 8e-6
            assert dac.at(at) == pytest.approx(1 + slope * n * 8e-6, abs=2e-3)
