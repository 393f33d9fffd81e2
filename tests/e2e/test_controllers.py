"""A kernel calls a controller in another process, started by `kairos controllers`."""

import signal
import subprocess
import sys

from tests.support.paths import EXAMPLES
from tests.support.ports import free_port
from tests.support.waiting import until

SHUTTER = """
from kairos.controllers import serve

class Shutter:
    def move(self, position):
        print("at", position, flush=True)

    def ping(self):
        return True

serve({"shutter": Shutter()}, "127.0.0.1", PORT)
"""

EXPERIMENT = """from artiq.experiment import *


class Moves(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.setattr_device("shutter")

    @kernel
    def run(self):
        for i in range(3):
            self.shutter.move(i * 0.5)
"""


def test_rpc_of_kernel_calls_controller_in_another_process(kairos):
    port = free_port()
    program = kairos.write(SHUTTER.replace("PORT", str(port)), head="", name="shutter.py")
    entry = {"type": "controller", "host": "127.0.0.1", "port": port, "command": f"{sys.executable} {program}"}
    database = kairos.directory / "db.py"
    database.write_text((EXAMPLES / "device_db.py").read_text() + f"\ndevice_db['shutter'] = {entry!r}\n")
    log = kairos.directory / "log"
    with log.open("w") as output:
        arguments = [sys.executable, "-m", "kairos", "controllers", "--port", "0", "--device-db", database]
        supervisor = subprocess.Popen(arguments, stdout=output, stderr=output)
    try:
        until(lambda: kairos("controllers", "--list", device_db=database).returncode == 0)
        done = kairos("run", kairos.write(EXPERIMENT, head="", name="moves.py"), device_db=database)
        assert done.returncode == 0, done.stderr
    finally:
        supervisor.send_signal(signal.SIGTERM)
        supervisor.wait()
    assert log.read_text().count("shutter: at ") == 3 and "shutter: at 1.0" in log.read_text()
