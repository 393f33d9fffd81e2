"""Instructions of the kernel core for functions and operations on arrays, one per cycle."""

from tests.support.experiment import experiment

from .drivers import settled

CLOCK = 0.8
"""Cycles per nanosecond of the processor measured in the paper, which is also the emulated one."""
ELEMENTS = 10_000
"""Size of the arrays that functions are applied to."""
FEW, MANY = 1, 3
"""Rounds of the two runs compared: their difference excludes setup and teardown."""
FUNCTIONS = {
    # name: (method of kernels.Arrays, nanoseconds per element in the paper)
    "math.sin": ("sin", 169),
    "math.cos": ("cos", 169),
    "math.tan": ("tan", 279),
    "math.asin": ("asin", 737),
    "math.acos": ("acos", 729),
    "math.atan": ("atan", 169),
    "math.exp": ("exp", 184),
    "math.log": ("log", 190),
    "math.sqrt": ("sqrt", 44),
}
OPERATIONS = {
    # name: (method of kernels.Arrays, type of the elements, nanoseconds in the paper)
    "np.add_4096_int32": ("add", "int32", 11_485),
    "np.add_4096_int64": ("add", "int64", 23_414),
    "np.add_4096_float": ("add", "float64", 40_011),
    "np.dot_4096_int32": ("dot", "int32", 8_212),
    "np.dot_4096_int64": ("dot", "int64", 90_636),
    "np.dot_4096_float": ("dot", "float64", 31_543),
    "np.matmul_64_int32": ("matmul", "int32", 1_389_867),
    "np.matmul_64_int64": ("matmul", "int64", 4_352_468),
    "np.matmul_64_float": ("matmul", "float64", 2_118_920),
}


def array_counts(wanted=lambda name: True) -> dict[str, float]:
    """Return the instructions of each function of `FUNCTIONS` per element, and of each of
    `OPERATIONS`, by figure."""
    from kairos.emulator import acquire

    emulator = acquire("emulator://demo")
    counts = {}
    rows = {name: (method, "float64", ELEMENTS) for name, (method, _) in FUNCTIONS.items()}
    rows |= {name: (method, kind, 1) for name, (method, kind, _) in OPERATIONS.items()}
    try:
        for name, (method, kind, count) in rows.items():
            if not wanted(name):
                continue
            arrays = experiment("tests/bench/kernels.py", "Arrays")
            arrays.prepare_arrays(kind)
            run = arrays.core.precompile(getattr(type(arrays), method), arrays)
            spent = {}
            for arrays.number in (FEW, FEW, MANY):  # the first run also includes common setup
                before = settled(emulator.control)
                run()
                spent[arrays.number] = settled(emulator.control) - before
            counts[name] = (spent[MANY] - spent[FEW]) / (MANY - FEW) / count
            arrays.core.close()
    finally:
        emulator.stop()
    return counts


def array_figures(figures):
    """Functions and operations on arrays, compared with the reference on a board."""
    papers = {name: ns * CLOCK for name, (_, ns) in FUNCTIONS.items()}
    papers |= {name: ns * CLOCK for name, (*_, ns) in OPERATIONS.items()}
    for name, value in array_counts(lambda name: name.startswith(figures.prefixes)).items():
        what = f"an element of {ELEMENTS}" if name in FUNCTIONS else "the whole operation"
        source = f"core 1, {what}; baseline: the paper's time at 800 MHz, target: half of it"
        figures.add(name, value, "instr", target=papers[name] / 2, baseline=papers[name], source=source)


if __name__ == "__main__":
    for name, value in array_counts().items():
        print(f"{name:32} {value:10.6g}", flush=True)
