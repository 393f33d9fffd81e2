"""A CoaXPress grabber's driver: set-up of a camera and commands, against a camera of a few lines; files."""

import numpy as np
import pytest

from kairos.compiler.tests.jit import Compiled
from kairos.coredevice.chips import coaxpress as facts
from kairos.coredevice.cxp_grabber import write_file, write_pgm
from kairos.coredevice.parts.numbers import to_int32

from .traffic import devices, run

CHANNEL, COMMANDS = 3 << 16 | 7, 3 << 16 | 8
RATE_CODES = [code for _, code in facts.RATES]


@pytest.fixture
def camera():
    return devices({"camera": ("cxp_grabber.CXPGrabber", {"channel": CHANNEL})}).get("camera")


class Camera:
    """A camera and its grabber's channel with the regions. `words`: by their addresses; `asked`: (address, value or
    None, tag or None) of the commands; `late`: events that arrive before the next answer; `slow`: ms that a write
    takes; `viewer`: state of the grabber's viewer; `step`: mu from one look at the time to the next; `rates`: mask of
    those of the grabber; `begins`, `speaks`, `received`: numbers of the rates at which the camera begins, at which it
    is, and of the grabber."""

    def __init__(self, **words):
        self.words = {
            facts.STANDARD: facts.STANDARD_VALUE,
            facts.REVISION: 2 << 16 | 1,
            facts.VERSIONS: 0b0110,
            facts.CONNECTION_CONFIG_DEFAULT: 4 << 16 | 0x40,
        }
        self.rates, self.begins, self.speaks, self.received = 0b11111, 0, 0, 0
        self.ports, self.events, self.answer, self.asked, self.late = {}, [], [], [], []
        self.time, self.slow, self.absent, self.good = 0, 0, False, facts.EVENT_GOOD
        self.viewer, self.step = 0, 1000

    def firmware(self):
        return {
            "rtio_get_counter": self.counter,
            "rtio_wait_until_mu": self.wait,
            "rtio_output": self.output,
            "rtio_input_data": lambda channel: to_int32(self.events.pop(0)[1]),
            "rtio_input_timestamped_data": self.input,
        }

    def counter(self):
        self.time += self.step
        return self.time

    def wait(self, until):
        self.time = max(self.time, until)

    def input(self, timeout, channel):
        assert channel == COMMANDS
        if self.events and self.events[0][0] <= timeout:
            time, data = self.events.pop(0)
            self.wait(time)
            return time, to_int32(data)
        self.wait(timeout)
        return -1, 0

    def output(self, target, data):
        port, data = target & 0xFF, data & 0xFFFFFFFF
        if target >> 8 != COMMANDS:
            return
        self.ports[port] = data
        if port == facts.PORT_COMMAND:
            self.command(data)
        elif port == facts.PORT_WORD:
            self.events.insert(0, (self.time, self.answer[data]))
        elif port == facts.PORT_VIEWER_STATE:
            arrives = self.received == self.speaks and not self.absent
            state = self.viewer | self.rates << facts.LINE_RATES | (facts.LINE_IN_STEP if arrives else 0)
            self.events.insert(0, (self.time, state))
        elif port == facts.PORT_RATE:
            self.received = data

    def event(self, delay, code, tag):
        tagged = tag & 0xFF if tag & facts.TAGGED else 0
        data = code | tagged << facts.EVENT_TAG | self.good | (facts.EVENT_TAGGED if tag & facts.TAGGED else 0)
        self.events.append((self.time + delay, data))

    def command(self, command):
        address, value, tag = (self.ports[n] for n in (facts.PORT_ADDRESS, facts.PORT_VALUE, facts.PORT_TAG))
        write = bool(command & facts.WRITE)
        self.asked.append((address, value if write else None, tag & 0xFF if tag & facts.TAGGED else None))
        if address == facts.CONNECTION_RESET:
            self.speaks = self.begins
            self.words[facts.CONNECTION_CONFIG] = 4 << 16 | RATE_CODES[self.begins]
        if self.absent or address == facts.CONNECTION_RESET or self.received != self.speaks:
            return
        for event in self.late:
            self.event(10_000, *event)
        self.late = []
        if write:
            self.words[address] = value
            if self.slow:
                self.answer = [4, self.slow]
                self.event(50_000, facts.ANSWER_WAIT, tag)
            self.event(60_000 + self.slow * 1_000_000, facts.ANSWER_DONE, tag)
            if address == facts.CONNECTION_CONFIG:
                self.speaks = RATE_CODES.index(value & 0xFFFF)
            return
        length = command & 0xFFFFFF
        words = [self.words.get(address + n) for n in range(0, length, 4)]
        self.answer = [length, *words]
        self.event(50_000, facts.ANSWER_ADDRESS if None in words else facts.ANSWER_DATA, tag)


