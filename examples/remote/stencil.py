"""A stencil on several boards: each works on a strip of rows, and sends its outermost rows to its neighbours."""

import numpy as np
from artiq.experiment import *
from numpy import int32

from kairos.coredevice.remote_memory import BUFFER, MAILBOX

COLUMNS = 64
ROWS = 64
ROW_BYTES = 4 * COLUMNS
STEPS = 4
STRIP = BUFFER
"""Where a strip begins and ends its journey."""
SENT = BUFFER + 0x8000
"""Rows to be sent: the first of the strip and its last."""
HALO = BUFFER + 0x9000
"""Received rows, from above and from below, in turn for even and odd steps."""
ARRIVED = MAILBOX
"""Steps of which the rows from above, and from below, have arrived."""
MOST = 8
"""Boards."""


def initial_plane() -> np.ndarray:
    """Temperatures before the first step, by row and column."""
    return np.random.default_rng(2).integers(0, 1 << 24, (ROWS, COLUMNS))


class Strips(HasEnvironment):
    """Heat spreads on a plane whose edges are cold: each point moves by an eighth of the sum of the differences to its
    four neighbours. The master distributes the rows, its kernel and those of the satellites compute, and exchange rows
    by copies of their engines and messages in their mailboxes; the master fetches the result, which NumPy checks."""

    def build(self):
        self.setattr_device("core")
        self.memories = [self.get_device(f"board{board}") for board in range(MOST)]

    def prepare(self):
        self.plane = [int32(n) for n in initial_plane().reshape(-1)]
        self.rows = ROWS // self.boards
        self.took_mu = 0

    @kernel
    def send_row(self, board, target, source, arrived, step):
        """Copies a row to another board, and tells it."""
        self.memories[board].copy(target, source, ROW_BYTES)
        self.memories[board].store(arrived, step)

    @kernel
    def exchange(self, board, step, strip):
        """Sends the outermost rows to the boards above and below, and puts theirs around the strip."""
        above, below = board > 0, board < self.boards - 1
        row = [0 for _ in range(COLUMNS)]
        place = HALO + 2 * ROW_BYTES * (step % 2)
        if above:
            for n in range(COLUMNS):
                row[n] = strip[COLUMNS + n]
            self.memories[board].write(SENT, row)
            self.send_row(board - 1, place + ROW_BYTES, SENT, ARRIVED + 4, step)
        if below:
            for n in range(COLUMNS):
                row[n] = strip[self.rows * COLUMNS + n]
            self.memories[board].write(SENT + ROW_BYTES, row)
            self.send_row(board + 1, place, SENT + ROW_BYTES, ARRIVED, step)
        if above:
            while self.memories[board].load(ARRIVED) < step:
                pass
            self.memories[board].read(place, row)
            for n in range(COLUMNS):
                strip[n] = row[n]
        if below:
            while self.memories[board].load(ARRIVED + 4) < step:
                pass
            self.memories[board].read(place + ROW_BYTES, row)
            for n in range(COLUMNS):
                strip[(self.rows + 1) * COLUMNS + n] = row[n]

    @kernel
    def work(self, board):
        """The steps of one board's strip."""
        strip = [0 for _ in range((self.rows + 2) * COLUMNS)]
        following = [0 for _ in range((self.rows + 2) * COLUMNS)]
        rows = [0 for _ in range(self.rows * COLUMNS)]
        self.memories[board].read(STRIP, rows)
        for n in range(len(rows)):
            strip[COLUMNS + n] = rows[n]
        for step in range(1, STEPS + 1):
            self.exchange(board, step, strip)
            for r in range(1, self.rows + 1):
                following[r * COLUMNS] = 0
                following[(r + 1) * COLUMNS - 1] = 0
                for n in range(r * COLUMNS + 1, (r + 1) * COLUMNS - 1):
                    around = strip[n - 1] + strip[n + 1] + strip[n - COLUMNS] + strip[n + COLUMNS]
                    following[n] = strip[n] + ((around - 4 * strip[n]) >> 3)
            strip, following = following, strip
        for n in range(len(rows)):
            rows[n] = strip[COLUMNS + n]
        self.memories[board].write(STRIP, rows)

    @kernel
    def open(self, board):
        """Discards earlier steps, and lets all other boards read and write."""
        self.memories[board].write(ARRIVED, [0, 0])
        for other in range(self.boards):
            if other != board:
                self.memories[other].export(0)
                self.memories[other].export(1, MAILBOX, 64)

    @kernel
    def take_part(self, board, works):
        """What a satellite does: its steps, or what has to come before them."""
        if works:
            self.work(board)
        else:
            self.open(board)

    @kernel
    def distribute(self, brings):
        """Copies the strips to the satellites, or fetches them. The master's memory has all rows."""
        size = self.rows * ROW_BYTES
        for board in range(1, self.boards):
            if brings:
                self.memories[board].fetch(STRIP, STRIP + board * size, size)
            else:
                self.memories[board].copy(STRIP, STRIP + board * size, size)

    @kernel
    def work_here(self):
        """The steps of the master's strip, with their duration."""
        begin = self.core.get_rtio_counter_mu()
        self.work(0)
        self.took_mu = int32(self.core.get_rtio_counter_mu() - begin)

    def analyze(self):
        plane = initial_plane()
        for _ in range(STEPS):
            cold = np.zeros((ROWS + 2, COLUMNS), int)
            cold[1:-1] = plane
            around = cold[:-2] + cold[2:]
            around[:, 1:-1] += cold[1:-1, :-2] + cold[1:-1, 2:]
            plane = np.where(np.arange(COLUMNS) % (COLUMNS - 1) == 0, 0, cold[1:-1] + (around - 4 * cold[1:-1] >> 3))
        wrong = int((plane.reshape(-1) != np.array(self.plane)).sum())
        if wrong:
            raise ValueError(f"{wrong} of {ROWS * COLUMNS} points are not those of NumPy")
        step_us = self.took_mu / STEPS / 1000
        self.set_dataset("step_us", step_us)
        print(f"{ROWS} rows on {self.boards} boards: {step_us:.1f} us a step, all points as by NumPy")


