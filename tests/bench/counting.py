"""Instructions of the emulated cores for a task, one per cycle; repeated runs differ by about 1 %."""

import struct
import tempfile
from pathlib import Path

from tests.support.device import Device
from tests.support.paths import BUILD, KERNELS
from tests.support.raw_session import Session
from tests.support.waiting import settled

MEBIBYTE = 1 << 20
CALLS, PARTS, OUTPUTS = 100, 64, 200
PART = 1 << 16
"""Bytes of an asynchronous call of the kernel `bench`."""


class Bench:
    """A session that runs the kernel `bench`, which asks the host for its next task."""

    def __init__(self, device):
        self.device = device
        self.session = Session(device)
        assert self.session.load((KERNELS / "bench.elf").read_bytes()) is None
        self.session.run()
        self.expect(1)

    def expect(self, service):
        """Read the next call, which must be synchronous and of this service."""
        self.session.message(10)
        request = self.session.request()
        assert (request.is_async, request.service) == (False, service), request
        return request

    def answer(self, value):
        self.session.reply(b"i", struct.pack("<i", value))

    def measure(self, task, count, host) -> list[int]:
        """Return the instructions of [core 0, core 1] from the order of a task until the kernel
        asks for the next one."""
        before = settled(self.device)
        self.answer(task | count << 8)
        host()
        self.expect(1)
        after = settled(self.device)
        return [b - a for a, b in zip(before, after, strict=True)]

    def calls(self):
        for index in range(CALLS):
            assert self.expect(4).arguments == [index]
            self.answer(index)

    def give(self, size):
        assert len(self.expect(2).arguments[0]) == size
        self.session.reply(b"n", b"")

    def take(self):
        self.expect(3)
        self.session.reply(b"li", struct.pack("<I", MEBIBYTE // 4) + bytes(range(256)) * (MEBIBYTE // 256))

    def receive_async(self):
        for _ in range(PARTS):
            self.session.message(10)
            request = self.session.request()
            assert request.is_async and len(request.arguments[0]) == PART

    def close(self):
        self.answer(0)
        assert self.session.until_end() == ([], None)
        self.session.close()


def kernel_start(device) -> list[int]:
    """Return the instructions from the upload of a 10 kB library to the kernel's first instruction."""
    library = (KERNELS / "standstill.elf").read_bytes()
    session = Session(device)
    before = settled(device)
    assert session.load(library) is None
    session.run()
    after = settled(device)
    session.close()
    return [b - a for a, b in zip(before, after, strict=True)]


def upload(device) -> int:
    """Return the instructions of core 0 to receive 4 MiB that are not a library."""
    with Session(device) as session:
        before = settled(device)
        assert "parse error" in session.load(bytes(4 * MEBIBYTE))
        return settled(device)[0] - before[0]


def all_counts() -> dict[str, float]:
    """Return all counted figures, by name."""
    with tempfile.TemporaryDirectory() as directory:
        device = Device(Path(directory))
        try:
            bench = Bench(device)
            none = sum(bench.measure(9, 0, lambda: None))
            calls = sum(bench.measure(1, CALLS, bench.calls)) - none
            asynchronous = sum(bench.measure(5, PARTS, bench.receive_async))
            given = bench.measure(2, 0, lambda: bench.give(MEBIBYTE))
            given_list = sum(bench.measure(3, 0, lambda: bench.give(MEBIBYTE // 4)))
            taken = sum(bench.measure(4, 0, bench.take))
            # The difference of two loops: one output, without setup and teardown.
            outputs = [bench.measure(6, count, lambda: None)[1] for count in (OUTPUTS, 2 * OUTPUTS)]
            bench.close()
            return {
                "rpc.roundtrip_instr": calls / CALLS,
                "rpc.async_instr_per_byte": asynchronous / (PARTS * PART),
                "rpc.bytes_d2h_instr_per_byte": sum(given) / MEBIBYTE,
                "rpc.list_i32_d2h_instr_per_byte": given_list / MEBIBYTE,
                "rpc.list_i32_h2d_instr_per_byte": taken / MEBIBYTE,
                "tcp.tx_instr_per_byte": given[0] / MEBIBYTE,
                "tcp.rx_instr_per_byte": upload(device) / (4 * MEBIBYTE),
                "kernel.start_instr": sum(kernel_start(device)),
                "rtio.output_instr": (outputs[1] - outputs[0]) / OUTPUTS,
            }
        finally:
            device.close()


def image_sizes() -> dict[str, int]:
    """Return the loaded bytes of the images: of the kernel core, and of the runtime, which contains
    it."""
    runtime = (BUILD / "firmware" / "runtime.elf").read_bytes()
    (start,) = struct.unpack_from("<I", runtime, 28)
    entry_size, entries = struct.unpack_from("<HH", runtime, 42)
    headers = [struct.unpack_from("<8I", runtime, start + index * entry_size) for index in range(entries)]
    return {
        "image.kernel_bytes": (BUILD / "firmware" / "kernel.bin").stat().st_size,
        "image.runtime_bytes": sum(header[4] for header in headers if header[0] == 1),
    }


if __name__ == "__main__":
    for name, value in (all_counts() | image_sizes()).items():
        print(f"{name:32} {value:10.6g}")
