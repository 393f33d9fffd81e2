"""Calibrations that cards keep in their EEPROMs: the delays of the clocks and updates of AD9910 chips.

They are found with the drivers, on a card that has just been initialised, and written only if the user agrees:
a stored calibration is used by every experiment.
"""

from ..coredevice.chips.ad9910 import STORED_DELAYS, STORED_DELAYS_OF_SERVO
from ..errors import KairosError
from .cards import Session

__all__ = ["calibrate", "places_of", "word_of_chip", "word_of_servo"]

_SIGNED = 1 << 31


def _int32(word: int) -> int:
    return (word & 2 * _SIGNED - 1 ^ _SIGNED) - _SIGNED


def word_of_chip(sync_delay: int, update_delay: int) -> int:
    """Return the word that an AD9910 with its own delays reads, int32."""
    word = STORED_DELAYS.sync_delay_seed.put(0, sync_delay)
    return _int32(int(STORED_DELAYS.io_update_delay.put(word, update_delay)))


def word_of_servo(sync_delays, update_delay: int | None) -> int:
    """Return the word that the chips of an SU-Servo's Urukul read, int32. `update_delay`: None if updates have
    none."""
    word = 0
    for channel, sync_delay in enumerate(sync_delays):
        word = STORED_DELAYS_OF_SERVO.sync_delay_seed.put_at(word, channel, sync_delay)
    field = STORED_DELAYS_OF_SERVO.io_update_delay
    return _int32(int(field.put(word, field.mask if update_delay is None else update_delay)))


def calibrate(session: Session, card: str):
    """Calibrate the chips of an Urukul whose delays are in an EEPROM; nothing for other cards."""
    servos = [
        servo for servo in session.named("SUServo") if card in session.database.arguments(servo).get("cpld_devices", ())
    ]
    if servos:
        for shared in session.named("SharedDDS", cpld_device=card):
            _calibrate_servo(session, card, shared, servos[0])
    else:
        for chip in session.named("AD9910", cpld_device=card):
            _calibrate_chip(session, card, chip)


def _calibrate_chip(session: Session, card: str, chip: str):
    """Calibrate an AD9910 of an Urukul, if the device database says where its delays are stored."""
    place = session.database.arguments(chip).get("sync_delay_seed")
    if not isinstance(place, str):
        return
    device = session.get(chip)
    delays = tuple(map(int, session.kernels(cpld=session.get(card), device=device).chip_delays()))
    what = f"calibration of {chip}"
    if _stored(session, card, what, place, word_of_chip(*delays)):
        session.kernels(device=device).initialise()
        used = (int(device.sync_data.sync_delay_seed), int(device.sync_data.io_update_delay))
        session.report.fact(card, f"{what} as the driver reads it", used == delays, str(used))


def _calibrate_servo(session: Session, card: str, shared: str, servo: str):
    """Calibrate the chips of an SU-Servo's Urukul, likewise. `shared`: their `SharedDDS`."""
    place = session.database.arguments(shared).get("sync_delay_seeds")
    if not isinstance(place, str):
        return
    device = session.get(shared)
    kernels = session.kernels(servo=session.get(servo), device=device)
    seeds = [int(seed) for seed in kernels.shared_delays()]
    update = None if device.cpld.io_update is None else int(kernels.shared_update_delay())
    what = f"calibration of {shared}"
    if _stored(session, card, what, place, word_of_servo(seeds, update)):
        session.kernels(device=session.get(servo)).initialise()
        used = (list(map(int, device.delays.sync_delay_seeds)), int(device.delays.io_update_delay))
        session.report.fact(card, f"{what} as the driver reads it", used == (seeds, update or 0), str(used))


def _stored(session: Session, card: str, what: str, place: str, word: int) -> bool:
    """Write a word to an EEPROM unless it is there already or the user does not agree; returns whether it is
    there now. `place`: ``DEVICE:OFFSET``."""
    name, _, offset = place.rpartition(":")
    kernels, address, found = session.kernels(device=session.get(name)), int(offset), [0]
    kernels.eeprom([address], found)
    before, shown = int(found[0]), f"{word & 0xFFFFFFFF:#010x}"
    if before == word:
        session.report.fact(card, what, True, f"{shown}, as stored in {place}")
        return True
    if not session.observer.agreed(f"{card}: write {what}, {shown}, to {place}, which has {before & 0xFFFFFFFF:#010x}"):
        session.report.open(card, what, f"{shown} was measured, and not written to {place}")
        return False
    kernels.eeprom_write(address, word)
    kernels.eeprom([address], found)
    read = int(found[0])
    session.report.fact(card, f"{what} written to {place} and read back", read == word, f"{read & 0xFFFFFFFF:#010x}")
    return read == word


def places_of(database) -> list[str]:
    """Return where the device database says that calibrations are stored; KairosError if it says so nowhere."""
    found = []
    for entry in database.entries.values():
        arguments = entry.get("arguments", {}) if isinstance(entry, dict) else {}
        found += [
            arguments[name]
            for name in ("sync_delay_seed", "sync_delay_seeds")
            if isinstance(arguments, dict) and isinstance(arguments.get(name), str)
        ]
    if not found:
        raise KairosError(
            f"--write-eeprom: {database.path} has no calibration in an EEPROM: give "
            'sync_delay_seed and io_update_delay of an AD9910 as "EEPROM_DEVICE:OFFSET"'
        )
    return found
