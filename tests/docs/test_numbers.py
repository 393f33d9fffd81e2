"""Numbers in the manual are those of the sources.

Each row quotes a page, with a placeholder for each number, and names the constant that each number is.
Numbers in generated tables need no row.
"""

import re
import tomllib
from pathlib import Path

import pytest
from kairos_gateware.variants import VARIANTS

from kairos.cli import options
from kairos.lab import notifications
from kairos.twin.sweep import task
from tests.bench.__main__ import INSTRUCTIONS

ROOT = Path(__file__).parents[2]
WORDS = dict(enumerate("no one two three four five six seven eight nine ten eleven twelve thirteen".split()))
UNITS = {"secs": 1.0, "millis": 1e-3, "micros": 1e-6}
DEFINITION = r"const {name}: [^=]+= ([^;]+);"


def contract(name: str) -> int:
    """Returns `FILE.CONSTANT` of src/contracts."""
    file, constant = name.split(".")
    return tomllib.loads((ROOT / "src" / "contracts" / f"{file}.toml").read_text())["constants"][constant]["value"]


def rust(path: str, name: str) -> float:
    """Returns a constant of a Rust file, durations in seconds."""
    found = re.search(DEFINITION.format(name=name), (ROOT / "src" / path).read_text())
    assert found, f"src/{path} has no constant {name}"
    text = found[1].replace("_", "")
    if duration := re.fullmatch(r"Duration::from(secs|millis|micros)\((\d+)\)", text):
        return int(duration[2]) * UNITS[duration[1]]
    assert re.fullmatch(r"[\da-fx+*<() .-]+", text), f"src/{path}: {name} is no arithmetic: {text}"
    return eval(text)


def python(path: str, name: str) -> float:
    """Returns a constant of a Python file."""
    found = re.search(rf"^{name} = ([\d_.e<* ]+)$", (ROOT / "src" / path).read_text(), re.MULTILINE)
    assert found, f"src/{path} has no constant {name}"
    return eval(found[1])


def emulator(name: str) -> int:
    """Returns the default of a setting of the emulator."""
    return int(re.search(rf"^ +{name}: ([\d_]+),", (ROOT / PARAMS).read_text(), re.MULTILINE)[1])


def kib(value: float) -> int:
    return int(value) >> 10


def mib(value: float) -> int:
    return int(value) >> 20


def milliseconds(value: float) -> int:
    return round(value * 1e3)


def microseconds(value: float) -> int:
    return round(value * 1e6)


def region(name: str) -> int:
    """Returns the size of a region of the memory map."""
    place = tomllib.loads((ROOT / "src" / "contracts" / "memory.toml").read_text())["regions"][name]
    return place["end"] - place["start"]


