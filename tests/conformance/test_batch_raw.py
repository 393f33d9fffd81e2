"""Batches of register accesses as raw bytes (docs/batch.md): their effects and what is rejected."""

import random
import struct
import threading

import pytest

from tests.support.paths import EXAMPLES
from tests.support.raw_management import Management

READ, WRITE, MODIFY, POLL, DELAY, LOOP, I2C, PROBE, OVERRIDE, WAIT = range(1, 11)
DONE, MALFORMED, NOT_EXPORTED, NOT_PERMITTED, TOO_LONG, TIMEOUT, NO_GATEWARE, NOT_ACKNOWLEDGED = range(8)


@pytest.fixture(scope="module")
def registers(device):
    """Address, width and flags of each register by name."""
    with Management(device) as client:
        assert client.reply(b"\x85") == 2
        records = client.bytes()[16:]
    found = {}
    while records:
        kind, length = struct.unpack_from("<HH", records)
        if kind == 3:
            address, width, flags = struct.unpack_from("<IHH", records, 4)
            found[records[12 : 4 + length].decode()] = (address, width, flags)
        records = records[4 + -(-length // 4) * 4 :]
    return found


@pytest.fixture
def management(device):
    with Management(device) as management:
        yield management


def instruction(operation, a=0, b=0, c=0, d=0):
    return struct.pack("<4B4I", operation, 0, 0, 0, a, b, c, d)


def batch(management, *instructions):
    """Runs a batch; returns outcome, number of the last instruction, steps and results."""
    program = b"".join(instructions)
    assert management.reply(b"\x86" + management.pack(program)) == 133
    answer = management.bytes()
    outcome, instruction, steps = struct.unpack_from("<B3xII", answer)
    return outcome, instruction, steps, list(struct.unpack_from(f"<{(len(answer) - 12) // 4}I", answer, 12))


def test_registers_are_read_in_one_batch(management, registers):
    address = registers["rtio_outputs"][0]
    outcome, ended, steps, results = batch(
        management, instruction(LOOP, 1000, 1), instruction(READ, address), instruction(READ, address)
    )
    assert (outcome, ended, steps) == (DONE, 3, 1002)
    assert len(results) == 1001 and len(set(results)) == 1 and results[0] > 10


def test_both_words_of_a_wide_register_are_read(management, registers):
    address, width, _ = registers["rtio_counter"]
    assert width == 64
    outcome, _, _, results = batch(management, instruction(READ, address), instruction(READ, address + 4))
    assert outcome == DONE and len(results) == 2


def test_delays_and_timeouts_take_device_time(management, registers):
    address = registers["rtio_outputs"][0]
    assert batch(management, instruction(DELAY, 100_000)) == (DONE, 1, 1, [])
    value = batch(management, instruction(READ, address))[3][0]
    assert batch(management, instruction(POLL, address, value, 0xFFFF, 1000)) == (DONE, 1, 1, [value])
    impossible = instruction(POLL, address, value + 1, 0xFFFF, 10_000)
    assert batch(management, instruction(READ, address), impossible, instruction(READ, address)) == (
        *(TIMEOUT, 1, 1),
        [value],
    )


def test_forbidden_step_is_refused_before_execution(management, registers):
    read = instruction(READ, registers["rtio_outputs"][0])
    for wrong, outcome in (
        (instruction(READ, 0x0010_0000), NOT_EXPORTED),
        (instruction(READ, 0xF800_0008), NOT_EXPORTED),
        (instruction(READ, registers["rtio_outputs"][0] + 1), NOT_EXPORTED),
        (instruction(WRITE, registers["rtio_outputs"][0], 1), NOT_PERMITTED),
        (instruction(WRITE, registers["initiator_enable"][0], 0), NOT_PERMITTED),
        (instruction(WRITE, registers["dma_base"][0], 0), NOT_PERMITTED),
        (instruction(MODIFY, registers["analyzer_base"][0], 1, 1), NOT_PERMITTED),
        (instruction(0), MALFORMED),
        (instruction(11), MALFORMED),
        (instruction(I2C, 0x80), MALFORMED),
        (instruction(I2C, 0x41_0050), MALFORMED),
        (instruction(PROBE, 13), NOT_EXPORTED),
        (instruction(OVERRIDE, 1 << 16 | 4), NOT_EXPORTED),
        (instruction(READ, registers["rtio_outputs"][0], 1), MALFORMED),
        (instruction(LOOP, 2, 5), MALFORMED),
        (instruction(LOOP, 0, 1), MALFORMED),
        (instruction(DELAY, 5_000_001), TOO_LONG),
    ):
        assert batch(management, read, wrong, read) == (outcome, 1, 0, []), wrong
    assert batch(management, read[:-1]) == (MALFORMED, 0, 0, [])
    assert batch(management, read * 4097)[0] == TOO_LONG
    assert batch(management) == (DONE, 0, 0, [])


def test_bus_and_pin_steps_report_absent_device_and_hold_pin(management):
    """A switch with no channel connected, an I2C address without a device, a pin held and released."""
    switch, absent = instruction(I2C, 0x1_0074), instruction(I2C, 0x11)
    hold = [instruction(OVERRIDE, 4, number, value) for number, value in ((1, 1), (0, 1))]
    level = instruction(PROBE, 4)
    program = [switch, *hold, level, instruction(OVERRIDE, 4, 0, 0), level, absent, switch]
    assert batch(management, *program) == (NOT_ACKNOWLEDGED, 6, 6, [0, 0, 1, 0, 0])


def test_random_programs_are_answered_by_the_device(management, registers):
    """Programs of random bytes, and of instructions with random operands: each is answered."""
    dice = random.Random(15)
    addresses = [address for address, _, _ in registers.values()]
    for _ in range(50):
        batch(management, dice.randbytes(dice.randrange(100)))
        operands = [dice.choice((0, 1, 3, dice.choice(addresses), dice.getrandbits(32))) for _ in range(4)]
        batch(management, instruction(dice.randrange(12), *operands), instruction(READ, dice.choice(addresses)))


def edges(device, kairos, device_db):
    """Runs an experiment; returns its edges as (time since the first edge, pin, level)."""
    device.control("trace_clear")
    run = kairos("run", EXAMPLES / "blink.py", device_db=device_db)
    assert run.returncode == 0, run.stderr
    events = device.control("trace", **{"from": 0})["events"]
    return [(when - events[0][0], pin, level) for when, pin, level in events]


def test_batches_during_an_experiment_leave_pins_unchanged(device, kairos, device_db, registers, management):
    """A client reading as fast as possible during an experiment changes nothing at the pins."""
    program = (instruction(LOOP, 10_000, 1), instruction(READ, registers["rtio_outputs"][0]))
    done = threading.Event()
    outcomes = []

    def read():
        while not done.is_set():
            outcomes.append(batch(management, *program)[0])

    reader = threading.Thread(target=read)
    reader.start()
    try:
        busy = edges(device, kairos, device_db)
    finally:
        done.set()
        reader.join()
    assert outcomes and set(outcomes) == {DONE}
    assert busy == edges(device, kairos, device_db)
