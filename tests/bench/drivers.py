"""Instructions of the kernel core that methods of drivers cost, one to a cycle."""

from tests.support.experiment import experiment

FEW, MANY = 10, 50
"""Rounds of the two runs compared: their difference is free of what comes before and after."""
METHODS = {
    ("kernels", "Drivers"): ("ttl_on", "ttl_pulse", "clockgen_set", "gate_rising", "count", "count_none"),
    ("cards", "Cards"): ("ad9910_set", "ad9910_set_mu", "urukul_cfg_sw", "zotino_write_dac", "fastino_set_dac"),
}
"""Kernels that are measured, by file in this folder and class."""


def settled(control) -> int:
    """Instructions of the kernel core so far, once both cores sleep."""
    assert control.wait("idle") == "idle"
    return control.status()["instructions"][1]


def driver_counts() -> dict[str, float]:
    """Instructions that each kernel of `METHODS` takes for one round, by figure."""
    from kairos.emulator import acquire

    emulator = acquire("emulator://demo")
    counts = {}
    try:
        for file, class_name, method in ((*place, method) for place, methods in METHODS.items() for method in methods):
            drivers = experiment(f"tests/bench/{file}.py", class_name)
            run = drivers.core.precompile(getattr(type(drivers), method), drivers)
            spent = {}
            for drivers.number in (FEW, FEW, MANY):  # the first run also sets up what all share
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
