"""Shared fixtures: verilated variants, rebuilt if outdated, and cleanup of Migen's
state after simulations."""

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from migen.fhdl import tracer
from migen.sim import core as simulation

from kairos_gateware import build
from kairos_gateware.descriptor import Descriptor
from kairos_gateware.verilated.library import Library, Ps


@dataclass(frozen=True)
class Built:
    """A verilated variant. registers: addresses by name, read from the device's descriptor."""

    library: Library
    registers: dict[str, int]

    def boot(self, kind=Ps, **options):
        """Returns a `Ps` (or its subclass `kind`) after the firmware's boot sequence. The caller
        must close it."""
        ps = kind(self.library, **options)
        ps.write(self.registers["rtio_phy_reset"], 0)
        ps.write(self.registers["initiator_ring"], Ps.BASE)
        ps.use_input_rings(self.registers["initiator_input_ring"])
        ps.write(self.registers["initiator_enable"], 1)
        for _ in range(10):
            ps.step()
        ps.changes.clear()
        return ps


@cache
def _built(variant: str) -> Built:
    root = Path(os.environ.get("KAIROS_BUILD", Path(__file__).parents[3] / "build"))
    output = root / "gateware" / variant
    assert build.main(["--variant", variant, "--board", "sim", "--output", str(output)]) == 0
    library = Library(output / "libkairos_pl.so")
    ps = Ps(library)
    registers = Descriptor.from_bytes(ps.read_descriptor()).registers
    ps.close()
    return Built(library, {register.name: register.address for register in registers})


@pytest.fixture(scope="session")
def built():
    """Returns a function that maps a variant's name to its `Built`."""
    return _built


@pytest.fixture(scope="session")
def library(built):
    return built("demo").library


@pytest.fixture(scope="session")
def registers(built):
    return built("demo").registers


@pytest.fixture(scope="session")
def boot(built):
    return built("demo").boot


@pytest.fixture(scope="session", autouse=True)
def discard_simulated_designs():
    """Deletes the objects that Migen keeps for naming signals. They hold every design ever built:
    gigabytes in these tests, with naming ever slower. They are not needed after a simulation.
    """
    close = simulation.Simulator.close

    def close_and_discard(simulator):
        close(simulator)
        tracer.classname_to_objs.clear()
        tracer.name_to_idx.clear()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulation.Simulator, "close", close_and_discard)
        yield


@pytest.fixture(autouse=True)
def discard_converted_designs():
    yield
    tracer.classname_to_objs.clear()
    tracer.name_to_idx.clear()
