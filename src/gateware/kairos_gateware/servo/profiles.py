"""The memories of the servo's filters: coefficients of all profiles, and Y of each.

Two banks hold the words of a row: 2 n and 2 n + 1. Every memory has a port for the filter and one
for external access; a read takes one cycle, and a word that is written at the same time is read
with its old value. Clock domain sys.
"""

from migen import *

from .format import COEFF_WIDTH, PROFILE_WIDTH, STATE_WIDTH

__all__ = ["ProfileMemories"]


class ProfileMemories(Module):
    """index_width: bits of a channel's number.

    Filter: `row` (in, 2 bits), `profile` (in, 5 bits), `channel` (in, `index_width` bits) → `low`, `high`
    (out, 18 bits, signed, words of the row) in the next cycle; `state_at` (in, `PROFILE_WIDTH +
    index_width` bits, profile, channel) → `state` (out, 25 bits, signed); `write` (in) stores `new_state`
    (in, 25 bits, signed) there.

    Access, any time: `address` (in, `index_width + PROFILE_WIDTH + 3` bits, bits of a word of the
    coefficients; Y in its low bits), `value` (in, 18 bits), `write_coeff`, `write_state` (in); `coeff`
    (out, 18 bits) and `state_out` (out, 25 bits) have the content in the next cycle.
    """

    def __init__(self, index_width):
        self.row, self.profile, self.channel = Signal(2), Signal(PROFILE_WIDTH), Signal(index_width)
        self.low, self.high = Signal((COEFF_WIDTH, True)), Signal((COEFF_WIDTH, True))
        self.state_at = Signal(PROFILE_WIDTH + index_width)
        self.state = Signal((STATE_WIDTH, True))
        self.write = Signal()
        self.new_state = Signal((STATE_WIDTH, True))
        self.address = Signal(index_width + PROFILE_WIDTH + 3)
        self.value = Signal(COEFF_WIDTH)
        self.write_coeff, self.write_state = Signal(), Signal()
        self.coeff, self.state_out = Signal(COEFF_WIDTH), Signal(STATE_WIDTH)

        # # #

        banks = [self._memory(COEFF_WIDTH, index_width + PROFILE_WIDTH + 2, False, f"coeff_{i}") for i in range(2)]
        states, states_access = self._memory(STATE_WIDTH, index_width + PROFILE_WIDTH, True, "state")
        odd = Signal()
        self.sync += odd.eq(self.address[0])
        self.comb += [
            [port.adr.eq(Cat(self.row, self.profile, self.channel)) for port, _ in banks],
            self.low.eq(banks[0][0].dat_r),
            self.high.eq(banks[1][0].dat_r),
            states.adr.eq(self.state_at),
            self.state.eq(states.dat_r),
            states.dat_w.eq(self.new_state),
            states.we.eq(self.write),
            [access.adr.eq(self.address[1:]) for _, access in banks],
            [access.dat_w.eq(self.value) for _, access in banks],
            [access.we.eq(self.write_coeff & (self.address[0] == i)) for i, (_, access) in enumerate(banks)],
            self.coeff.eq(Mux(odd, banks[1][1].dat_r, banks[0][1].dat_r)),
            states_access.adr.eq(self.address),
            # A negative Y is stored as 0
            If(~self.value[-1], states_access.dat_w.eq(self.value << STATE_WIDTH - COEFF_WIDTH)),
            states_access.we.eq(self.write_state),
            self.state_out.eq(states_access.dat_r),
        ]

    def _memory(self, width, address_width, writes, name):
        """Ports for the filter (write-capable if `writes`) and for access."""
        memory = Memory(width, 1 << address_width, name=name)
        ports = [memory.get_port(write_capable=capable, mode=READ_FIRST) for capable in [writes, True]]
        self.specials += memory, *ports
        return ports
