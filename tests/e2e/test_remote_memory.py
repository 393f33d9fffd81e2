"""Two boards that access each other's memory: the comms core of each, through the registers of its
gateware."""

import pytest

from kairos.contracts.batch import Outcome
from kairos.hub import Program, ProgramError
from tests.support.board_registers import DONE, REFUSED, BatchEnded, Board
from tests.support.boards import MEMORY_PAIR, System
from tests.support.command import run_kairos
from tests.support.gateware import built
from tests.support.hub import Hub, demo_lab, fails
from tests.support.kernels import kernel, marks
from tests.support.raw_session import Session

MEMORY = 0x0FF8_0000
"""Half a megabyte, uncached, that the firmware of these boards does not use: `STREAM` of
src/contracts/memory.toml."""
RING, SOURCE, TARGET = MEMORY, MEMORY + 0x1000, MEMORY + 0x8000
REGIONS = 4


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    built("memory", "store")
    folder = tmp_path_factory.mktemp("memory")
    (folder / "system.toml").write_text(MEMORY_PAIR)
    system = System(folder, folder / "system.toml")
    try:
        system.until_logged("destination 1: Kairos satellite")
        master, satellite = Board(system, 0), Board(system, 1)
        master.system = system
        yield master, satellite
    finally:
        system.close()


@pytest.fixture
def boards(pair):
    """Master and satellite, neither of which exports anything."""
    for board in pair:
        for region in range(REGIONS):
            board.export(TARGET, 8, 0, region)
    return pair


def test_access_to_unexported_memory_is_rejected_and_counted(boards):
    master, satellite = boards
    (before,) = satellite.batch(("exports_refused",))
    assert master.store(TARGET, 1) == [REFUSED] and master.load(TARGET)[0] == REFUSED
    satellite.export(TARGET, 0x1000, 1)
    assert master.store(TARGET, 1) == [REFUSED] and master.load(TARGET)[0] == DONE
    satellite.export(TARGET, 0x1000, 3)
    assert master.store(TARGET - 8, 1) == [REFUSED] and master.store(TARGET + 0x1000, 1) == [REFUSED]
    assert satellite.batch(("exports_refused",)) == [before + 5]


def test_loads_return_stored_words_in_both_directions(boards):
    for asker, owner in [boards, boards[::-1]]:
        owner.export(TARGET, 0x1000, 3)
        words, failed = [0x0123_4567_89AB_CDEF, 2**64 - 1, 0], asker.batch(("remote_failed",))
        assert asker.store(TARGET, *words) == [DONE] * 3
        assert [asker.load(TARGET + 8 * n) for n in range(3)] == [(DONE, word) for word in words]
        asker.batch(("remote_strobes", 0x0F))
        assert asker.store(TARGET, 0x1111_1111_2222_2222) == [DONE]
        asker.batch(("remote_strobes", 0xFF), ("remote_early_acknowledge", 1))
        assert asker.load(TARGET) == (DONE, 0x0123_4567_2222_2222)
        assert asker.store(TARGET + 8, 5) == [DONE] and asker.load(TARGET + 8) == (DONE, 5)
        assert asker.batch(("remote_early_acknowledge", 0), ("remote_failed",)) == failed
        for _ in range(4):
            assert {status for status, _ in asker.access(*[(TARGET,)] * 16)} == {DONE}
        (timeout,) = asker.batch(("remote_timeout",))
        assert 500 <= timeout <= 800, "twice 2.3 us, and what has not decayed"


def test_failed_early_store_ends_its_batch_with_that_outcome(boards):
    """And only that one: the failure is known then, with its address, so that the next one works."""
    master, satellite = boards
    satellite.export(TARGET, 0x1000, 1)
    master.batch(("remote_early_acknowledge", 1), ("remote_data", 3))
    with pytest.raises(BatchEnded) as ended:
        master.batch(("remote_address", TARGET + 8), ("remote_store", 1))
    assert ended.value.outcome == Outcome.STORE_FAILED
    assert master.batch(("remote_late_address",), ("remote_late",)) == [TARGET + 8, REFUSED << 1]
    satellite.export(TARGET, 0x1000, 3)
    assert master.store(TARGET + 8, 4) == [DONE] and master.load(TARGET + 8) == (DONE, 4)
    master.batch(("remote_early_acknowledge", 0))


