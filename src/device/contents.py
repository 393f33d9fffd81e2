"""What the wheel kairos-device takes from ``build/`` of the checkout, and where it runs."""

from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

IMAGES = ("boot.elf", "runtime.elf", "satman.elf")
"""Of ``build/firmware``: what `kairos image`, `kairos boot` and the emulator are given."""

VARIANTS = ("demo", "ion", "lab")
LIBRARY = ("libkairos_pl.so", "descriptor.json", "device_db.py")
"""Of each ``build/gateware/VARIANT``."""


class Contents(BuildHookInterface):
    """Adds the files, and says that libraries among them are for Linux on x86-64 (`auditwheel` says for which)."""

    def initialize(self, version, build_data):
        build = Path(self.root).parents[1] / "build"
        files = [Path("firmware", image) for image in IMAGES]
        files += [Path("gateware", variant, name) for variant in VARIANTS for name in LIBRARY]
        for file in files:
            if not (build / file).is_file():
                raise FileNotFoundError(f"{build / file}: `make wheel` builds it")
            build_data["force_include"][str(build / file)] = f"kairos_device/{file}"
        build_data["pure_python"] = False
        build_data["tag"] = "py3-none-linux_x86_64"
