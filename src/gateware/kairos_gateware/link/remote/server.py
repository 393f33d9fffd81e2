"""Remote memory, serving end: what another board may read and write here, and the execution of its
requests.

    vector in → within an exported region? 1 → bus of this board → answer's vector 1

A board exports only the regions that it has configured; other accesses are rejected and counted.
Each transaction on the bus has an entry of the `TransactionTable`, whose number is the bus's
identification, so the bus may answer in any order; while the table is full, requests wait in the
link's FIFO. Clock domain sys.
"""

from functools import reduce
from operator import or_

from migen import *

from .words import ADDRESS_BITS, ANSWER, BOARD_BITS, BUS_ERROR, DONE, REFUSED, REQUEST, VIA_BITS, fields

__all__ = ["ENTRIES", "Region", "RemoteServer", "TransactionTable"]

ENTRIES = 8
_COUNT_BITS = 16


class TransactionTable(Module):
    """Requesters of the transactions in flight on this board's bus: a key (board, its number of the
    transaction) for each local identification.

    `key` (in, `key_bits` bits): entered if `ready` (out) and `enter` (in), as `entry` (out, below
    `entries`), which is the existing entry if the key is already present; its count is incremented. `left`
    (in): a transaction of `entry_left` (in, below `entries`) has ended, with the key `key_left` (out,
    `key_bits` bits); when the count reaches 0, the entry is free. `full` (out): no room for a new key;
    `empty` (out): no entries.
    """

    def __init__(self, key_bits, entries=ENTRIES, most=16):
        self.key, self.enter, self.ready, self.full = Signal(key_bits), Signal(), Signal(), Signal()
        self.empty = Signal()
        self.entry, self.left, self.entry_left = Signal(max=entries), Signal(), Signal(max=entries)
        self.key_left = Signal(key_bits)

        # # #

        keys = Array(Signal(key_bits) for _ in range(entries))
        counts = Array(Signal(max=most + 1) for _ in range(entries))
        same, free, known = Signal(max=entries), Signal(max=entries), Signal()
        self.comb += [
            [If(counts[n] == 0, free.eq(n)) for n in reversed(range(entries))],
            [If((counts[n] != 0) & (keys[n] == self.key), same.eq(n), known.eq(1)) for n in range(entries)],
            self.empty.eq(~reduce(or_, [counts[n] != 0 for n in range(entries)])),
            self.full.eq(~reduce(or_, [counts[n] == 0 for n in range(entries)])),
            self.entry.eq(Mux(known, same, free)),
            self.ready.eq(Mux(known, counts[same] != most, ~self.full)),
            self.key_left.eq(keys[self.entry_left]),
        ]
        for n in range(entries):
            more, less = self.enter & self.ready & (self.entry == n), self.left & (self.entry_left == n)
            self.sync += [
                If(more & ~less, counts[n].eq(counts[n] + 1)).Elif(less & ~more, counts[n].eq(counts[n] - 1)),
                If(more, keys[n].eq(self.key)),
            ]


class Region:
    """An exported region: words of 64 bits from `first` (in, 29 bits) to `last` (in, 29 bits) as others address
    them, which they may read, and write if `writable` (in); nothing while `enable` (in) is 0. `offset` (in, 29
    bits): added to these addresses, it gives this board's. `only` (in): for the board `board` (in, 3 bits), not for all
    that reach this one. `coherent` (in): with the processors' caches. Initially all are 0."""

    def __init__(self):
        self.enable, self.writable, self.coherent, self.only = Signal(), Signal(), Signal(), Signal()
        self.first, self.last, self.offset = [Signal(ADDRESS_BITS) for _ in range(3)]
        self.board = Signal(BOARD_BITS)

    def signals(self):
        """All of them, in a constant order."""
        return [self.enable, self.writable, self.coherent, self.only, self.first, self.last, self.offset, self.board]

    def allows(self, address, write, source, last=None):
        """Whether a board may access a word, or all from `address` to `last`."""
        within = (address >= self.first) & ((address if last is None else last) <= self.last)
        return self.enable & within & (self.writable | ~write) & (~self.only | (source == self.board))


def first_offset(regions, allowed):
    """The offset of the first region of those with a bit in `allowed`."""
    pairs = list(zip(regions, allowed, strict=True))
    return reduce(lambda other, pair: Mux(pair[1], pair[0].offset, other), reversed(pairs[:-1]), regions[-1].offset)


