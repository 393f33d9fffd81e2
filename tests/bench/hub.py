"""The hub with an emulated device: time of an access compared with its two parts, and the device's
cost of a batch."""

import statistics
import struct
import tempfile
import time
from functools import partial
from pathlib import Path

import grpc

import kairos.hub
from kairos.hub import Program
from tests.support.device import Device
from tests.support.hub import Hub, known
from tests.support.raw_management import Management

__all__ = ["PREFIXES", "READS", "hub_figures", "median_us"]

PREFIXES = ("hub.", "batch.")

CALLS = 200
READS = 1000
REGISTER = "rtio/outputs"
EEPROM, SWITCH, REGISTER_WITHIN = 0x50, (0x74, 4), 3
"""On the emulated board: I2C address, its switch and mask, and the location read."""
PUBLISHED = 274
"""Published microseconds for a register access through a hub over 1 Gbit/s."""
IDLE = 3.0
"""Seconds for which the idle hub is observed."""


def median_us(*works) -> float | list[float]:
    """Return the median time of a call in us; for several functions, alternately: after a pause a
    process is slow to wake, and the machine does other work."""
    times = [[] for _ in works]
    for _ in range(CALLS):
        for work, taken in zip(works, times, strict=True):
            start = time.perf_counter()
            work()
            taken.append(time.perf_counter() - start)
    medians = [1e6 * statistics.median(taken) for taken in times]
    return medians if len(works) > 1 else medians[0]


def _batch(*instructions: tuple[int, ...]) -> bytes:
    """Encode the request of a batch; each instruction is its number and its operands."""
    rows = [(number, 0, 0, 0, *operands, *[0] * (4 - len(operands))) for number, *operands in instructions]
    return b"\x86" + Management.pack(b"".join(struct.pack("<4B4I", *row) for row in rows))


def _reads(count: int, address: int) -> bytes:
    """Encode a batch that reads a register `count` times."""
    return _batch((6, count, 1), (1, address))


def _address(management, name: bytes) -> int:
    assert management.reply(b"\x85") == 2
    descriptor = management.bytes()
    at = descriptor.index(name)
    return struct.unpack_from("<I", descriptor, at - 8)[0]


def _exchange(management, request: bytes) -> bytes:
    """Return the reply to a batch."""
    assert management.reply(request) == 133
    return management.bytes()


def _processor_seconds(process) -> float:
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def hub_figures(figures):
    """A hub, one client, one device."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        device = Device(folder)
        hub = Hub(folder, {"demo": f"{device.host}:{device.ports[1380]}"})
        try:
            with kairos.hub.connect(hub.address) as lab, Management(device) as management:
                known(lab, "demo")
                _measure(figures, lab, hub, management)
            start = _processor_seconds(hub.process)
            time.sleep(IDLE)
            share = (_processor_seconds(hub.process) - start) / IDLE
            figures.add("hub.idle_cpu_share", share, "", target=0.01, source="of a core, a device connected, no client")
        finally:
            hub.close()
            device.close()
    _on_the_device(figures)


def _measure(figures, lab, hub, management):
    health = kairos.hub.client.GetMessageClass(lab._pool.FindMessageTypeByName("grpc.health.v1.HealthCheckRequest"))
    address = _address(management, b"rtio_outputs")

    exchange = partial(_exchange, management)
    demo, one = lab["demo"], _reads(1, address)
    register, scratch = (demo.registers[name] for name in (REGISTER, "scratch/word"))
    both = Program()
    both.write("scratch/word", 0xAA55)
    both.read("scratch/word")
    with grpc.insecure_channel(hub.address) as channel:
        check = channel.unary_unary("/grpc.health.v1.Health/Check", health.SerializeToString)
        echo, bare, read, write, write_and_read = median_us(
            lambda: check(health(service="device/demo")),
            lambda: exchange(one),
            register.read,
            lambda: scratch.write(0x55AA),
            lambda: demo.run(both),
        )
    figures.add(
        "hub.register_read_us",
        read,
        "us",
        target=1.2 * (echo + bare),
        baseline=echo + bare,
        source=f"one register through hub and emulated device, from Python; baseline: a bare gRPC call ({echo:.0f}) "
        f"and a bare round trip to the device ({bare:.0f}); published for a board of its own: {PUBLISHED}",
    )
    figures.add(
        "hub.register_write_us",
        write,
        "us",
        target=1.2 * (echo + bare),
        baseline=echo + bare,
        source="one register set; baseline: as of a read; published: 262",
    )
    figures.add(
        "hub.write_and_read_us",
        write_and_read,
        "us",
        target=1.2 * (echo + bare),
        baseline=read + write,
        source="a register set and read in one call, to be as fast as one; baseline: in two; published: 254",
    )
    program = Program()
    with program.loop(READS):
        program.read(REGISTER)
    figures.add(
        "hub.batch_1000_us",
        median_us(lambda: demo.run(program)),
        "us",
        target=3 * read,
        baseline=READS * read,
        source=f"{READS} accesses in one call; baseline: as many calls. Most of it is the emulator's, which clocks the "
        "register bus for each: what a device takes is batch.device_1000_us",
    )
    switch, mask = SWITCH
    i2c = _batch((7, EEPROM | 1 << 8 | 2 << 16, REGISTER_WITHIN, 0, switch | mask << 8))
    _i2c(figures, demo, exchange, echo, i2c)


def _i2c(figures, demo, exchange, echo, one):
    bare, read = median_us(lambda: exchange(one), lambda: demo.i2c.read(EEPROM, 2, REGISTER_WITHIN, SWITCH))
    figures.add(
        "hub.i2c_read_us",
        read,
        "us",
        target=1.2 * (echo + bare),
        baseline=echo + bare,
        source=f"16 bits of a chip behind a switch, set and reset; baseline: a bare gRPC call ({echo:.0f}) and the "
        f"same batch on a connection to the device ({bare:.0f}); published: 805 from a client, 257 at the endpoint",
    )


def _on_the_device(figures):
    """The device's cost of batches, by its own counters. Its time must not follow this machine's
    meanwhile."""
    with tempfile.TemporaryDirectory() as name:
        device = Device(Path(name), settings=["host_wait_ms=60000"])
        try:
            with Management(device) as management:
                _count(figures, device, management)
        finally:
            device.close()


def _count(figures, device, management):
    address = _address(management, b"rtio_outputs")

    def taken(request):
        """Return instructions of core 0, and microseconds of the device's time; the minimum of
        several."""
        counts = []
        for _ in range(5):
            before = device.control("status")
            _exchange(management, request)
            after = device.control("status")
            instructions = after["instructions"][0] - before["instructions"][0]
            counts.append((instructions, (after["time_ns"] - before["time_ns"]) / 1000))
        return [min(column) for column in zip(*counts, strict=True)]

    (one, one_us), (few, few_us), (many, _) = (taken(_reads(count, address)) for count in (1, READS, 2 * READS))
    source = "core 0, a read in a batch's loop, without what the reply's bytes cost on their way"
    figures.add("batch.instr_per_access", (many - few) / READS, "instr", source=source)
    figures.add(
        "batch.device_1000_us",
        few_us,
        "us",
        target=3 * PUBLISHED,
        baseline=one_us,
        source=f"time of the device, of 1 instruction a cycle and 72 cycles an access, from the request of {READS} "
        f"accesses to its reply; baseline: of one ({one} instructions, mostly of TCP); to be at most 3 published "
        f"accesses of {PUBLISHED}",
    )
