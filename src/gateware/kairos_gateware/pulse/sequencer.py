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
    """A table that `ports` users read. An address beyond its end is not written. Unwritten entries are 0.

    reads: for each user `re`, `adr` and, in the next cycle, `dat_r`. `write` (in): `data` (in, `width` bits)
    becomes the entry at `address` (in, `word_bits` bits), and the first user cannot read. `beyond` (out):
    that is beyond the table's end.
    """

    def __init__(self, width, bits, word_bits, ports):
        self.reads = [Record([("re", 1), ("adr", bits), ("dat_r", width)]) for _ in range(ports)]
        self.write, self.address, self.data = Signal(), Signal(word_bits), Signal(width)
        self.beyond = Signal()

        # # #

        self.specials.memory = memory = Memory(width, 1 << bits)
        for n, read in enumerate(self.reads):
            port = memory.get_port(write_capable=not n, has_re=True)
            self.specials += port
            self.comb += [port.adr.eq(read.adr), port.re.eq(read.re), read.dat_r.eq(port.dat_r)]
            if not n:
                self.comb += [
                    port.we.eq(self.write & ~self.beyond),
                    port.dat_w.eq(self.data),
                    If(self.write, port.adr.eq(self.address), port.re.eq(1)),
                ]
        self.comb += self.beyond.eq(self.write & (self.address >> bits != 0))


class _CurrentWord(Module):
    """The word whose slots are processed one by one. wide: as of the `Sequencer`.

    `valid` (in), `ready` (out), `word` (in, 256 bits): the stream; `taken` (out): a word begins. `now` (out,
    256 bits): the word from the current slot on, of the mode `mode` (out, 3 bits); `left` (out, 6 bits): its
    slots that remain, 0 between words. `step` (in): the current slot is done. For a cycle, with `taken`:
    `invalid` (out), the word has no valid mode; `too_many` (out), it counts more slots than a word has.
    """

    def __init__(self, wide):
        self.valid, self.ready, self.word = Signal(), Signal(), Signal(facts.WORD_BITS)
        self.now, self.mode, self.left = Signal(facts.WORD_BITS), Signal(facts.MODE_BITS), Signal(6)
        self.taken, self.step = Signal(), Signal()
        self.invalid, self.too_many = Signal(), Signal()

        # # #

        have, finished, taken = Signal(), Signal(), self.taken
        mode, now = mode_of(self.word), self.now
        programs, runs = Signal(), Signal()
        self.comb += [
            finished.eq((self.left == 0) | (self.step & (self.left == 1))),
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
                slots.eq(facts.RUN_SLOTS_WIDE if wide else counts["run"]),
                most.eq(facts.RUN_SLOTS_WIDE if wide else facts.RUN_SLOTS),
            ),
            self.invalid.eq(taken & (mode == 0)),
            self.too_many.eq(taken & (slots > most)),
        ]
        self.sync += [
            If(
                self.step,
                self.left.eq(self.left - 1),
                Case(
                    self.mode,
                    {
                        Mode.PROGRAM_GLUT: now.eq(now[facts.GLUT_SLOT_BITS :]),
                        Mode.PROGRAM_MLUT: now.eq(now[facts.MLUT_SLOT_BITS :]),
                        "default": now.eq(now[facts.GATE_ID_BITS :]),
                    },
                ),
            ),
            have.eq(self.valid | ~self.ready),
            If(
                taken,
                now.eq(self.word),
                self.mode.eq(mode),
                self.left.eq(Mux(mode == 0, 0, Mux(slots > most, most, slots))),
            ),
        ]


