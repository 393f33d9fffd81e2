"""Fastino: frames on the wires, the port of the gateware, and what the driver writes."""

import pytest
from kairos_gateware.contracts.fastino import FRAME, LANES
from kairos_gateware.pad import Pad
from kairos_gateware.phy.fastino import DACS, Fastino
from kairos_gateware.phy.fastino_card import FastinoCard
from kairos_gateware.phy.fastlink import FastLink, geometry
from kairos_gateware.testbenches.simulator import run_simulation

from kairos.coredevice.tests.traffic import KernelError, devices, run
from tests.support.vectors import GROUPS, vectors

CHANNEL, LENGTH = 3, 49


@pytest.fixture(scope="module")
def fastino():
    return devices({"fastino": ("fastino.Fastino", {"channel": CHANNEL})}).get("fastino")


def pads():
    names = ["clk", *(f"mosi{i}" for i in range(LANES))]
    return [Pad(name, "out", 0, True) for name in names]


def payload(vector):
    """Return the payload of a frame's vector as an integer."""
    data = vector["data"]
    words = [int(data.split()[-1], 16)] * DACS if isinstance(data, str) else [int(word, 16) for word in data]
    fields = {
        "configuration": vector["cfg"],
        "leds": vector["leds"],
        "kind": vector["typ"],
        "reserved": vector["reserved"],
        "answer": vector["addr"],
        "mask": int(vector["enable"], 16),
    }
    whole, at = 0, 0
    for value, width in [*((fields[name], width) for name, width in FRAME), *((word, 16) for word in words)]:
        whole |= value << at
        at += width
    return whole


def lanes(whole):
    """Return the levels of the clock and the data lanes during the frame with this payload, in time order."""
    from kairos_gateware.contracts import fastino as facts

    clock, *data = wires = pads()
    dut = FastLink(clock, data, None, **geometry(facts))
    found = ["" for _ in wires]

    def bench():
        yield dut.payload.eq(whole)
        for cycle in range(2 * LENGTH):
            for lane, pad in enumerate(wires):
                level = yield pad.o
                if cycle >= LENGTH:
                    found[lane] += f"{level & 1}{level >> 4 & 1}"
            yield

    run_simulation(dut, bench())
    return found


@vectors("fastino_frame")
def test_frame_on_the_wires_is_that_of_the_card(vector):
    if "lanes" in vector:
        # Of the third vector
        assert lanes(payload(GROUPS["fastino_frame"][2])) == vector["lanes"]
        return
    wires = lanes(payload(vector))
    assert wires[0] == "1100011" * 14
    bits = "".join(wires[1 + lane][time] for time in range(2 * LENGTH) for lane in reversed(range(LANES)))
    frame = int(bits, 2)
    assert (f"{frame:0147x}", f"{frame & 0xFFF:03x}") == (vector["frame"], vector["crc"])


@vectors("fastino_port")
def test_port_writes_give_the_frames_of_the_card(vector):
    """A write acts on the frame that is loaded at the end of the one in which it happens."""
    clock, *data = wires = pads()
    dut, card = Fastino(0, clock, data, Pad("miso", "in", 0)), FastinoCard()
    link = dut.channel.output
    writes = {LENGTH * frame + cycle: (int(at, 16), int(word, 16)) for frame, cycle, at, word in vector["writes"]}

    def bench():
        for cycle in range(LENGTH * (len(vector["frames"]) + 1) + 1):
            samples = []
            for pad in wires:
                samples.append((yield pad.o))
            card.feed(cycle, samples)
            address, word = writes.get(cycle, (0, 0))
            yield link.stb.eq(cycle in writes)
            yield link.address.eq(address)
            yield link.data.eq(word)
            yield

    run_simulation(dut, bench())
    sent = card.fields
    assert len(sent) == len(vector["frames"])
    for fields, expected in zip(sent, vector["frames"], strict=True):
        assert (fields["kind"], fields["answer"]) == (expected["typ"], expected["addr"])
        assert f"{fields['mask']:x}" == expected["en"]
        assert " ".join(f"{word:04x}" for word in fields["words"][:3]) == expected["d"]
        if "cfg" in expected:
            assert (fields["configuration"], f"{fields['leds']:x}") == (expected["cfg"], expected["leds"])


@vectors("fastino_stage_cic")
def test_interpolator_settings_are_staged_for_a_rate(fastino, vector):
    traffic = run(fastino.stage_cic, vector["rate"])
    ((_, channel, address, word),) = traffic.outputs
    assert (channel, address, f"{word:04x}") == (CHANNEL, 0x26, vector["word"])
    assert traffic.value == vector["actual"] and traffic.now == 0


@pytest.mark.parametrize(
    "method, args, name",
    [
        ("stage_cic", (0,), "rate"),
        ("stage_cic", (65537,), "rate"),
        ("stage_cic_mu", (64, 0, 0), "rate_mantissa"),
        ("stage_cic_mu", (-1, 0, 0), "rate_mantissa"),
        ("stage_cic_mu", (0, 16, 0), "rate_exponent"),
        ("stage_cic_mu", (0, 0, 64), "gain_exponent"),
    ],
)
def test_impossible_interpolator_settings_are_refused(fastino, method, args, name):
    with pytest.raises(KernelError, match=f"ValueError: {name} out of bounds"):
        run(getattr(fastino, method), *args)
