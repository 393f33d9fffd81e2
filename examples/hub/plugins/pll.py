"""A plugin of the layer `control` that calibrates a phase-locked loop. It tries every setting, with
1,000 accesses in one batch next to the hardware, and applies the middle of the longest run of
settings at which the loop locks.

hub.toml:

    [[plugin]]
    name = "pll"
    layer = "control"
    command = ["python3", "pll.py"]
    protocol = "pll.proto"
    [plugin.settings]
    register = "scratch/word"
    settings = 250

`scratch/word` is the register that every gateware provides for experiments: it keeps what is
written, as if the loop locked at every setting. Replace it with that of your own block.
"""

from itertools import groupby

import grpc

from kairos.hub import Program, plugin

START = LOCKED = 1 << 31
"""Written: starts the loop with the setting in the bits below. Read: the loop locks at the setting
in the bits below."""
POLLED = 0.001
"""Time in seconds for the loop to accept a setting."""


class Pll:
    """The service of pll.proto."""

    def __init__(self, register: str, settings: int):
        self.register, self.settings = register, settings
        self.found = {}

    def Calibrate(self, request, context):
        with plugin.lab() as lab:
            device = lab[request.device]
            # Each poll and each read yields a result.
            statuses = device.run(self.search())[1::2]
            locks = groupby(range(self.settings), lambda setting: statuses[setting] == LOCKED | setting)
            runs = [list(run) for is_locked, run in locks if is_locked]
            if not runs:
                context.abort(grpc.StatusCode.ABORTED, f"the loop of {request.device} locks with no setting")
            longest = max(runs, key=len)
            setting = longest[len(longest) // 2]
            device.run(self.choice(setting))
        self.found = {"accesses": 4 * self.settings, "locked": sum(map(len, runs)), "setting": setting}
        print(f"{request.device}: locks with {self.found['locked']} settings, {setting} is set", flush=True)
        return self.found

    def search(self) -> Program:
        """Tries every setting."""
        program = Program()
        with program.loop(self.settings):
            program.write(self.register, 0, step=1)
            program.modify(self.register, START, START)
            program.poll(self.register, START, START, timeout=POLLED)
            program.read(self.register)
        return program

    def choice(self, setting: int) -> Program:
        """Applies a setting; aborts if the loop does not lock at it."""
        program = Program()
        program.write(self.register, START | setting)
        program.poll(self.register, LOCKED | setting, 0xFFFF_FFFF, timeout=POLLED)
        return program

    def State(self, request, context):
        return self.found


if __name__ == "__main__":
    plugin.serve({"lab.pll.v1.Pll": Pll(**plugin.settings())})
