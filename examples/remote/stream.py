"""The STREAM benchmark over the memory of another board: copy, scale, add and triad of vectors of 32-bit integers."""

import numpy as np
from artiq.experiment import *
from numpy import int32

from kairos.coredevice.remote_memory import BUFFER

VECTORS = (BUFFER, BUFFER + 0x4000, BUFFER + 0x8000)
"""Addresses of the vectors a, b and c on the satellite."""
OWN_BUFFER = BUFFER
"""Address of the blocks of this board on which the engine works, of which there are three."""
BLOCK = 256
"""Numbers in such a block."""
Q = 3
OPERATIONS = ("copy", "scale", "add", "triad")
MOVED = (2, 2, 3, 3)
"""Vectors that each operation reads or writes."""
WAYS = ("single loads and stores", "engine, both directions", "this board's memory")
SINGLE, ENGINE, OWN = range(3)


class Stream(EnvExperiment):
    """The master's kernel works on vectors in the satellite's memory: by single loads and stores, and by its engine,
    which fetches blocks and copies the results back; and on the same in its own memory. NumPy checks the results."""

    def build(self):
        for name in ("core", "board0", "board1"):
            self.setattr_device(name)
        self.setattr_argument("numbers", NumberValue(BLOCK, precision=0, step=BLOCK, min=BLOCK, max=4096, type="int"))
        self.setattr_argument("figure", StringValue(""))

    def prepare(self):
        if self.numbers % BLOCK:
            raise ValueError(f"numbers={self.numbers}: give a multiple of {BLOCK}")
        random = np.random.default_rng(1)
        # Products overflow, on both sides alike
        self.a, self.b, self.c = [
            [int32(n) for n in random.integers(-(2**31), 2**31, self.numbers, dtype=np.int32)] for _ in range(3)
        ]
        self.results = [int32(0)] * (3 * self.numbers)
        self.durations_mu = [0] * len(OPERATIONS)

    @subkernel(destination=1)
    def open(self):
        self.board0.export(0)

    @kernel
    def compute(self, operation, first, second, result):
        if operation == 0:
            for n in range(len(result)):
                result[n] = first[n]
        elif operation == 1:
            for n in range(len(result)):
                result[n] = Q * first[n]
        elif operation == 2:
            for n in range(len(result)):
                result[n] = first[n] + second[n]
        else:
            for n in range(len(result)):
                result[n] = first[n] + Q * second[n]

    @kernel
    def single(self, operation, first, second, result):
        one = [0 for _ in range(self.numbers)]
        other = [0 for _ in range(self.numbers)]
        self.board1.read(first, one)
        if operation > 1:
            self.board1.read(second, other)
        self.compute(operation, one, other, one)
        self.board1.write(result, one)

    @kernel
    def engine(self, operation, first, second, result):
        one = [0 for _ in range(BLOCK)]
        other = [0 for _ in range(BLOCK)]
        size = 4 * BLOCK
        for block in range(self.numbers // BLOCK):
            at = size * block
            if operation > 1:
                self.board1.fetch_pieces([first + at, OWN_BUFFER, size, second + at, OWN_BUFFER + size, size])
                self.board0.read(OWN_BUFFER + size, other)
            else:
                self.board1.fetch(first + at, OWN_BUFFER, size)
            self.board0.read(OWN_BUFFER, one)
            self.compute(operation, one, other, one)
            self.board0.write(OWN_BUFFER + 2 * size, one)
            self.board1.copy(result + at, OWN_BUFFER + 2 * size, size)

    @kernel
    def send(self, numbers, vector):
        self.board0.write(OWN_BUFFER, numbers)
        self.board1.copy(vector, OWN_BUFFER, 4 * self.numbers)

    @kernel
    def receive(self, vector, numbers):
        self.board1.fetch(vector, OWN_BUFFER, 4 * self.numbers)
        self.board0.read(OWN_BUFFER, numbers)

    @kernel
    def operate(self, way, operation):
        """Does an operation on the vectors of the other board."""
        first, second, result = VECTORS[0], VECTORS[1], VECTORS[2]
        if operation == 1:
            first, second, result = VECTORS[2], VECTORS[2], VECTORS[1]
        elif operation == 3:
            first, second, result = VECTORS[1], VECTORS[2], VECTORS[0]
        if way == SINGLE:
            self.single(operation, first, second, result)
        else:
            self.engine(operation, first, second, result)

    @kernel
    def run_way(self, way):
        """Fills the vectors, does all operations, in STREAM's order, and takes the vectors back."""
        own_a = [self.a[n] for n in range(self.numbers)]
        own_b = [self.b[n] for n in range(self.numbers)]
        own_c = [self.c[n] for n in range(self.numbers)]
        if way != OWN:
            self.send(own_a, VECTORS[0])
            self.send(own_b, VECTORS[1])
            self.send(own_c, VECTORS[2])
        for operation in range(len(OPERATIONS)):
            begin = self.core.get_rtio_counter_mu()
            # c = a; b = q c; c = a + b; a = b + q c
            if way != OWN:
                self.operate(way, operation)
            elif operation == 0:
                self.compute(operation, own_a, own_a, own_c)
            elif operation == 1:
                self.compute(operation, own_c, own_c, own_b)
            elif operation == 2:
                self.compute(operation, own_a, own_b, own_c)
            else:
                self.compute(operation, own_b, own_c, own_a)
            self.durations_mu[operation] = int32(self.core.get_rtio_counter_mu() - begin)
        if way != OWN:
            self.receive(VECTORS[0], own_a)
            self.receive(VECTORS[1], own_b)
            self.receive(VECTORS[2], own_c)
        for n in range(self.numbers):
            self.results[n] = own_a[n]
            self.results[self.numbers + n] = own_b[n]
            self.results[2 * self.numbers + n] = own_c[n]

    @kernel
    def ready(self):
        self.core.reset()
        self.open()
        subkernel_await(self.open)

    def run(self):
        self.ready()
        rates = []
        for way in range(len(WAYS)):
            self.results = [int32(0)] * (3 * self.numbers)
            self.run_way(way)
            self.check(way)
            rates.append([4e3 * self.numbers * n / took for n, took in zip(MOVED, self.durations_mu, strict=True)])
        self.set_dataset("mb_per_s", rates)
        print(f"{'MB/s':28}" + "".join(f"{name:>10}" for name in OPERATIONS))
        for name, row in zip(WAYS, rates, strict=True):
            print(f"{name:28}" + "".join(f"{rate:10.1f}" for rate in row))
        if self.figure:
            self.draw(rates)

    def check(self, way):
        """Raises ValueError unless the results are those of NumPy."""
        a = np.array(self.a, np.int32)
        c = a.copy()
        b = np.int32(Q) * c
        c = a + b
        a = b + np.int32(Q) * c
        wrong = int((np.concatenate([a, b, c]) != np.array(self.results, np.int32)).sum())
        if wrong:
            raise ValueError(f"{WAYS[way]}: {wrong} numbers are not those of NumPy")

    def draw(self, rates):
        """Draws the rates of each way beside the paper's."""
        from kairos.pictures import COLORS, drawing, save

        with drawing() as pyplot:
            figure, axes = pyplot.subplots(figsize=(8, 3.8), layout="constrained")
            for n, (name, row, color) in enumerate(zip(WAYS, rates, COLORS, strict=False)):
                places = np.arange(len(OPERATIONS)) + 0.27 * (n - 1)
                bars = axes.bar(places, row, 0.25, color=color, alpha=0.8, label=name)
                axes.bar_label(bars, [f"{rate:.3g}" for rate in row], fontsize=8, padding=2)
            axes.axhline(4.8, color="#6b7280", lw=1, ls="--", label="remote copy of Lant et al.: 4.8")
            axes.set_xticks(range(len(OPERATIONS)), OPERATIONS)
            axes.set_yscale("log")
            axes.set_ylim(1, 10_000)
            axes.set_ylabel("read and written, MB/s")
            axes.legend(loc="upper left", frameon=False, ncols=2, fontsize=8)
            save(figure, self.figure, 160)
        print(f"wrote {self.figure}")
