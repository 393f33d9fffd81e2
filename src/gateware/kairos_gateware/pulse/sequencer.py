"""A channel's gate sequencer: accepts words, writes its tables, and feeds segments to the engines.
Clock domain sys.

A word that runs gates passes through the tables as a pipeline, two entries of the memory map per
cycle:

    lookup    gate table: first and last entry of a gate
    walk      addresses of the gate's next two entries
    map       memory map: two masks of parameters, two addresses
    pulse     pulse table: two segments
    push      the segments go into the FIFOs of their masks

Two segments for the same parameter are pushed one after the other. The pipeline stalls while a FIFO
has no room. Words that write tables, and segments contained in words, wait until the pipeline is
empty: a word takes effect in stream order. A word for the memory map or the gate table takes one
cycle per slot.
"""

from functools import reduce
from operator import and_, or_

from migen import *

from ..contracts import pulse as facts
from .words import Segment, fields, mode_of, parameters_of

__all__ = ["Sequencer", "READS"]

READS = 2
"""Entries of the memory map that are read per cycle."""

Mode = facts.Mode
_LENGTH_BITS = facts.MLUT_ADDRESS_BITS + 1
"""The gate table stores a gate's first entry, and its number of entries: none if it was never
written."""


class _Table(Module):
    """A table with `ports` ports; the first one also writes. An address beyond its end is not
    written. Unwritten entries are 0.

    `write` (in): the entry at `address` (in) is written. `beyond` (out): that is beyond the table's
    end.
    """

    def __init__(self, width, bits, word_bits, ports):
        self.specials.memory = memory = Memory(width, 1 << bits)
        self.ports = [memory.get_port(write_capable=not n, has_re=True) for n in range(ports)]
        self.specials += self.ports
        self.write, self.address, self.beyond = Signal(), Signal(word_bits), Signal()
        self.comb += [
            self.beyond.eq(self.write & (self.address >> bits != 0)),
            self.ports[0].we.eq(self.write & ~self.beyond),
        ]


