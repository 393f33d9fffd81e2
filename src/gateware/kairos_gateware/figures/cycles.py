"""Cycles, measured in simulation: small blocks in Migen's simulator, the rest in the verilated
whole."""

import time
from ctypes import byref

from migen import *

from ..analyzer.format import OUTPUT, decode
from ..descriptor import Descriptor
from ..dma.engine import DmaEngine
from ..dma.format import COMPACT, RECORDED, compact, recorded
from ..rtio.core import RtioCore
from ..rtio.link import Channel, InputLink, OutputLink
from ..testbenches.rtio_core import Command, Core
from ..testbenches.simulator import run_simulation
from ..verilated.hp_memory import HpMemory, Playback
from ..verilated.hp_port import HpPort
from ..verilated.library import NEVER, Library, Ps

__all__ = [
    "HP_LATENCY",
    "ttl_core",
    "dma_cycles_per_event",
    "dma_cycles_per_event_with_analyzer",
    "sed_cycles_per_event",
    "sed_min_slack",
    "initiator_period",
    "core_speed",
    "model_speed",
]

HP_LATENCY, ACP_LATENCY, ACP_VISIBLE, CPU_CYCLES = 30, 20, 15, 25
"""PL cycles; the assumptions stated in docs/interfaces.md section 7."""


class _TtlCore(Module):
    """The RTIO core with the links of `outputs` TTL outputs and `inputs` bidirectional TTLs,
    without the PHYs."""

    def __init__(self, outputs, inputs, reorder=0):
        channels = [Channel(n, OutputLink(1)) for n in range(outputs)]
        channels += [Channel(n, OutputLink(2, 2), InputLink(1)) for n in range(outputs, outputs + inputs)]
        self.submodules.core = self.core = RtioCore(channels, reorder=reorder)
        self.cri = cri = self.core.cri
        self.ios = {self.core.reset, cri.output_done, cri.output_status, cri.input_done, cri.input_status}
        for stream in [cri.output, cri.input, cri.response]:
            self.ios |= set(stream.flatten())
        for error in [self.core.collision, self.core.busy, self.core.sequence_error]:
            self.ios |= {error.flag, error.channel, error.clear}
        for channel in channels:
            link = channel.output
            self.ios |= {link.stb, link.data, link.address, link.busy}  # simple TTLs ignore the fine time
            if channel.input is not None:
                self.ios |= {channel.input.stb, channel.input.data}


def ttl_core(outputs, inputs, reorder=0):
    """See `_TtlCore`: attributes `core`, `cri`, `ios`."""
    return _TtlCore(outputs, inputs, reorder)


