"""The selftest of every card of a Kasli-SoC, on its default bench."""

import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.command import run_kairos
from tests.support.every_card import VARIANT, every_card

PREFIXES = ("selftest.",)


def selftest_figures(figures):
    """Measured on the gateware of all.json."""
    with TemporaryDirectory() as folder:
        database = every_card(Path(folder))
        began = time.perf_counter()
        page, twin = Path(folder) / f"{VARIANT}.html", f"emulator://{VARIANT}"
        done = run_kairos("selftest", "--device-db", database, "--twin", twin, "--json", "-o", page)
        took = time.perf_counter() - began
    checks = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode or not checks:
        failed = [check for check in checks if check["passed"] is False]
        raise SystemExit(f"the selftest of all cards fails: {failed}\n{done.stderr}")
    cards = len({check["card"] for check in checks})
    figures.add(
        "selftest.every_card_s", took, "s", target=60, source=f"{len(checks)} checks of {cards} devices, with its start"
    )
