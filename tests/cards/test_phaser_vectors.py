"""Phaser: frames on the wires, samples of the oscillators, accesses to the registers of the card, coefficients of its
servos, pulses of its Miqro gateware."""

import pytest
from kairos_gateware.contracts import phaser as facts
from kairos_gateware.pad import Pad
from kairos_gateware.phy import phaser_card as card
from kairos_gateware.phy.fastlink import FastLink, geometry
from kairos_gateware.phy.phaser_card import Whole, frames, shifted
from kairos_gateware.testbenches.phy import play
from kairos_gateware.testbenches.simulator import run_simulation

from kairos.coredevice.tests.traffic import KernelError, devices, run
from tests.support.vectors import GROUPS, vectors

BASE = 0x20
REGISTERS = BASE


@pytest.fixture(scope="module")
def phaser():
    return devices({"phaser": ("phaser.Phaser", {"channel_base": BASE})}).get("phaser")


@pytest.fixture(scope="module")
def miqro():
    return devices({"phaser": ("phaser.Phaser", {"channel_base": BASE, "gw_rev": 2})}).get("phaser")


def written(traffic):
    """Return the writes to registers: time, address byte, data."""
    return [
        [time, f"{address:02x}", f"{data:02x}"]
        for time, channel, address, data in traffic.outputs
        if channel == REGISTERS and address & 0x80
    ]


def pairs(traffic):
    return " ".join(f"{address}={data}" for _, address, data in written(traffic))


@vectors("phaser_registers", only=(0, 1, 2))
def test_spi_transfers_are_writes_with_their_times(phaser, vector):
    method, args = {
        "channel[1].set_att(10.0)": (phaser.channel[1].set_att, (10.0,)),
        "dac_write(0x1f, 0x9982)": (phaser.dac_write, (0x1F, 0x9982)),
        "channel[1].trf_write(0x082002ea)": (phaser.channel[1].trf_write, (0x082002EA,)),
    }[vector["call"]]
    traffic = run(method, *args)
    assert written(traffic) == vector["events"] and traffic.now == vector["advance"]


@vectors("phaser_registers", only=(3,))
def test_upconverter_is_read_with_a_clock_between(phaser, vector):
    traffic = run(phaser.channel[1].trf_read, 0, data=[0x68 << 1, 0, 0, 0x40 << 1])
    assert traffic.value == 0x40000068
    writes = [(address, data) for _, address, data in written(traffic)]
    sent = [data for address, data in writes if address == "8d"]
    assert sent == [*vector["bytes_0d"], "00", "08", "00", "00", "00"]
    gap = writes.index(("8c", "00"))
    assert writes[gap : gap + 4] == [("8c", "00"), ("8b", "04"), ("8a", "02"), ("8d", "00")]
    flags = [data for address, data in writes[gap + 4 :] if address == "8a"]
    assert flags == ["24", "26"]
    reads = [address for _, channel, address, _ in traffic.outputs if channel == REGISTERS and not address & 0x80]
    assert reads == [0x0E] * 4


@vectors("phaser_registers", only=(4, 5, 6, 7))
def test_registers_take_the_bytes_of_a_call(phaser, vector):
    channel = phaser.channel[1]
    if "set_servo" in vector["call"]:
        assert [pairs(run(channel.set_servo, *args)) for args in ((2, 1, 0), (1, 0, 0))] == vector["bytes"].split(" / ")
        return
    method, args = {
        "channel[1].set_duc_frequency(10e6)": (channel.set_duc_frequency, (10e6,)),
        "channel[1].set_duc_phase(0.375)": (channel.set_duc_phase, (0.375,)),
        "set_cfg()": (phaser.set_cfg, ()),
    }[vector["call"]]
    assert pairs(run(method, *args)) == vector["bytes"]


@vectors("phaser_registers", only=(8,))
def test_oscillator_words_go_to_their_channels(phaser, vector):
    oscillator = phaser.channel[1].oscillator[3]
    calls = [
        (oscillator.set_frequency, (1.5e6,)),
        (oscillator.set_amplitude_phase, (0.25, 0.125, 1)),
        (oscillator.set_frequency, (-2e6,)),
    ]
    found = [run(method, *args).outputs for method, args in calls]
    assert [[f"{channel << 8 | address:04x}", f"{data:08x}"] for ((_, channel, address, data),) in found] == vector[
        "events"
    ]


@vectors("phaser_set_iir")
def test_servo_coefficients_follow_gains_or_are_refused(phaser, vector):
    channel = phaser.channel[1]
    if "error" in vector:
        with pytest.raises(KernelError, match=f"ValueError: {vector['error']}"):
            run(channel.set_iir, 2, *vector["args"])
        return
    bytes_ = written(run(channel.set_iir, 2, *vector["args"]))
    first = 0x80 | 0x32 + 32 + 16
    assert [int(address, 16) for _, address, _ in bytes_] == list(range(first, first + 8))
    words = [int(high[2] + low[2], 16) for high, low in zip(bytes_[::2], bytes_[1::2], strict=True)]
    assert [word - (word >> 15 << 16) for word in words] == vector["b0_b1_a1_offset"]


