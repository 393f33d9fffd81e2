"""The camera behind a CoaXPress grabber: its set-up, commands, its description. Not in real time.

Commands go through the grabber's channel with the regions (docs/gateware/phys.md), at the present time instead of the
cursor, which kernels find moved to shortly after it. Choices: docs/cards.md.
"""

from ...exceptions import CXPError, RTIODestinationUnreachable
from ...language import TBool, TInt32, at_mu, kernel, now_mu
from ...numeric import int64
from ..chips import coaxpress as facts
from ..rtio import rtio_input_data, rtio_input_timestamped_data, rtio_output
from .numbers import to_int32

__all__ = ["CameraConnection"]

TIMEOUT = 0.2
"""Seconds that a camera has to answer, and after a reset of its connection."""
SLACK, READ_TIME = 20e-6, 1e-3
NO_TAG = -1
SILENT, SPOILT = -1, -2
URL_WORDS, PART_WORDS = 50, 25
LOCAL = [108, 111, 99, 97, 108, 58]
"""The letters with which the place of a description within the camera begins."""
SEMICOLON, QUESTION_MARK, SPACE, ZERO, LETTER_A, LETTER_X, LOWER = 59, 63, 32, 48, 97, 120, 32
HALF = 0xFFFF
LOCK_TIME, POLL_TIME = 60e-3, 1e-3
"""Seconds for the words of a camera to arrive at a rate, and from one poll for them to the next."""
MBIT_S, CODES = [mbit_s for mbit_s, _ in facts.RATES], [code for _, code in facts.RATES]
DISCOVERY = [MBIT_S.index(1250), MBIT_S.index(3125)]
"""Numbers of the rates at one of which a camera begins."""
STANDARD_VALUE = to_int32(facts.STANDARD_VALUE)


