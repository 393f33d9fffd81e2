"""The links of a board: to its upstream board, whose commands enter its RTIO core, to those downstream, and to others
beside the tree; and their further clients."""

from functools import reduce
from operator import and_, or_

from litex.soc.interconnect.csr import AutoCSR, CSRStatus, CSRStorage
from migen import *

from ..contracts.rtio import BOARDS
from ..csr import uses
from ..link.bridge.split import PortSplit
from ..link.bridge.words import bridge_both
from ..link.bulk.forward import BoardEngines, BulkForwarding, BulkWay
from ..link.bulk.line import BulkLine
from ..link.drtio.card import CardServer
from ..link.drtio.end import DrtioEnd
from ..link.drtio.registers import CardRegisters
from ..link.line.eem_words import WORD_CYCLES
from ..link.line.mailbox import Mailbox, MailboxRegisters
from ..link.line.registers import LinkRegisters
from ..link.remote.cross import CrossLink, CrossRegisters
from ..link.remote.forward import Forwarding
from ..link.remote.rights import Rights
from ..link.remote.window import ADDRESS_LENGTH, END_BITS, RemoteWindow, WindowRegisters
from ..link.remote.words import remote_both
from ..link.rtio.registers import SatelliteRegisters
from ..link.rtio.requester import RtioRequester
from ..link.rtio.server import RtioServer
from ..link.switch.routes import UP, crossed_route
from ..phy.kinds import make_phys
from ..rtio.core import LOG_WIDTH
from .block import BoardBlock
from .bridge import BridgedBlock, BridgeEntry
from .remote import RemoteMemory

__all__ = ["LANE_DEPTH", "Links", "UplinkRegisters", "data_width"]

LANE_DEPTH = 512
"""Events that a satellite's lane holds: as many as its block RAM."""


def data_width(variant) -> int:
    """Bits of the widest event accepted by a channel of the board or of those downstream of it, at least
    32."""
    outputs = [phy.channel.output for board in variant.boards() for phy in make_phys(board.channels).values()]
    return max([LOG_WIDTH] + [output.data_width for output in outputs if output is not None])


def _outputs(board):
    """The number of a board's first channels that take outputs."""
    phys = make_phys(board.channels)
    takes = [number not in phys or phys[number].channel.output is not None for number in range(len(board.channels))]
    return [*takes, False].index(False)


def _more(board):
    """Streams of the upstream link of a board, beside those that every link has. Raises ValueError if they
    do not fit."""
    if board.bridge and board.remote:
        raise ValueError(f"{board.name}: the upstream link has remote memory or a bridge, not both")
    if board.bridge:
        return bridge_both(board.bridge.packetiser, board.bridge.master)
    return remote_both() if board.remote else ((), ())


class UplinkRegisters(Module, AutoCSR):
    """far: `RtioServer`. `destination`: of this board, as assigned by the master; a processor may
    change it. `remote_playback`: the player's outputs are for the upstream board."""

    USES = uses("uplink")

    def __init__(self, far):
        self.state = CSRStatus(2, name="state")
        self.destination = CSRStorage(8, name="destination", write_from_dev=True)
        self.remote_playback = CSRStorage(name="remote_playback")

        # # #

        self.comb += [self.destination.we.eq(far.named), self.destination.dat_w.eq(far.destination)]
        self.comb += self.state.status.eq(Cat(far.line_up, far.live))


