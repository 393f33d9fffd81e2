"""Instructions of the kernel core for driver methods, one per cycle."""

from tests.support.experiment import experiment

FEW, MANY = 10, 50
"""Rounds of the two runs compared: their difference excludes setup and teardown."""
METHODS = {
    ("kernels", "Drivers"): ("ttl_on", "ttl_pulse", "clockgen_set", "gate_rising", "count", "count_none"),
    ("cards", "Cards"): ("ad9910_set", "ad9910_set_mu", "urukul_cfg_sw", "zotino_write_dac", "fastino_set_dac"),
}
"""Measured kernels, by file in this directory and class."""


def settled(control) -> int:
    """Return the instructions of the kernel core so far, once both cores sleep."""
    assert control.wait("idle") == "idle"
    return control.status()["instructions"][1]


def driver_counts() -> dict[str, float]:
    """Return the instructions of each kernel of `METHODS` per round, by figure."""
    from kairos.emulator import acquire

    emulator = acquire("emulator://demo")
    counts = {}
    try:
        for file, class_name, method in ((*place, method) for place, methods in METHODS.items() for method in methods):
            drivers = experiment(f"tests/bench/{file}.py", class_name)
            run = drivers.core.precompile(getattr(type(drivers), method), drivers)
            spent = {}
            for drivers.number in (FEW, FEW, MANY):  # the first run also includes common setup
                before = settled(emulator.control)
                run()
                spent[drivers.number] = settled(emulator.control) - before
            counts[method] = (spent[MANY] - spent[FEW]) / (MANY - FEW)
            drivers.core.close()
    finally:
        emulator.stop()
    counts["count"] -= counts.pop("count_none")
    return {f"driver.{method}_instr": count for method, count in counts.items()}


if __name__ == "__main__":
    for name, value in driver_counts().items():
        print(f"{name:32} {value:10.6g}")