class CameraConnection:
    """The connection to a camera, for a device with a `core`. `commands`: the grabber's channel with the regions.
    Where there is none, everything raises CXPError.

    It is set up when it is first used, and again after a command without an answer: looked for at the rates at which
    cameras begin, then set to the highest one that both sides have.
    """

    kernel_invariants = {"commands"}

    def __init__(self, commands):
        self.commands = commands
        self.is_up = False
        self.tag = NO_TAG

    @kernel
    def _put(self, port: TInt32, value: TInt32):
        """Write a register of the grabber, now."""
        at_mu(self.core.get_rtio_counter_mu() + self.core.seconds_to_mu(SLACK))
        rtio_output(self.commands << 8 | port, value)

    @kernel
    def _get(self, port: TInt32, index: TInt32) -> TInt32:
        """Read a register of the grabber."""
        self._put(port, index)
        return rtio_input_data(self.commands)

    @kernel
    def _drop_late(self):
        """Drop late answers to earlier commands."""
        late_mu = int64(0)
        while late_mu >= 0:
            late_mu, _ = rtio_input_timestamped_data(self.core.get_rtio_counter_mu(), self.commands)

    @kernel
    def _check(self):
        """Raise CXPError without a grabber, which reads have shown if the connection is up."""
        time_mu = int64(0)
        if not self.is_up:
            try:
                self._drop_late()
                self._put(facts.PORT_VIEWER_STATE, 0)
                until_mu = self.core.get_rtio_counter_mu() + self.core.seconds_to_mu(READ_TIME)
                time_mu, _ = rtio_input_timestamped_data(until_mu, self.commands)
            except RTIODestinationUnreachable:
                time_mu = int64(-1)
        if time_mu < 0:
            raise CXPError("CXP Grabber is not available on destination {0}", int64(self.commands >> 16))

    @kernel
    def _send(self, address: TInt32, value: TInt32, command: TInt32):
        """Send a command, after dropping late answers."""
        self._drop_late()
        self._put(facts.PORT_ADDRESS, address)
        self._put(facts.PORT_VALUE, value)
        self._put(facts.PORT_TAG, 0 if self.tag == NO_TAG else self.tag | facts.TAGGED)
        self._put(facts.PORT_COMMAND, command)

    @kernel
    def _exchange(self, address: TInt32, value: TInt32, command: TInt32) -> TInt32:
        """Send a command and wait for the answer; returns its code, `SILENT` without one, `SPOILT` for a wrong CRC."""
        tag = self.tag
        self._send(address, value, command)
        if tag != NO_TAG:
            self.tag = (tag + 1) & 0xFF
        wait_mu = self.core.seconds_to_mu(TIMEOUT)
        code = facts.ANSWER_WAIT
        while code == facts.ANSWER_WAIT:
            time_mu, answer = rtio_input_timestamped_data(self.core.get_rtio_counter_mu() + wait_mu, self.commands)
            with_tag = NO_TAG
            if answer & facts.EVENT_TAGGED != 0:
                with_tag = (answer >> facts.EVENT_TAG) & 0xFF
            if time_mu < 0:
                code = SILENT
            elif answer & facts.EVENT_GOOD == 0:
                code = SPOILT
            elif with_tag == tag:
                # One to an earlier command says nothing of this one.
                code = answer & 0xFF
                if code == facts.ANSWER_WAIT:
                    more = float(self._get(facts.PORT_WORD, 1)) * 1e-3
                    wait_mu = self.core.seconds_to_mu(TIMEOUT + more)
        return code

    @kernel
    def _command(self, address: TInt32, value: TInt32, command: TInt32):
        """Send a command and wait for the answer. CXPError if it is not what it should be."""
        code = self._exchange(address, value, command)
        if code == SILENT:
            self.is_up = False
            raise CXPError("Camera does not answer a command for address {0:#06x}", int64(address))
        if code == SPOILT:
            raise CXPError("Camera's answer to a command for address {0:#06x} has a wrong CRC", int64(address))
        if code != (facts.ANSWER_DONE if command & facts.WRITE != 0 else facts.ANSWER_DATA):
            raise CXPError(
                "Camera refuses a command for address {0:#06x}: its answer has the code {1:#04x}",
                int64(address),
                int64(code),
            )

    @kernel
    def _read(self, address: TInt32) -> TInt32:
        self._command(address, 0, 4)
        return self._get(facts.PORT_WORD, 1)

    @kernel
    def _write(self, address: TInt32, value: TInt32):
        self._command(address, value, facts.WRITE | 4)

    @kernel
    def _receive(self, rate: TInt32) -> TBool:
        """Receive at a rate; returns whether words arrive."""
        self._put(facts.PORT_RATE, rate)
        end_mu = self.core.get_rtio_counter_mu() + self.core.seconds_to_mu(LOCK_TIME)
        arrive = self._get(facts.PORT_VIEWER_STATE, 0) & facts.LINE_IN_STEP != 0
        while not arrive and self.core.get_rtio_counter_mu() < end_mu:
            self.core.wait_until_mu(now_mu() + self.core.seconds_to_mu(POLL_TIME))
            arrive = self._get(facts.PORT_VIEWER_STATE, 0) & facts.LINE_IN_STEP != 0
        return arrive

    @kernel
    def _answers(self) -> TBool:
        """Return whether there is a camera at this rate."""
        code = self._exchange(facts.STANDARD, 0, 4)
        return code == facts.ANSWER_DATA and self._get(facts.PORT_WORD, 1) == STANDARD_VALUE

    @kernel
    def _discover(self, rates: TInt32) -> TInt32:
        """Look for a camera at the rates at which one begins, of those that can be received (a mask); returns the
        number of its rate. CXPError without one."""
        found = -1
        for rate in DISCOVERY:
            if found < 0 and (rates >> rate) & 1 != 0:
                self.tag = NO_TAG
                self._send(facts.CONNECTION_RESET, 1, facts.WRITE | 4)
                self.core.wait_until_mu(now_mu() + self.core.seconds_to_mu(TIMEOUT))
                if self._receive(rate) and self._answers():
                    found = rate
        if found < 0:
            raise CXPError("Camera is not connected")
        return found

    @kernel
    def _change_rate(self, before: TInt32, rates: TInt32):
        """Change to the highest rate that can be received, up to the one that the camera proposes."""
        proposed = self._read(facts.CONNECTION_CONFIG_DEFAULT) & HALF
        rate = before
        for n in range(len(CODES)):
            if (rates >> n) & 1 != 0 and CODES[n] <= proposed:
                rate = n
        # The answer comes at the rate before.
        self._write(facts.CONNECTION_CONFIG, 1 << 16 | CODES[rate])
        if rate != before and not (self._receive(rate) and self._answers()):
            raise CXPError("Camera is not received any more after a change to {0} Mbit/s", int64(MBIT_S[rate]))

    @kernel
    def _prepare(self):
        """Set the connection up, unless it is. CXPError without a grabber, or a camera."""
        self._check()
        if not self.is_up:
            rates = self._get(facts.PORT_VIEWER_STATE, 0) >> facts.LINE_RATES
            rate = self._discover(rates)
            self._write(facts.CONNECTION_ID, 0)
            configuration = self._read(facts.CONNECTION_CONFIG)
            if (configuration >> 16) & HALF > 1:
                self._write(facts.CONNECTION_CONFIG, 1 << 16 | (configuration & HALF))
            self._write(facts.MASTER_ID, facts.MASTER_ID_VALUE)
            if (self._read(facts.REVISION) >> 16) & HALF >= 2:
                self._choose_version(self._read(facts.VERSIONS))
            self._write(facts.STREAM_PACKET_SIZE, facts.STREAM_PACKET_BYTES)
            self._change_rate(rate, rates)
            self.is_up = True

    @kernel
    def _choose_version(self, known: TInt32):
        """Select the newest version of those that the camera knows; from 2.0 on commands have tags."""
        if known & 8 != 0:
            self._write(facts.VERSION, 2 << 16 | 1)
            self.tag = 0
        elif known & 4 != 0:
            self._write(facts.VERSION, 2 << 16)
            self.tag = 0
        elif known & 2 != 0:
            self._write(facts.VERSION, 1 << 16 | 1)

    @kernel
    def _read_words(self, address: TInt32, length: TInt32, buffer):
        """Read `length` bytes into the words of `buffer`, the first byte of each highest."""
        done = 0
        while done < length:
            part = min(length - done, facts.MOST_DATA)
            self._command(address + done, 0, part)
            for n in range((part + 3) >> 2):
                buffer[(done >> 2) + n] = self._get(facts.PORT_WORD, n + 1)
            done += part

    @kernel
    def _description(self, buffer) -> TInt32:
        """Read the camera's description into the words of `buffer`; returns their number."""
        url = [0 for _ in range(URL_WORDS)]
        part, at, done, ended = [0 for _ in range(PART_WORDS)], self._read(facts.XML_URL), 0, False
        # Behind the end of the text there may be no memory.
        while not ended and done < URL_WORDS:
            self._read_words(at + 4 * done, 4 * PART_WORDS, part)
            for n in range(PART_WORDS):
                url[done + n] = part[n]
                for shift in range(0, 32, 8):
                    if (part[n] >> shift) & 0xFF == 0:
                        ended = True
            done += PART_WORDS
        place = [0, 0]  # address and length
        field, is_local = 0, True
        for n in range(4 * URL_WORDS):
            letter = (url[n >> 2] >> (24 - 8 * (n & 3))) & 0xFF
            if letter == 0 or letter == QUESTION_MARK:
                break
            if n < len(LOCAL):
                is_local = is_local and (letter | LOWER) == LOCAL[n] | LOWER
            elif letter == SEMICOLON:
                field += 1
            elif 1 <= field <= 2 and letter != SPACE and letter | LOWER != LETTER_X:
                digit = letter - ZERO if letter <= ZERO + 9 else (letter | LOWER) - LETTER_A + 10
                is_local = is_local and 0 <= digit < 16
                place[field - 1] = place[field - 1] << 4 | digit
        if not is_local or field < 2:
            raise CXPError("Camera's description is not in the camera itself")
        words = (place[1] + 3) >> 2
        if words > len(buffer):
            raise CXPError("Camera's description has {0} words, more than the buffer: give a longer one", int64(words))
        self._read_words(place[0], place[1], buffer)
        return words
