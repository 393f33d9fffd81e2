"""Bulk transfers between two verilated boards, in both directions at once, over lines with errors,
beside other streams."""

from random import Random

import numpy as np
import pytest

from kairos_gateware.contracts.remote import COPY_DESCRIPTORS
from kairos_gateware.figures.bulk import bulk_engine
from kairos_gateware.figures.place import root
from kairos_gateware.link.bulk.engine import INVALID
from kairos_gateware.link.bulk.slots import UNREADABLE
from kairos_gateware.link.bulk.words import ESCAPE
from kairos_gateware.link.remote.words import BUS_ERROR, REFUSED, UNREACHABLE
from kairos_gateware.testbenches.bulk import MEMORY_WORDS

HALF = MEMORY_WORDS // 2
RING_WORDS = 2 * COPY_DESCRIPTORS
READY = HALF + 600
"""Cycles until the memories are filled and the link is up."""
WORD = 2**64 - 1


@pytest.fixture(scope="module")
def engine():
    return bulk_engine(root() / "bulk_bench", traffic=True)


def contents(seed, like_escape=0.1):
    """Words of the first half of a memory after the ring, some of which equal an escape, or nearly
    so."""
    random = Random(seed)

    def word():
        if random.random() >= like_escape:
            return random.getrandbits(64)
        flips = random.sample(range(64), random.choice([0, 1, 1, 2]))
        return ESCAPE ^ sum(1 << bit for bit in flips)

    return [word() for _ in range(HALF - RING_WORDS)]


def descriptors(copies):
    """Words of the ring. copies: (word here, words, word there, flags); fractions for addresses or
    lengths that are not whole words."""
    words = []
    for here, count, there, flags in copies:
        words += [int(8 * here) | int(8 * count) << 32, int(8 * there) | flags << 32]
    return words


def play(
    engine,
    copies,
    cycles,
    data=(None, None),
    early=(1, 1),
    posts=None,
    clears=(),
    cuts=(),
    stalls=(),
    flips=0.0,
    offering=0,
    seed=1,
):
    """copies, data: of each board. posts: (cycle, number posted by each board). flips: bit error
    probability. Returns the outputs, and the second halves of both memories."""
    rows = np.zeros(READY + cycles + HALF + 2, engine.inputs)
    rows["plugged"] = 1
    # Other streams have priority: between their bursts they must leave the line to bulk data
    rows["offering"][500 : -HALF - 2] = (offering & (np.arange(len(rows))[500 : -HALF - 2] % 300 < 60))[:, None]
    for board in range(2):
        words = descriptors(copies[board]) if copies[board] else []
        words += [0] * (RING_WORDS - len(words)) + (data[board] or contents(board))
        rows["poke"][: len(words), board] = 1
        rows["index"][: len(words), board] = np.arange(len(words))
        rows["value"][: len(words), board] = np.array(words, np.uint64)
        rows["index"][-HALF - 2 : -2, board] = np.arange(HALF, MEMORY_WORDS)
        rows["early"][:, board] = early[board]
        for cycle, count in posts or [(0, [len(some) for some in copies])]:
            rows["posted"][READY + cycle :, board] = count[board]
        for cycle in clears:
            rows["clear"][READY + cycle, board] = 1
        for begin, end in stalls:
            rows["stall"][READY + begin : READY + end, board] = 1
    for begin, end in cuts:
        rows["plugged"][READY + begin : READY + end] = 0
    if flips:
        random = np.random.default_rng(seed)
        for board in range(2):
            hits = random.random(cycles) < 64 * flips
            rows["flips"][READY : READY + cycles, board] = hits * (1 << random.integers(0, 64, cycles, np.uint64))
    shown = engine.play(rows)
    return shown, [[int(word) for word in shown["peek"][-HALF - 1 : -1, board]] for board in range(2)]


def written(memory, copies, data):
    """The expected contents of `memory`, words from HALF on, after the copies of the other
    board."""
    for here, count, there, _ in copies:
        memory[there - HALF : there - HALF + count] = data[here - RING_WORDS :][:count]
    return memory


def scattered(random, count, most=200):
    """Copies to distinct places, in random order."""
    places, at = [], HALF
    while len(places) < count and at < MEMORY_WORDS - most:
        at += random.randrange(5)
        size = random.choice([1, 2, 15, 64, 65, random.randrange(1, most)])
        places.append((random.randrange(RING_WORDS, HALF - size), size, at, random.randrange(2)))
        at += size
    random.shuffle(places)
    return places


def check(engine, shown, memories, copies, data=(None, None)):
    for board in range(2):
        assert shown["completed"][-1, board] == len(copies[board]) and not shown["halted"][-1, board]
        assert shown["idle"][-1, board] and shown["settled"][-1, board]
        assert shown["done"][:, board].sum() == sum(flags for *_, flags in copies[board])
        source = data[1 - board] or contents(1 - board)
        assert memories[board] == written([0] * HALF, copies[1 - board], source)
        assert not shown["wrong"][-1, board]
        assert shown["waited"][-1, board] <= 1, "an escape goes before words of other streams, nothing else"


