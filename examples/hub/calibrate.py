"""The search of a phase-locked loop for the setting at which it locks: 1,000 steps, executed beside
the hardware in one round trip.

    python examples/hub/calibrate.py zc706 --hub localhost

The registers are `scratch`, which every gateware provides for experiments: they keep what is
written, as if the loop locked at every setting. Replace them with those of your own block.
"""

import argparse
import time

from kairos.hub import HubError, Program, connect

SETTINGS = 250
CONTROL = STATUS = "scratch/word"
FREQUENCY = "scratch/wide"
START = LOCKED = 1 << 31
"""Written: starts the loop with the setting in the bits below. Read: the loop locks at the setting
in the bits below."""
TUNING = 0x147A_E147_AE14_7AE1
"""10 MHz from 125 MHz, in units of 2^-64."""

STEPS = 4 * SETTINGS


def search() -> Program:
    """The 1,000 steps: tries every setting. Each yields two results, of which the latter is the
    status."""
    program = Program()
    with program.loop(SETTINGS):
        program.write(CONTROL, 0, step=1)
        program.modify(CONTROL, START, START)
        program.poll(CONTROL, START, START, timeout=0.001)
        program.read(STATUS)
    return program


def middle(statuses: list[int]) -> tuple[int, int]:
    """The number of settings that lock, and the middle of the longest consecutive run of them."""
    runs, begin = [range(0)], 0
    for setting, status in enumerate([*statuses, 0]):
        if status != LOCKED | setting:
            runs.append(range(begin, setting))
            begin = setting + 1
    best = max(runs, key=len)
    return sum(map(len, runs)), best.start + len(best) // 2


def calibrate(device) -> tuple[int, int]:
    """Applies the best setting; returns the number of settings that lock, and the one applied."""
    count, setting = middle(device.run(search())[1::2])
    chosen = Program()
    chosen.write(CONTROL, START | setting)
    chosen.write(FREQUENCY, TUNING)
    chosen.read(STATUS)
    chosen.read(FREQUENCY)
    if device.run(chosen) != [LOCKED | setting, TUNING >> 32, TUNING & 0xFFFFFFFF]:
        raise HubError(f"it does not lock with setting {setting}", "ABORTED")
    return count, setting


def one_by_one(device, settings: int):
    """The search over some settings, with a call per step."""
    register = device.registers[CONTROL]
    for setting in range(settings):
        register.write(setting)
        register.write(START | setting)
        while not register.read() & START:
            pass
        register.read()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("device", help="as hub.toml calls it")
    parser.add_argument("--hub", default="localhost", help="where the hub listens")
    args = parser.parse_args()
    with connect(args.hub) as lab:
        device = lab[args.device]
        started = time.perf_counter()
        count, setting = calibrate(device)
        together = time.perf_counter() - started
        started = time.perf_counter()
        one_by_one(device, SETTINGS // 10)
        apart = (time.perf_counter() - started) * 10
    print(f"{count} of {SETTINGS} settings lock; {setting}, in their middle, is set")
    print(f"{STEPS} steps as one batch: {1e6 * together / STEPS:.1f} us each")
    print(f"{STEPS} steps one by one: {1e6 * apart / STEPS:.1f} us each")


if __name__ == "__main__":
    try:
        main()
    except (HubError, KeyError) as error:
        raise SystemExit(f"calibrate: {error.args[0]}") from None
