"""Updates of one parameter by DMA (rows 14 and 15 of section 5 of the pulse core's specification),
on the verilated whole: a list in memory with one word of 32 bytes, which stands in the list itself,
started and awaited by a processor through registers, as in the paper."""

import struct

from ..descriptor import Descriptor
from ..dma.format import COMPACT, compact
from ..dma.stream import DESCRIPTOR_BYTES
from ..testbenches.pulse_blocks import Body, plut
from ..verilated.library import Library, Ps

__all__ = ["ACCESS_CYCLES", "update_cycles"]

ACCESS_CYCLES = 12
"""PL cycles of a processor's access through GP0: 72 CPU cycles (docs/interfaces.md section 7)."""
_WORD_AT, _TRACE_AT = DESCRIPTOR_BYTES, 1 << 14
"""Offsets in memory: of the word in the list, and of a trace for RTIO DMA."""
_INLINE = 1
"""Address of words that stand in the list."""
_EVENT_CYCLES = 10
"""Between the events of that trace."""


def _access(ps, call, *arguments):
    """An access that takes as long as a processor's."""
    end = ps.cycle + ACCESS_CYCLES
    result = call(*arguments)
    while ps.cycle < end:
        ps.step()
    return result


def update_cycles(library: Library, count: int, beside_dma=False) -> list[int]:
    """Cycles of each of `count` updates: from the access that starts one to the end of the access
    that finds it complete. beside_dma: RTIO DMA, whose bursts have priority, plays one event per
    _EVENT_CYCLES through the same port."""
    ps = Ps(library)
    ps.step()
    content = Descriptor.from_bytes(ps.read_descriptor())
    registers = {register.name: register.address for register in content.registers}
    ps.write(registers["rtio_phy_reset"], 0)
    memory = ps.hp.memory
    struct.pack_into("<II", memory, 0, _INLINE, 1)
    memory[_WORD_AT + 32 : _WORD_AT + 32 + DESCRIPTOR_BYTES] = bytes(DESCRIPTOR_BYTES)
    ps.write(registers["pulse_stream_base"], ps.hp.BASE)
    if beside_dma:
        output = next(channel.number for channel in content.channels if channel.kind == "ttl_out")
        events = 2000 + count * 300 // _EVENT_CYCLES  # the first are read ahead
        begin = 8 * (ps.out.sim_tsc + 1000)
        trace = compact([(output, 0, begin + 8 * _EVENT_CYCLES * n, bytes([n % 2])) for n in range(events)])
        memory[_TRACE_AT : _TRACE_AT + len(trace)] = trace
        for name, value in {"base": ps.hp.BASE + _TRACE_AT, "format": COMPACT, "enable": 1}.items():
            ps.write(registers[f"dma_{name}"], value)
        while 8 * ps.out.sim_tsc < begin:
            ps.step()
    taken = []
    for n in range(count):
        memory[_WORD_AT : _WORD_AT + 32] = plut(n % 8, Body((n, 0, 0, 0))).to_bytes(32, "little")
        begin = ps.cycle
        _access(ps, ps.write, registers["pulse_stream_enable"], 1)
        while _access(ps, ps.read, registers["pulse_stream_busy"]):
            pass
        taken.append(ps.cycle - begin)
        if ps.read(registers["pulse_stream_words"]) != 1 or ps.read(registers["pulse_stream_error"]):
            raise ValueError("an update did not arrive")
        for _ in range(n % 7):  # varies the phase relative to other activity
            ps.step()
    if beside_dma and not ps.read(registers["dma_busy"]):
        raise ValueError("RTIO DMA has ended before the updates")
    ps.close()
    return taken
