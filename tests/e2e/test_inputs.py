"""TTL inputs from the pin to the kernel."""

from pathlib import Path

EXPERIMENT = Path(__file__).with_name("experiments") / "inputs.py"

# Edges are timestamped in steps of 8 ns. The gate that counts three rising edges meets two of them,
# the falling gate one.
PRINTED = """\
edge 0 1000
edge 0 2000
edge 0 3000
edges 3
edge 1 1496
edge 1 2496
edge 1 3496
edges 3
edge 2 1000
edge 2 1496
edge 2 2000
edge 2 2496
edge 2 3000
edge 2 3496
edges 6
adjacent 3
samples 0 1
now 1
stays on True True
does not True False
was off False True
stays off True True
from the host 8
slack True
overflow after 129
behind it 0
left 100
then 0 0
two 0 3
after reset 0
no input
no input
"""


def test_input_channels_record_and_count(kairos):
    done = kairos("run", EXPERIMENT, "-v")
    assert done.stdout.startswith(PRINTED), done.stdout + done.stderr
    assert done.returncode == 1
    assert "RTIOOverflow: RTIO input overflow on channel 0x0000:ttl0" in done.stderr, done.stderr
    assert "collision" not in done.stderr
    assert 'File "' in done.stderr and "self.ttl0.count(now_mu())" in done.stderr
