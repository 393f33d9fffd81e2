"""Writes what is generated from the facts in this folder: `python src/contracts/generate.py`, or `make contracts`.

With `--check` nothing is written: it says which files are stale, and ends with 1 if there are any.
"""

import argparse
import sys
from pathlib import Path

from generator import outputs
from generator.facts import FactError, load

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only say what is stale")
    arguments = parser.parse_args()
    try:
        files = outputs(load(ROOT / "src" / "contracts"), ROOT)
    except FactError as error:
        print(f"contracts: {error}", file=sys.stderr)
        return 1
    stale = [name for name, text in files.items() if not (ROOT / name).exists() or (ROOT / name).read_text() != text]
    for name in stale:
        if arguments.check:
            print(f"stale: {name}; `make contracts` renews it", file=sys.stderr)
        else:
            (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / name).write_text(files[name])
            print(f"written: {name}")
    return 1 if arguments.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