@pytest.mark.parametrize("early", [0, 1])
@pytest.mark.parametrize("offering", [0, 1])
def test_scattered_packets_arrive_without_retransmission(engine, early, offering):
    random = Random(10 * early + offering)
    copies = [scattered(random, 20), scattered(random, 20)]
    shown, memories = play(engine, copies, 30_000, early=(early, early), offering=offering)
    check(engine, shown, memories, copies)
    assert not shown["repeated"][-1].any() and not shown["broken"][-1].any() and not shown["gaps"][-1].any()


@pytest.mark.parametrize("seed", range(3))
def test_bit_errors_are_retransmitted_without_loss_in_other_streams(engine, seed):
    random = Random(seed)
    copies = [scattered(random, 20), scattered(random, 20)]
    shown, memories = play(
        engine,
        copies,
        60_000,
        flips=10.0 ** -random.choice([4, 5]),
        offering=1,
        seed=seed,
        stalls=[(n, n + random.randrange(300)) for n in range(0, 9000, 1000)],
    )
    check(engine, shown, memories, copies)
    assert not shown["gaps"][-1].any()


def test_data_equal_to_escapes_arrive_unchanged(engine):
    data = [[ESCAPE] * (HALF - RING_WORDS), contents(1, 1.0)]
    copies = [[(RING_WORDS, 1000, HALF, 1)], [(RING_WORDS, 1000, HALF + 1000, 0)]]
    shown, memories = play(engine, copies, 8000, data)
    check(engine, shown, memories, copies, data)


def test_packets_lost_in_a_cut_are_sent_again(engine):
    random = Random(5)
    copies = [scattered(random, 30, 60), scattered(random, 30, 60)]
    cuts = [(begin, begin + random.randrange(1, 200)) for begin in range(100, 4000, 700)]
    shown, memories = play(engine, copies, 40_000, cuts=cuts, offering=1)
    check(engine, shown, memories, copies)
    assert shown["repeated"][-1].all()


@pytest.mark.parametrize(
    "copy, reason",
    [
        ((RING_WORDS, 10, HALF - 10, 1), REFUSED),
        ((RING_WORDS, 10, 2 * MEMORY_WORDS - 5, 1), REFUSED),
        ((RING_WORDS, 10, 2**29 - 5, 1), REFUSED),
        ((RING_WORDS, 10, MEMORY_WORDS, 1), BUS_ERROR),
        ((MEMORY_WORDS - 4, 10, HALF, 1), UNREADABLE),
        ((RING_WORDS, 0, HALF, 1), INVALID),
        ((RING_WORDS + 0.5, 10, HALF, 1), INVALID),
        ((RING_WORDS, 0.5, HALF, 1), INVALID),
        ((RING_WORDS, 10, HALF + 0.5, 1), INVALID),
    ],
)
def test_failed_copy_halts_engine_until_cleared(engine, copy, reason):
    good = [(RING_WORDS + 7, 100, HALF + 200, 1), (RING_WORDS + 7, 100, HALF + 400, 1)]
    copies = [[good[0], copy, good[1], good[1]], []]
    posts = [(0, (3, 0)), (6000, (4, 0))]
    shown, memories = play(engine, copies, 9000, posts=posts, clears=[5000])
    before = READY + 4900
    assert shown["halted"][before, 0] and shown["reason"][before, 0] == reason
    assert shown["completed"][before, 0] == 1 and shown["done"][:before, 0].sum() == 1
    assert bool(shown["refused"][-1, 1]) == (reason == REFUSED)
    assert not shown["halted"][-1, 0] and shown["completed"][-1, 0] == 4 and shown["done"][:, 0].sum() == 2
    wanted = written([0] * HALF, good, contents(0))
    assert memories[1] == wanted


def test_transfer_to_an_offline_board_fails(engine):
    copies = [[(RING_WORDS, 300, HALF, 1)] * 2, []]
    shown, memories = play(
        engine, copies, 40_000, posts=[(200, (1, 0)), (35_000, (2, 0))], cuts=[(0, 30_000)], clears=[33_000]
    )
    assert shown["reason"][READY + 29_000, 0] == UNREACHABLE and not shown["completed"][READY + 29_000, 0]
    assert shown["completed"][-1, 0] == 2 and memories[1] == written([0] * HALF, copies[0][:1], contents(0))


SHOWN = 500
"""Words at the beginning of the exported half that `exported` fills."""


def exported(seed):
    """(all words of a memory after the ring, to the last that can be filled; those of them that are exported)."""
    shown = contents(seed + 10)[:SHOWN]
    return contents(seed) + shown, shown


