"""Shared fixtures: verilated variants, rebuilt if outdated; and what keeps Migen quick in tests: its state is cleaned
after simulations, and tests and fixtures run on a short stack.

Migen names a signal after all functions that are running when it is made. Below pytest's forty, a large design takes
three times as long as by itself: so each test and fixture runs in a thread of its own, on whose stack nothing else is.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from _pytest import fixtures, python
from migen.fhdl import tracer
from migen.sim import core as simulation

from kairos_gateware import build
from kairos_gateware.descriptor import Descriptor
from kairos_gateware.verilated.library import Library, Ps


def _on_short_stack(function, *arguments):
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(function, *arguments).result()


@pytest.hookimpl(tryfirst=True)
def pytest_fixture_setup(fixturedef, request):
    return _on_short_stack(fixtures.pytest_fixture_setup, fixturedef, request)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    return _on_short_stack(python.pytest_pyfunc_call, pyfuncitem)


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
