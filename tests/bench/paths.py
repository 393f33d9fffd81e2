"""Paths between processors, memory and logic of the emulated device (`kairos device paths`),
compared with the paper's medians (docs/gateware/data-paths.md)."""

from kairos.emulator import Emulator, Options
from kairos.network.management import PORT, Management
from kairos.network.paths import Path, Series

PREFIXES = ("paths.",)
PORT_MB_S = 1000
"""8 bytes at 125 MHz."""
PAPER_SHARE = 10.5 / (32 * 0.333)
"""Fraction of the paper's 256-bit port at 333 MHz."""

TIMES = {
    "register_write_ns": (Path.REGISTER_WRITE, 0, 350, "AXI-Lite at 100 MHz, one way"),
    "register_read_ns": (Path.REGISTER_READ, 0, 350, "AXI-Lite at 100 MHz, one way"),
    "emio_write_ns": (Path.LINES_WRITE, 0, 90, "EMIO, to the logic"),
    "emio_read_ns": (Path.LINES_READ, 0, 280, "EMIO, from the logic"),
    "emio_handshake_ns": (Path.LINES_HANDSHAKE, 0, 370, "EMIO, both ways"),
    "request_ns": (Path.REQUEST, 0, 370, "EMIO, both ways"),
    "hp_read_32_ns": (Path.STREAM_FROM_MEMORY, 32, 1820, "DMA of 32 bytes, started by the RPU"),
    "message_to_kernel_8_ns": (Path.MESSAGE_TO_KERNEL, 8, 2200, "RPMsg, APU to RPU"),
    "message_to_kernel_4096_ns": (Path.MESSAGE_TO_KERNEL, 4096, 126_000, "RPMsg, APU to RPU"),
    "message_to_comms_8_ns": (Path.MESSAGE_TO_COMMS, 8, 29_000, "RPMsg, RPU to APU"),
    "message_to_comms_4096_ns": (Path.MESSAGE_TO_COMMS, 4096, 160_000, "RPMsg, RPU to APU"),
}
WORST = {
    "request_99_ns": (Path.REQUEST, 0),
    "hp_read_32_99_ns": (Path.STREAM_FROM_MEMORY, 32),
    "hp_write_32_99_ns": (Path.STREAM_TO_MEMORY, 32),
    "message_to_kernel_8_99_ns": (Path.MESSAGE_TO_KERNEL, 8),
    "message_to_comms_8_99_ns": (Path.MESSAGE_TO_COMMS, 8),
}
SEED = 1
SHARES = {"hp_read_share": Path.STREAM_FROM_MEMORY, "hp_write_share": Path.STREAM_TO_MEMORY}


def path_figures(figures):
    """Measure the figures; the gateware `pulse` must be built."""
    _medians(figures)
    _worst(figures)


def _worst(figures):
    """What 99 % of a thousand trials do not exceed, with disturbances."""
    emulator = Emulator("pulse", Options(forward={PORT: 0}, settings={"quantum": 100, "disturbances": SEED}))
    try:
        with Management("127.0.0.1", emulator.port(PORT)) as management:
            for name, (path, size) in WORST.items():
                found = Series.read(path, size, management.measure(path, size, 1000)).time_ns()
                source = f"99 % of 1000 trials, of {found.min:.0f} to {found.max:.0f} ns, with assumed disturbances"
                figures.add(f"paths.{name}", found.percentile_99, "ns", source=source)
    finally:
        emulator.stop()


def _medians(figures):
    emulator = Emulator("pulse", Options(forward={PORT: 0}, settings={"quantum": 100}))
    try:
        with Management("127.0.0.1", emulator.port(PORT)) as management:

            def series(path, size, trials):
                return Series.read(path, size, management.measure(path, size, trials))

            for name, (path, size, baseline, what) in TIMES.items():
                median = series(path, size, 100).time_ns().median
                figures.add(
                    f"paths.{name}", median, "ns", baseline=baseline, source=f"median; baseline: the paper, {what}"
                )
            writes = series(Path.STREAM_TO_MEMORY, 32, 100)
            figures.add(
                "paths.hp_write_32_ns",
                writes.logic_ns()[1].median,
                "ns",
                baseline=136,
                source="in the logic, median; baseline: the paper, smallest payload",
            )
            for name, path in SHARES.items():
                share = series(path, 1 << 20, 3).throughput().median / PORT_MB_S
                source = "throughput of 1 MiB by what the port has, 1000 MB/s; baseline: the paper's 10.5 of 10.66 GB/s"
                figures.add(f"paths.{name}", share, "", baseline=round(PAPER_SHARE, 3), source=source)
    finally:
        emulator.stop()
