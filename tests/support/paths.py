"""Locations of sources, build results, and handmade kernels."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("KAIROS_BUILD") or ROOT / "build")
EMULATOR = BUILD / "emulator" / "kairos-emulator"
FIRMWARE = BUILD / "firmware"
GATEWARE = BUILD / "gateware" / "demo"
EXAMPLES = ROOT / "examples"
KERNELS = ROOT / "tests" / "kernels"