class _Branch(Module):
    """Determines which gates may be looked up. current: the `_CurrentWord`.

    `result_valid` (in), `result` (in, 4 bits): of a measurement; one is remembered, until a branch takes
    it. `timeout` (in, 32 bits): as of the `Sequencer`. `waiting` (out): a branch waits for a result;
    `decides` (out): it has one, or may run out of time; `late` (out): for a cycle, it continues without.
    `runs` (out): the current slot is a gate, of address `gate` (out, 12 bits), which may be looked up.
    """

    def __init__(self, current):
        self.result_valid, self.result = Signal(), Signal(facts.BRANCH_STATE_BITS)
        self.timeout = Signal(32)
        self.waiting, self.decides, self.late, self.runs = Signal(), Signal(), Signal(), Signal()
        self.gate = Signal(facts.GLUT_ADDRESS_BITS)

        # # #

        pending, chosen, waiting, late = Signal(), Signal(), self.waiting, self.late
        result, kept = Signal.like(self.result), Signal.like(self.result)
        waited, upper = Signal(32), Signal(facts.GLUT_ADDRESS_BITS)
        self.comb += [
            self.decides.eq(waiting & (pending | (self.timeout != 0))),
            waiting.eq((current.mode == Mode.BRANCH) & (current.left != 0) & ~chosen),
            late.eq(waiting & ~pending & (self.timeout != 0) & (waited >= self.timeout)),
            self.runs.eq(current.mode[2] & (current.mode != Mode.BYPASS) & (current.left != 0) & ~waiting),
            If(
                current.mode != Mode.RUN,
                upper.eq(1 << facts.BRANCH_AT | kept << facts.BRANCH_STATE_AT),
            ),
            self.gate.eq(upper | current.now[: facts.GATE_ID_BITS]),
        ]
        self.sync += [
            If(waiting, waited.eq(waited + 1), chosen.eq(pending | late)),
            If(waiting & pending, kept.eq(result), pending.eq(0)).Elif(late, kept.eq(0)),
            If(current.taken, chosen.eq(0), waited.eq(0)),
            If(self.result_valid, pending.eq(1), result.eq(self.result)),
        ]