class Sequencer(Module):
    """queues: of the eight engines. glut_bits, mlut_bits, plut_bits: address bits of the tables as
    built. wide: words carry 22 gate ids instead of 20 and a count.

    `valid`, `ready`, `word`: the stream. `result`, `result_valid`: of a measurement; one is remembered.
    `timeout`: cycles until a branch continues without one, 0: never. `errors`: name to a signal that
    is high in a cycle with that error. `settled`: nothing changes until a result, a word or room in
    a queue is available. `waiting`: for a result. `given`: segments that go to queues in this
    cycle, in order, each (whether there is one, mask of parameters, body). `upcoming`: parameters
    whose queues get a segment of the tables within two cycles; one that has no cycles counts too.
    """

    def __init__(
        self,
        queues,
        glut_bits=facts.GLUT_ADDRESS_BITS,
        mlut_bits=facts.MLUT_ADDRESS_BITS,
        plut_bits=facts.PLUT_ADDRESS_BITS,
        wide=False,
    ):
        self.valid, self.ready = Signal(), Signal()
        self.word = Signal(facts.WORD_BITS)
        self.result, self.result_valid = Signal(facts.BRANCH_STATE_BITS), Signal()
        self.timeout = Signal(32)
        self.errors = {name: Signal(name=f"error_{name}") for name in ["mode", "count", "address", "branch_timeout"]}
        self.settled, self.waiting = Signal(), Signal()
        self.upcoming = Signal(facts.PARAMETERS)
        self.table_bits = [glut_bits, mlut_bits, plut_bits]

        # # #

        self.submodules.glut = _Table(facts.MLUT_ADDRESS_BITS + _LENGTH_BITS, glut_bits, facts.GLUT_ADDRESS_BITS, 1)
        self.submodules.mlut = _Table(facts.MLUT_DATA_BITS, mlut_bits, facts.MLUT_ADDRESS_BITS, READS)
        self.submodules.plut = _Table(facts.BODY_BITS, plut_bits, facts.PLUT_ADDRESS_BITS, READS)
        self.comb += self.errors["address"].eq(self.glut.beyond | self.mlut.beyond | self.plut.beyond)
        self._wide = wide
        self._now, self._mode = Signal(facts.WORD_BITS), Signal(facts.MODE_BITS)
        self._left, self._step = Signal(6), Signal()  # remaining slots of the word; one is taken
        self._reading, self._go = Signal(), Signal()  # gates are in the pipeline; it moves
        self._ids_go = Signal()
        self._take_words()
        issued = self._branch()
        self._read(queues, issued)

    def _take_words(self):
        """Processes the current word, slot by slot."""
        have, finished, taken = Signal(), Signal(), Signal()
        mode = mode_of(self.word)
        programs, runs = Signal(), Signal()
        self.comb += [
            finished.eq((self._left == 0) | (self._step & (self._left == 1))),
            self.ready.eq(~have | finished),
            taken.eq(self.valid & self.ready),
            programs.eq((mode == Mode.PROGRAM_GLUT) | (mode == Mode.PROGRAM_MLUT)),
            runs.eq(mode[2] & (mode != Mode.BYPASS)),
        ]
        counts = fields(
            self.word,
            program=(facts.PROGRAM_COUNT_AT, facts.PROGRAM_COUNT_BITS),
            run=(facts.RUN_COUNT_AT, facts.RUN_COUNT_BITS),
        )
        slots, most = Signal(6), Signal(6)
        self.comb += [
            slots.eq(1),
            most.eq(1),
            If(programs, slots.eq(counts["program"]), most.eq(facts.GLUT_SLOTS)),
            If(
                runs,
                slots.eq(facts.RUN_SLOTS_WIDE if self._wide else counts["run"]),
                most.eq(facts.RUN_SLOTS_WIDE if self._wide else facts.RUN_SLOTS),
            ),
            self.errors["mode"].eq(taken & (mode == 0)),
            self.errors["count"].eq(taken & (slots > most)),
        ]
        self.sync += [
            If(
                self._step,
                self._left.eq(self._left - 1),
                Case(
                    self._mode,
                    {
                        Mode.PROGRAM_GLUT: self._now.eq(self._now[facts.GLUT_SLOT_BITS :]),
                        Mode.PROGRAM_MLUT: self._now.eq(self._now[facts.MLUT_SLOT_BITS :]),
                        "default": self._now.eq(self._now[facts.GATE_ID_BITS :]),
                    },
                ),
            ),
            have.eq(self.valid | ~self.ready),
            If(
                taken,
                self._now.eq(self.word),
                self._mode.eq(mode),
                self._left.eq(Mux(mode == 0, 0, Mux(slots > most, most, slots))),
            ),
        ]
        self._taken = taken

    def _branch(self):
        """Determines whether gates may be looked up; returns the address of the gate."""
        pending, chosen, late = Signal(), Signal(), Signal()
        result, kept = Signal.like(self.result), Signal.like(self.result)
        waited = Signal(32)
        waiting, self._decides = self.waiting, Signal()
        upper = Signal(facts.GLUT_ADDRESS_BITS)
        self.comb += [
            self._decides.eq(waiting & (pending | (self.timeout != 0))),
            waiting.eq((self._mode == Mode.BRANCH) & (self._left != 0) & ~chosen),
            late.eq(waiting & ~pending & (self.timeout != 0) & (waited >= self.timeout)),
            self.errors["branch_timeout"].eq(late),
            self._ids_go.eq(self._mode[2] & (self._mode != Mode.BYPASS) & (self._left != 0) & ~waiting),
            If(
                self._mode != Mode.RUN,
                upper.eq(1 << facts.BRANCH_AT | kept << facts.BRANCH_STATE_AT),
            ),
        ]
        self.sync += [
            If(waiting, waited.eq(waited + 1), chosen.eq(pending | late)),
            If(waiting & pending, kept.eq(result), pending.eq(0)).Elif(late, kept.eq(0)),
            If(self._taken, chosen.eq(0), waited.eq(0)),
            If(self.result_valid, pending.eq(1), result.eq(self.result)),
        ]
        return upper | self._now[: facts.GATE_ID_BITS]

    def _read(self, queues, gate):
        """The pipeline through the tables, and the progress of words."""
        go = self._go
        looked_up, lookup, found = Signal(), Signal(), Signal()
        walking, following, left = Signal(), Signal(facts.MLUT_ADDRESS_BITS), Signal((_LENGTH_BITS + 1, True))
        through = Signal()  # the walk is at its gate's end
        glut, mlut, plut = self.glut.ports[0], self.mlut.ports, self.plut.ports
        first, length = glut.dat_r[: facts.MLUT_ADDRESS_BITS], glut.dat_r[facts.MLUT_ADDRESS_BITS :]
        mapped = [
            [Signal(name=f"mapped_{n}") for n in range(READS)],
            [Signal(name=f"pulsed_{n}") for n in range(READS)],
        ]
        masks = [Signal(facts.PARAMETERS, name=f"mask_{n}") for n in range(READS)]
        read = [Signal(facts.PARAMETERS, name=f"read_mask_{n}") for n in range(READS)]
        none = (self._now[: facts.GATE_ID_BITS] == facts.RUN_NO_GATE) if self._wide else 0
        self.comb += [
            through.eq(~walking | (left <= READS)),
            found.eq(looked_up & through & go),
            lookup.eq(self._ids_go & go & (~looked_up | through)),
            glut.re.eq(lookup),
            glut.adr.eq(gate),
            [port.re.eq(go) for port in [*mlut, *plut]],
        ]
        self.sync += [
            If(lookup, looked_up.eq(~none if self._wide else 1)).Elif(found, looked_up.eq(0)),
            If(
                go,
                following.eq(following + READS),
                left.eq(left - READS),
                If(through, walking.eq(looked_up)),
                If(through & looked_up, following.eq(first), left.eq(length)),
                [valid.eq(walking & (left > n)) for n, valid in enumerate(mapped[0])],
                [after.eq(before) for after, before in zip(mapped[1], mapped[0], strict=True)],
            ),
        ]
        for n in range(READS):
            target = fields(
                mlut[n].dat_r,
                plut=(facts.MLUT_SLOT_PLUT_AT, facts.PLUT_ADDRESS_BITS),
                mask=(facts.MLUT_SLOT_MASK_AT, facts.PARAMETERS),
            )
            self.comb += [
                mlut[n].adr.eq(following + n),
                plut[n].adr.eq(target["plut"]),
                If(mapped[0][n], read[n].eq(target["mask"])),
            ]
            self.sync += If(go, masks[n].eq(target["mask"]))
        # Entries mapped in one cycle are pushed in the next; in the one after it, if one of the two
        # pairs has to be pushed one after the other.
        apart = mapped[1][0] & mapped[1][1] & ((masks[0] & masks[1]) != 0)
        unhindered = go & ~apart & reduce(and_, [queue.roomy for queue in queues])
        self.sync += self.upcoming.eq(Mux(unhindered, reduce(or_, read), 0))
        self.comb += self._reading.eq(reduce(or_, [looked_up, walking, *mapped[0], *mapped[1]]))
        pushing = self._push(queues, mapped[1], masks, [port.dat_r for port in plut])
        self._program(lookup)
        moving = (self.valid & self.ready) | self._step | (self._reading & go) | pushing
        self.comb += self.settled.eq(~moving & ~self._decides)

    def _push(self, queues, valid, masks, bodies):
        """The last stage. Returns whether segments leave it."""
        waits = [Signal(name=f"push_{n}") for n in range(READS)]
        names = [Signal(facts.PARAMETERS, name=f"push_mask_{n}") for n in range(READS)]
        held = [Signal(facts.BODY_BITS, name=f"push_body_{n}") for n in range(READS)]
        empty = [Signal(name=f"push_empty_{n}") for n in range(READS)]
        room = Signal(facts.PARAMETERS)
        goes = [Signal(name=f"pushed_{n}") for n in range(READS)]
        self._bypass = Signal()
        self.given = list(zip(goes, names, held, strict=True))
        one, two = range(READS)
        self.comb += [
            room.eq(Cat(*[queue.room for queue in queues])),
            goes[one].eq(waits[one] & ((names[one] & ~room) == 0)),
            goes[two].eq(
                waits[two]
                & ((names[two] & ~room) == 0)
                & (~waits[one] | (goes[one] & ((names[one] & names[two]) == 0)))
            ),
            self._go.eq((~waits[one] | goes[one]) & (~waits[two] | goes[two])),
        ]
        for n in range(READS):
            self.sync += [
                If(
                    self._go,
                    *[waits[n].eq(valid[n]), names[n].eq(masks[n])],
                    *[held[n].eq(bodies[n]), empty[n].eq(Segment(bodies[n]).tau == 0)],
                ).Elif(goes[n], waits[n].eq(0))
            ]
        self.sync += If(
            self._bypass,
            waits[one].eq(1),
            names[one].eq(parameters_of(self._now)),
            *[held[one].eq(self._now[: facts.BODY_BITS]), empty[one].eq(Segment(self._now).tau == 0)],
        )
        for p, queue in enumerate(queues):
            second = goes[two] & names[two][p]
            self.comb += [
                queue.we.eq((goes[one] & names[one][p]) | second),
                queue.din.eq(Mux(second, held[two], held[one])),
                queue.empty.eq(Mux(second, empty[two], empty[one])),
            ]
        return reduce(or_, goes)

    def _program(self, lookup):
        """Words that write tables, or are segments themselves."""
        now, ready = self._now, Signal()
        self.comb += ready.eq((self._left != 0) & ~self._reading)
        gate = fields(
            now,
            first=(facts.GLUT_SLOT_FIRST_AT, facts.MLUT_ADDRESS_BITS),
            last=(facts.GLUT_SLOT_LAST_AT, facts.MLUT_ADDRESS_BITS),
        )
        length = Signal(_LENGTH_BITS)
        self.comb += length.eq(Mux(gate["first"] > gate["last"], 0, gate["last"] - gate["first"] + 1))
        tables = [
            (Mode.PROGRAM_GLUT, self.glut, facts.GLUT_SLOT_ADDRESS_AT, Cat(gate["first"], length)),
            (Mode.PROGRAM_MLUT, self.mlut, facts.MLUT_SLOT_ADDRESS_AT, now[: facts.MLUT_SLOT_ADDRESS_AT]),
            (Mode.PROGRAM_PLUT, self.plut, facts.PLUT_ADDRESS_AT, now[: facts.BODY_BITS]),
        ]
        for mode, table, at, data in tables:
            port = table.ports[0]
            self.comb += [
                table.address.eq(now[at:]),
                table.write.eq(ready & (self._mode == mode)),
                port.dat_w.eq(data),
                If(table.write, port.adr.eq(table.address), port.re.eq(1)),
            ]
        writes = self.glut.write | self.mlut.write | self.plut.write
        self.comb += [
            self._bypass.eq(ready & (self._mode == Mode.BYPASS) & self._go),
            self._step.eq(lookup | writes | self._bypass),
        ]
