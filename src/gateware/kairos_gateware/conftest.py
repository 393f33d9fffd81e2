"""Shared fixtures: the shared library of variant `demo`, built if it is not up to date."""

import os
from pathlib import Path

import pytest

from kairos_gateware import build
from kairos_gateware.descriptor import Descriptor
from kairos_gateware.sim.library import Library, Ps


@pytest.fixture(scope="session")
def library():
    root = Path(os.environ.get("KAIROS_BUILD", Path(__file__).parents[3] / "build"))
    output = root / "gateware" / "demo"
    assert build.main(["--variant", "demo", "--board", "sim", "--output", str(output)]) == 0
    return Library(output / "libkairos_pl.so")


@pytest.fixture(scope="session")
def registers(library):
    """Register addresses by name, as the device itself tells them."""
    ps = Ps(library)
    found = Descriptor.from_bytes(ps.read_descriptor()).registers
    ps.close()
    return {register.name: register.address for register in found}


@pytest.fixture(scope="session")
def boot(library, registers):
    """Makes a `Ps` that has done what the firmware does at boot."""

    def make(**options):
        ps = Ps(library, **options)
        ps.write(registers["rtio_phy_reset"], 0)
        ps.write(registers["initiator_ring"], Ps.BASE)
        ps.use_input_rings(registers["initiator_input_ring"])
        ps.write(registers["initiator_enable"], 1)
        for _ in range(10):
            ps.step()
        ps.changes.clear()
        return ps

    return make
