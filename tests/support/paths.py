"""Where things are: sources, what was built, kernels made by hand."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("KAIROS_BUILD") or ROOT / "build")
EMULATOR = BUILD / "emulator" / "kairos-emulator"
FIRMWARE = BUILD / "firmware"
GATEWARE = BUILD / "gateware" / "demo"
EXAMPLES = ROOT / "examples"
KERNELS = ROOT / "tests" / "kernels"