class Stencil(Strips, EnvExperiment):
    """On the master alone, or on it and a satellite."""

    def build(self):
        super().build()
        self.setattr_argument("boards", NumberValue(2, precision=0, step=1, min=1, max=2, type="int"))

    @subkernel(destination=1)
    def open1(self):
        self.open(1)

    @subkernel(destination=1)
    def work1(self):
        self.work(1)

    @kernel
    def run(self):
        self.core.reset()
        self.open(0)
        self.memories[0].write(STRIP, self.plane)
        if self.boards > 1:
            self.open1()
            subkernel_await(self.open1)
            self.distribute(False)
            self.work1()
        self.work_here()
        if self.boards > 1:
            subkernel_await(self.work1)
            self.distribute(True)
        self.memories[0].read(STRIP, self.plane)


class StencilFour(Strips, EnvExperiment):
    """On a master and three satellites, of which the outer ones reach each other through the master."""

    def build(self):
        super().build()
        self.boards = 4

    @subkernel(destination=1)
    def on1(self, works: TBool):
        self.take_part(1, works)

    @subkernel(destination=2)
    def on2(self, works: TBool):
        self.take_part(2, works)

    @subkernel(destination=3)
    def on3(self, works: TBool):
        self.take_part(3, works)

    @kernel
    def begin(self, works):
        """Starts the satellites."""
        self.on1(works)
        self.on2(works)
        self.on3(works)

    @kernel
    def finish(self):
        """Waits for them."""
        subkernel_await(self.on1)
        subkernel_await(self.on2)
        subkernel_await(self.on3)

    @kernel
    def run(self):
        self.core.reset()
        self.open(0)
        self.begin(False)
        self.finish()
        self.memories[0].write(STRIP, self.plane)
        self.distribute(False)
        self.begin(True)
        self.work_here()
        self.finish()
        self.distribute(True)
        self.memories[0].read(STRIP, self.plane)


class StencilEight(StencilFour):
    """On a master and seven satellites, as many as a system has: three at the master, the others behind these."""

    def build(self):
        super().build()
        self.boards = 8

    @subkernel(destination=4)
    def on4(self, works: TBool):
        self.take_part(4, works)

    @subkernel(destination=5)
    def on5(self, works: TBool):
        self.take_part(5, works)

    @subkernel(destination=6)
    def on6(self, works: TBool):
        self.take_part(6, works)

    @subkernel(destination=7)
    def on7(self, works: TBool):
        self.take_part(7, works)

    @kernel
    def begin(self, works):
        self.on1(works)
        self.on2(works)
        self.on3(works)
        self.on4(works)
        self.on5(works)
        self.on6(works)
        self.on7(works)

    @kernel
    def finish(self):
        subkernel_await(self.on1)
        subkernel_await(self.on2)
        subkernel_await(self.on3)
        subkernel_await(self.on4)
        subkernel_await(self.on5)
        subkernel_await(self.on6)
        subkernel_await(self.on7)
