"""Posted stores to another board's memory, and small copies: a failure becomes an exception of the kernel that
has posted the store."""

import pytest

from tests.support.boards import MEMORY_PAIR
from tests.support.databases import REMOTE_MEMORY, two_boards
from tests.support.gateware import built

EXPERIMENT = """from artiq.coredevice.exceptions import RemoteMemoryError
from artiq.experiment import *
from numpy import int64

BUFFER = 0x0FE0_0000


class Posted(EnvExperiment):
    def build(self):
        for name in ("core", "master", "satellite"):
            self.setattr_device(name)

    def cut(self, level) -> TInt32:
        from kairos.emulator import acquire

        control = acquire(self.get_device_db()["core"]["arguments"]["host"]).control
        control.request("link", to="satellite", plugged=not level)
        return 0

    @subkernel(destination=1)
    def open(self, rights: TInt32):
        self.master.export(0, BUFFER, 0x1000, rights)

    @kernel
    def stores(self) -> TInt64:
        start = self.core.get_rtio_counter_mu()
        for n in range(16):
            self.satellite.store(BUFFER + 8 * n, n + 100)
        return self.core.get_rtio_counter_mu() - start

    @kernel
    def run(self):
        self.core.reset()
        self.open(3)
        subkernel_await(self.open)
        one_by_one = self.stores()
        self.satellite.post_stores()
        posted = self.stores()
        self.satellite.wait_stored()
        back = [0 for _ in range(32)]
        self.satellite.read(BUFFER, back)
        print("posted", back[2], back[30], 2 * posted < one_by_one)
        # A failure is found by a later access, by the wait, and when posting ends
        try:
            self.satellite.store(BUFFER + 0x2000, 1)
            for _ in range(100):
                self.satellite.load(BUFFER)
            print("not found")
        except RemoteMemoryError:
            print("found by an access")
        print("works", self.satellite.load(BUFFER + 8))
        self.satellite.store(BUFFER + 0x2000, 1)
        try:
            self.satellite.wait_stored()
            print("not found")
        except RemoteMemoryError:
            print("found by the wait")
        self.satellite.store(BUFFER + 0x2000, 1)
        try:
            self.satellite.post_stores(False)
            print("not found")
        except RemoteMemoryError:
            print("found at the end of posting")
        try:
            self.satellite.store(BUFFER + 0x2000, 1)
            print("not found")
        except RemoteMemoryError:
            print("found by the store")
        # Lists are posted, too, and their errors are those of the call
        words = [n * n for n in range(200)]
        start = self.core.get_rtio_counter_mu()
        self.satellite.write(BUFFER, words)
        took = self.core.get_rtio_counter_mu() - start
        read = [0 for _ in range(200)]
        self.satellite.read(BUFFER, read)
        print("list", read == words, took < 3 * one_by_one)
        try:
            self.satellite.write(BUFFER + 0xFF0, words)
            print("not refused")
        except RemoteMemoryError:
            print("list refused")
        print("works", self.satellite.load(BUFFER + 8))
        # Exhausted attempts
        self.satellite.post_stores()
        self.cut(1)
        try:
            self.satellite.store(BUFFER, 1)
            self.satellite.wait_stored()
            print("not found")
        except RemoteMemoryError:
            print("lost")
        self.cut(0)
        value = 0
        while value == 0:
            try:
                value = self.satellite.load(BUFFER + 12)
            except RemoteMemoryError:
                pass
        print("back", value)
        self.satellite.store(BUFFER + 0x2000, 1)
"""
SAID = [
    "posted 101 115 True",
    "found by an access",
    "works 101",
    "found by the wait",
    "found at the end of posting",
    "found by the store",
    "list True True",
    "list refused",
    "works 4",
    "lost",
    "back 9",
]


@pytest.fixture
def database(tmp_path):
    built("memory", "store")
    (system := tmp_path / "system.toml").write_text(MEMORY_PAIR)
    (path := tmp_path / "boards_device_db.py").write_text(two_boards(f"emulator://{system}") + REMOTE_MEMORY)
    return path


def test_failed_posted_store_is_an_exception_of_its_kernel(kairos, database):
    """Of the last access, too, at whose failure the kernel has ended."""
    done = kairos("run", kairos.write("", head=EXPERIMENT), device_db=database)
    assert done.stdout.splitlines()[: len(SAID)] == SAID, done.stdout + done.stderr
    assert done.returncode == 1
    text = "RemoteMemoryError: destination 1 does not export 0x0fe02000 of its memory for a store that was posted"
    assert text in done.stderr.replace("(0)", ""), done.stderr


COPY = """from artiq.experiment import *

BUFFER = 0x0FE0_0000


class Copy(EnvExperiment):
    def build(self):
        for name in ("core", "master", "satellite"):
            self.setattr_device(name)

    @subkernel(destination=1)
    def open(self):
        self.master.export(0, BUFFER, 0x8000, 3)

    @kernel
    def run(self):
        self.core.reset()
        self.open()
        subkernel_await(self.open)
        for size in [8, 512, 2048, 2056, 16384]:
            words = [size + n for n in range(size // 4)]
            back = [0 for _ in range(size // 4)]
            self.master.write(BUFFER + 0x8000, words)
            start = self.core.get_rtio_counter_mu()
            self.satellite.copy(BUFFER, BUFFER + 0x8000, size)
            took = self.core.get_rtio_counter_mu() - start
            self.satellite.read(BUFFER, back)
            print(size, back == words, took)
"""


@pytest.mark.long
def test_small_copy_takes_microseconds_from_the_first_on(kairos, database):
    done = kairos("run", kairos.write("", head=COPY), device_db=database)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split() for line in done.stdout.splitlines()[:5]]
    assert [row[:2] for row in rows] == [[str(size), "True"] for size in (8, 512, 2048, 2056, 16384)]
    assert 2000 < int(rows[0][2]) < 6000, rows
