"""The pulse core: measurements of its model and compiler, and the paper's performance figures from
the core's constants.

The rows are those of Irtija et al., Design and analysis of digital communication within an
SoC-based control system for trapped-ion quantum computing (2023), which supply the baselines.
"""

import math
import subprocess
import time
from pathlib import Path

from kairos.contracts import pulse as facts
from kairos.pulse import GateSet, Pulse
from kairos.pulse.jaqal import circuit

ROOT = Path(__file__).parents[2]
PREFIXES = ("pulse.model_", "pulse.compile_", "pulse.words_", "pulse.row_")

CIRCUIT_GATES = 8000
UPDATE_MB_S = 17.6
"""Measured in the paper: minimum throughput of the DMA, with transfers of 32 bytes."""
ULTRARAMS, ULTRARAM_BITS = 80, 288 * 1024
"""Number of UltraRAMs of the paper's device, and bits of each."""
HP_WORDS_PER_S = {"one HP port at 125 MHz": 125e6 / 4, "one at 150 MHz": 150e6 / 4, "two at 150 MHz": 2 * 150e6 / 4}
"""Zynq-7000: 64 bits per cycle, four cycles per word."""


def rows() -> dict[str, tuple[float, str, float | None, str]]:
    """Return by the name of each row: calculated value, unit, the paper's figure, formula."""
    channels, parameters, words = facts.CHANNELS, facts.PARAMETERS, float(facts.STREAM_HZ)
    word, ids = facts.WORD_BYTES, facts.RUN_SLOTS
    raw = channels * parameters
    ns = 1e9 / words
    packed = channels / ids
    wide = channels / facts.RUN_SLOTS_WIDE
    program = parameters + math.ceil(parameters / facts.MLUT_SLOTS) + 1 + 1
    segment = facts.BODY_BITS
    return {
        "01_raw_stream": (word * words / 1e9, "GB/s", 10.656, "a word each cycle of the stream"),
        "02_raw_gates": (words / raw / 1e6, "M/s", 5.203, "64 words a gate"),
        "03_raw_gate": (raw * ns, "ns", 192.2, "64 words"),
        "04_compressed_stream": (word * words / (parameters * ids) / 1e6, "MB/s", 66.6, "160 segments to a word"),
        "05_program_and_run": (
            program * channels * ns,
            "ns",
            264.3,
            f"{program} words a channel; 11 in the older layout",
        ),
        "06_update_gate": ((parameters + channels) * ns, "ns", 48, "8 segments and 8 run words"),
        "07_update_parameter": ((1 + channels) * ns, "ns", 27, "a segment and 8 run words"),
        "08_update_gate_packed": ((parameters + packed) * ns, "ns", 28.1, "8 segments and 0.4 run word"),
        "08_update_gate_reading": ((parameters + 1 + wide) * ns, "ns", 28.1, "22 ids a word and one word more"),
        "09_update_parameter_packed": ((1 + packed) * ns, "ns", 7.1, "a segment and 0.4 run word"),
        "09_update_parameter_reading": ((2 + wide) * ns, "ns", 7.1, "22 ids a word and one word more"),
        "10_run_packed": (packed * ns, "ns", 1.2, "0.4 run word"),
        "11_sequencer_limit": (parameters * 1e9 / facts.CLOCK_HZ, "ns", 19.5, "8 reads of the map"),
        "12_updates_per_us_gate": (words * 1e-6 - channels, "", 325, "words in 1 us, less 8 run words"),
        "13_gates_to_rewrite": (
            math.ceil(channels * (1 << facts.PLUT_ADDRESS_BITS) / (words * 1e-6)),
            "",
            99,
            "32,768 entries",
        ),
        "14_update_by_dma": (word / UPDATE_MB_S, "us", 1.82, "32 B at the DMA's least throughput in the paper"),
        "15_update_bound": (word / UPDATE_MB_S, "us", 2, "the same, below 2 us"),
        "16_id_packing": (ids, "", 20, f"{ids * facts.GATE_ID_BITS} of {facts.WORD_BITS} bits"),
        "17_segment": (segment, "bit", 216, "flags and shift, duration, four coefficients"),
        "18_table_storage": (ULTRARAMS * ULTRARAM_BITS / 8 / 2**20, "MiB", 2.8125, "all blocks of the paper's device"),
    }