def test_hub_reports_an_early_store_that_has_failed(boards, tmp_path):
    """Of a program, and of a single register."""
    master, satellite = boards
    satellite.export(TARGET, 0x1000, 1)
    hub = Hub(tmp_path, {"demo": master.system.address})
    try:
        with demo_lab(hub) as lab:
            demo = lab["demo"]
            program = Program()
            for name, value in [("early_acknowledge", 1), ("address", TARGET + 16), ("data", 6), ("store", 1)]:
                program.write(f"remote/{name}", value)
            with pytest.raises(ProgramError) as failed:
                demo.run(program)
            assert (failed.value.code, failed.value.step) == ("STORE_FAILED", 3)
            assert "see remote_late_address" in str(failed.value)
            remote = demo.registers.remote
            assert remote.late_address.read() == TARGET + 16
            fails("ABORTED", "a store in another board's memory has failed", lambda: remote.store.write(1))
            satellite.export(TARGET, 0x1000, 3)
            demo.run(program)
            remote.early_acknowledge.write(0)
        assert master.load(TARGET + 16) == (DONE, 6)
    finally:
        hub.close()


def test_remote_board_is_addressed_by_its_number(boards):
    """Also for the neighbour; no other board is behind it, and accesses to one are refused."""
    for asker, owner, number in [(*boards, 1), (*boards[::-1], 0)]:
        owner.export(TARGET, 0x1000, 3)
        asker.name(number)
        assert asker.store(TARGET, number + 3) == [DONE] and asker.load(TARGET) == (DONE, number + 3)
        asker.name(5)
        assert asker.store(TARGET, 9) == [REFUSED]
        asker.name(None)
        assert asker.load(TARGET) == (DONE, number + 3)


def test_memory_is_copied_between_boards(boards):
    """The satellite writes ring and data into the master's memory, and receives them back."""
    master, satellite = boards
    master.export(MEMORY, 0x8000, 3)
    satellite.export(TARGET, 0x4000, 3)
    words = [n * 0x0101_0101_0101_0101 + (n << 40) for n in range(1, 25)]
    assert set(satellite.store(SOURCE, *words)) == {DONE}
    (first,) = master.batch(("bulk_posted",))
    ring = [
        *(SOURCE | 16 * 8 << 32, TARGET + 0x2000),
        *(SOURCE + 16 * 8 | 8 * 8 << 32, TARGET + 0x2000 + 16 * 8 | 1 << 32),
        *(SOURCE | 2000 * 8 << 32, TARGET | 1 << 32),
        *(SOURCE | 8 << 32, MEMORY | 1 << 32),
    ]
    assert set(satellite.store(RING + first % 64 * 16, *ring)) == {DONE}
    second, third, last = [first + n & 0xFFFF for n in (2, 3, 4)]
    master.batch(("bulk_base", RING), ("bulk_posted", second), ("bulk_completed", second, 0xFFFF))
    assert [master.load(TARGET + 0x2000 + 8 * n) for n in range(24)] == [(DONE, word) for word in words]
    master.batch(("bulk_posted", third), ("bulk_completed", third, 0xFFFF))
    assert [master.load(TARGET + 8 * n) for n in range(24)] == [(DONE, word) for word in words]
    (before,) = satellite.batch(("exports_packets",))
    (state,) = master.batch(("bulk_posted", last), ("bulk_state", 1, 1), ("bulk_state",))
    assert state >> 2 == REFUSED and satellite.batch(("exports_packets",)) == [before + 1]
    master.batch(("bulk_clear", 1), ("bulk_state", 2, 0x1F), ("bulk_completed", last, 0xFFFF))


def test_plain_pointers_of_a_kernel_reach_remote_memory(boards):
    """Loads and stores of the kernel's own code; the caller catches failures, with its registers
    preserved."""
    master, satellite = boards
    satellite.export(TARGET, 0x1000, 3)
    (before,) = master.batch(("window_failed",))
    assert master.store(TARGET, 5 | 9 << 32) == [DONE]
    with Session(master.system) as session:
        assert session.load(kernel("pointers")) is None
        session.run()
        requests = []
        for address, rights in [(4, 3), (0x1000, 3), (0, 3), (0, 1), (None, 3)]:
            while session.message(10) and (request := session.request()).service != 101:
                requests.append(request)
            satellite.export(TARGET, 0x1000, rights)
            session.reply(b"i", (0 if address is None else TARGET + address).to_bytes(4, "little"))
        last, exception = session.until_end()
    assert exception is None and last == []
    expected = [9, 10, -1, TARGET + 0x1007, 5, 6, 6, -1, TARGET + 7]
    assert marks(requests) == expected
    assert master.load(TARGET) == (DONE, 6 | 10 << 32)
    assert master.batch(("window_failed",)) == [before + 2]
    assert [master.batch((name,))[0] for name in ("window_fault", "window_address")] == [9, 0x8000_0000 + TARGET]


