"""Light detectors, by experiment: a camera with two ions, a photodiode at a Sampler, the mains
trigger."""

from pathlib import Path

import numpy as np
import pytest

from kairos.testing import Bench
from tests.support.databases import calibrated

EXPERIMENTS = Path(__file__).with_name("experiments") / "watch.py"
BENCH = """
seed = 5

[aom.aom_729]
tone = "urukul0.ch0"
centre_hz = 80e6
saturation_dbm = 10.0

[aom.aom_397]
tone = "urukul0.ch1"
centre_hz = 110e6
saturation_dbm = 10.0

[crystal.calcium]
ions = 2
mode = { hz = 1e6, eta = 0.0 }
drive = [{ light = "aom_729", rabi_hz = 50e3, resonance_hz = 80e6, ions = [1] }]
cooling = { light = "aom_397", saturation = 0.5, resonance_hz = 110e6 }

[camera.andor]
grabber = "grabber0"
width = 16
height = 12
sees = [{ ion = "calcium", x = 4.5, y = 6.0 }, { ion = "calcium", number = 1, x = 11.5, y = 6.0 }]
efficiency = 0.02
dark = 2.0
exposure_s = 500e-6
trigger = "ttl4"

[photodiode.monitor]
sees = ["aom_397"]
volts = 2.0
dark_volts = 0.05
delay_ns = 100

[sampler.sampler0]
ch2 = "monitor"

[line.mains]
pin = "ttl0"
hz = 50
jitter_ns = 20e3
"""


@pytest.fixture(scope="module")
def bench(lab, tmp_path_factory):
    folder = tmp_path_factory.mktemp("watch")
    (folder / "bench.toml").write_text(BENCH)
    with Bench(calibrated(lab, folder), folder / "bench.toml") as made:
        yield made


def test_camera_distinguishes_bright_and_dark_ion(bench):
    before = bench.part("andor")["frames"]
    bench.run(EXPERIMENTS, "TwoRegions")
    assert bench.warnings == []
    dark, bright, flipped = (bench.datasets[name] for name in ("dark", "bright", "flipped"))
    # 96 pixels with two counts each; about 2.5e7 photons per second, of which 2 % are counted in
    # half a millisecond
    assert dark == [pytest.approx(192, abs=50)] * 2
    assert all(total > 100 + 96 * 2 for total in bright)
    assert bright[0] == pytest.approx(bright[1], rel=0.3)
    assert flipped[0] == pytest.approx(bright[0], rel=0.3)
    assert flipped[1] == pytest.approx(192, abs=60), "ion 1 is in D"
    part = bench.part("andor")
    assert part["frames"] - before == 3
    assert sum(map(sum, part["image"])) == sum(flipped), "what the grabber added up is the image"


def test_errors_of_the_grabber_are_raised(bench):
    bench.run(EXPERIMENTS, "Errors")
    assert bench.datasets["raised"] == [True, True]


def test_sampler_measures_light_on_photodiode(bench):
    bench.run(EXPERIMENTS, "Diode")
    dark, full, weaker = bench.datasets["volts"]
    assert dark == pytest.approx(0.05, abs=1e-3)
    assert full == pytest.approx(2.05, abs=2e-3)
    # Half of the amplitude gives half of the light
    assert weaker == pytest.approx(1.05, abs=5e-3)


def test_mains_trigger_edges_are_recorded_with_jitter(bench):
    bench.run(EXPERIMENTS, "Mains")
    times = bench.datasets["times"]
    gaps = [(after - before) / 20e6 for before, after in zip(times, times[1:], strict=False)]
    # A gap has the jitter of two edges, 0.0014 periods; the tolerance is seven times that. The time
    # of the first edge depends on the host
    assert all(gap == pytest.approx(round(gap), abs=0.01) for gap in gaps)
    assert any(gap != round(gap) for gap in gaps), "it has jitter"


@pytest.mark.parametrize(
    "old, new, text",
    [
        ('"grabber0"', '"grabber7"', "the device has no grabber grabber7; it has grabber0"),
        ("number = 1", "number = 2", "there is no ion 2 in calcium"),
        ("width = 16", "width = 999", "a camera here has 1 to 256 columns and rows, not 999 and 12"),
        (
            "width = 16",
            "line_hz = 5e9",
            "a camera on Camera Link has 16 bits and one rate here: line_hz is of CoaXPress",
        ),
        ('trigger = "ttl4"', "", "a camera has either a trigger or a rate, hz"),
        ('trigger = "ttl4"', "hz = 3000", "an exposure of 0.0005 s does not fit into frames at 3000 Hz"),
    ],
)
def test_invalid_camera_is_rejected_in_one_line(kairos, lab, old, new, text):
    file = kairos.directory / "bench.toml"
    file.write_text(BENCH.replace(old, new))
    done = kairos("bench", "check", file, device_db=calibrated(lab, kairos.directory))
    assert done.returncode == 1
    assert done.stderr.endswith(f": {text}\n") and len(done.stderr.splitlines()) == 1


def test_scope_page_shows_light_ions_and_frames(page_of, lab, tmp_path):
    (tmp_path / "bench.toml").write_text(BENCH)
    database = calibrated(lab, tmp_path)
    found = page_of(EXPERIMENTS, "-c", "TwoRegions", "--bench", tmp_path / "bench.toml", device_db=database)
    # The cooling beam is off, on, off; its light follows after the cable and the photodiode.
    tone, powers = found["bench/urukul0.ch1/power"]
    assert [np.isnan(power) for power in powers] == [False, True, False]
    times, volts = found["bench/monitor/light"]
    assert volts == [pytest.approx(level) for level in (0.05, 2.05, 0.05, 2.05)]
    assert times[1:] == [time + 100 for time in tone]
    # Two ions scatter, then the one that was not rotated.
    times, photons = found["bench/calcium/photons"]
    assert photons[0] > 0 and photons[1] == 0 and photons[2] == pytest.approx(photons[0] / 2)
    assert times[0] - tone[0] < 100 and times[1] == tone[1]
    turned, upper = found["bench/calcium/upper state of ion 1"]
    assert upper == [pytest.approx(1)] and turned == [found["bench/urukul0.ch0/power"][0][-1]]
    # A frame follows each exposure of 500 us, which the trigger starts.
    edges, levels = found["pins/ttl4"]
    triggers = [time for time, level in zip(edges, levels, strict=True) if level]
    frames, texts = found["bench/andor/frames"]
    assert texts == ["frame 1", "frame 2", "frame 3"]
    assert np.subtract(frames, triggers) == pytest.approx([5e5] * 3, abs=5e3)
    assert {f"inputs/grabber0/grabber0_{line}" for line in ("clk", "x0", "x2")} <= set(found)
    mains, _ = found["inputs/ttl0"]
    assert mains[2] - mains[0] == pytest.approx(20e6, abs=200e3)