FIRMWARE, MESSAGES, INTERFACES = "docs/firmware.md", "docs/gateware/link-messages.md", "docs/interfaces.md"
BRIDGE, REMOTE = "docs/gateware/bridge.md", "docs/gateware/remote.md"
HUB, SECURITY, PLUGINS, LINUX = "docs/hub.md", "docs/hub-security.md", "docs/hub-plugins.md", "docs/hub-linux.md"
BOOT, BATCH, EMULATOR, BENCH = "docs/boot.md", "docs/batch.md", "docs/emulator.md", "docs/bench.md"
COMPILER, EXPERIMENTS, TWIN, KERNEL_CORE = (
    "docs/compiler.md",
    "docs/experiments.md",
    "docs/twin.md",
    "docs/kernel-core.md",
)
LAB, LAB_API, HUB_API, NOTIFICATIONS = "docs/lab.md", "docs/lab-api.md", "docs/hub-api.md", "docs/notifications.md"
DRTIO, FITS, SELFTEST = "docs/gateware/drtio.md", "docs/fits.md", "docs/selftest.md"
TIMER_HZ = rust("emulator/src/machine/time.rs", "CPU_HZ") / rust(
    "emulator/src/machine/time.rs", "CYCLES_PER_TIMER_TICK"
)
DEFAULTS = {option.names[0]: option.settings.get("default") for option in options.TWIN}
NEAR = "gateware/kairos_gateware/link/bridge/near.py"
PARAMS = "src/emulator/src/machine/params.rs"
ROWS = [
    (FIRMWARE, "after {} s the measurement is given up", rust("runtime/src/paths.rs", "LIMIT")),
    (FIRMWARE, "two rings of {} KiB in cached memory", kib(contract("intercore.CAPACITY"))),
    (FIRMWARE, "accepts up to {} simultaneous connections", rust("runtime/src/session.rs", "SOCKETS")),
    (FIRMWARE, "must send its greeting within {} s", rust("runtime/src/clients.rs", "GREETING_TIMEOUT")),
    (FIRMWARE, "vanishes (keep-alive, {} s)", rust("runtime/src/service.rs", "USER_TIMEOUT")),
    (FIRMWARE, "the idle kernel restarts after {} s", rust("runtime/src/session/standalone.rs", "RESTART_PAUSE")),
    (FIRMWARE, "It waits up to {} s for the links", rust("runtime/src/session/standalone.rs", "ARRIVAL_TIMEOUT")),
    (FIRMWARE, "A client that connects to TCP {} receives", contract("analyzer.PORT")),
    (FIRMWARE, "`moninj.rs` serves {} clients", rust("runtime/src/moninj.rs", "SOCKETS")),
    (FIRMWARE, "clients on TCP {}, each with up to", contract("moninj.PORT")),
    (FIRMWARE, "each with up to {} watched probes", rust("runtime/src/moninj.rs", "WATCHES")),
    (FIRMWARE, "overrides, read every {} ms", milliseconds(rust("runtime/src/moninj.rs", "INTERVAL"))),
    (FIRMWARE, "clients on TCP {}. They take turns", contract("management.PORT")),
    (FIRMWARE, "The system watchdog resets the device after {} s", rust("firmware/comms/src/watchdog.rs", "LIMIT")),
    (FIRMWARE, "without being fed, or {} s during an access", rust("firmware/comms/src/watchdog.rs", "CARD_LIMIT")),
    (FIRMWARE, "A task feeds it every {} s", rust("firmware/comms/src/watchdog.rs", "ROUND")),
    (FIRMWARE, "and to a {} KiB ring in memory", kib(rust("firmware/comms/src/logger.rs", "CAPACITY"))),
    (
        FIRMWARE,
        "Without an answer within {} ms, core 1 is reset",
        milliseconds(rust("firmware/comms/src/kernel_core.rs", "RESTART_TIMEOUT")),
    ),
    (FIRMWARE, "errors are polled every {} ms", milliseconds(rust("firmware/comms/src/gateware.rs", "POLL_INTERVAL"))),
    (
        FIRMWARE,
        "The gateware is polled every {} ms",
        milliseconds(rust("firmware/comms/src/gateware.rs", "POLL_INTERVAL")),
    ),
    (
        FIRMWARE,
        "has the gateware record from boot on, into {} KiB",
        kib(rust("firmware/comms/src/analyzer.rs", "RING")),
    ),
    (
        FIRMWARE,
        "the satellite does not answer within {} ms, they read as 0",
        milliseconds(rust("runtime/src/moninj.rs", "ANSWER_TIMEOUT")),
    ),
    (FIRMWARE, "may not pause for {} s within a value", rust("firmware/comms/src/management.rs", "DATA_TIMEOUT")),
    (
        FIRMWARE,
        "take turns (`fair_mutex.rs`) with a shared {} MiB",
        mib(rust("firmware/comms/src/management.rs", "DATA_MAX")),
    ),
    (FIRMWARE, "supplies are read every {} s from the XADC", rust("firmware/comms/src/sensors.rs", "INTERVAL")),
    (
        FIRMWARE,
        "no external clock {} s after the reset",
        rust("firmware/clocking/src/si5324/mod.rs", "INPUT_MS") / 1000,
    ),
    (FIRMWARE, "no lock within {} s,", rust("firmware/clocking/src/si5324/mod.rs", "LOCK_MS") / 1000),
    (FIRMWARE, "at the earliest {} ms after a frame", milliseconds(rust("firmware/net/src/stack.rs", "SHORTEST"))),
    (FIRMWARE, "any frame {} s after the last one handled", rust("firmware/net/src/plain.rs", "PROVEN_FOR")),
    (FIRMWARE, "core looks again {} µs later", microseconds(rust("firmware/chip/src/ethernet.rs", "GATHER"))),
    (FIRMWARE, "images next to their limits, {} KiB for", kib(INSTRUCTIONS["image.runtime_bytes"][1])),
    (FIRMWARE, "core 0's and {} KiB for core 1's", kib(INSTRUCTIONS["image.kernel_bytes"][1])),
    (INTERFACES, "The smallest supported board has {} MiB of DDR", mib(contract("memory.DDR_END"))),
    (INTERFACES, "a connected host is silent for {} s of wall-clock", emulator("host_wait_ms") / 1000),
    (COMPILER, "above {} KiB not as text into LLVM", kib(rust("compiler/src/ir/mod.rs", "FILLED"))),
    (TWIN, "(`--network`, {} µs each way by default)", int(DEFAULTS["--network"].removesuffix("us"))),
    (INTERFACES, "A ring of {} requests in cached DDR", contract("initiator.SLOTS")),
    (INTERFACES, "at most {} requests are outstanding", contract("initiator.CREDIT")),
    (INTERFACES, "has a ring of {} entries of", contract("initiator.INPUT_ENTRIES")),
    (INTERFACES, "entries of {} bytes in cached DDR", contract("initiator.INPUT_ENTRY_BYTES")),
    (INTERFACES, "(text, at most {} bytes) next to the state word", contract("intercore.REASON_MAX")),
    (INTERFACES, "its time is at least {} machine units after", rust("kernel/src/rtio/clock.rs", "MARGIN")),
    (INTERFACES, "until the end of a permit of {} cycles", rust("kernel/src/rtio/clock.rs", "PERMIT")),
    (INTERFACES, '"kind": "port_in_use", "port": {}}', contract("session.PORT")),
    (HUB, "listening on 127.0.0.1:{}", contract("hub.PORT")),
    (HUB, "| `listen` | `127.0.0.1:{}` |", contract("hub.PORT")),
    (HUB, "grpcurl -plaintext localhost:{} list", contract("hub.PORT")),
    (HUB, "core 127.0.0.1:{} demo", contract("management.PORT")),
    (HUB, "queries it every {} s, and on request", rust("hub/src/device.rs", "CHECK")),
    (HUB, "is given up after {} s", rust("hub/src/management.rs", "ANSWER_TIMEOUT")),
    (HUB, "with `UNAVAILABLE` after at most {} s", 2 * python("kairos/hub/client.py", "PING")),
    (HUB, "given up after {} s. Losing a device", rust("hub/src/management.rs", "ANSWER_TIMEOUT")),
    (
        HUB_API,
        "the experiment keeps chip select asserted for {} ms",
        round(python("gateware/kairos_gateware/phy/spi_aside.py", "WAIT_CYCLES") / 125e3),
    ),
    (HUB_API, "Period between readings, at least {} ms", milliseconds(rust("hub/src/service.rs", "PERIOD_MIN"))),
    (HUB_API, "| Polling period, at least {} ms", milliseconds(rust("hub/src/clocks/service.rs", "PERIOD_MIN"))),
    (
        HUB_API,
        "With `follow`: polling period, at least {} ms",
        milliseconds(rust("hub/src/waveforms/service.rs", "PERIOD_MIN")),
    ),
    (HUB_API, "| Timeout, at most {} minutes; 0: do not wait", rust("hub/src/clocks/service.rs", "WAIT_MAX") / 60),
    (HUB_API, "| Timeout, at most {} minutes. |", rust("hub/src/waveforms/service.rs", "WAIT_MAX") / 60),
    (
        HUB_API,
        "did not end its transaction on the I2C bus within {} ms",
        milliseconds(rust("firmware/comms/src/i2c.rs", "BUS_TIMEOUT")),
    ),
    (SECURITY, "TCP | `127.0.0.1:{}` |", contract("hub.PORT")),
    (SECURITY, "for {} days, and is revoked like any token", rust("hub/src/page/session.rs", "KEPT") / 86400),
    (SECURITY, "A connection has at most {} streams", rust("hub/src/page/live.rs", "STREAMS_MAX")),
    (SECURITY, "closed if it answers no ping for {} s", 2 * rust("hub/src/page/live.rs", "PING")),
    (SECURITY, "each of its calls at most {} KiB wait in the hub", kib(rust("hub/src/upstream.rs", "WINDOW"))),
    (SECURITY, "a request has at most {} MiB", mib(rust("hub/src/server.rs", "REQUEST_MAX"))),
    (SECURITY, "a connection {} concurrent calls", rust("hub/src/serving.rs", "STREAMS_MAX")),
    (SECURITY, "sends nothing within {} s is closed", rust("hub/src/connections.rs", "GREETING")),
    (SECURITY, "open files for the hub, and to {}; further", rust("hub/src/connections.rs", "CONNECTIONS_MAX")),
    (PLUGINS, "the plugin is killed after {} s", rust("hub/src/plugins/process.rs", "EXIT_TIMEOUT")),
    (PLUGINS, "more than {} processes | restarts", rust("hub/src/plugins/limits.rs", "PROCESSES_MAX")),
    (PLUGINS, "| restarts it after {} s, doubling", rust("hub/src/plugins/process.rs", "PAUSE_MIN")),
    (PLUGINS, "doubling each time up to {} s", rust("hub/src/plugins/process.rs", "PAUSE_MAX")),
    (PLUGINS, "has too many calls ({}, counting streams", rust("hub/src/plugins/process.rs", "CALLS_MAX")),
    (PLUGINS, "| allows {} at a time and refuses more |", rust("hub/src/access.rs", "PLUGIN_CALLS")),
    (PLUGINS, "its memory limit plus {} GiB at once", mib(rust("hub/src/plugins/limits.rs", "HEADROOM")) >> 10),
    (PLUGINS, "runs its processes at `nice` {}:", rust("hub/src/plugins/limits.rs", "NICE")),
    (PLUGINS, "reads {} KiB a second of it", kib(rust("hub/src/plugins/lines.rs", "BYTES_MAX"))),
    (PLUGINS, "Memory and processes are checked every {} s", rust("hub/src/plugins/process.rs", "CHECK")),
    (PLUGINS, "tasks are limited to {} (`pids.max`)", rust("hub/src/plugins/limits.rs", "TASKS_MAX")),
    (LINUX, "Every {} s the hub checks that its mappings", rust("hub/src/board/mod.rs", "CHECK")),
    (BOOT, "before the reset ({} s), or for the number", rust("firmware/boot/src/main.rs", "REQUESTED_WAIT")),
    (BOOT, "TCP {}, little endian", contract("netboot.PORT")),
    (BOOT, "a client that is silent for {} s is disconnected", rust("firmware/boot/src/server.rs", "SILENCE")),
    (BOOT, "`PCFG_DONE` within {} ms", milliseconds(rust("firmware/chip/src/devcfg.rs", "REACTION"))),
    (
        BOOT,
        "does not authenticate within {} s is disconnected",
        rust("firmware/comms/src/management/gate.rs", "AUTHENTICATION_TIMEOUT"),
    ),
    (BOOT, "| `auth_key` | {} to", rust("contracts/src/configuration.rs", "AUTH_KEY_MIN")),
    (BOOT, "to {} bytes: required to boot over the network", rust("contracts/src/configuration.rs", "AUTH_KEY_MAX")),
    (BOOT, "`src/kairos/network/connect.py`): for {} s", python("kairos/network/management.py", "CONNECT_TIMEOUT")),
    (BOOT, "`kairos run` for {} s", python("kairos/session/connection.py", "CONNECT_TIMEOUT")),
    (BOOT, "Refusals are considered final after {} s", python("kairos/network/connect.py", "REFUSED")),
    (BOOT, "searches in steps of {} KiB for the first image", kib(rust("emulator/src/machine/boot_rom.rs", "STEP"))),
    (BOOT, "firmware and gateware from the network, {} MiB each |", mib(region("BOOT_FIRMWARE"))),
    (BOOT, "| boot image, {} MiB including", mib(region("BOOT_IMAGE"))),
    (BOOT, "memory, at most {} KiB.", kib(region("FIRST_STAGE"))),
    (BATCH, "runs other tasks every {} instructions", rust("firmware/comms/src/batch.rs", "STRETCH")),
    (BATCH, "waits up to {} ms for its turn", milliseconds(rust("firmware/comms/src/i2c.rs", "BUS_TIMEOUT"))),
    (BATCH, "only sets levels every {} us", round(1e6 * rust("firmware/comms/src/i2c.rs", "HALF"))),
    (EMULATOR, "takes {} cycles in all (`gp_access`)", emulator("gp_access")),
    (EMULATOR, "for {} s of wall-clock time (`host_wait_ms`)", emulator("host_wait_ms") / 1000),
    (EMULATOR, "Frames reach the guest {} us (`net_latency_ns`)", emulator("net_latency_ns") / 1000),
    (EMULATOR, "at most one quantum ({} us)", emulator("quantum") / 800),
    (EMULATOR, "temperature (`--set chip_celsius`, {})", emulator("chip_celsius")),
    (BENCH, "numbers are refused: any above {},", rust("bench/src/numbers.rs", "MOST")),
    (BENCH, "for a crystal `eta` above {},", rust("bench/src/assemble/ions.rs", "MOST_ETA")),
    (BENCH, "`quanta` above {},", rust("bench/src/assemble/ions.rs", "MOST_QUANTA")),
    (BENCH, "`heating_hz` above {},", rust("bench/src/assemble/ions.rs", "MOST_HEATING_HZ")),
    (BENCH, "`linewidth_hz` above {} and", rust("bench/src/assemble/ions.rs", "MOST_LINEWIDTH_HZ")),
    (BENCH, "`coherence_s` below {}.", rust("bench/src/assemble/ions.rs", "LEAST_COHERENCE_S")),
    (BENCH, "mains above {} kHz,", rust("bench/src/assemble/detectors.rs", "MOST_MAINS_HZ") / 1000),
    (BENCH, "adds a generator (at most {} MHz)", rust("bench/src/assemble/wires.rs", "MOST_HZ") / 1e6),
    (COMPILER, "above {} MiB the least recently used", mib(python("kairos/compiler/cache.py", "LIMIT"))),
    (COMPILER, "may be nested {} levels deep", rust("compiler/src/syntax/depth.rs", "DEEPEST")),
    (
        "docs/gateware.md",
        "`~/.cache/kairos/gateware` ({} MiB,",
        mib(python("gateware/kairos_gateware/verilated/kept.py", "LIMIT")),
    ),
    ("docs/conformance.md", "a client watches at most {} probes", rust("runtime/src/moninj.rs", "WATCHES")),
    (
        "docs/conformance.md",
        "Management, sessions and analyzer accept {} clients",
        rust("firmware/comms/src/management.rs", "CLIENTS"),
    ),
    ("docs/conformance.md", "analyzer accept four clients, the monitor {};", rust("runtime/src/moninj.rs", "SOCKETS")),
    ("docs/conformance.md", "a value {} MiB; a client", mib(rust("firmware/comms/src/management.rs", "DATA_MAX"))),
    (
        EXPERIMENTS,
        "A board buffers up to {} KiB that its kernel",
        kib(rust("satman/src/kernels.rs", "QUEUE")),
    ),
    ("docs/conformance.md", "A key has at most {} bytes, a value", contract("management.KEY_MAX")),
    (
        MESSAGES,
        "a lost packet is retransmitted after {} ms",
        rust("firmware/links/src/reliable.rs", "RETRANSMIT_FIRST") / 1000,
    ),
    (MESSAGES, "10 ms, … {} ms. Each end", rust("firmware/links/src/reliable.rs", "RETRANSMIT_MAX") / 1000),
    (MESSAGES, "as both do after {} second of silence", rust("firmware/links/src/reliable.rs", "SILENCE") / 1e6),
    (MESSAGES, "every {} µs while there is traffic", microseconds(rust("firmware/comms/src/link.rs", "SHORT_PAUSE"))),
    (
        MESSAGES,
        "and every {} µs for a millisecond after",
        microseconds(rust("firmware/comms/src/link.rs", "SHORTEST_PAUSE")),
    ),
    (MESSAGES, "Each end buffers up to {} KiB until", kib(rust("satman/src/kernels.rs", "QUEUE"))),
    (MESSAGES, "does not accept its part within {} s", rust("runtime/src/session/traces.rs", "ACCEPT_TIMEOUT")),
    (DRTIO, "`echo_request` every {} ms", rust("firmware/links/src/drtio.rs", "ANSWER") / 1000),
    (DRTIO, "`echo_reply` | after {} of them", rust("firmware/links/src/drtio.rs", "ECHOES")),
    (DRTIO, "all packets are dropped | {} ms have passed", rust("firmware/links/src/drtio.rs", "ANSWER") / 1000),
    (DRTIO, "`time_ack` | after {} s:", rust("firmware/links/src/drtio.rs", "TIME_ANSWER") / 1e6),
    (DRTIO, "has not answered after {} ms reads as 0", rust("firmware/links/src/drtio.rs", "ANSWER") / 1000),
    (DRTIO, "again after a pause of {} ms", rust("firmware/links/src/drtio.rs", "ANSWER") / 1000),
    (DRTIO, "`routing_ack` for each | after {} ms", rust("firmware/links/src/drtio.rs", "ANSWER") / 1000),
    (DRTIO, "`destination_status_request` every {} ms", rust("firmware/links/src/drtio.rs", "ANSWER") / 1000),
    (DRTIO, "each millisecond, or each {} µs while", microseconds(rust("firmware/comms/src/link.rs", "SHORT_PAUSE"))),
    (DRTIO, "`kairos selftest` waits for it for {} s", python("kairos/selftest/kernels.py", "BOARD_MS") / 1000),
    (SELFTEST, "have {} s to come up", python("kairos/selftest/kernels.py", "BOARD_MS") / 1000),
    (KERNEL_CORE, "The {} MiB below the stack are unmapped", mib(region("KERNEL_GUARD"))),
    (KERNEL_CORE, "comes from {} MiB of the heap", mib(rust("kernel/src/calls/linalg.rs", "SCRATCH_BYTES"))),
    (KERNEL_CORE, "such a sleep until {} us before", rust("compiler/src/lower/polling.rs", "POLLED") / 1000),
    (
        KERNEL_CORE,
        "is measured for {} ms at reset",
        round(rust("kernel/src/rtio/clock.rs", "MEASURE") / TIMER_HZ * 1e3, 2),
    ),
    (
        KERNEL_CORE,
        "re-estimated every {} ms of use",
        round(rust("kernel/src/rtio/clock.rs", "WINDOW") / TIMER_HZ * 1e3, 1),
    ),
    (
        KERNEL_CORE,
        "µs after the end of a *permit* of {} µs",
        round(rust("kernel/src/rtio/clock.rs", "PERMIT") * 8 / 1000),
    ),
    (
        KERNEL_CORE,
        "Outputs with less than {} µs of slack are awaited",
        round(rust("kernel/src/rtio/clock.rs", "MARGIN") / 1000, 1),
    ),
    (
        BRIDGE,
        "no answer within {} cycles",
        python(NEAR, "TIMEOUT"),
    ),
    (LAB, "The journal is written {} ms after", milliseconds(python("kairos/lab/journal.py", "FLUSH"))),
    (LAB, "and synchronised every {} s, before", python("kairos/lab/journal.py", "SYNC")),
    (LAB, "appended to one dataset within {} ms", milliseconds(python("kairos/lab/journal.py", "FLUSH"))),
    (LAB, "Runs begin only while {} MiB are left", mib(python("kairos/lab/disk.py", "ROOM"))),
    (LAB, "the process is asked, after {} s gets SIGTERM", python("kairos/lab/processes.py", "GRACE")),
    (LAB, "gets SIGTERM, after {} s more SIGKILL", python("kairos/lab/processes.py", "GRACE")),
    (LAB_API, "values of more than {} KiB only as a text", kib(python("kairos/lab/rpc/values.py", "SHORT"))),
    (
        LAB_API,
        "only as a text. | | `period_ms` | 2 | `uint32` | Least time between two responses; 0: {} ms",
        milliseconds(python("kairos/lab/rpc/streams.py", "PERIOD")),
    ),
    (
        LAB_API,
        "What is fitted. | | `period_ms` | 2 | `uint32` | Least time between two responses; 0: {} ms",
        milliseconds(python("kairos/lab/rpc/streams.py", "FIT_PERIOD")),
    ),
    (LAB_API, "While it has more than {} points", python("kairos/lab/rpc/curves.py", "LONG")),
    (LAB_API, "and datasets of more than {} elements", python("kairos/lab/rpc/curves.py", "LONG")),
    (LAB_API, "A picture as PNG, at most {} MiB", mib(python("kairos/lab/logbook.py", "PICTURE"))),
    (NOTIFICATIONS, "does not answer at {} looks in a row", python("kairos/lab/watching.py", "MISSES")),
    (NOTIFICATIONS, "looks in a row, {} s apart", python("kairos/lab/watching.py", "PERIOD")),
    (NOTIFICATIONS, "is tried again after {} s,", notifications.ATTEMPTS[1]),
    (NOTIFICATIONS, "tried again after 2 s, {} s and", notifications.ATTEMPTS[2]),
    (NOTIFICATIONS, "10 s and {} minute; then", notifications.ATTEMPTS[3] / 60),
    (NOTIFICATIONS, "A connection is opened every {} s", python("kairos/lab/watching.py", "PERIOD")),
    (FITS, "of more than {} points it takes", python("kairos/lab/fits.py", "MOST")),
    (FITS, "which is ended after {} s", python("kairos/fits/process.py", "TIMEOUT")),
    (
        EXPERIMENTS,
        "left running is shown for {} ms after",
        python("kairos/emulator/process.py", "CLOCKS_ONLY_NS") / 1e6,
    ),
    (EXPERIMENTS, "A clock of more than {} edges is one line", python("kairos/waveform/recording.py", "CLOCK_CHANGES")),
    (EXPERIMENTS, "one line in the table and, above {}, a filled band", python("kairos/waveform/plot.py", "DENSE")),
    (EXPERIMENTS, "has up to {} million clock edges", python("kairos/waveform/vcd.py", "CLOCK_EDGES") / 1e6),
    (TWIN, "**{} million outputs** are recorded", rust("emulator/src/pl/sources.rs", "KEPT") >> 20),
    (TWIN, "text files of up to {} MiB each", mib(task.LARGEST)),
    (TWIN, "takes longer than `--within` ({} s)", int(DEFAULTS["--within"].removesuffix("s"))),
    (TWIN, "some 200,000; {} KiB of a kernel's data", kib(rust("emulator/src/machine/cpu/steps.rs", "DATA"))),
    (TWIN, "a kernel's data; {} KiB of its stack", kib(rust("emulator/src/machine/cpu/steps.rs", "STACK"))),
    (TWIN, "| limits | {} MiB of steps", mib(python("kairos/twin/replay.py", "STEPS"))),
    (TWIN, "pins do something else. {} MiB of kernels and answers", mib(python("kairos/session/record.py", "MOST"))),
    (TWIN, "is ended with the command, {} s later", python("kairos/twin/rehearsal.py", "STUBBORN")),
    (TWIN, "more events than the analyzer keeps ({} KiB", kib(rust("firmware/comms/src/analyzer.rs", "RING"))),
    (
        MESSAGES,
        "opens byte *streams* to services, up to {} at a time",
        rust("firmware/links/src/streams.rs", "STREAMS"),
    ),
    (MESSAGES, "how many bytes it has space for (initially {} KiB)", kib(contract("link.WINDOW"))),
    (BRIDGE, "as one contiguous range of up to {} MiB", mib(contract("remote.PAGES") * contract("remote.PAGE_BYTES"))),
    (BRIDGE, "of the place on: {} entries say", contract("remote.PAGES")),
    (BRIDGE, "for each page of {} KiB of the range", kib(contract("remote.PAGE_BYTES"))),
    (BRIDGE, "no answer within 16384 cycles ({} ms)", round(python(NEAR, "TIMEOUT") / 125e3, 2)),
    (BRIDGE, "the address of a page of {} KiB of this board", kib(contract("remote.PAGE_BYTES"))),
    (REMOTE, "copies of up to {} KiB, which take less", kib(rust("kernel/src/calls/remote.rs", "POLLED"))),
    (REMOTE, "reads descriptors from a ring of {} in memory", contract("remote.COPY_DESCRIPTORS")),
]


