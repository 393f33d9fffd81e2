"""A calibration of 1,000 register accesses, executed beside the hardware in one round trip.

    python examples/hub/calibrate.py zc706 --hub localhost

It looks again and again whether the gateware is at rest, and when, as the search of a phase-locked loop looks for the
settings at which it locks. Put the registers of your own block in the place of these.
"""

import argparse
import time

from kairos.hub import HubError, Program, connect

ROUNDS = 250
LOOKS = ("rtio/async_error", "initiator/lost", "initiator/busy", "dma/busy")
"""What each round looks at: all are 0 where nothing is wrong and nothing under way."""

ACCESSES = ROUNDS * len(LOOKS)


def program() -> Program:
    """The 1,000 accesses."""
    accesses = Program()
    with accesses.loop(ROUNDS):
        for register in LOOKS:
            accesses.read(register)
    return accesses


def calibrate(device) -> list[int]:
    """The rounds in which everything was 0."""
    values = device.run(program())
    rounds = zip(*[iter(values)] * len(LOOKS), strict=True)
    return [number for number, found in enumerate(rounds) if not any(found)]


def one_by_one(device, accesses: int):
    """The same accesses, each a round trip of its own."""
    for number in range(accesses):
        device.read(LOOKS[number % len(LOOKS)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("device", help="as hub.toml calls it")
    parser.add_argument("--hub", default="localhost", help="where the hub listens")
    args = parser.parse_args()
    with connect(args.hub) as lab:
        device = lab[args.device]
        started = time.perf_counter()
        at_rest = calibrate(device)
        together = time.perf_counter() - started
        started = time.perf_counter()
        one_by_one(device, ACCESSES // 10)
        apart = (time.perf_counter() - started) * 10
    print(f"{len(at_rest)} of {ROUNDS} rounds found everything at rest")
    print(f"{ACCESSES:,} accesses as one batch: {1e6 * together / ACCESSES:6.1f} us each")
    print(f"{ACCESSES:,} accesses one by one:   {1e6 * apart / ACCESSES:6.1f} us each")


if __name__ == "__main__":
    try:
        main()
    except (HubError, KeyError) as error:
        raise SystemExit(f"calibrate: {error.args[0]}") from None
