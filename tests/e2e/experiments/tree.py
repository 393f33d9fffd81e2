"""One kernel drives a pin of each of eight boards at the same timestamps; simultaneous subkernels
on seven."""

from importlib import import_module

from artiq.experiment import *
from numpy import int64

BOARDS = ["", "fork1_", "fork1_a_", "fork1_b_", "fork2_", "fork2_a_", "fork2_b_", "sat_"]
"""Prefixes of the names of their channels, by destination."""
TIMEOUT = 300
"""Seconds: while the host waits, time advances as fast as eight boards can be emulated."""


class Tree(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.outputs = [self.get_device(f"{board}ttl4") for board in BOARDS]
        self.setattr_argument("management", NumberValue(0, precision=0, step=1, type="int"))
        self.setattr_argument("analyzer", NumberValue(0, precision=0, step=1, type="int"))
        self.setattr_argument("monitor", NumberValue(0, precision=0, step=1, type="int"))

    @subkernel(destination=1)
    def on1(self) -> TInt32:
        return subkernel_recv("to1", TInt32) + 1

    @subkernel(destination=2)
    def on2(self) -> TInt32:
        return subkernel_recv("to2", TInt32) + 2

    @subkernel(destination=3)
    def on3(self) -> TInt32:
        return subkernel_recv("to3", TInt32) + 3

    @subkernel(destination=4)
    def on4(self) -> TInt32:
        return subkernel_recv("to4", TInt32) + 4

    @subkernel(destination=5)
    def on5(self) -> TInt32:
        return subkernel_recv("to5", TInt32) + 5

    @subkernel(destination=6)
    def on6(self) -> TInt32:
        return subkernel_recv("to6", TInt32) + 6

    @subkernel(destination=7)
    def on7(self) -> TInt32:
        return subkernel_recv("to7", TInt32) + 7

    @kernel
    def pins(self):
        for board in range(1, 8):
            while not self.core.get_rtio_destination_status(board):
                pass
        self.core.break_realtime()
        for length in range(1, 4):
            for output in self.outputs:
                output.on()
            delay_mu(int64(1000 * length + 3))
            for output in self.outputs:
                output.off()
            delay(10 * us)
        self.core.wait_until_mu(now_mu())

    def crowd(self) -> TInt32:
        """Use the first link with clients of management, monitor and analyzer at once; returns the
        number of analyzer messages."""
        if not self.management:
            return 0
        connect = import_module("kairos.network.connect")
        # While the master collects the records of eight boards, seconds pass here before the first
        # byte
        connect.ATTEMPT = connect.REFUSED = TIMEOUT
        from kairos.network import analyzer
        from kairos.network.management import Management
        from kairos.network.moninj import MonInj

        clients = [
            Management("127.0.0.1", self.management, destination=board, patience=TIMEOUT) for board in (1, 2, 3, 3)
        ]
        logs = [client.log() for client in clients]
        assert [
            f"upstream board has assigned destination {board}" in log
            for board, log in zip((1, 2, 3, 3), logs, strict=True)
        ] == [True] * 4
        watcher = MonInj("127.0.0.1", self.monitor, patience=TIMEOUT)
        for board in (1, 2, 3):
            watcher.watch(board << 16 | 4)
        watcher.next(TIMEOUT)
        analyzer.CONNECT_TIMEOUT = analyzer.TIMEOUT = TIMEOUT
        count = len(analyzer.decode(analyzer.fetch("127.0.0.1", self.analyzer)).messages)
        watcher.close()
        for client in clients:
            client.log()
            client.close()
        return count

    @kernel
    def kernels(self):
        self.on1()
        self.on2()
        self.on3()
        self.on4()
        self.on5()
        self.on6()
        self.on7()
        events = self.crowd()
        subkernel_send(1, "to1", 10)
        subkernel_send(2, "to2", 10)
        subkernel_send(3, "to3", 10)
        subkernel_send(4, "to4", 10)
        subkernel_send(5, "to5", 10)
        subkernel_send(6, "to6", 10)
        subkernel_send(7, "to7", 10)
        print(subkernel_await(self.on1), subkernel_await(self.on2), subkernel_await(self.on3))
        print(
            subkernel_await(self.on4), subkernel_await(self.on5), subkernel_await(self.on6), subkernel_await(self.on7)
        )
        print("events", events)

    @kernel
    def run(self):
        self.core.reset()
        self.pins()
        self.kernels()