COMPLETE = [
    *(LAB, LAB_API, NOTIFICATIONS, HUB, HUB_API, SECURITY, PLUGINS, LINUX, FITS, SELFTEST, EXPERIMENTS),
    *(BOOT, BATCH, FIRMWARE, KERNEL_CORE, MESSAGES, DRTIO, BRIDGE, COMPILER, TWIN),
]
"""Pages on which each number with a unit has a row, but for those in blocks of code and in `ELSEWHERE`."""
QUANTITY = (
    r"(?<![\w.,-])(?:\d[\d.,]*|one|two|three|four|five|ten) (?:s|ms|us|µs|KiB|MiB|GiB|seconds?|minutes?|hours?|days?)\b"
)
ELSEWHERE = {
    LAB: ["written every 30 s | written at once"],
    HUB_API: [
        "at least 10 ms; 0: one second.",
        "Polling period, at least 100 ms; 0: one second.",
        "at least 100 ms; 0: one second. | ### `ReadW",
    ],
    SELFTEST: ["`lab` takes 4 s", "five pulses of 1 µs"],
    BOOT: ["starts at 1 MiB or later", "the boot ROM has 192 KiB for both", "every one or two seconds"],
    BATCH: [
        "210 µs, plus 80 µs to",
        "70 µs more",
        "| 1 ms more",
        "effects: 7 ms",
        "11 bytes: 1.5 ms",
        "at most 0.3 ms later",
    ],
    FIRMWARE: [
        *("`runtime.elf` at 1 MiB", "10 s plus the transfer time at 64 KiB/s", "whose chip locks 50 ms after its"),
        *(
            "takes 0.11 s longer; a real chip may need 1.2 s to",
            "for 50 ms, without",
            "for 0.15 s |",
            "and 20 ms for a reset",
        ),
        "(64 KiB larger",
    ],
    KERNEL_CORE: [
        *("The 4 KiB guard at the end of the library", "until 2 µs after", "Once in 10 µs an", "once in 10 µs |"),
        *("16.4 µs of slack, each", "8 bytes of 30 MiB", "for 25 ms. A line"),
    ],
    BRIDGE: ["takes 2.7 µs with 1 µs of fibre", "takes 2.8 µs with 1 µs of fibre", "To be kept for 1 ms, so"],
    COMPILER: ["(0.1 ms instead", "in 1 to 10 ms if", "within the 4 GiB of"],
    TWIN: ["costs 7 ms for", "process, 20 ms of processor", "20 to 50 ms for a", "value (120 ms) are"],
    DRTIO: ["take about 0.2 ms for", "is unreachable after 600 ms"],
}
"""Numbers with a unit that are measured, of a standard or another program, or follow from several constants."""


