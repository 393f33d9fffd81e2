"""The figure that docs/kernel-core.md states for inputs."""

from kairos.emulator import acquire

from .inputs import input_read_cycles


def test_input_read_takes_at_most_12_cycles():
    emulator = acquire("emulator://demo")
    try:
        cycles = input_read_cycles()
    finally:
        emulator.stop()
    print(cycles)
    assert 5 < cycles <= 12
