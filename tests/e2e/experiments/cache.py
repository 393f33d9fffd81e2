"""The cache on the device: values outlive kernels and sessions, copies are private."""

from artiq.coredevice.exceptions import CacheError
from artiq.experiment import *
from numpy import int64


class Cache(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("core_cache")

    @kernel
    def put(self):
        print("unknown", self.core_cache.get("numbers"))
        self.core_cache.put("numbers", [1, -2, 3])
        self.core_cache.put("empty", [0][:0])
        self.core_cache.put("", [7])
        first = self.core_cache.get("numbers")
        first[0] = 100
        self.core_cache.put("numbers", [4, 5])
        print("copy", first)

    @kernel
    def get(self):
        cache = self.core_cache
        print("kept", cache.get("kept"), cache.get("numbers"), cache.get("empty"), cache.get(""))

    @kernel
    def fill(self):
        block = [0 for _ in range(1 << 18)]
        stored = 0
        try:
            for number in range(64):
                block[0] = number
                self.core_cache.put(self.names[number], block)
                stored += 1
        except CacheError:
            print("full after", stored, self.core_cache.get(self.names[stored - 1])[0])
        # Replaced values free their memory.
        for number in range(stored):
            self.core_cache.put(self.names[number], [number])
        self.core_cache.put("block", block)
        print("room", len(self.core_cache.get("block")), self.core_cache.get("numbers"))

    @kernel
    def deeper(self, n):
        values = [int64(n) for _ in range(1 << 20)]
        below = int64(0)
        if n > 0:
            below = self.deeper(n - 1)
        return values[n] + below

    @kernel
    def overflow(self):
        first = [n for n in range(1 << 20)]
        print("4 MiB and three lists of 8:", first[5] + self.deeper(2))
        # The next stack begins 4 MiB lower.
        print("and four:", self.deeper(3))

    @kernel
    def borrow(self):
        """A list got before a put is that of before, and its changes are its own."""
        self.core_cache.put("row", [1, 2, 3])
        first = self.core_cache.get("row")
        self.core_cache.put("row", [9])
        first[1] = 20
        print("borrowed", first, self.core_cache.get("row"), self.core_cache.get("never put"))
        self.core_cache.put("row", [0][:0])
        print("removed", self.core_cache.get("row"), first)

    @kernel
    def put_and_fail(self):
        self.core_cache.put("kept", [7, 8])
        raise ValueError("after the put")

    def run(self):
        self.borrow()
        try:
            self.put_and_fail()
        except ValueError:
            self.core.close()  # the next kernel is of a new session
        self.names = [f"block {n}" for n in range(64)]
        self.put()
        self.core.close()
        self.get()
        self.fill()
        try:
            self.overflow()
        except Exception as error:
            print("fault:", "stack overflow" in str(error))
        self.get()