@pytest.mark.parametrize(
    "method, args, text",
    [
        ("spi_cfg", (1, 1, 0), "divider out of bounds"),
        ("spi_cfg", (1, 258, 0), "divider out of bounds"),
        ("spi_cfg", (1, 34, 0, 0, 0, 0, 0, 0, 9), "length out of bounds"),
        ("set_dac_cmix", (5,), "takes steps from -3 to 4"),
        ("channel.set_servo", (4,), "invalid profile index"),
        ("channel.set_att", (40.0,), "attenuation out of bounds"),
    ],
)
def test_impossible_settings_of_the_card_are_refused(phaser, method, args, text):
    owner = phaser.channel[0] if method.startswith("channel.") else phaser
    with pytest.raises(KernelError, match=f"ValueError: .*{text}"):
        run(getattr(owner, method.rpartition(".")[2]), *args)


def test_dac_registers_are_read_in_two_messages(phaser):
    traffic = run(phaser.dac_read, 0x7F, data=[0x54 << 1, 0x09 << 1])
    assert traffic.value == 0x5409
    assert [data for _, address, data in written(traffic) if address == "8d"] == ["ff", "00", "00"]
    assert [data for _, address, data in written(traffic) if address == "8a"] == ["00", "02"]
    assert run(phaser.get_dac_temperature, data=[25 << 1, 0]).value == 25


def joined(fields):
    """Return fields, as pairs of a value and a width, as one integer, the first one lowest."""
    whole, at = 0, 0
    for value, width in fields:
        whole |= (value & (1 << width) - 1) << at
        at += width
    return whole


def payload(vector):
    """Return the payload of a frame's vector as an integer."""
    if "words" in vector:
        words = [int(word, 16) for word in vector["words"]]
        pulse = dict(strobe=1, dt=37, word0=words[0], word1=words[1], word2=words[2])
        head = [(0, 1), (0, 7), (0, 8), (facts.FRAME_KIND_PULSES, 4)]
        return joined([*head, *((pulse[name], width) for name, width in card.PULSE)])
    head = {"write": vector["we"], "register": int(vector["addr"], 16), "data": int(vector["data"], 16)}
    head["kind"] = vector["type"]
    body = [
        (value, width)
        for values in vector["samples_recent_first"]
        for value, (_, width) in zip(values, facts.SAMPLE * 2, strict=True)
    ]
    return joined([*((head[name], width) for name, width in facts.FRAME), *body])


def lanes(whole):
    """Return the levels of the clock and the data lanes during the frame with this payload, in time order."""
    clock, *data = wires = [Pad(name, "out", 0, True) for name in ["clk", *(f"mosi{i}" for i in range(facts.LANES))]]
    dut = FastLink(clock, data, None, **geometry(facts))
    found = ["" for _ in wires]

    def bench():
        yield dut.payload.eq(whole)
        for cycle in range(2 * facts.FRAME_CYCLES):
            for lane, pad in enumerate(wires):
                level = yield pad.o
                if cycle >= facts.FRAME_CYCLES:
                    found[lane] += f"{level & 1}{level >> 4 & 1}"
            yield

    run_simulation(dut, bench())
    return found


@vectors("phaser_frame")
def test_frame_on_the_wires_is_that_of_the_card(vector):
    if "lanes" in vector:
        assert lanes(payload(GROUPS["phaser_frame"][2])) == vector["lanes"]
        return
    wires = lanes(payload(vector))
    times = range(2 * facts.FRAME_CYCLES)
    frame = int("".join(wires[1 + lane][time] for time in times for lane in reversed(range(facts.LANES))), 2)
    assert (f"{frame:0120x}"[-len(vector["frame"]) :], f"{frame & 0x3F:02x}") == (vector["frame"], vector["crc"])


@vectors("phaser_multidds")
def test_oscillators_compute_the_samples_of_the_card(vector):
    """Within 2, since the table of cosines is another one."""
    whole = Whole(simulated=0)
    tones, found = whole.phaser.tones[1], []

    def bench():
        for n, (frequency, phase, amplitude, clear) in enumerate(vector["osc"]):
            yield whole.phaser.words[1][0][n].eq(int(str(frequency), 16))
            yield whole.phaser.words[1][1][n].eq(int(phase, 16) << 16 | clear << 15 | int(amplitude, 16))
        for cycle in range(120):
            yield
            if cycle % 5 == 0:
                found.append([(yield tones.i), (yield tones.q)])

    run_simulation(whole, bench())
    expected = vector.get("iq_sequence") or [vector["iq"]]

    def agrees(first):
        pairs = zip(found[first : first + len(expected)], expected, strict=True)
        return all(abs(a - b) <= 2 for got, wanted in pairs for a, b in zip(got, wanted, strict=True))

    if "iq" in vector:
        assert agrees(len(found) - 1), (found[-1], expected)
    else:
        assert any(agrees(n) for n in range(len(found) - len(expected))), found


