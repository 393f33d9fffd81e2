"""Writes the files of this folder anew."""

import sys
import tempfile
from pathlib import Path

from tests.support.chain import Chain

from . import CASES, FOLDER, SETUPS, waveform

wanted = sys.argv[1:] or SETUPS
for setup in wanted:
    with tempfile.TemporaryDirectory() as folder, Chain(SETUPS[setup](Path(folder))) as chain:
        for name, case in CASES.items():
            if case.setup == setup:
                _, text = waveform(chain, case)
                FOLDER.joinpath(f"{name}.txt").write_text(text, encoding="utf-8")
