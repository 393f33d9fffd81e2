"""A link that is cut at arbitrary instants, or whose board restarts, while that board is used in every way
and other clients are active: in each round every request is executed, or an exception reports that it
was not; afterwards everything works again. Each word of both boards' memories is one that was stored
or copied there, the newest one if no exception reported otherwise.
"""

import random
import threading

from artiq.coredevice.exceptions import (
    DMAError,
    RemoteMemoryError,
    RTIODestinationUnreachable,
    RTIOUnderflow,
    SubkernelError,
)
from artiq.experiment import *
from numpy import int32, int64

PULSES = 20
OUTPUT, INPUT, PLAYBACK, DISTRIBUTED, SUBKERNEL, WORDS, BULK, KINDS = range(8)
NAMES = ["outputs alone", "input", "playback", "distributed", "subkernel", "loads and stores", "bulk"]
RESTART = 20
"""In one of this many rounds the board restarts instead, and in another the link stays cut until
streams are lost."""
DOWN_NS = 1_300_000_000

BUFFER = 0x0FE0_0000
"""In both boards' exported memory: words stored individually, words copied, and the source of the copies;
the memory between is not exported, except for the registers' own.
"""
STORED, COPIED, BY_REGISTERS, SOURCE, END = BUFFER, BUFFER + 0x1000, BUFFER + 0x4000, BUFFER + 0x8000, BUFFER + 0x9000
STORES, COPIES = 32, 256
BOARDS = ("master", "satellite")