def dma_cycles_per_event(format, count=400) -> float:
    """Mean distance of the events of a TTL trace, in a core that is always ready."""
    encode = {RECORDED: recorded, COMPACT: compact}[format]
    trace = encode([(n % 8, 0, 100 * n, bytes([n // 8 % 2, 0, 0, 0])) for n in range(count)])
    dut = DmaEngine(8)
    memory, core = HpMemory(bytearray(trace), latency=HP_LATENCY), Playback()
    cycles = 3 * count + 200

    def control():
        yield dut.base.eq(memory.base)
        yield dut.format.eq(format)
        yield dut.start.eq(1)
        yield
        yield dut.start.eq(0)

    run_simulation(dut, [memory.read(dut.bus, cycles), core.serve(dut.cri, cycles), control()])
    assert len(core.events) == count
    return (core.events[-1][0] - core.events[0][0]) / (count - 1)


def _registers(ps):
    return {register.name: register.address for register in Descriptor.from_bytes(ps.read_descriptor()).registers}


def dma_cycles_per_event_with_analyzer(library: Library, count=4000) -> float:
    """Long-term: when the analyzer's buffer is full. Every event must be recorded. The events go to
    the channel of the log, since any other fills its lanes."""
    ps = Ps(library)
    ps.step()
    registers = _registers(ps)
    channel = next(c.number for c in Descriptor.from_bytes(ps.read_descriptor()).channels if c.kind == "log")
    trace = compact([(channel, 0, 8 * n, bytes([n % 4])) for n in range(count)])
    ps.hp.memory[: len(trace)] = trace
    ring = 1 << 19
    values = {
        "analyzer_base": HpPort.BASE + ring,
        "analyzer_last": HpPort.BASE + 2 * ring - 1,
        "analyzer_pack": 1,
        "analyzer_lossless": 1,
        "analyzer_enable": 1,
        "dma_base": HpPort.BASE,
        "dma_format": COMPACT,
        "dma_enable": 1,
    }
    for name, value in values.items():
        ps.write(registers[name], value)
    while ps.read(registers["dma_busy"]):
        pass
    ps.write(registers["analyzer_enable"], 0)
    while ps.read(registers["analyzer_busy"]):
        pass
    size = ps.read(registers["analyzer_byte_count"] + 4)
    cycles = [m.counter // 8 for m in decode(bytes(ps.hp.memory[ring : ring + size])) if m.type == OUTPUT]
    assert len(cycles) == count and not ps.read(registers["analyzer_overflow"])
    ps.close()
    # The buffer's fill level oscillates with a period of six events: a window of whole periods
    last, window = count - 100, 1800
    return (cycles[last] - cycles[last - window]) / window


def _submit(dut, times, log):
    """Offers outputs back to back; `times(n, counter)` is the coarse time of the n-th, if it were
    offered at that counter. Logs (cycle, status)."""
    output, response = dut.cri.output, dut.cri.response
    now = dut.core.timebase.coarse
    accepted = []
    for n, time_of in enumerate(times):
        counter = (yield now) + 1
        yield output.valid.eq(1)
        yield output.channel.eq(n % 4)
        yield output.timestamp.eq(8 * time_of(counter))
        yield
        if (yield response.done):
            log.append((accepted.pop(0), (yield response.status)))
        accepted.append((yield now))
        while not (yield output.ready):
            yield
            accepted[-1] = yield now
    yield output.valid.eq(0)
    yield
    while accepted:
        if (yield response.done):
            log.append((accepted.pop(0), (yield response.status)))
        yield


def sed_cycles_per_event(count=100) -> float:
    """Increasing timestamps, offered back to back."""
    dut = ttl_core(16, 8)
    log = []
    run_simulation(dut, _submit(dut, [lambda _, n=n: 1000 + n for n in range(count)], log))
    assert [status for _, status in log] == [0] * count
    return (log[-1][0] - log[0][0]) / (count - 1)


def sed_min_slack(limit=20) -> int:
    """Least distance of an accepted event's coarse time from the counter in the cycle of its
    acceptance."""
    dut = ttl_core(16, 8)
    log = []
    run_simulation(dut, _submit(dut, [lambda counter, n=n: counter + n for n in range(limit)], log))
    accepted = [n for n, (_, status) in enumerate(log) if status == 0]
    assert accepted == list(range(accepted[0], limit))
    return accepted[0]


def initiator_period(library: Library) -> float:
    """Distance of two outputs with the status awaited; the CPU needs CPU_CYCLES from seeing it to
    the next `sev`."""
    ps = Ps(library, read_latency=ACP_LATENCY, visible=ACP_VISIBLE)
    ps.step()
    registers = _registers(ps)
    ps.write(registers["rtio_phy_reset"], 0)
    ps.write(registers["initiator_ring"], Ps.BASE)
    ps.write(registers["initiator_enable"], 1)
    starts = []
    for n in range(20):
        starts.append(ps.cycle)
        assert ps.output(4, 8 * (ps.out.sim_tsc + 1000), n & 1) == 0
        for _ in range(CPU_CYCLES + 1):
            ps.step()
    ps.close()
    return (starts[-1] - starts[0]) / (len(starts) - 1)


def core_speed(core: Core, events=1000, spacing=100, repeat=5) -> float:
    """Million cycles per second of the verilated RTIO core, clocked through while an event leaves
    every `spacing` cycles. Processor time of this process, so that other load does not count; the
    best of `repeat`."""
    first = 200_000
    commands = [Command(8 * (first + spacing * n), 0, 8 + n % 16, n // 16 & 1, 0, 0, 0) for n in range(events)]
    end = first + spacing * events
    best = 0.0
    for _ in range(repeat):
        start = time.process_time()
        played = core.play(commands, until=end)
        best = max(best, played.cycles / (time.process_time() - start) / 1e6)
        assert [change[0] for change in played.changes] == [first + spacing * n for n in range(events) if n // 16]
    return best


def model_speed(library: Library, events=1000, spacing=100, repeat=3) -> float:
    """Million cycles per second of the verilated whole while an event leaves every `spacing`
    cycles; the best of `repeat`. Only processor time in the library counts, so that other load does
    not."""
    ps = Ps(library)
    ps.step()
    registers = _registers(ps)
    ps.write(registers["rtio_phy_reset"], 0)
    ps.write(registers["initiator_ring"], Ps.BASE)
    ps.write(registers["initiator_enable"], 1)
    outputs = [pad["channel"] for pad in library.info["pads"] if pad["direction"] == "out"]
    best = 0.0
    for _ in range(repeat):
        first = ps.out.sim_tsc + 200_000
        for n in range(events):
            assert ps.output(outputs[n % len(outputs)], 8 * (first + spacing * n), n // len(outputs) & 1) == 0
        seconds, cycles = 0.0, 0
        end = first + spacing * events
        while ps.out.sim_tsc < end:
            start = time.process_time()
            cycles += library.dll.kairos_pl_run(ps.pl, byref(ps.inputs), byref(ps.out), NEVER, end)
            seconds += time.process_time() - start
        best = max(best, cycles / seconds / 1e6)
    ps.close()
    return best