class RemoteServer(Module):
    """source, sink: of the endpoint, the streams of `remote_streams`. regions: number of regions. seen: function from
    the board that asks, a signal, to the regions that apply to it, so many; None: those of this server.

    `regions`: list of `Region`. `bus` (out): a transaction, accepted if `valid` and `ready`; `id`, `write`,
    `address` of a word, `data`, `strobes`; `coherent` (out): it is in a coherent region. `reply` (in): a
    transaction has ended, in any order: `valid`, `ready`, `id`, `error`, `data`. `refused` (out, 16 bits):
    number of rejected requests; saturates.
    `board` (in, 3 bits): number of this board. `settled` (out): nothing is in progress.
    """

    def __init__(self, source, sink, regions, seen=None):
        self.regions = [Region() for _ in range(regions)]
        identification = log2_int(ENTRIES)
        port = [("id", identification), ("write", 1), ("address", ADDRESS_BITS), ("data", 64), ("strobes", 8)]
        self.bus = Record([("valid", 1), ("ready", 1), *port])
        self.reply = Record([("valid", 1), ("ready", 1), ("id", identification), ("error", 1), ("data", 64)])
        self.refused, self.settled, self.board = Signal(_COUNT_BITS), Signal(), Signal(BOARD_BITS)
        self.coherent = Signal()

        # # #

        request, way = fields(REQUEST["partial"], source.data), fields(REQUEST["way"], source.data)
        via = Signal(VIA_BITS)  # of the way that came before
        who = Cat(request["id"], request["source"], via)
        tags = {name: tag for tag, name in enumerate(REQUEST, 1)}
        self.submodules.table = table = TransactionTable(len(who) + 1)
        bus, reply = self.bus, self.reply
        job, allowed, writes, astray = Signal(), Signal(), Signal(), Signal()
        key, refuses, leaves = Signal(len(who) + 1), Signal(), Signal()
        self.comb += [
            writes.eq(source.form != tags["read"]),
            source.ready.eq(~job | leaves),
            table.key.eq(key),
            bus.valid.eq(job & allowed & table.ready),
            bus.id.eq(table.entry),
            table.enter.eq(bus.valid & bus.ready),
            refuses.eq(job & ~allowed & ~reply.valid & reply.ready),
            leaves.eq(table.enter | refuses),
        ]
        applying = self.regions if seen is None else seen(request["source"])
        open_to = [Signal() for _ in applying]
        self.comb += [
            opens.eq(region.allows(request["address"], writes, request["source"]))
            for opens, region in zip(open_to, applying, strict=True)
        ]
        self.sync += If(
            source.ready,
            job.eq(source.valid & (source.form != tags["way"])),
            allowed.eq(~astray & reduce(or_, open_to)),
            self.coherent.eq(
                reduce(or_, [opens & region.coherent for opens, region in zip(open_to, applying, strict=True)])
            ),
            key.eq(Cat(who, writes)),
            bus.write.eq(writes),
            bus.address.eq(request["address"] + first_offset(applying, open_to)),
            bus.data.eq(request["data"]),
            bus.strobes.eq(Mux(source.form == tags["partial"], request["strobes"], 255)),
        )
        # A way that ends here although it names another board: that board does not exist
        self.sync += If(
            source.valid & source.ready,
            astray.eq((source.form == tags["way"]) & (way["destination"] != self.board)),
            via.eq(Mux(source.form == tags["way"], way["via"], 0)),
        )
        self.sync += If(refuses & (self.refused != 2**_COUNT_BITS - 1), self.refused.eq(self.refused + 1))
        # Answers: those of the bus have priority
        answers, has_data, status = Signal(), Signal(), Signal(2)
        answer, data = Signal(len(who)), Signal(64)
        self.comb += [
            reply.ready.eq(~answers | sink.ready),
            self.settled.eq(~source.valid & ~job & ~answers & table.empty),
            table.left.eq(reply.valid & reply.ready),
            table.entry_left.eq(reply.id),
            sink.valid.eq(answers),
            sink.data.eq(Cat(answer, status, data)),
            sink.form.eq(Mux(has_data, list(ANSWER).index("data") + 1, list(ANSWER).index("done") + 1)),
        ]
        chosen = Mux(reply.valid, table.key_left, key)
        self.sync += If(
            reply.ready,
            answers.eq(reply.valid | refuses),
            Cat(answer).eq(chosen[:-1]),
            has_data.eq(reply.valid & ~chosen[-1] & ~reply.error),
            data.eq(reply.data),
            status.eq(Mux(reply.valid, Mux(reply.error, BUS_ERROR, DONE), REFUSED)),
        )