class Memory:
    """The expected memory of `board`, to which the other one stores and copies: word n holds the number of a
    round and n + 1.
    """

    def __init__(self, control, board):
        self.control, self.board = control, board
        self.before = {STORED: [0] * STORES, COPIED: [0] * COPIES}
        self.failed = 0

    def wrong(self, number, done):
        """Return errors as texts, after round `number`. done: (all words stored, all copied) in it,
        as far as known."""
        count = (SOURCE - BUFFER) // 4
        found = self.control.request("read", address=BUFFER, words=count, board=self.board)["words"]
        allowed = set(range((BY_REGISTERS - BUFFER) // 4, (BY_REGISTERS - BUFFER) // 4 + 64))
        texts = []
        for (first, before), complete in zip(self.before.items(), done, strict=True):
            at = (first - BUFFER) // 4
            allowed |= set(range(at, at + len(before)))
            now = found[at : at + len(before)]
            for n, (word, old) in enumerate(zip(now, before, strict=True)):
                # A subkernel whose end could not be awaited continues until the board gets another
                # one.
                fresh, late = number + 1 << 12 | n + 1, self.failed << 12 | n + 1
                if word != fresh and (complete or word not in (old, late)):
                    texts.append(f"{self.board} {first:#x}: {word:#x}, not {fresh:#x} nor {old:#x} ({complete})")
            self.before[first] = now
        if not all(done):
            self.failed = number + 1
        texts += [f"{self.board} +{4 * n:#x}: {word:#x}" for n, word in enumerate(found) if word and n not in allowed]
        return texts[:4]


class Cutter(threading.Thread):
    """Cuts the link on request, over its own control connection, or restarts the board."""

    def __init__(self, socket, management):
        super().__init__(daemon=True)
        from kairos.emulator.control import Control

        self.management, self.control = management, Control.connect(socket)
        self.order, self.done = threading.Event(), threading.Event()
        self.plan = None
        self.start()

    def cut(self, after_ns, down_ns):
        self.plan = after_ns, down_ns
        self.done.clear()
        self.order.set()

    def run(self):
        while self.order.wait() and self.plan is not None:
            self.order.clear()
            after, down = self.plan
            self.let_pass(after)
            if down:
                self.control.request("link", to="satellite", plugged=False)
                self.let_pass(down)
                self.control.request("link", to="satellite", plugged=True)
            else:
                self.restart()
            self.done.set()

    def end(self):
        self.plan = None
        self.order.set()
        self.join()

    def let_pass(self, ns):
        self.control.wait("time", timeout=300, time_ns=self.control.status()["time_ns"] + ns)

    def restart(self):
        from kairos.errors import KairosError
        from kairos.network.management import Management

        try:
            with Management("127.0.0.1", self.management, destination=1) as satellite:
                satellite.reboot()
        except KairosError:
            pass  # the request could not be sent


class Cuts(EnvExperiment):
    def build(self):
        for name in ("core", "core_dma", "ttl4", "sat_ttl0", "sat_ttl4", "sat_ttl5", "sat_ttl6", *BOARDS):
            self.setattr_device(name)
        self.setattr_argument("rounds", NumberValue(20, precision=0, step=1, type="int"))
        self.setattr_argument("limit", NumberValue(60, precision=0, step=1, type="int"))
        self.setattr_argument("seed", NumberValue(1, precision=0, step=1, type="int"))
        self.setattr_argument("socket", StringValue())
        for service in ("management", "analyzer", "monitor"):
            self.setattr_argument(service, NumberValue(precision=0, step=1, type="int"))

    def prepare(self):
        self.random = random.Random(self.seed)
        self.kind = int32(0)
        self.executed = [0] * len(NAMES)
        self.refused = [0] * len(NAMES)
        self.wrong = []
        self.words = [0] * COPIES
        self.clients = {"log": 0, "far log": 0, "monitor": 0, "analyzer": 0}
        self.failures = []

    # Host

    def open(self):
        from kairos.emulator.control import Control

        self.control = Control.connect(self.socket)
        self.cutter = Cutter(self.socket, self.management)
        pads = {pad["name"]: pad["index"] for pad in self.control.request("trace", **{"from": 0})["pads"]}
        self.memories = [Memory(self.control, board) for board in BOARDS]
        self.pads = [pads["sat_ttl5"], pads["sat_ttl6"]]
        self.ends = threading.Event()
        self.loads = [threading.Thread(target=self.again, args=(load,), daemon=True) for load in CLIENTS]
        for load in self.loads:
            load.start()

    def again(self, load):
        from kairos.errors import ConnectionLost, DeviceUnreachable

        while not self.ends.wait(0.1):
            try:
                load(self)
            except (ConnectionLost, DeviceUnreachable):
                pass  # the device has not noticed yet that earlier clients are gone
            except Exception as error:
                self.failures.append(f"{load.__name__}: {error!r}")
                return

    def close(self):
        self.ends.set()
        for thread in self.loads:
            thread.join()
        self.cutter.end()
        for load in CLIENTS:
            try:
                load(self)
            except Exception as error:
                self.failures.append(f"{load.__name__} at the end: {error!r}")

    def read_logs(self):
        from kairos.errors import KairosError
        from kairos.network.management import Management

        with Management("127.0.0.1", self.management) as master:
            master.log()
            self.clients["log"] += 1
        try:
            with Management("127.0.0.1", self.management, destination=1) as satellite:
                satellite.log()
                self.clients["far log"] += 1
        except KairosError:
            pass  # its link is cut

    def watch(self):
        from kairos.network.moninj import MonInj

        device = MonInj("127.0.0.1", self.monitor)
        device.watch(1 << 16 | 5)
        device.next(2)
        device.close()
        self.clients["monitor"] += 1

    def record(self):
        from kairos.network import analyzer

        analyzer.decode(analyzer.fetch("127.0.0.1", self.analyzer))
        self.clients["analyzer"] += 1

    def continues(self, number: TInt32) -> TBool:
        """Return whether round `number` happens: one of `rounds`, or the cuts before it, which follow the clock of
        the computer, have met no request yet. `limit` rounds without any are too many."""
        return number < self.rounds or (not any(self.refused) and number < self.limit)

    def begin(self, number: TInt32) -> TInt32:
        """Return the kind of this round, whose cut is imminent."""
        self.number = number
        self.trace_start = self.control.request("trace", **{"from": 0})["next"]
        down = self.random.randrange(1000, 2_000_000)
        if number % RESTART == RESTART - 1:
            down = 0
        elif number % RESTART == RESTART // 2 - 1:
            down = DOWN_NS
        # A third of the cuts occur while the kernel submits, a third before everything has
        # happened.
        self.plan = number, self.random.randrange(self.random.choice([80_000, 600_000, 3_000_000])), down
        self.cutter.cut(*self.plan[1:])
        return self.random.randrange(KINDS)

    def is_cut(self) -> TBool:
        return not self.cutter.done.is_set()

    def end(self, kind: TInt32, failed: TBool, right: TBool):
        here, there = not failed and kind != SUBKERNEL, not failed
        done = [(here, here), (there and kind == WORDS, there and kind == BULK)]
        for memory, complete in zip(self.memories, done, strict=True):
            self.wrong += [(NAMES[kind], *self.plan, text) for text in memory.wrong(self.number, complete)]
        if failed:
            self.refused[kind] += 1
            return
        self.executed[kind] += 1
        edges = self.control.request("trace", **{"from": self.trace_start})["events"]
        found = [sum(pad == one for _, pad, _ in edges) for one in self.pads]
        if not right or found != [2 * PULSES, 2 * PULSES * (kind in (PLAYBACK, DISTRIBUTED))]:
            self.wrong.append((NAMES[kind], *self.plan, bool(right), found))

    # Kernels

    @subkernel(destination=1)
    def adds(self, a: TInt32, b: TInt32) -> TInt32:
        return a + b

    @subkernel(destination=1)
    def exports(self):
        self.master.export(0, STORED, 4 * STORES, 3)
        self.master.export(1, COPIED, 4 * COPIES, 3)

    @subkernel(destination=1)
    def works(self, number: TInt32):
        """Store and copy to the master."""
        for n in range(COPIES):
            self.satellite.store(SOURCE + 4 * n, number << 12 | (n + 1))
        for _ in range(4):
            self.master.copy(COPIED, SOURCE, 4 * COPIES)
        self.stores_to(self.master, number)

    @kernel
    def stores_to(self, board, number) -> TBool:
        right = True
        for n in range(STORES):
            board.store(STORED + 4 * n, number << 12 | (n + 1))
        for n in range(STORES):
            right = right and board.load(STORED + 4 * n) == number << 12 | (n + 1)
        return right

    @kernel
    def copies_to(self, board, number):
        for n in range(COPIES):
            self.words[n] = number << 12 | (n + 1)
        self.master.write(SOURCE, self.words)
        for _ in range(8):
            board.copy(COPIED, SOURCE, 4 * COPIES)

    @kernel
    def train(self, output):
        for _ in range(PULSES):
            output.pulse_mu(int64(200))
            delay_mu(int64(8000))

    @kernel
    def record_all(self):
        with self.core_dma.record("here"):
            self.train(self.sat_ttl6)
        with self.core_dma.record("there", enable_ddma=True):
            self.train(self.sat_ttl6)

    @kernel
    def input_is_right(self) -> TBool:
        start = now_mu()
        end = self.sat_ttl0.gate_rising_mu(int64(40000))
        at_mu(start + 20000)
        self.sat_ttl0.pulse_mu(int64(500))
        return self.sat_ttl0.timestamp_mu(end) == start + 20000

    @kernel
    def do(self, kind: TInt32, number: TInt32) -> TBool:
        """Make outputs, and perform another operation meanwhile. Returns whether its result is
        right."""
        right = True
        start = now_mu()
        self.train(self.sat_ttl5)
        end = now_mu()
        at_mu(start)
        if kind == INPUT:
            right = self.input_is_right()
        elif kind == PLAYBACK:
            self.core_dma.playback("here")
        elif kind == DISTRIBUTED:
            self.core_dma.playback("there")
        elif kind == SUBKERNEL:
            for n in range(5):
                self.adds(n, 7)
                right = right and subkernel_await(self.adds) == n + 7
        elif kind == WORDS:
            for _ in range(2):
                right = right and self.stores_to(self.satellite, number)
        elif kind == BULK:
            self.copies_to(self.satellite, number)
        if kind != SUBKERNEL:
            subkernel_await(self.works)
        self.core.wait_until_mu(end)
        return right

    @kernel
    def is_ready(self) -> TBool:
        """Return whether the board is reachable, as required before a round."""
        if not self.core.get_rtio_destination_status(1):
            return False
        try:
            # Events of an earlier round that could not be read.
            self.sat_ttl0.count(self.core.get_rtio_counter_mu())
            self.core.break_realtime()
            self.sat_ttl0.output()
            self.sat_ttl5.off()
            self.sat_ttl6.off()
            self.adds(1, 2)
            subkernel_await(self.adds)
            self.core_dma.get_handle("there")
            self.satellite.load(STORED)
        except RTIODestinationUnreachable:
            return False
        except RTIOUnderflow:
            return False
        except SubkernelError:
            return False
        except DMAError:
            return False
        except RemoteMemoryError:
            return False
        return True

    @kernel
    def pause(self, duration_mu: TInt32) -> TBool:
        """Wait. Returns whether an output submitted before was lost."""
        try:
            self.core.wait_until_mu(self.core.get_rtio_counter_mu() + duration_mu)
        except RTIODestinationUnreachable:
            return True
        return False

    @kernel
    def all_rounds(self):
        number = 0
        while self.continues(number):
            while not self.is_ready():
                self.pause(1000000)
            kind = self.begin(number)
            failed, right = False, True
            try:
                if kind != SUBKERNEL:
                    self.works(number + 1)
                self.core.break_realtime()
                delay(500 * us)
                right = self.do(kind, number + 1)
            except RTIODestinationUnreachable:
                failed = True
            except RTIOUnderflow:
                failed = True
            except SubkernelError:
                failed = True
            except DMAError:
                failed = True
            except RemoteMemoryError:
                failed = True
            while self.is_cut():
                failed = self.pause(1000000) or failed
            # Losses in transit are reported by the next request.
            while not self.core.get_rtio_destination_status(1):
                failed = self.pause(100000) or failed
            try:
                self.core.break_realtime()
                delay(500 * us)
                self.sat_ttl4.off()
                self.core.wait_until_mu(now_mu())
            except RTIODestinationUnreachable:
                failed = True
            except RTIOUnderflow:
                failed = True
            self.end(kind, failed, right)
            number += 1

    @kernel
    def kernels(self):
        self.core.reset()
        self.open()
        while not self.core.get_rtio_destination_status(1):
            pass
        self.record_all()
        self.satellite.export(0, STORED, 4 * STORES, 3)
        self.satellite.export(1, COPIED, 4 * COPIES, 3)
        self.exports()
        subkernel_await(self.exports)
        self.all_rounds()

    def run(self):
        self.kernels()
        self.close()
        for name, executed, refused in zip(NAMES, self.executed, self.refused, strict=True):
            print(f"{name}: {executed} executed, {refused} refused")
        print("others:", ", ".join(f"{count} {name}" for name, count in self.clients.items()))
        print("wrong:", self.wrong, self.failures)


CLIENTS = (Cuts.read_logs, Cuts.watch, Cuts.record)