@vectors("miqro_pulse")
def test_pulse_has_its_time_since_the_frame(vector):
    whole = Whole(miqro=1).of(1)
    load = 2 * facts.FRAME_CYCLES
    record = play(whole, shifted({load + vector["n"]: (0, 1, 4 * vector["f"])}), 5 * facts.FRAME_CYCLES)
    ((_, _, body),) = frames(record)
    assert card.pulses(body)[0]["dt"] == vector["dt"]


def memory(traffic):
    """Return address and words written to the memories of Miqro."""
    by_register = [(int(address, 16) & 0x7F, data) for _, address, data in written(traffic)]
    address = "".join(data for register, data in by_register if register in (0x72, 0x73))
    bytes_ = "".join(data for register, data in by_register if register >= 0x74)
    return address, [bytes_[n : n + 8] for n in range(0, len(bytes_), 8)]


@vectors("miqro", only=(0, 1, 2))
def test_profiles_are_encoded_as_the_words_of_a_pulse(phaser, vector):
    window, profiles = {
        "encode(0x155, 1..16)": (0x155, list(range(1, 17))),
        "encode(3, [31,1,2,3])": (3, [31, 1, 2, 3]),
        "encode(3, [31,1,2,3,4])": (3, [31, 1, 2, 3, 4]),
    }[vector["call"]]
    data = [0, 0, 0]
    count = phaser.channel[1].miqro.encode(window, profiles, data)
    assert [f"{word:08x}" for word in data[:count]] == vector["words"]


@vectors("miqro", only=(3,))
def test_words_of_a_pulse_end_at_its_time(miqro, vector):
    traffic = run(miqro.channel[1].miqro.pulse_mu, [1, 2, 3])
    events = [f"t{time:+d}: address {address} = {data}" for time, _, address, data in traffic.outputs]
    assert [event.replace("t+0", "t") for event in events] == vector["events"]
    assert {channel for _, channel, _, _ in traffic.outputs} == {BASE + 2} and traffic.now == 0


@vectors("miqro", only=(4, 5, 6))
def test_memories_of_miqro_take_profiles_and_windows(miqro, vector):
    pulses = miqro.channel[1].miqro
    method, args = {
        "channel[1].miqro.set_profile(5, 7, 10e6, 0.5, 0.25)": (pulses.set_profile, (5, 7, 10e6, 0.5, 0.25)),
        "channel[1].miqro.set_window(0x20, [(1,0),(0.5,-0.5)], period=40e-9, order=3)": (
            pulses.set_window, (0x20, [(1.0, 0.0), (0.5, -0.5)], 40e-9, 3),
        ),
        "channel[1].miqro.set_window_mu(0x3fe, [11112222,33334444], rate=4096, shift=5, order=1, head=1, tail=0)": (
            pulses.set_window_mu, (0x3FE, [0x11112222, 0x33334444], 4096, 5, 1, 1, 0),
        ),
    }[vector["call"]]  # fmt: skip
    traffic = run(method, *args)
    assert memory(traffic) == (vector["memory_address"], vector["words"])
    if "returns" in vector:
        assert traffic.value == pytest.approx(vector["returns"], rel=1e-12)


@pytest.mark.parametrize(
    "method, args, text",
    [
        ("encode", (0, [0] * 17, [0, 0, 0]), "too many oscillators"),
        ("encode", (1024, [0], [0, 0, 0]), "window start out of bounds"),
        ("encode", (0, [32], [0, 0, 0]), "profile out of bounds"),
        ("set_window_mu", (1024, [0], 1, 0, 3, 1, 1), "start out of bounds"),
        ("set_window_mu", (0, [0] * 1024, 1, 0, 3, 1, 1), "window length out of bounds"),
        ("set_window_mu", (0, [0], 4097, 0, 3, 1, 1), "rate out of bounds"),
        ("set_window_mu", (0, [0], 1, 64, 3, 1, 1), "shift out of bounds"),
        ("set_window_mu", (0, [0], 1, 0, 4, 1, 1), "order out of bounds"),
        ("set_profile_mu", (16, 0, 0, 0, 0), "oscillator out of bounds"),
        ("set_profile_mu", (0, 32, 0, 0, 0), "profile out of bounds"),
        ("set_profile", (0, 0, 1e6, 1.1, 0.0), "amplitude out of bounds"),
    ],
)
def test_impossible_settings_of_miqro_are_refused(miqro, method, args, text):
    with pytest.raises(KernelError, match=f"ValueError: {text}"):
        run(getattr(miqro.channel[0].miqro, method), *args)
