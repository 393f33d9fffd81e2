"""A plugin of the layer `control`: a calibration of 1,000 accesses, which runs beside the hardware in one go.

hub.toml:

    [[plugin]]
    name = "pll"
    layer = "control"
    command = ["python3", "pll.py"]
    protocol = "pll.proto"
    [plugin.settings]
    register = "rtio/outputs"
"""

from collections import Counter

from kairos.hub import Program, plugin


class Pll:
    """The service of pll.proto."""

    def __init__(self, register: str):
        self.register = register
        self.found = {"accesses": 0, "value": 0}

    def Calibrate(self, request, context):
        program = Program()
        with program.loop(1000):
            program.read(self.register)
        with plugin.lab() as lab:
            values = lab[request.device].run(program)
        ((value, _),) = Counter(values).most_common(1)
        self.found = {"accesses": len(values), "value": value}
        print(f"{request.device}: {value} after {len(values)} accesses", flush=True)
        return self.found

    def State(self, request, context):
        return self.found


if __name__ == "__main__":
    plugin.serve({"lab.pll.v1.Pll": Pll(plugin.settings()["register"])})
