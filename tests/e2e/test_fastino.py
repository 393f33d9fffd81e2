"""A Fastino from the kernel to its card: wide events through compiler, firmware, kernel initiator
and fast link."""

import json

from kairos_gateware.phy.fastino_card import FastinoCard

HEAD = """import json

from artiq.experiment import *
from kairos.language import syscall


@syscall(flags={"nowrite"})
def rtio_output_wide(target: TInt32, data: TList(TInt32)) -> TNone:
    raise NotImplementedError


@syscall(flags={"nowrite"})
def rtio_output(target: TInt32, data: TInt32) -> TNone:
    raise NotImplementedError


class Exp(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.target = self.get_device_db()["fastino0"]["arguments"]["channel"] << 8

    def pads(self):
        from kairos.emulator import acquire

        with open("trace.json", "w") as file:
            json.dump(acquire("emulator://lab").control.trace(), file)

"""
BODY = """
    def run(self):
        self.outputs()
        self.pads()

    @kernel
    def outputs(self):
        self.core.reset()
        delay(1*ms)
        rtio_output(self.target | 35, 0x5a)
        delay_mu(392)
        for i in range(8):
            rtio_output_wide(self.target | 4*i, [0x10001 * 2*i, 0x10001 * (2*i + 1)])
            delay_mu(8)
        delay(10*ms)
        rtio_output(self.target | 33, 1 << 3)
        delay_mu(392)
        rtio_output_wide(self.target, [0x7fff1234, 0x55550001])
        self.core.wait_until_mu(now_mu() + 2000)
"""


def words(trace, names):
    """Return (cycle, eight samples of each pad named) for each cycle in which one of them changes,
    and for the following ones up to the end of its frame."""
    index = {pad["name"]: pad["index"] for pad in trace["pads"]}
    place = {index[name]: i for i, name in enumerate(names)}
    changes = {}
    for time, pad, level in trace["events"]:
        if pad in place:
            changes.setdefault(time // 8, []).append((time % 8, place[pad], level or 0))
    levels = [0] * len(names)
    last = 0
    for cycle in sorted(changes):
        for between in range(last + 1, min(cycle, last + 49)):
            yield between, [255 * level for level in levels]
        samples = [255 * level for level in levels]
        for sample, pad, level in changes[cycle]:
            samples[pad] = samples[pad] & (1 << sample) - 1 | (256 - (1 << sample)) * level
            levels[pad] = level
        yield cycle, samples
        last = cycle


def test_outputs_of_a_kernel_reach_the_fastino_card(kairos, lab, tmp_path):
    done = kairos.run(BODY, head=HEAD, device_db=lab)
    assert done.returncode == 0, done.stdout + done.stderr
    trace = json.loads((tmp_path / "trace.json").read_text())
    card = FastinoCard()
    for cycle, samples in words(trace, ["fastino0_clk", *(f"fastino0_mosi{i}" for i in range(6))]):
        card.feed(cycle, samples)
    values = [i // 2 for i in range(32)]
    # DAC 3 is held
    assert card.outputs == [0x1234, 0x7FFF, 1, 1, *values[4:]] and card.leds == 0x5A
    assert all(start % 49 == 0 for start, _ in card.log)
    masks = [mask for _, mask in card.log]
    assert masks[0] == 0 and masks[-1] == 0b0111 and sum(masks[1:-2]) == 2**32 - 1