def fetches(random, count=20, most=200):
    """Copies from the other board's exported words to distinct places after them here, in random order."""
    places, at = [], HALF + SHOWN
    while len(places) < count and at < MEMORY_WORDS - most:
        at += random.randrange(5)
        size = random.choice([1, 2, 15, 64, 65, random.randrange(1, most)])
        places.append((at, size, HALF + random.randrange(SHOWN - size), 2 | random.randrange(2)))
        at += size
    random.shuffle(places)
    return places


def fetched(number, copies):
    """The expected second half of the memory of board `number` after its fetches."""
    (_, own), (_, others) = exported(number), exported(1 - number)
    memory = own + [0] * (HALF - SHOWN)
    for here, count, there, flags in copies:
        if flags & 2:
            memory[here - HALF : here - HALF + count] = others[there - HALF :][:count]
    return memory


def check_fetched(shown, memories, copies):
    for board in range(2):
        assert shown["completed"][-1, board] == len(copies[board]) > 10 and not shown["halted"][-1, board]
        assert shown["idle"][-1, board] and shown["settled"][-1, board] and not shown["wrong"][-1, board]
        assert shown["done"][:, board].sum() == sum(flags & 1 for *_, flags in copies[board])
        assert memories[board] == fetched(board, copies[board])
        assert not shown["refused"][-1, board] and shown["waited"][-1, board] <= 1


@pytest.mark.parametrize("early", [0, 1])
@pytest.mark.parametrize("offering", [0, 1])
def test_data_fetched_by_both_boards_arrive(engine, early, offering):
    random = Random(20 + 2 * early + offering)
    copies = [fetches(random), fetches(random)]
    data = [exported(board)[0] for board in range(2)]
    shown, memories = play(engine, copies, 30_000, data, early=(early, early), offering=offering)
    check_fetched(shown, memories, copies)
    assert not shown["repeated"][-1].any() and not shown["broken"][-1].any() and not shown["gaps"][-1].any()


def test_fetches_and_copies_of_both_boards_share_the_line(engine):
    random = Random(30)
    copies = [fetches(random, 12, 100), fetches(random, 12, 100)]
    ends = [max(here + count for here, count, *_ in some) for some in copies]
    for board, some in enumerate(copies):
        # To the words of the other board after those that it fetches
        free = ends[1 - board]
        some.insert(random.randrange(3), (RING_WORDS, MEMORY_WORDS - free, free, 1))
    data = [exported(board)[0] for board in range(2)]
    shown, memories = play(engine, copies, 30_000, data)
    assert not shown["halted"][-1].any() and not shown["repeated"][-1].any()
    for board in range(2):
        expected = fetched(board, copies[board])
        expected[ends[board] - HALF :] = contents(1 - board)[: MEMORY_WORDS - ends[board]]
        assert memories[board] == expected


@pytest.mark.parametrize("seed", range(3))
def test_fetched_data_survive_bit_errors_and_cuts(engine, seed):
    random = Random(40 + seed)
    copies = [fetches(random), fetches(random)]
    data = [exported(board)[0] for board in range(2)]
    cuts = [(begin, begin + random.randrange(1, 200)) for begin in range(100, 4000, 900)] if seed else []
    shown, memories = play(
        engine, copies, 60_000, data, flips=1e-4 if seed < 2 else 0.0, cuts=cuts, offering=1, seed=seed
    )
    check_fetched(shown, memories, copies)
    assert shown["repeated"][-1].all() and (seed or shown["broken"][-1].all())


@pytest.mark.parametrize(
    "there, reason",
    [(HALF - 10, REFUSED), (2 * MEMORY_WORDS - 5, REFUSED), (MEMORY_WORDS, UNREACHABLE)],
    ids=["not exported", "exported in part", "spoilt whenever it is read"],
)
def test_failed_fetch_writes_no_word_and_next_one_is_completed(engine, there, reason):
    good = (HALF + SHOWN, 70, HALF + 3, 3)
    copies = [[good, (HALF + 1000, 10, there, 3), good], []]
    data = [exported(board)[0] for board in range(2)]
    shown, memories = play(engine, copies, 40_000, data, posts=[(0, (2, 0)), (36_000, (3, 0))], clears=[35_000])
    before = READY + 34_000
    assert shown["halted"][before, 0] and shown["reason"][before, 0] == reason
    assert shown["completed"][before, 0] == 1 and shown["completed"][-1, 0] == 3 and not shown["halted"][-1, 0]
    assert shown["refused"][-1, 1] == (reason == REFUSED)
    assert memories[0] == fetched(0, [good]) and memories[1] == fetched(1, [])


def test_more_descriptors_than_ring_slots_are_all_copied(engine):
    random = Random(6)
    ring = [(RING_WORDS + 10 * n, 10, HALF + 10 * n, 1) for n in range(COPY_DESCRIPTORS)]
    shown, memories = play(
        engine, [ring, []], 30_000, posts=[(500 * n, (20 * n, 0)) for n in range(random.randrange(20, 40))]
    )
    posted = int(shown["completed"][-1, 0])
    assert posted >= 380 and shown["done"][:, 0].sum() == posted
    assert memories[1] == written([0] * HALF, ring, contents(0))
