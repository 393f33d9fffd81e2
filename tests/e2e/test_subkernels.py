"""Kernels on a satellite, from the user's side: started and awaited, with values, messages and
exceptions both ways."""

from pathlib import Path

from tests.support.gateware import built
from tests.support.paths import EXAMPLES
from tests.support.waveforms import pulses_of_vcd

EXPERIMENTS = Path(__file__).with_name("experiments")

PAIR = EXAMPLES / "two_boards_device_db.py"
PRINTED = """\
[3.0, 7.5]
[6.0, 15.0]
[1.5]
sum 10
sum 21
sum 33
result 40
ValueError
Odd
not running
timed out
another one runs
it runs already
no message
without a limit 9 8
it has ended
8
nobody sends more
9
"""


def test_kernels_of_two_boards_exchange_messages(kairos):
    built("pair", "satellite")
    done = kairos("run", EXPERIMENTS / "subkernels.py", "-c", "Subkernels", "--vcd", "a.vcd", device_db=PAIR)
    assert done.stdout.startswith(PRINTED), done.stdout + done.stderr
    assert done.returncode == 1
    # The uncaught exception, with the frames of both boards.
    frames = [line.split(", in ")[1].split()[0] for line in done.stderr.splitlines() if "subkernels.py" in line]
    assert frames == [f"subkernels.Subkernels.{name}" for name in ("inner", "fails", "run")]
    assert "RTIOUnderflow: RTIO underflow at" in done.stderr and "channel 0x10004:sat_ttl4" in done.stderr
    pulses = pulses_of_vcd((kairos.directory / "a.vcd").read_text(), complete=False)
    assert pulses["ttl4"][0][1] + 3000 == pulses["sat_ttl4"][0][1]


def test_unreceived_messages_raise_error_and_stay_available(kairos):
    """Three of 120 kB each way, with room for two: the awaited message follows them."""
    built("pair", "satellite")
    done = kairos("run", EXPERIMENTS / "subkernels.py", "-c", "Floods", device_db=PAIR)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split()[:5] == ["60000", "full", "30000", "30000", "30000"], done.stdout
