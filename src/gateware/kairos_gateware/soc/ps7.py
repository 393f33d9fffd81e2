"""The Zynq-7000's processing system block, and its connection to a `Soc`.

Port names are those of the PS7 primitive (UG585, and its model in the vendor's and in yosys' cell
library). Memory and MIO pins of the block are hard-wired and not listed. Its ports run in clock
domain sys.
"""

from migen import *

__all__ = ["Ps7"]

_CACHE = 0xF  # write-back, read and write allocate: coherent with the CPU caches
_USER = 0x1F  # shared
_BEAT_BYTES_LOG2 = 3
_DEVICE = 0  # not bufferable: an answer comes from the register itself
_SECURE = 0  # as the processors' own accesses
_INCREMENTING = 1


class Ps7(Module):
    """soc: its ports are connected. Provides `fclk` and `fclk_reset_n` (out, 4 bits, resets, 0 active), of
    which the board derives clock domain sys from the first."""

    def __init__(self, soc):
        self.fclk = Signal(4)
        self.fclk_reset_n = Signal(4)

        # # #

        self.specials += Instance(
            "PS7",
            name="ps7",
            o_FCLKCLK=self.fclk,
            o_FCLKRESETN=self.fclk_reset_n,
            i_FCLKCLKTRIGN=0,
            o_EVENTEVENTO=soc.event_o,
            i_EVENTEVENTI=soc.event_i,
            i_IRQF2P=Cat(soc.interrupts, C(0, 4)),
            o_EMIOGPIOO=soc.emio_o,
            i_EMIOGPIOI=soc.emio_i,
            **self._gp(0, soc.gp0),
            **(self._gp(1, soc.gp1) if soc.gp1 is not None else {}),
            **self._acp(soc.acp),
            **self._hp0(soc.hp_read, soc.hp_write),
            **(self._gp_slave(soc.gp_slave) if soc.gp_slave is not None else {}),
        )

    def _gp(self, number, axi):
        port = f"MAXIGP{number}"
        ports = {f"i_{port}ACLK": ClockSignal()}
        for channel in ["aw", "ar"]:
            ax = getattr(axi, channel)
            burst = Signal(4, name=f"gp{number}_{channel}len")
            size = Signal(2, name=f"gp{number}_{channel}size")
            self.comb += [ax.len.eq(burst), ax.size.eq(size)]
            prefix = f"{port}{channel.upper()}"
            ports |= {
                f"o_{prefix}VALID": ax.valid,
                f"i_{prefix}READY": ax.ready,
                f"o_{prefix}ADDR": ax.addr,
                f"o_{prefix}LEN": burst,
                f"o_{prefix}SIZE": size,
                f"o_{prefix}BURST": ax.burst,
                f"o_{prefix}ID": ax.id,
            }
        return ports | {
            f"o_{port}WVALID": axi.w.valid,
            f"i_{port}WREADY": axi.w.ready,
            f"o_{port}WDATA": axi.w.data,
            f"o_{port}WSTRB": axi.w.strb,
            f"o_{port}WLAST": axi.w.last,
            f"i_{port}BVALID": axi.b.valid,
            f"o_{port}BREADY": axi.b.ready,
            f"i_{port}BID": axi.b.id,
            f"i_{port}BRESP": axi.b.resp,
            f"i_{port}RVALID": axi.r.valid,
            f"o_{port}RREADY": axi.r.ready,
            f"i_{port}RID": axi.r.id,
            f"i_{port}RDATA": axi.r.data,
            f"i_{port}RRESP": axi.r.resp,
            f"i_{port}RLAST": axi.r.last,
        }

    @staticmethod
    def _acp(bus):
        fixed = {
            "BURST": C(_INCREMENTING, 2),
            "SIZE": C(_BEAT_BYTES_LOG2, 2),
            "CACHE": C(_CACHE, 4),
            "USER": C(_USER, 5),
        }
        return _slave("SAXIACP", [bus], fixed) | {"i_SAXIACPWID": C(0, 3)}

    @staticmethod
    def _hp0(read, write):
        fixed = {"ID": C(0, 6), "BURST": C(_INCREMENTING, 2), "SIZE": C(_BEAT_BYTES_LOG2, 2), "CACHE": C(_CACHE, 4)}
        others = {"i_SAXIHP0RDISSUECAP1EN": C(0, 1), "i_SAXIHP0WRISSUECAP1EN": C(0, 1), "i_SAXIHP0WID": C(0, 6)}
        return _slave("SAXIHP0", [read, write], fixed) | others

    @staticmethod
    def _gp_slave(port):
        fixed = {"ID": C(0, 6), "LEN": C(0, 4), "BURST": C(_INCREMENTING, 2), "CACHE": C(_DEVICE, 4)}
        return _slave("SAXIGP0", [port], fixed) | {"i_SAXIGP0WID": C(0, 6), "i_SAXIGP0WLAST": C(1)}


def _slave(name, parts, fixed):
    """Connections of a slave port to the logic's side of it, in `parts`. fixed: constants of both address channels."""
    ports = {f"i_{name}ACLK": ClockSignal()}
    for part in parts:
        ports |= {f"i_{name}{signal.upper()}": getattr(part, signal) for signal in part.OUTPUTS}
        ports |= {f"o_{name}{signal.upper()}": getattr(part, signal) for signal in part.INPUTS}
    fixed = fixed | {"LOCK": C(0, 2), "PROT": C(_SECURE, 3), "QOS": C(0, 4)}
    return ports | {f"i_{name}{channel}{field}": value for channel in ("AR", "AW") for field, value in fixed.items()}