class _Lookup(Module):
    """The pipeline through the tables: of each gate, the segments of its entries, READS of them in a cycle.
    glut, mlut, plut: the tables' `reads`, of the first only one.

    `go` (in): the pipeline moves in this cycle. `request` (in): the gate of address `gate` (in, 12 bits) is
    to be looked up, unless it is `none` (in), for which there is nothing to read; `taken` (out): it is.
    `reading` (out): gates are in the pipeline. `upcoming` (out, 8 bits): parameters that get a segment within
    two cycles if nothing hinders it. valid, masks, bodies: for each of the segments that leave the pipeline
    in this cycle, whether there is one, its parameters, and its body.
    """

    def __init__(self, glut, mlut, plut):
        self.go, self.request, self.none, self.taken = Signal(), Signal(), Signal(), Signal()
        self.gate = Signal(facts.GLUT_ADDRESS_BITS)
        self.reading, self.upcoming = Signal(), Signal(facts.PARAMETERS)
        self.valid = [Signal(name=f"pulsed_{n}") for n in range(READS)]
        self.masks = [Signal(facts.PARAMETERS, name=f"mask_{n}") for n in range(READS)]
        self.bodies = [port.dat_r for port in plut]

        # # #

        go, lookup = self.go, self.taken
        looked_up, found = Signal(), Signal()
        walking, following, left = Signal(), Signal(facts.MLUT_ADDRESS_BITS), Signal((_LENGTH_BITS + 1, True))
        through = Signal()  # the walk is at its gate's end
        first, length = glut.dat_r[: facts.MLUT_ADDRESS_BITS], glut.dat_r[facts.MLUT_ADDRESS_BITS :]
        mapped = [Signal(name=f"mapped_{n}") for n in range(READS)]
        read = [Signal(facts.PARAMETERS, name=f"read_mask_{n}") for n in range(READS)]
        self.comb += [
            through.eq(~walking | (left <= READS)),
            found.eq(looked_up & through & go),
            lookup.eq(self.request & go & (~looked_up | through)),
            glut.re.eq(lookup),
            glut.adr.eq(self.gate),
            [port.re.eq(go) for port in [*mlut, *plut]],
        ]
        self.sync += [
            If(lookup, looked_up.eq(~self.none)).Elif(found, looked_up.eq(0)),
            If(
                go,
                following.eq(following + READS),
                left.eq(left - READS),
                If(through, walking.eq(looked_up)),
                If(through & looked_up, following.eq(first), left.eq(length)),
                [valid.eq(walking & (left > n)) for n, valid in enumerate(mapped)],
                [after.eq(before) for after, before in zip(self.valid, mapped, strict=True)],
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
                If(mapped[n], read[n].eq(target["mask"])),
            ]
            self.sync += If(go, self.masks[n].eq(target["mask"]))
        self.comb += [
            self.upcoming.eq(reduce(or_, read)),
            self.reading.eq(reduce(or_, [looked_up, walking, *mapped, *self.valid])),
        ]


class _Push(Module):
    """The last stage: segments wait here until the queues of all their parameters have room. Two for the same
    parameter go one after the other. queues: of the eight engines. valid, masks, bodies: as of `_Lookup`.

    `go` (out): the stage can take what the pipeline has. `bypass` (in): a word is a segment itself, `word`
    (in, 256 bits), and is taken instead; only while `go` and with an empty pipeline. `moves` (out): a segment
    leaves. given: as of the `Sequencer`.
    """

    def __init__(self, queues, valid, masks, bodies):
        self.go, self.bypass, self.moves = Signal(), Signal(), Signal()
        self.word = Signal(facts.WORD_BITS)
        waits = [Signal(name=f"push_{n}") for n in range(READS)]
        names = [Signal(facts.PARAMETERS, name=f"push_mask_{n}") for n in range(READS)]
        held = [Signal(facts.BODY_BITS, name=f"push_body_{n}") for n in range(READS)]
        goes = [Signal(name=f"pushed_{n}") for n in range(READS)]
        self.given = list(zip(goes, names, held, strict=True))

        # # #

        empty = [Signal(name=f"push_empty_{n}") for n in range(READS)]
        room = Signal(facts.PARAMETERS)
        one, two = range(READS)
        self.comb += [
            room.eq(Cat(*[queue.room for queue in queues])),
            goes[one].eq(waits[one] & ((names[one] & ~room) == 0)),
            goes[two].eq(
                waits[two]
                & ((names[two] & ~room) == 0)
                & (~waits[one] | (goes[one] & ((names[one] & names[two]) == 0)))
            ),
            self.go.eq((~waits[one] | goes[one]) & (~waits[two] | goes[two])),
            self.moves.eq(reduce(or_, goes)),
        ]
        for n in range(READS):
            self.sync += [
                If(
                    self.go,
                    *[waits[n].eq(valid[n]), names[n].eq(masks[n])],
                    *[held[n].eq(bodies[n]), empty[n].eq(Segment(bodies[n]).tau == 0)],
                ).Elif(goes[n], waits[n].eq(0))
            ]
        self.sync += If(
            self.bypass,
            waits[one].eq(1),
            names[one].eq(parameters_of(self.word)),
            *[held[one].eq(self.word[: facts.BODY_BITS]), empty[one].eq(Segment(self.word).tau == 0)],
        )
        for p, queue in enumerate(queues):
            second = goes[two] & names[two][p]
            self.comb += [
                queue.we.eq((goes[one] & names[one][p]) | second),
                queue.din.eq(Mux(second, held[two], held[one])),
                queue.empty.eq(Mux(second, empty[two], empty[one])),
            ]


class _Programming(Module):
    """Words that write tables. current: the `_CurrentWord`. glut, mlut, plut: the `_Table`s.

    `ready` (in): the current slot may take effect. `writes` (out): it writes a table in this cycle.
    """

    def __init__(self, current, glut, mlut, plut):
        self.ready, self.writes = Signal(), Signal()

        # # #

        now = current.now
        gate = fields(
            now,
            first=(facts.GLUT_SLOT_FIRST_AT, facts.MLUT_ADDRESS_BITS),
            last=(facts.GLUT_SLOT_LAST_AT, facts.MLUT_ADDRESS_BITS),
        )
        length = Signal(_LENGTH_BITS)
        self.comb += length.eq(Mux(gate["first"] > gate["last"], 0, gate["last"] - gate["first"] + 1))
        tables = [
            (Mode.PROGRAM_GLUT, glut, facts.GLUT_SLOT_ADDRESS_AT, Cat(gate["first"], length)),
            (Mode.PROGRAM_MLUT, mlut, facts.MLUT_SLOT_ADDRESS_AT, now[: facts.MLUT_SLOT_ADDRESS_AT]),
            (Mode.PROGRAM_PLUT, plut, facts.PLUT_ADDRESS_AT, now[: facts.BODY_BITS]),
        ]
        for mode, table, at, data in tables:
            self.comb += [
                table.address.eq(now[at:]),
                table.write.eq(self.ready & (current.mode == mode)),
                table.data.eq(data),
            ]
        self.comb += self.writes.eq(glut.write | mlut.write | plut.write)


class Sequencer(Module):
    """queues: of the eight engines. glut_bits, mlut_bits, plut_bits: address bits of the tables as
    built. wide: words carry 22 gate ids instead of 20 and a count.

    `valid`, `ready`, `word`: the stream, as of `_CurrentWord`. `result`, `result_valid`: of a measurement;
    one is remembered. `timeout`: cycles until a branch continues without one, 0: never. `errors`: name to a
    signal that is high in a cycle with that error. `settled` (out): nothing changes until a result, a word or
    room in a queue is available. `waiting`: for a result. `given`: segments that go to queues in this
    cycle, in order, each (whether there is one, mask of parameters, body). `upcoming` (out, 8 bits):
    parameters whose queues get a segment of the tables within two cycles; one that has no cycles counts too.
    """

    def __init__(
        self,
        queues,
        glut_bits=facts.GLUT_ADDRESS_BITS,
        mlut_bits=facts.MLUT_ADDRESS_BITS,
        plut_bits=facts.PLUT_ADDRESS_BITS,
        wide=False,
    ):
        self.settled, self.upcoming = Signal(), Signal(facts.PARAMETERS)
        self.table_bits = [glut_bits, mlut_bits, plut_bits]

        # # #

        self.submodules.glut = glut = _Table(
            facts.MLUT_ADDRESS_BITS + _LENGTH_BITS, glut_bits, facts.GLUT_ADDRESS_BITS, 1
        )
        self.submodules.mlut = mlut = _Table(facts.MLUT_DATA_BITS, mlut_bits, facts.MLUT_ADDRESS_BITS, READS)
        self.submodules.plut = plut = _Table(facts.BODY_BITS, plut_bits, facts.PLUT_ADDRESS_BITS, READS)
        self.submodules.current = current = _CurrentWord(wide)
        self.submodules.branch = branch = _Branch(current)
        self.submodules.lookup = lookup = _Lookup(glut.reads[0], mlut.reads, plut.reads)
        self.submodules.push = push = _Push(queues, lookup.valid, lookup.masks, lookup.bodies)
        self.submodules.programming = programming = _Programming(current, glut, mlut, plut)
        self.valid, self.ready, self.word = current.valid, current.ready, current.word
        self.result, self.result_valid = branch.result, branch.result_valid
        self.timeout, self.waiting, self.given = branch.timeout, branch.waiting, push.given
        self.errors = {
            "mode": current.invalid,
            "count": current.too_many,
            "address": Signal(name="error_address"),
            "branch_timeout": branch.late,
        }
        moving = current.taken | current.step | (lookup.reading & push.go) | push.moves
        ready = Signal()
        # Entries mapped in one cycle are pushed in the next; in the one after it, if one of the two
        # pairs has to be pushed one after the other.
        apart = reduce(and_, lookup.valid) & (reduce(and_, lookup.masks) != 0)
        unhindered = push.go & ~apart & reduce(and_, [queue.roomy for queue in queues])
        self.sync += self.upcoming.eq(Mux(unhindered, lookup.upcoming, 0))
        self.comb += [
            self.errors["address"].eq(glut.beyond | mlut.beyond | plut.beyond),
            lookup.go.eq(push.go),
            lookup.request.eq(branch.runs),
            lookup.gate.eq(branch.gate),
            lookup.none.eq(current.now[: facts.GATE_ID_BITS] == facts.RUN_NO_GATE if wide else 0),
            ready.eq((current.left != 0) & ~lookup.reading),
            programming.ready.eq(ready),
            push.word.eq(current.now),
            push.bypass.eq(ready & (current.mode == Mode.BYPASS) & push.go),
            current.step.eq(lookup.taken | programming.writes | push.bypass),
            self.settled.eq(~moving & ~branch.decides),
        ]