def numbers(page: str, sentence: str) -> list[str]:
    """Returns what stands at the placeholder in each place of a page that reads like the sentence."""
    text = re.sub(r"\s+", " ", (ROOT / page).read_text())
    return re.findall(r"([\w.,-]*\w)".join(re.escape(part) for part in sentence.split("{}", 1)), text)


@pytest.mark.parametrize("page, sentence, value", ROWS, ids=[f"{page}: {sentence}" for page, sentence, _ in ROWS])
def test_number_in_manual_is_that_of_the_sources(page, sentence, value):
    found = numbers(page, sentence)
    assert found, f"{page} does not say: {sentence}"
    said = {WORDS.get(value) == text.lower() or float(text.replace(",", "")) == value for text in found}
    assert said == {True}, f"{page}, {sentence!r}: {found}, but it is {value:g}"


def test_systems_in_interfaces_are_those_of_the_emulator():
    files = {path.stem for path in (ROOT / "src" / "emulator" / "src" / "host").glob("*.toml")}
    (named,) = re.findall(r"--system FILE\.toml\|(\S+)", (ROOT / INTERFACES).read_text())
    assert set(named.split("|")) == files


def test_variants_in_gateware_page_are_those_of_the_sources():
    (row,) = re.findall(
        r"^\| `variants` \| variants (.*?) \|", (ROOT / "docs" / "gateware.md").read_text(), re.MULTILINE
    )
    assert sorted(re.findall(r"`(\w+)`", row)) == sorted(VARIANTS)


def test_register_blocks_in_interfaces_are_those_of_the_gateware():
    section = (ROOT / INTERFACES).read_text().split("\n## 4. ")[1].split("\n## ")[0]
    named = [
        name for row in re.findall(r"^\| (`.*?) \|", section, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)
    ]
    written = "".join(path.read_text() for path in (ROOT / "docs" / "gateware").glob("*.md"))
    assert sorted(named) == sorted(re.findall(r"<!-- registers of (\w+) -->", written))


@pytest.mark.parametrize("page", COMPLETE)
def test_number_with_unit_in_manual_has_a_row(page):
    text = re.sub(r"^```.*?^```", "", (ROOT / page).read_text(), flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"\s+", " ", text)
    rows = [re.escape(sentence).replace(r"\{\}", r"[\w.,-]*\w") for of, sentence, _ in ROWS if of == page]
    known = [found.span() for row in rows for found in re.finditer(row, text)]
    known += [(text.index(part), text.index(part) + len(part)) for part in ELSEWHERE.get(page, ())]
    missing = [
        text[found.start() - 60 : found.end() + 30]
        for found in re.finditer(QUANTITY, text)
        if not any(start <= found.start() < end for start, end in known)
    ]
    assert missing == [], "add a row, or say why it is no constant"
