"""A link that is cut at any instant, or whose board restarts, while that board is used in every way and other clients
are at work: in each round all that was asked for is executed, or an exception says that it was not; afterwards
everything works again."""

import random
import threading

from artiq.coredevice.exceptions import DMAError, RTIODestinationUnreachable, RTIOUnderflow, SubkernelError
from artiq.experiment import *
from numpy import int32, int64

PULSES = 20
OUTPUT, INPUT, PLAYBACK, DISTRIBUTED, SUBKERNEL, KINDS = range(6)
NAMES = ["outputs alone", "input", "playback", "distributed", "subkernel"]
RESTART = 20
"""In one of so many rounds the board restarts instead, and in another one the link stays cut until streams are lost."""
DOWN_NS = 1_300_000_000


class Cutter(threading.Thread):
    """Cuts the link when it is told to, by a control connection of its own, or has the board restart."""

    def __init__(self, socket, management):
        super().__init__(daemon=True)
        from kairos.emulator.control import Control

        self.management, self.control = management, Control(socket)
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
        self.control.wait("time", time_ns=self.control.status()["time_ns"] + ns)

    def restart(self):
        from kairos.errors import KairosError
        from kairos.network.management import Management

        try:
            with Management("127.0.0.1", self.management, destination=1) as satellite:
                satellite.reboot()
        except KairosError:
            pass  # it could not be told


class Cuts(EnvExperiment):
    def build(self):
        for name in ("core", "core_dma", "ttl4", "sat_ttl0", "sat_ttl4", "sat_ttl5", "sat_ttl6"):
            self.setattr_device(name)
        self.setattr_argument("rounds", NumberValue(20, precision=0, step=1, type="int"))
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
        self.clients = {"log": 0, "far log": 0, "monitor": 0, "analyzer": 0}
        self.failures = []

    # Host

    def open(self):
        from kairos.emulator.control import Control

        self.control = Control(self.socket)
        self.cutter = Cutter(self.socket, self.management)
        pads = {pad["name"]: pad["index"] for pad in self.control.request("trace", **{"from": 0})["pads"]}
        self.pads = [pads["sat_ttl5"], pads["sat_ttl6"]]
        self.ends = threading.Event()
        self.loads = [threading.Thread(target=self.again, args=(load,), daemon=True) for load in CLIENTS]
        for load in self.loads:
            load.start()

    def again(self, load):
        from kairos.errors import ConnectionLost, DeviceUnreachable

        while not self.ends.wait(0.02):
            try:
                load(self)
            except (ConnectionLost, DeviceUnreachable):
                pass  # of earlier clients the device has not seen yet that they are gone
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

    def begin(self, number: TInt32) -> TInt32:
        """The kind of this round, whose cut comes soon."""
        self.trace_start = self.control.request("trace", **{"from": 0})["next"]
        down = self.random.randrange(1000, 2_000_000)
        if number % RESTART == RESTART - 1:
            down = 0
        elif number % RESTART == RESTART // 2 - 1:
            down = DOWN_NS
        # A third of the cuts come while the kernel submits, a third before all has happened.
        self.plan = number, self.random.randrange(self.random.choice([80_000, 600_000, 3_000_000])), down
        self.cutter.cut(*self.plan[1:])
        return self.random.randrange(KINDS)

    def is_cut(self) -> TBool:
        return not self.cutter.done.is_set()

    def end(self, kind: TInt32, failed: TBool, right: TBool):
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
    def do(self, kind: TInt32) -> TBool:
        """Outputs, and meanwhile something else. Whether its result is right."""
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
        self.core.wait_until_mu(end)
        return right

    @kernel
    def is_ready(self) -> TBool:
        """The board is there, as it should be before a round."""
        if not self.core.get_rtio_destination_status(1):
            return False
        try:
            # What a round before has recorded and could not read.
            self.sat_ttl0.count(self.core.get_rtio_counter_mu())
            self.core.break_realtime()
            self.sat_ttl0.output()
            self.sat_ttl5.off()
            self.sat_ttl6.off()
            self.adds(1, 2)
            subkernel_await(self.adds)
            self.core_dma.get_handle("there")
        except RTIODestinationUnreachable:
            return False
        except RTIOUnderflow:
            return False
        except SubkernelError:
            return False
        except DMAError:
            return False
        return True

    @kernel
    def rounds_of(self, count: TInt32):
        for number in range(count):
            while not self.is_ready():
                self.core.wait_until_mu(self.core.get_rtio_counter_mu() + 1000000)
            kind = self.begin(number)
            failed, right = False, True
            try:
                self.core.break_realtime()
                delay(500 * us)
                right = self.do(kind)
            except RTIODestinationUnreachable:
                failed = True
            except RTIOUnderflow:
                failed = True
            except SubkernelError:
                failed = True
            except DMAError:
                failed = True
            while self.is_cut():
                self.core.wait_until_mu(self.core.get_rtio_counter_mu() + 100000)
            # What was lost on its way is told by the next request.
            while not self.core.get_rtio_destination_status(1):
                self.core.wait_until_mu(self.core.get_rtio_counter_mu() + 100000)
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

    @kernel
    def kernels(self):
        self.core.reset()
        self.open()
        while not self.core.get_rtio_destination_status(1):
            pass
        self.record_all()
        self.rounds_of(self.rounds)

    def run(self):
        self.kernels()
        self.close()
        for name, executed, refused in zip(NAMES, self.executed, self.refused, strict=True):
            print(f"{name}: {executed} executed, {refused} refused")
        print("others:", ", ".join(f"{count} {name}" for name, count in self.clients.items()))
        print("wrong:", self.wrong, self.failures)


CLIENTS = (Cuts.read_logs, Cuts.watch, Cuts.record)