def call(there, method, *args):
    """Return what a method returns, with this camera; an exception as its text. The kernel runs in its own process,
    with a camera of its own: this one then gets the commands, and the time of the last one."""
    result = Compiled(method, args, method.__self__.core).run(firmware=there.firmware())
    for name, values in result.calls:
        if name == "rtio_output":
            there.output(*values)
    there.time = result.now
    if result.exception is not None:
        return f"{result.exception[0].rpartition('.')[2]}: {result.message}"
    return result.value


RESET, STANDARD = (0x4000, 1, None), (0x0000, None, None)
SET_UP = [
    RESET,
    STANDARD,
    (0x4004, 0, None),
    (0x4014, None, None),
    (0x4014, 0x1_0028, None),
    (0x4008, 0x6303, None),
    (0x0004, None, None),
    (0x4044, None, None),
    (0x4048, 0x2_0000, None),
    (0x4010, 16384, 0),
    (0x4018, None, 1),
    (0x4014, 0x1_0040, 2),
    (0x0000, None, 3),
]


def test_camera_is_set_up_before_its_first_command(camera):
    there = Camera()
    assert call(there, camera.read32, 0x4014) == 0x1_0040
    assert there.asked == [*SET_UP, (0x4014, None, 4)] and there.time > 200_000_000


@pytest.mark.parametrize(
    "begins, proposed, rates, received",
    [
        (0, 0x48, 0b11111, 4),
        (2, 0x38, 0b11111, 2),
        (2, 0x58, 0b11111, 4),
        (0, 0x48, 0b01011, 3),
        (0, 0x28, 0b11111, 0),
    ],
)
def test_camera_is_received_at_the_highest_common_rate(camera, begins, proposed, rates, received):
    """One that begins at 3.125 Gbit/s is found with the second try."""
    there = Camera()
    there.begins, there.rates, there.words[facts.CONNECTION_CONFIG_DEFAULT] = begins, rates, 1 << 16 | proposed
    assert call(there, camera.read32, facts.MASTER_ID) == facts.MASTER_ID_VALUE
    assert (there.received, there.speaks) == (received, received)
    assert there.asked[: 3 if begins else 2] == [RESET] * (2 if begins else 1) + [STANDARD]


def test_camera_with_other_rates_than_the_grabber_is_not_found(camera):
    there = Camera()
    there.begins, there.rates = 2, 0b01011
    assert call(there, camera.read32, 0) == "CXPError: Camera is not connected"
    assert there.asked == [RESET]


def test_camera_that_is_lost_with_its_new_rate_is_reported(camera):
    there = Camera()
    there.output = lambda target, data, before=there.output: before(
        target, 3 if target & 0xFF == facts.PORT_RATE and data == 4 else data
    )
    there.words[facts.CONNECTION_CONFIG_DEFAULT] = 1 << 16 | 0x48
    text = "CXPError: Camera is not received any more after a change to 6250 Mbit/s"
    assert call(there, camera.read32, 0) == text


def test_camera_of_an_older_revision_gets_no_tags(camera):
    there = Camera()
    there.words[facts.REVISION] = 1 << 16 | 1
    assert call(there, camera.write32, 0x8000, -1) is None
    assert there.words[0x8000] == 0xFFFFFFFF
    assert all(tag is None and address != facts.VERSION for address, _, tag in there.asked)


def test_missing_camera_is_reported_in_the_words_of_the_reference(camera):
    there = Camera()
    there.absent = True
    assert call(there, camera.read32, 0) == "CXPError: Camera is not connected"
    there = Camera()
    there.words[facts.STANDARD] = 5
    assert call(there, camera.read32, 0) == "CXPError: Camera is not connected"


def test_answers_are_waited_for_as_announced_and_late_ones_passed_over(camera):
    there = Camera()
    there.slow, there.late = 900, [(facts.ANSWER_DATA, 0x55 | facts.TAGGED)]
    camera.is_up, camera.tag = True, 7
    assert call(there, camera.write32, 0x8000, 3) is None
    assert there.asked == [(0x8000, 3, 7)]


@pytest.mark.parametrize(
    "change, text",
    [
        ({"absent": True}, "Camera does not answer a command for address 0x9000"),
        ({"good": 0}, "Camera's answer to a command for address 0x9000 has a wrong CRC"),
        ({}, "Camera refuses a command for address 0x9000: its answer has the code 0x40"),
    ],
)
def test_unusable_answers_name_the_address(camera, change, text):
    there = Camera()
    vars(there).update(change)
    camera.is_up = True
    assert call(there, camera.read32, 0x9000) == f"CXPError: {text}"


LONG = "Camera's description has 59 words, more than the buffer: give a longer one"
ELSEWHERE = "Camera's description is not in the camera itself"
XML = bytes(97 + n % 26 for n in range(233))


