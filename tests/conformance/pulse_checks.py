"""Maps the pulse core's 67 conformance checks to the tests of the logic and of the model.

The names of tests contain the numbers: `test_check_23_and_24_...` in Python, `check_27_to_29_...` in Rust. `python -m
tests.conformance.pulse_checks` prints the table; `ELSEWHERE` lists checks without a numbered test.
"""

import re
import sys

from tests.support.paths import ROOT

__all__ = ["ELSEWHERE", "NUMBERS", "shown"]

NUMBERS = range(1, 68)
_NAMES = {
    "logic": (ROOT / "src/gateware/kairos_gateware/pulse", "*.py", re.compile(r"def (test_check_([0-9]\w*))\(")),
    "model": (ROOT / "src/pulse", "*.rs", re.compile(r"fn (check_([0-9]\w*))\(")),
    "figures": (ROOT / "tests/bench", "test_pulse.py", re.compile(r"def (test_check_([0-9]\w*))\(")),
}
ELSEWHERE: dict[str, dict[int, str]] = {
    "logic": dict.fromkeys((64, 66), "a calculation"),
    "model": {
        **dict.fromkeys((64, 66), "a calculation"),
        65: "the logic's speed",
    },
}
"""Reason why a check has no numbered test, for the logic and for the model."""


def _numbers(words: str) -> set[int]:
    """Returns the check numbers in a test name: "23_and_24_...", "53_to_55_...", "61_...", "64_66_..."."""
    start = re.match(r"(\d+)((?:_(?:and|to|\d+))*)", words)
    numbers, through = [int(start[1])], False
    for word in filter(None, start[2].split("_")):
        if word.isdigit():
            numbers += range(numbers[-1] + 1, int(word) + 1) if through else [int(word)]
        through = word == "to"
    return set(numbers)


def shown() -> dict[str, dict[int, list[str]]]:
    """Returns, for logic, model and calculations, the tests ("file::test") by number of the check."""
    found: dict[str, dict[int, list[str]]] = {}
    for side, (folder, files, pattern) in _NAMES.items():
        of_side = found.setdefault(side, {})
        for path in sorted(folder.rglob(files)):
            for name, words in pattern.findall(path.read_text()):
                for number in _numbers(words):
                    of_side.setdefault(number, []).append(f"{path.relative_to(ROOT)}::{name}")
    return found


def main() -> int:
    tests = shown()
    for number in NUMBERS:
        print(number)
        for side in ["logic", "model"]:
            named = tests[side].get(number) or tests["figures"].get(number, [])
            print(f"    {side}:", "\n           ".join(named) or ELSEWHERE[side].get(number, "MISSING"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
