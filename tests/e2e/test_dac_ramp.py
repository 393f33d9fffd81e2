"""The ramp example: a Sampler measures the voltages that a Fastino applies to two electrodes."""

import pytest

from kairos.testing import Bench
from tests.support.paths import EXAMPLES

FOLDER = EXAMPLES / "electrodes"


def test_ramp_measured_by_sampler_matches_fastino_setting(tmp_path, lab):
    picture = tmp_path / "ramp.png"
    with Bench(FOLDER / "device_db.py") as bench:
        bench.run(FOLDER / "dac_ramp.py", steps=20, figure=str(picture))
        assert bench.warnings == []
        # Half a step of the DAC, and half a step of the ADC
        assert bench.datasets["ramp.error_volts"] < (20 / 2**16 + 20.48 / 2**16) / 2 + 1e-6
        assert bench.dac("fastino0", 0).changes[-1][1] == pytest.approx(5, abs=2e-4)
        assert bench.dac("fastino0", 1).changes[-1][1] == pytest.approx(2, abs=2e-4)
    assert picture.read_bytes().startswith(b"\x89PNG")