def zynq_rows() -> dict[str, tuple[float, float, float, float]]:
    """Return for each feed of a Zynq-7000: raw gate of 8 and of 2 channels, and one parameter with
    8 run words, in ns; parameters per us."""
    found = {}
    for feed, words in HP_WORDS_PER_S.items():
        ns = 1e9 / words
        found[feed] = (64 * ns, 16 * ns, 9 * ns, words * 1e-6 - 8)
    return found


def recalibrated() -> tuple[GateSet, GateSet]:
    """Return a gate set before and after a typical recalibration: 8 ions with 6 rotations each and
    a gate for each pair of neighbours; one ion's frequency and the amplitudes of its rotations
    change.
    """

    def rotation(channel, frequency, amplitude, phase):
        shape = tuple(amplitude * share for share in (0, 0.3, 0.9, 1, 0.9, 0.3, 0))
        return Pulse(channel=channel, duration=10e-6, freq0=frequency, amp0=shape, phase0=phase, sync=1, forward=(1, 0))

    def gates(changed):
        found = {}
        for ion in range(8):
            frequency = 200e6 + 1e6 * ion + (1234.5 if ion == changed else 0)
            amplitude = 60 + ion + (0.7 if ion == changed else 0)
            for n in range(6):
                scale = 1 if n % 2 else 0.5
                found[f"r{ion}_{n}"] = [rotation(ion, frequency, scale * amplitude, 90.0 * (n // 2))]
        for ion in range(7):
            found[f"ms{ion}"] = [
                Pulse(channel=c, duration=200e-6, freq0=199e6, freq1=203e6, amp0=(0, 80, 80, 0), amp1=(0, 80, 80, 0))
                for c in (ion, ion + 1)
            ]
        return found

    old = GateSet(gates(None))
    return old, old.successor(gates(3))


def recalibration() -> tuple[int, int]:
    """Return the words of a typical recalibration, and those of the whole gate set."""
    old, new = recalibrated()
    return len(new.changes(old)), len(new.programming())


def speeds() -> dict[str, float]:
    """Return the measurements of the crate's example, by name."""
    command = [
        "scripts/rust-env",
        "cargo",
        "run",
        "--quiet",
        "--locked",
        "--release",
        "-p",
        "kairos-pulse",
        "--example",
        "speed",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"the pulse model's speed cannot be measured:\n{done.stderr}")
    return {name: float(value) for name, value in (line.split() for line in done.stdout.splitlines())}


class _Rotations:
    """A gate whose definition makes other pulses each time."""

    def __init__(self):
        self._calls = 0

    def gate_Rx(self, qubit, angle):
        self._calls += 1
        return [
            Pulse(channel=qubit, duration=1e-6, freq0=200e6, amp0=(0, 50, 50, 0), phase0=self._calls % 1000 * angle)
        ]


def circuit_gates_per_s() -> float:
    """Return the gates per second of processor time of a Jaqal circuit, read and compiled."""
    text = "register q[2]\n" + "".join(f"Rx q[{number % 2}] 0.3\n" for number in range(CIRCUIT_GATES))
    begun = time.process_time()
    circuit(text, _Rotations()).words()
    return CIRCUIT_GATES / (time.process_time() - begun)


def pulse_figures(figures):
    """All figures of the pulse core."""
    measured = speeds()
    how = "one core, one channel, both tones on, 4096-cycle gates from tables"
    figures.add(
        "pulse.model_msamples_per_s", measured["constant_msamples_per_s"], "MS/s", target=100, at_least=True, source=how
    )
    spline = "the same with a spline as amplitude of one tone"
    figures.add("pulse.model_spline_msamples_per_s", measured["spline_msamples_per_s"], "MS/s", source=spline)
    figures.add(
        "pulse.compile_gates_per_s",
        measured["compile_gates_per_s"],
        "gates/s",
        target=20_000,
        at_least=True,
        source="10,000 different gates of two tones with a spline of seven knots, to the words that program them",
    )
    figures.add(
        "pulse.compile_circuit_gates_per_s",
        circuit_gates_per_s(),
        "gates/s",
        target=4000,
        at_least=True,
        source=f"{CIRCUIT_GATES:,} gates of a Jaqal circuit, 1,000 of them different, from text to words",
    )
    changed, whole = recalibration()
    figures.add(
        "pulse.words_saved_by_diff",
        whole - changed,
        "words",
        baseline=whole,
        source=f"one ion of eight recalibrated: {changed} words instead of {whole}",
    )
    for name, (value, unit, paper, formula) in rows().items():
        figures.add(f"pulse.row_{name}", value, unit, baseline=paper, source=f"{formula}; baseline: the paper")