@pytest.mark.parametrize(
    "url, room, found",
    [
        (b"Local:camera.xml;80000000;e9", 60, 59),
        (b"LOCAL:c.xml; 0x80000000 ;E9?SchemaVersion=1", 59, 59),
        (
            b"Local:c;80000000;e9",
            58,
            "CXPError: " + LONG,
        ),
        (b"http://x;80000000;e9", 60, "CXPError: " + ELSEWHERE),
        (b"Local:c;8000_000;e9", 60, "CXPError: " + ELSEWHERE),
        (b"Local:c;80000000", 60, "CXPError: " + ELSEWHERE),
    ],
)
def test_description_is_read_from_the_place_in_the_url(camera, url, room, found):
    there = Camera()
    there.words[facts.XML_URL] = 0x2000
    for address, text, length in [(0x2000, url, 100), (-0x8000_0000, XML, 236)]:
        padded = text.ljust(length, b"\0")
        words = (int.from_bytes(padded[n : n + 4], "big") for n in range(0, length, 4))
        there.words |= {(address + 4 * n) & 0xFFFFFFFF: word for n, word in enumerate(words)}
    camera.is_up = True
    assert call(there, camera.read_local_xml, [0] * room) == found
    if isinstance(found, int):
        assert [address for address, _, _ in there.asked[-3:]] == [0x8000_0000 + n for n in (0, 100, 200)]


@pytest.mark.parametrize(
    "corners, text",
    [
        ((0, 0, 65, 64), "not 65 times 64"),
        ((0, 0, 1, 1025), "not 1 times 1025"),
        ((5, 0, 5, 8), "has 0 columns and 8 rows: they begin at 0 or more and end below 65536"),
        ((-1, 0, 5, 8), "has 6 columns and 8 rows: they begin at 0 or more and end below 65536"),
    ],
)
def test_impossible_region_of_the_viewer_is_refused(camera, corners, text):
    there = Camera()
    found = call(there, camera.start_roi_viewer, *corners)
    assert found.startswith("CXPError: ") and found.endswith(text) and there.asked == []


@pytest.mark.parametrize(
    "state, text",
    [(0, "the viewer has not been started"), (facts.VIEWER_WAITING, "no image has arrived within 10 s")],
)
def test_image_that_does_not_arrive_is_reported(camera, state, text):
    there = Camera()
    there.viewer, there.step = state, 1_000_000_000
    assert call(there, camera.read_roi_viewer_frame, np.zeros((8, 8), "i4")) == f"CXPError: {text}"


def test_trigger_packets_have_their_number(camera):
    words = [run(camera.send_cxp_linktrigger, *args).on(CHANNEL) for args in ((0,), (1,), (1, True))]
    assert words == [[(0, 0)], [(0, 4)], [(0, 5)]]


def test_downloaded_words_are_written_with_the_highest_byte_first(tmp_path):
    write_file(np.array([0x3C3F786D, -1], "i4"), tmp_path / "camera.xml")
    assert (tmp_path / "camera.xml").read_bytes() == b"<?xm\xff\xff\xff\xff"


@pytest.mark.parametrize(
    "bits, body", [(8, bytes([1, 2, 3, 4, 5, 250])), (16, bytes([0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 250]))]
)
def test_frame_is_written_as_a_picture(tmp_path, bits, body):
    write_pgm(np.array([[1, 2, 3], [4, 5, 250]], "i4"), tmp_path / "frame.pgm", bits)
    expected = b"P5\n3 2\n" + str(2**bits - 1).encode() + b"\n" + body
    assert (tmp_path / "frame.pgm").read_bytes() == expected
    with pytest.raises(ValueError, match="8 or 16 bits"):
        write_pgm(np.zeros((2, 2), "i4"), tmp_path / "x.pgm", 12)


@pytest.mark.parametrize("shape", [(3, 2), (2, 4), (1, 3)])
def test_frame_of_another_size_than_the_region_is_refused(camera, shape):
    there = Camera()
    camera.is_up = True
    values = {facts.PORT_VIEWER_STATE: 2, facts.PORT_SIZE: 2 << 16 | 3, facts.PORT_REGION: 0}
    firmware = there.firmware() | {
        "rtio_input_data": lambda channel: values[max(there.ports)] or (8 << 16 | 8) * there.ports[facts.PORT_REGION],
        "rtio_output": lambda target, data: there.ports.update({target & 0xFF: data}) or None,
    }
    result = Compiled(camera.read_roi_viewer_frame, (np.zeros(shape, "i4"),), camera.core).run(firmware=firmware)
    assert result.exception[0] == "ValueError"
    assert result.message == "The frame matrix size is not the same as ROI viewer frame size"
