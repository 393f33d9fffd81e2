from artiq.coredevice.exceptions import RemoteMemoryError
from artiq.experiment import *

from kairos.coredevice.remote_memory import ADDER_BYTES, BLOCK, BUFFER, FIRST, READ, READ_WRITE, SUMS


class RemoteBlock(EnvExperiment):
    """Three boards in a chain, the last of which has a vector adder in its logic: kernels of all of them use it."""

    def build(self):
        for name in ("core", "master", "relay", "satellite", "adder", "own_adder"):
            self.setattr_device(name)

    @subkernel(destination=2)
    def show(self, first: TInt32, size: TInt32, rights: TInt32, only: TBool):
        self.master.show(0, first, BLOCK + first, size, rights, only)

    @subkernel(destination=2)
    def beyond(self) -> TInt32:
        """Regions that would show more than the block has."""
        refused = 0
        for first, size in [(BLOCK, ADDER_BYTES + 8), (BLOCK + ADDER_BYTES, 8), (BLOCK - 8, 16)]:
            try:
                self.master.show(0, 0, first, size)
            except RemoteMemoryError:
                refused += 1
        try:
            self.master.export(0, BLOCK, ADDER_BYTES)
        except RemoteMemoryError:
            refused += 1
        return refused

    @subkernel(destination=2)
    def at_home(self) -> TInt32:
        """The adder's own board."""
        got = [0 for _ in range(3)]
        self.own_adder.begin([1, 2, 3], [40, 50, 60])
        self.own_adder.sums(got)
        refused = 0
        # A store of a sum, no register, beyond the block; a store to another board is for that one
        for address in [BLOCK + SUMS, BLOCK + 16, BLOCK + ADDER_BYTES]:
            try:
                self.own_adder.store(address, 1)
            except RemoteMemoryError:
                refused += 1
        self.master.store(BUFFER, 77)
        self.own_adder.store(BLOCK + FIRST + 40, 8)
        return got[0] + got[1] + got[2] + 1000 * refused + 10000 * self.own_adder.load(BLOCK + FIRST + 40)

    @subkernel(destination=1)
    def between(self) -> TInt32:
        """The board between, which has no such block."""
        got = [0 for _ in range(5)]
        try:
            self.master.show(0, 0, BLOCK, 8)
            return -1
        except RemoteMemoryError:
            pass
        self.adder.begin([n for n in range(5)], [10 * n for n in range(5)])
        self.adder.sums(got)
        return got[4]

    @kernel
    def attempt(self, text, address, store):
        try:
            if store:
                self.adder.store(address, 1)
            else:
                self.adder.load(address)
            print(text, "done")
        except RemoteMemoryError:
            print(text, "refused")

    @kernel
    def opened(self, first, size, rights, only):
        self.show(first, size, rights, only)
        subkernel_await(self.show)

    @kernel
    def run(self):
        self.core.reset()
        self.beyond()
        print("beyond", subkernel_await(self.beyond))
        sums = [0 for _ in range(33)]
        self.attempt("not shown", 0, False)
        self.opened(0, ADDER_BYTES, READ_WRITE, False)
        # By stores and loads, posted as well, through the board between
        for posts in range(2):
            self.adder.post_stores(posts == 1)
            first, second = [n * n + posts for n in range(33)], [-7 * n for n in range(33)]
            self.adder.begin(first, second)
            self.adder.sums(sums)
            print("sums", sums == [n * n + posts - 7 * n for n in range(33)])
        self.adder.post_stores(False)
        # By copies of the engine
        self.master.write(BUFFER, [3 * n for n in range(511)])
        self.master.write(BUFFER + 0x1000, [1000000 - n for n in range(511)])
        self.adder.begin_copies(BUFFER, BUFFER + 0x1000, 511)
        self.adder.fetch_sums(BUFFER + 0x2000, 511)
        got = [0 for _ in range(511)]
        self.master.read(BUFFER + 0x2000, got)
        print("copied", got == [1000000 + 2 * n for n in range(511)])
        self.between()
        print("from the board between", subkernel_await(self.between))
        self.relay.export(0, BUFFER, 0x1000)
        self.at_home()
        print("at home", subkernel_await(self.at_home), self.master.load(BUFFER))
        self.attempt("no register", 16, False)
        self.attempt("a store of a sum", SUMS, True)
        try:
            self.adder.copy(SUMS, BUFFER, 16)
        except RemoteMemoryError:
            print("a copy to sums")
        # A part, for reading
        self.opened(SUMS, 0x1000, READ, False)
        print("a part", self.adder.load(SUMS))
        self.attempt("read only", SUMS, True)
        self.attempt("not shown", FIRST, False)
        try:
            self.adder.begin_copies(BUFFER, BUFFER, 2)
        except RemoteMemoryError:
            print("a copy refused")
        self.adder.fetch(SUMS, BUFFER + 8, 8)
        print("fetched", self.master.load(BUFFER + 8))
        # For the master only
        self.opened(0, ADDER_BYTES, READ_WRITE, True)
        self.adder.begin([20], [22])
        self.adder.wait()
        print("only", self.adder.load(SUMS))
        try:
            self.between()
            subkernel_await(self.between)
        except RemoteMemoryError:
            print("not for the board between")
        self.adder.begin_copies(BUFFER, BUFFER, 1025)
