"""Models of the cards for the servo's tests, one cycle of 8 ns at a time, according to the chips'
data sheets."""

from ..pad import SAMPLES
from ..servo.adc import SWAPPED
from ..servo.format import ADC_CHANNELS, URUKUL_CHANNELS

__all__ = ["SamplerModel", "UrukulModel"]


class SamplerModel:
    """LTC2320-16 on four lanes, behind cables: `inputs` (eight signed values) are sampled at the
    falling edge of CNV, which must be high for 30 ns before and low for 450 ns until the first edge
    of SCK. Each rising edge of the return clock arrives, with the bit that is valid then, `delay`
    ns after SCK's, inverted where the board exchanges wires. connected: there is a card."""

    def __init__(self, delay=0, connected=True):
        self.inputs = [0] * ADC_CHANNELS
        self.delay = delay
        self.connected = connected
        self.samples = []  # (cycle of CNV's falling edge, sampled values)
        self._high = 0  # ns
        self._cnv = self._sck = 0
        self._shift = [0] * 4
        self._bits = [-1] * 4
        self._future = {}  # time in ns: (clkout, lanes)
        self._level = (0, [0] * 4)
        self._cycle = 0

    def step(self, cnv, sck):
        """Levels of the pads in this cycle; returns the eight samples of clkout, and those of each
        lane."""
        now = 8 * self._cycle
        self._high += 8 * cnv
        if self._cnv and not cnv:
            assert self._high >= 30
            self._high = 0
            self.samples.append((self._cycle, list(self.inputs)))
            self._shift = [
                (self.inputs[7 - 2 * lane] & 0xFFFF) << 16 | self.inputs[6 - 2 * lane] & 0xFFFF for lane in range(4)
            ]
            self._bits = [31] * 4
        if sck and not self._sck:
            assert now - 8 * self.samples[-1][0] >= 450
        if sck != self._sck:
            # The bits change with the falling edge: each is valid 8 ns before the edge that samples
            # it, and 8 ns after
            if not sck:
                self._bits = [bit - 1 for bit in self._bits]
            self._future[now + self.delay] = (sck, self._lanes())
        elif cnv != self._cnv:
            self._future[now + self.delay] = (sck, self._lanes())
        self._cnv, self._sck = cnv, sck
        clkout, lanes = 0, [0] * 4
        for sample in range(8):
            self._level = self._future.pop(now + sample, self._level)
            clkout |= self._level[0] << sample
            lanes = [lane | level << sample for lane, level in zip(lanes, self._level[1], strict=True)]
        self._cycle += 1
        if not self.connected:
            return 0, [0] * 4
        clkout, *lanes = [
            level ^ (2**SAMPLES - 1 if swapped else 0) for level, swapped in zip([clkout, *lanes], SWAPPED, strict=True)
        ]
        return clkout, lanes

    def _lanes(self):
        # After the last bit a lane has another level
        return [
            word >> bit & 1 if bit >= 0 else lane & 1
            for lane, (word, bit) in enumerate(zip(self._shift, self._bits, strict=True))
        ]


class UrukulModel:
    """Four AD9910 with a data line each: sample bits at the rising clock while selected, and apply
    the written registers with the update. registers[channel]: {address: 64 bits}. chip_select: as
    on cards of protocol revision 8; without, the chips are always selected, and a transfer ends
    with its last bit."""

    def __init__(self, chip_select=True):
        self.registers = [{} for _ in range(URUKUL_CHANNELS)]
        self.updates = []  # (time in ns of the update's rise, copy of the registers)
        self.starts = []  # cycles in which the chips were selected, or without that, sampled the first bit
        self._chip_select = chip_select
        self._buffer = [{} for _ in range(URUKUL_CHANNELS)]
        self._bits = [[] for _ in range(URUKUL_CHANNELS)]
        self._before = (0, 0, [0] * URUKUL_CHANNELS)
        self._update = 0
        self._cycle = 0

    def step(self, clk, cs, mosi, update):
        """Levels of the pads in this cycle (cs: None if there is none); of the update, its eight
        samples."""
        last_clk, last_cs, last_mosi = self._before
        if self._chip_select:
            if cs and not last_cs:
                assert not clk
                self.starts.append(self._cycle)
                self._bits = [[] for _ in range(URUKUL_CHANNELS)]
        else:
            assert cs is None
            cs = 1
            if clk and not last_clk and not self._bits[0]:
                self.starts.append(self._cycle)
        if cs and clk and not last_clk:
            assert mosi == last_mosi, "a bit has to be there a cycle before the edge"
            for bits, level in zip(self._bits, mosi, strict=True):
                bits.append(level)
                self._byte(bits)
        for sample in range(8):
            level = update >> sample & 1
            if level and not self._update:
                for registers, buffer in zip(self.registers, self._buffer, strict=True):
                    registers.update(buffer)
                self.updates.append((8 * self._cycle + sample, [dict(registers) for registers in self.registers]))
            self._update = level
        self._before = (clk, cs, list(mosi))
        self._cycle += 1

    def _byte(self, bits):
        if len(bits) == 72:
            value = int("".join(map(str, bits)), 2)
            address = value >> 64
            assert address < 0x80, "not a write"
            self._buffer[[b is bits for b in self._bits].index(True)][address] = value & 2**64 - 1
            if not self._chip_select:
                bits.clear()
