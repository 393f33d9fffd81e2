"""Kernels that must react in time while clients watch the device: what the comms core does for them delays no
output."""

import re
import threading

from kairos.errors import KairosError
from kairos.network.management import Management
from tests.support.connection import Closed
from tests.support.paths import EXAMPLES
from tests.support.raw_moninj import Client

HEAD = """from artiq.experiment import *


class Exp(EnvExperiment):
    def build(self):
        for name in ("core", "ttl0", "ttl4"):
            self.setattr_device(name)

"""
REACTS = """
    @kernel
    def run(self):
        self.core.reset()
        self.ttl0.input()
        self.ttl4.output()
        delay(100*us)
        least = self.core.ref_multiplier * 1000000
        for _ in range(3000):
            end = self.ttl0.gate_rising(200*us)
            self.ttl0.count(end)
            delay(10*us)
            slack = now_mu() - self.core.get_rtio_counter_mu()
            if slack < least:
                least = slack
            self.ttl4.pulse(5*us)
        self.report(least)

    def report(self, least):
        print("least slack", least)
"""
CHANNELS = 80


def test_kernel_that_reacts_to_inputs_is_in_time_while_clients_watch(start_device, kairos, tmp_path):
    device = start_device(tmp_path)
    database = tmp_path / "device_db.py"
    text = (EXAMPLES / "device_db.py").read_text()
    database.write_text(text + f"\ndevice_db['core']['arguments']['host'] = '{device.host}:{device.port}'\n")
    client = Client(device)
    for channel in range(CHANNELS):
        for probe in range(3):
            client.watch_probe(channel, probe)
    for work in (client.next, Management("127.0.0.1", device.ports[1380]).health):
        threading.Thread(target=_repeat, args=(work,), daemon=True).start()
    done = kairos.run(REACTS, head=HEAD, device_db=database)
    assert done.returncode == 0, done.stdout + done.stderr
    least = int(re.search(r"least slack (-?\d+)", done.stdout)[1])
    assert least > 9000, "10 us without what the kernel needs itself"
    device.close()


def _repeat(work):
    try:
        while True:
            work()
    except (Closed, OSError, EOFError, AssertionError, KairosError):
        pass  # the device has ended