def copied(asker, owner, there, words):
    """Copy `words` from the asker's SOURCE, with a descriptor written by the owner; returns the
    status."""
    (posted,) = asker.batch(("bulk_posted",))
    following = posted + 1 & 0xFFFF
    assert set(owner.store(RING + posted % 64 * 16, SOURCE | words * 8 << 32, there | 1 << 32)) == {DONE}
    asker.batch(("bulk_base", RING), ("bulk_notification_clear", 1), ("bulk_posted", following))
    (state,) = asker.batch(("bulk_notification", 1, 1), ("bulk_state",))
    if state & 1:
        asker.batch(("bulk_clear", 1), ("bulk_completed", following, 0xFFFF))
    return state >> 2 if state & 1 else DONE


def test_scattered_regions_are_one_range_for_one_board(boards):
    """Loads, stores and copies cross from one into the other; another board's are refused, as is what lies at their own
    addresses."""
    master, satellite = boards
    beside = TARGET + 0x108
    satellite.export(TARGET, 0x1000, 3)
    assert master.store(beside, 0) == [DONE]
    master.export(MEMORY, 0x2000, 3)
    pieces = [(0x1000, TARGET + 0x800), (0x1200, TARGET)]
    for region, (shown, there) in enumerate(pieces):
        satellite.export(shown, 0x200, 3, region, offset=there - shown, board=8)
    assert master.load(TARGET)[0] == REFUSED
    assert master.store(0x11F8, 1, 2) == [DONE] * 2
    words = [n * 0x0101_0101_0101_0101 for n in range(1, 65)]
    for at in range(0, 64, 16):
        assert set(satellite.store(SOURCE + 8 * at, *words[at : at + 16])) == {DONE}
    assert copied(master, satellite, 0x1108, 64) == DONE
    assert master.store(0x1400, 1) == [REFUSED] and copied(master, satellite, 0x1400, 1) == REFUSED
    satellite.export(TARGET, 0x1000, 1, 2)
    found = [master.load(TARGET + at)[1] for at in (0x908, 0x9F8, 0, 0x100, beside - TARGET)]
    assert found == [words[0], words[30], words[31], words[63], 0]
    satellite.export(*pieces[0][:1], 0x200, 3, 0, offset=pieces[0][1] - pieces[0][0], board=8 | 5)
    assert master.store(0x1000, 7) == [REFUSED] and copied(master, satellite, 0x1000, 1) == REFUSED
    assert master.store(0x1200, 7) == [DONE]


@pytest.mark.parametrize("down", [True, False], ids=["of the satellite", "of the master"])
def test_permissions_of_exported_regions_are_enforced(boards, down):
    """Loads, stores and copies, of either board; others are refused, change nothing, and are
    counted in `kairos links`."""
    asker, owner = boards if down else boards[::-1]
    asker.export(MEMORY, 0x2000, 3)
    firsts = [TARGET + 0x100 * region for region in range(REGIONS)]
    owner.export(TARGET, 0x400, 3)
    words = [(first + at, first) for first in firsts for at in (0, 8, 0xF8)]
    assert {status for status, _ in asker.access(*words)} == {DONE}
    owner.export(TARGET, 8, 0)
    counts = [("exports_refused",), ("exports_packets",)]
    before = owner.batch(*counts)
    refused = [0, 0]
    for region, (first, rights) in enumerate(zip(firsts, (1, 3, 0, 3), strict=True)):
        last = first + 0xF8
        owner.export(first, 0x100, rights, region)
        writes, reads = DONE if rights == 3 else REFUSED, DONE if rights else REFUSED
        assert owner.store(SOURCE, first, first) == [DONE] * 2
        assert copied(asker, owner, first + 8, 1) == writes
        assert copied(asker, owner, last, 2) == REFUSED  # not even the exported part
        tried = asker.access((first, first), (last, first), (first,), (first + 8,), (last,), (last + 8,), (first - 8,))
        assert [status for status, _ in tried] == [writes] * 2 + [reads] * 3 + [REFUSED] * 2
        assert not rights or {word for _, word in tried[2:5]} == {first}
        refused[0] += 2 * (writes == REFUSED) + 3 * (reads == REFUSED) + 2
        refused[1] += (writes == REFUSED) + 1
        owner.export(first, 0x100, 0, region)
    after = owner.batch(*counts)
    assert [now - then for now, then in zip(after, before, strict=True)] == refused
    (link,) = boards[0].system.links()
    counted = (link["downstream"] if down else link)["refused"]
    assert [counted["accesses"], counted["packets"]] == after
    head, row = run_kairos("links", "-D", boards[0].system.address).stdout.splitlines()
    at = head.index("refused downstream" if down else "refused upstream")
    assert row[at:].split()[0] == str(sum(after))
