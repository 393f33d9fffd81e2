"""The state of a device's chips: what their models on the bench have received, and what kernels have written to the
gateware's own memories, which no bus shows: those of an SU-Servo, and the clear bits of a Shuttler.

Of an SU-Servo there are, below its device's name: ``ENABLE``; ``ch0.CONTROL``, the last word of a channel; and of each
profile that was written ``ch0.PROFILE5.POW`` and so on, and ``ch0.PROFILE5.Y`` as it was written, not as the filter
has changed it since. Words of phase tracking are not among them: they change by themselves.
"""

from ..contracts import servo
from ..waveform.chips import collected
from .cards import beside, channels_of

__all__ = ["state_of"]

_OUTPUTS = 16
"""Of a Shuttler."""
_CLEAR = 0x20
"""Address of its clear bits: `PORT` in `kairos.coredevice.chips.shuttler`."""


def state_of(device) -> tuple[dict[str, int], dict]:
    """Return the values of all registers by name, and the plan of the bench, which has the devices of its parts, of an
    emulated device with a bench."""
    bench, reply = device.control.request("bench"), device.control.request("written")
    registers, plan = collected(bench["parts"]), bench["plan"]
    written: dict[int, dict[int, int]] = {number: {} for number in reply["channels"]}
    for target, above, value in reply["written"]:
        written[target >> 8][above << servo.ADDRESS_BITS | target & 0xFF] = value
    for name, number in channels_of(device.entries, "SUServo").items():
        if number in written:
            urukuls = device.entries[name]["arguments"].get("cpld_devices") or ()
            registers |= {f"{name}.{key}": value for key, value in _servo(number, len(urukuls), written).items()}
    settings = channels_of(device.entries, "Config")
    for part in plan.get("parts", ()):
        config = settings.get(beside(device.entries, part.get("device") or "", "Config"))
        if config in written and f"{part['name']}.RELAYS" in registers:
            registers[f"{part['name']}.CLEAR"] = written[config].get(_CLEAR, (1 << _OUTPUTS) - 1)
    return registers, plan


def _servo(number: int, urukuls: int, written: dict[int, dict[int, int]]) -> dict[str, int]:
    """Return the state of the SU-Servo on a channel, whose own channels precede it."""
    channels = servo.URUKUL_CHANNELS * urukuls
    depth = servo.DEPTH_LEAST + (urukuls - 1).bit_length()
    write, phase, state = (1 << depth + place for place in (servo.WRITE_AT, servo.PHASE_AT, servo.STATE_AT))
    configuration, profiles = 1 << depth - 1, 1 << servo.PROFILE_WIDTH
    found = {"ENABLE": 0}
    for channel in range(channels):
        control = written.get(number - channels + channel, {})
        if 0 in control:
            found[f"ch{channel}.CONTROL"] = control[0]
    for address, value in sorted(written[number].items()):
        if not address & write or address & phase:
            continue
        place = address & (1 << depth) - 1
        if not address & state:
            place, word = place >> servo.WORD_BITS, place & (1 << servo.WORD_BITS) - 1
            name = servo.Word(word).name.upper()
        elif place & configuration:
            found["ENABLE"] = value & int(servo.Configuration.ENABLE)
            continue
        else:
            name = "Y"
        channel, profile = divmod(place, profiles)
        if channel < channels:
            found[f"ch{channel}.PROFILE{profile}.{name}"] = value
    return found
