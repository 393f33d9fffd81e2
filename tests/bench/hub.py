"""The hub before an emulated device: what an access through it takes beside its two parts, and what a batch costs the
device."""

import statistics
import struct
import tempfile
import time
from pathlib import Path

import grpc

import kairos.hub
from kairos.hub import Program
from tests.support.device import Device
from tests.support.hub import Hub, known
from tests.support.raw_management import Management

__all__ = ["PREFIXES", "hub_figures"]

PREFIXES = ("hub.", "batch.")

CALLS = 500
READS = 1000
REGISTER = "rtio/outputs"
IDLE = 3.0
"""Seconds for which the hub is watched while nobody asks."""


def _median_us(work) -> float:
    """Time of a call in us, the median of many."""
    times = []
    for _ in range(CALLS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1e6 * statistics.median(times)


def _reads(count: int, address: int) -> bytes:
    """The request of a batch, as it stands on the wire, that reads a register so often."""
    program = struct.pack("<4B4I", 6, 0, 0, 0, count, 1, 0, 0) + struct.pack("<4B4I", 1, 0, 0, 0, address, 0, 0, 0)
    return b"\x86" + Management.pack(program)


def _address(management, name: bytes) -> int:
    assert management.reply(b"\x85") == 2
    descriptor = management.bytes()
    at = descriptor.index(name)
    return struct.unpack_from("<I", descriptor, at - 8)[0]


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
                _measure(figures, lab, hub, device, management)
            start = _processor_seconds(hub.process)
            time.sleep(IDLE)
            share = (_processor_seconds(hub.process) - start) / IDLE
            figures.add("hub.idle_cpu_share", share, "", target=0.01, source="of a core, a device connected, no client")
        finally:
            hub.close()
            device.close()


def _measure(figures, lab, hub, device, management):
    health = kairos.hub.client.GetMessageClass(lab._pool.FindMessageTypeByName("grpc.health.v1.HealthCheckRequest"))
    address = _address(management, b"rtio_outputs")

    def exchange(request):
        assert management.reply(request) == 133
        return management.bytes()

    with grpc.insecure_channel(hub.address) as channel:
        check = channel.unary_unary("/grpc.health.v1.Health/Check", health.SerializeToString)
        echo = _median_us(lambda: check(health(service="device/demo")))
    one = _reads(1, address)
    bare = _median_us(lambda: exchange(one))
    register = lab["demo"].registers[REGISTER]
    read = _median_us(register.read)
    figures.add(
        "hub.register_read_us",
        read,
        "us",
        target=1.2 * (echo + bare),
        baseline=echo + bare,
        source=f"one register through hub and emulated device, from Python; baseline: a bare gRPC call ({echo:.0f}) "
        f"and a bare round trip to the device ({bare:.0f}); published for a board of its own: 274",
    )
    scratch = lab["demo"].registers["scratch/word"]
    write = _median_us(lambda: scratch.write(0x55AA))
    figures.add(
        "hub.register_write_us",
        write,
        "us",
        target=1.2 * (echo + bare),
        baseline=echo + bare,
        source="one register set; baseline: as of a read; published: 262",
    )
    both = Program()
    both.write("scratch/word", 0xAA55)
    both.read("scratch/word")
    figures.add(
        "hub.write_and_read_us",
        _median_us(lambda: lab["demo"].run(both)),
        "us",
        target=1.2 * (echo + bare),
        baseline=read + write,
        source="a register set and read in one call; baseline: in two; published: 254",
    )
    program = Program()
    with program.loop(READS):
        program.read(REGISTER)
    demo = lab["demo"]
    figures.add(
        "hub.batch_1000_us",
        _median_us(lambda: demo.run(program)),
        "us",
        target=3 * read,
        baseline=READS * read,
        source=f"{READS} accesses in one call; baseline: as many calls",
    )

    def instructions(request):
        before = device.control("status")["instructions"][0]
        exchange(request)
        return device.control("status")["instructions"][0] - before

    many, few = (statistics.median(instructions(_reads(count, address)) for _ in range(5)) for count in (2000, 1000))
    source = "core 0, a read in a batch's loop, without what the reply's bytes cost on their way"
    figures.add("batch.instr_per_access", (many - few) / 1000, "instr", source=source)