class Links(Module):
    """variant: of the board. timebase: of its core. phases: clocks of boards may have any phase
    (`RtioRequester`, `RtioServer`). Raises ValueError if the board cannot have its links.

    `near`: of the downstream boards, list of `RtioRequester`; `remotes`: the same for a `CriRouter`. `own` (in,
    8 bits): the destination of this board. `far`: the `RtioServer`, once `attach` has been called on a
    board with an upstream link. `ends`: all of them by name ("up", "down1", …, "cross1", …); each has `endpoint`,
    `line_up` and `joined`. A card that speaks DRTIO has a `DrtioRequester` in `near` and a `DrtioEnd` in `ends`, and
    itself a `CardServer`. `resetting`: the reset of such a card is under way. `register_blocks`: by the prefix of
    their names. `wires`: by the names of the ends, objects with `out` to the line and `into` from it; that of such a
    card on hardware is the `DrtioEnd`. `memories`: `RemoteMemory` of the links that have it;
    `readers`, `writers`: halves of a memory port, of all that accesses memory;
    `port`: a slave for a processor's accesses to other boards, or None if there is nothing to access. `gp`: `GpPort` of
    what accesses this board's peripherals, or None.
    `irqs`: by the number of an interrupt of the logic, levels that assert it.
    """

    def __init__(self, variant, timebase, phases=False):
        if (count := len(variant.boards()) + variant.uplink) > BOARDS:
            raise ValueError(f"{variant.name}: a tree has {BOARDS} boards at most, but this one has {count} at least")
        if variant.uplink and variant.reorder:
            raise ValueError(f"{variant.name}: a satellite has lanes of increasing times (reorder = 0)")
        if variant.drtio and phases:
            raise ValueError(f"{variant.name}: its gateware is its maker's, which has to be in the card")
        if variant.uplink and any(board.drtio for board in variant.satellites):
            raise ValueError(f"{variant.name}: cards with their maker's gateware are at the board with the network")
        self.variant, self._phases = variant, phases
        self.ends, self.register_blocks, self.wires = {}, {}, {}
        self.memories, self.port, self.gp, self.irqs = [], None, None, {}
        self.readers, self.writers = [], []
        self.far = None
        self.own, self.near, self.remotes = Signal(8), [], []
        first = 1
        for n, board in enumerate(variant.satellites):
            count = len(board.boards())
            name, destination = f"down{n + 1}", self.own + first
            if board.drtio:
                self.ends[name] = end = DrtioEnd(
                    timebase, data_width(board), _outputs(board), destination, plain=not phases
                )
                near = end.near
                self.submodules += end
                self.register_blocks[f"card{n or ''}"] = CardRegisters(end)
            else:
                self.ends[name] = near = self._requester(board, timebase, destination)
                self.submodules += near
            self.near.append(near)
            self.remotes.append((near.cri, first, count))
            self.register_blocks[f"satellite{n or ''}"] = SatelliteRegisters(near)
            first += count
        self.resetting = reduce(or_, [near.resetting for near in self.near if hasattr(near, "resetting")], C(0))
        # A satellite has no number until it is given one
        numbered = self.own != 0 if variant.uplink else C(1)
        behind = sum(self._sizes)
        self._crosses = {f"cross{n}": CrossLink(self.own, numbered, behind) for n in range(1, 1 + variant.cross_links)}
        self.submodules += list(self._crosses.values())
        self.ends |= self._crosses

    def _requester(self, board, timebase, destination):
        # Both ends of a link over an EEM connector have the same clock
        of_line = self._phases and board.eem is None
        cycles = WORD_CYCLES if self._phases and board.eem is not None else 1
        count = len(board.boards())
        return RtioRequester(timebase, data_width(board), destination, count, _more(board), of_line, word_cycles=cycles)

    def attach(self, core, urgent):
        """Adds the far end of the upstream link, in front of the core. urgent: port of
        the arbiter."""
        of_line = self._phases and self.variant.eem is None
        drtio = self.variant.drtio
        far = CardServer(core) if drtio else RtioServer(core, self.near, _more(self.variant), of_line)
        self.submodules.far = self.far = far
        self.ends = {"up": far, **self.ends}
        self.comb += [[near.enable.eq(far.live), near.abort.eq(far.abort)] for near in self.near]
        self.comb += [
            far.cri.output.connect(urgent.output, omit={"channel"}),
            far.cri.input.connect(urgent.input, omit={"channel"}),
            urgent.output.channel.eq(Cat(far.cri.output.channel[:16], (far.cri.output.channel[16:] + self.own)[:8])),
            urgent.input.channel.eq(Cat(far.cri.input.channel[:16], (far.cri.input.channel[16:] + self.own)[:8])),
            far.cri.response.eq(urgent.response),
            [
                getattr(far.cri, name).eq(getattr(urgent, name))
                for name in ("output_done", "output_status", "input_done", "input_status")
            ],
            core.abort_input.eq(far.abort),
        ]

    def complete(self):
        """Adds the parts common to all ends, once these exist: the mailbox, and the registers of
        the link itself."""
        self._users, pointers = [], []
        downstream = {f"down{n + 1}": board.remote for n, board in enumerate(self.variant.satellites)}
        remote = {name: name in self._crosses or downstream.get(name, self.variant.remote) for name in self.ends}
        ways, bulk_ways = self._forward([name for name, there in remote.items() if there])
        rights = engines = None
        if self._crosses and ways:
            self.submodules.rights = rights = Rights(self.own, self._sizes, list(self._crosses.values()))
            self.submodules.engines = engines = BoardEngines(len(ways))
        for n, (name, end) in enumerate(self.ends.items()):
            if isinstance(end, (DrtioEnd, CardServer)):
                self._complete_card(n, name, end)
                pointers.append(None)
                continue
            endpoint = end.endpoint
            if name in self._crosses:
                self.register_blocks[f"cross{n or ''}"] = CrossRegisters(end)
            else:
                mailbox = Mailbox(endpoint.sink["auxiliary"], endpoint.source["auxiliary"], end.joined)
                self.register_blocks[f"mailbox{n or ''}"] = MailboxRegisters(mailbox)
                self.submodules += mailbox
                self._users.append(mailbox)
            self.register_blocks[f"link{n or ''}"] = LinkRegisters(endpoint.transport)
            self.wires[name] = endpoint
            pointers.append(None)
            if remote[name]:
                memory = RemoteMemory(endpoint, ways.get(name), bulk_ways[name], self.own, rights, engines)
                pointers[-1] = memory.pointers
                self.register_blocks |= {f"{part}{n or ''}": block for part, block in memory.register_blocks.items()}
                self.submodules += memory
                self._users.append(memory)
                self.memories.append(memory)
                self.readers += memory.readers
                self.writers += memory.writers
                self.wires[name] = bulk_ways[name].line

        own = self._block()
        bridges = self._bridges()
        # The firmware finds its neighbours where there is a window, even without anything to access
        if self.memories or bridges or any(board.bridge for board in self.variant.satellites):
            self.submodules.window = window = RemoteWindow(pointers, self._end_to, own, changing=len(self._crosses) > 0)
            idle = reduce(and_, [memory.idle for memory in self.memories], C(1))
            registers = WindowRegisters(
                window, idle, [failure for bridge in bridges.values() for failure in bridge.failures]
            )
            self.register_blocks["window"] = registers
            self.irqs |= {
                0: [memory.irq for memory in self.memories],
                1: [registers.irq, *[memory.late_irq for memory in self.memories]],
            }
            self._users.append(window)
            self.port = window.axi
        if bridges:
            self.submodules.split = split = PortSplit(
                [self.port, *[bridge.axi for bridge in bridges.values()]], self._select(list(bridges))
            )
            self.port = split.axi

    def _complete_card(self, n, name, end):
        """The same for a link that speaks DRTIO; on a card, its logic is the mailbox's other user."""
        self.wires[name] = end
        if isinstance(end, DrtioEnd):
            self.register_blocks[f"mailbox{n or ''}"] = MailboxRegisters(end.mailbox)
            self._users.append(end.mailbox)

    def _block(self):
        """Adds the block that regions can show, if the board has one. Returns it as `RemoteWindow` takes it."""
        name = self.variant.block
        if name is None:
            return ()
        if not self.memories:
            raise ValueError(f"{self.variant.name}: other boards reach its block by remote memory, and no link has any")
        self.submodules.block = block = BoardBlock(name, self.readers, self.writers)
        self.readers, self.writers = block.readers, block.writers
        self.register_blocks["block"] = block.registers
        self._users.append(block)
        return ((self.own, block.own),)

    def _bridges(self):
        """Adds this board's ends of bridges. Returns those at which accesses enter, by the number of the
        end."""
        entered, described = {}, self.variant.bridges()
        for n, (name, end) in enumerate(self.ends.items()):
            if name not in described:
                continue
            bridge, enters = described[name]
            if n >= (places := 1 << END_BITS):
                raise ValueError(f"{self.variant.name}: a bridge is at one of the first {places} links of a board")
            if enters:
                here = entered[n] = BridgeEntry(end.endpoint, bridge)
                blocks = {"bridge": here.registers}
            else:
                here = BridgedBlock(end.endpoint, bridge)
                blocks = {"outlet": here.registers} | here.register_blocks
                self.readers += here.readers
                self.writers += here.writers
                if here.gp is not None and self.gp is not None:
                    raise ValueError(
                        f"{self.variant.name}: one bridge of a board may lead to its peripherals, not more"
                    )
                self.gp = self.gp or here.gp
            self.register_blocks |= {f"{prefix}{n or ''}": registers for prefix, registers in blocks.items()}
            self.submodules += here
            self._users.append(here)
            self.irqs.setdefault(2, []).append(here.registers.irq)
        return entered

    @staticmethod
    def _select(ends):
        """Function from an address in the window to the slave that serves it: the window to memory, or that
        of one of these ends."""

        def select(address):
            place = address[ADDRESS_LENGTH : ADDRESS_LENGTH + END_BITS]
            return reduce(lambda other, found: Mux(place == found[1], found[0], other), enumerate(ends, 1), 0)

        return select

    def _forward(self, names):
        """Returns the replacements of these ends' endpoints for loads and stores, if there are several, so that these
        are forwarded through this board; and the port of each for bulk transfers, which are forwarded likewise."""
        lines = {name: BulkLine(self.ends[name].endpoint) for name in names}
        self.submodules += list(lines.values())
        if len(names) < 2:
            return {}, {name: BulkWay(line) for name, line in lines.items()}
        numbers = {name: n + self._first_port for n, name in enumerate(self.ends)}
        tree = self.own, self._sizes, list(self._crosses.values())
        forwarding = Forwarding({numbers[name]: self.ends[name].endpoint for name in names}, *tree)
        bulk = BulkForwarding({numbers[name]: line for name, line in lines.items()}, *tree)
        self.submodules += forwarding, bulk
        self._users += [forwarding, bulk]
        ways, bulk_ways = [{name: some.ways[numbers[name]] for name in names} for some in (forwarding, bulk)]
        return ways, bulk_ways

    @property
    def _first_port(self):
        """Port of a switch for the first end."""
        return UP if "up" in self.ends else UP + 1

    @property
    def _sizes(self):
        return [len(board.boards()) for board in self.variant.satellites]

    def _end_to(self, destination, end):
        """Statement: `end` is the number of the end that leads to a board."""
        port = Signal(max=UP + 1 + max(1, len(self.ends)))
        crosses = [(cross.destination, cross.size, cross.leads) for cross in self._crosses.values()]
        self.comb += crossed_route(self.own, self._sizes, crosses)(destination, port)
        return end.eq(port - self._first_port)

    def settled(self):
        """For time skip: whether all parts are quiescent."""
        return [part.settled for part in [*self.ends.values(), *self._users]]
