"""AD9910 of an Urukul synchronised to the first one of them, through driver, firmware, gateware and
chips."""

from pathlib import Path

import pytest

from kairos.devices import DeviceDB
from kairos.testing import Bench
from tests.support.databases import calibrated, written

EXPERIMENTS = Path(__file__).with_name("experiments") / "ad9910.py"


def test_chip_0_clock_synchronises_the_others(lab, tmp_path):
    entries = DeviceDB.load(calibrated(lab, tmp_path)).entries
    card = entries["urukul0_cpld"]["arguments"]
    del card["sync_device"]
    card["sync_sel"] = 1
    with Bench(written(entries, tmp_path)) as bench:
        bench.run(EXPERIMENTS, "Led")
        (warning,) = bench.warnings
        assert warning.startswith(
            "urukul0: ch1: it is set to follow its SYNC_IN, which has no clock: check sync_device"
        )
        # Without a clock there are no errors: only the width of the window, more than a period,
        # reveals it.
        assert bench.datasets["alone"] == [15, 15]
        assert bench.datasets["leader"] == bench.datasets["follower"] == [16, 6]
        assert bench.part("urukul0")["ch3"]["sync_in_hz"] == 62.5e6
        # Both apply the same update: at the same edge, or one cycle of 1 ns later with an
        # additional delay of 900 ps.
        late = []
        for time, _ in bench.pin("ttl_urukul0_io_update").pulses[-3::2]:
            first, second = (
                next(tone.time for tone in bench.dds(f"urukul0_ch{n}").changes if tone.time > time) for n in range(2)
            )
            late.append(second - first)
        assert late == [pytest.approx(0, abs=1e-12), pytest.approx(1e-9, abs=1e-12)]
