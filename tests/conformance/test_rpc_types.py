"""RPCs with values of any type in both directions, synchronous and asynchronous, and hosts that reply wrongly."""

import struct
from collections import namedtuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.connection import Closed
from tests.support.kernels import kernel, run_empty
from tests.support.raw_management import Management
from tests.support.raw_session import Object, Session, encode, skip

Range = namedtuple("Range", "start stop step")


class Client(Session):
    """A session that accepts ranges of any numeric type."""

    def tagged(self, tag):
        return Range(self.value(), self.value(), self.value()) if tag == b"r" else super().tagged(tag)


class Echo:
    """The kernel `echo`, restarted when it has ended."""

    def __init__(self, device):
        self.device = device
        self.session = None

    def begin(self):
        self.session = Client(self.device)
        assert self.session.load(kernel("echo")) is None
        self.session.run()
        objects = self.request(7, True)
        assert objects.arguments == [Object(3), {"pair": (-1, Object(5))}, [Object(4), Object(5), Object(3)], None]

    def request(self, service, is_async):
        self.session.message(10)
        request = self.session.request()
        assert (request.service, request.is_async) == (service, is_async)
        return request

    def order(self, tag):
        """Makes the kernel request a value of type `tag`."""
        if self.session is None:
            self.begin()
        request = self.request(1, False)
        order = (tag + b":" + tag, b"k" + tag + b":n", len(tag))
        self.session.reply(request.tag, encode(request.tag, order)[0])
        request = self.request(2, False)
        assert (request.arguments, request.tag) == ([], tag)

    def round_trip(self, tag, value):
        wire, rest = encode(tag, value)
        assert rest == b""
        try:
            self.order(tag)
            self.session.reply(tag, wire)
            for service, is_async in ((3, True), (4, False), (5, True)):
                request = self.request(service, is_async)
                assert request.tag == tag
                # Compared as bytes, since a NaN is not equal to itself.
                assert encode(tag, request.arguments[0])[0] == wire
                if not is_async:
                    self.session.reply(tag, wire)
            ((name, again),) = self.request(6, True).arguments[0].items()
            assert name == "näme" and encode(tag, again)[0] == wire
        except BaseException:
            self.close()
            raise

    def end(self):
        request = self.request(1, False)
        self.session.reply(request.tag, bytes(12))
        assert self.session.until_end() == ([], None)

    def close(self):
        if self.session is not None:
            self.session.close()
        self.session = None


@pytest.fixture(scope="module")
def echo(device):
    echo = Echo(device)
    yield echo
    if echo.session is not None:
        echo.end()
    echo.close()
    with Session(device) as after:
        run_empty(after)


SCALARS = {
    b"n": st.none(),
    b"b": st.booleans(),
    b"i": st.integers(-(2**31), 2**31 - 1),
    b"I": st.integers(-(2**63), 2**63 - 1),
    b"f": st.floats(),
    b"s": st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40),
    b"B": st.binary(max_size=40),
    b"A": st.binary(max_size=40),
}
NUMBERS = (b"i", b"I", b"f")


def extend(tags):
    return st.one_of(
        st.lists(tags, max_size=5).map(lambda inner: b"t" + bytes([len(inner)]) + b"".join(inner)),
        tags.map(lambda inner: b"l" + inner),
        st.tuples(st.integers(1, 4), tags).map(lambda array: b"a" + bytes([array[0]]) + array[1]),
    )


TAGS = st.recursive(
    st.sampled_from([*SCALARS, *(b"r" + number for number in NUMBERS)]),
    extend,
    max_leaves=8,
)


def values(tag):
    """Returns a strategy for values of the first type in `tag`, and the rest of the tag."""
    head, rest = tag[:1], tag[1:]
    if head in SCALARS:
        return SCALARS[head], rest
    if head == b"r":
        element, rest = values(rest)
        return st.builds(Range, element, element, element), rest
    if head == b"t":
        members, after = [], rest[1:]
        for _ in range(rest[0]):
            member, after = values(after)
            members.append(member)
        return st.tuples(*members), after
    if head == b"l":
        element, after = values(rest)
        return st.lists(element, max_size=5), after
    element, after = values(rest[1:])

    def array(shape):
        count = 1
        for extent in shape:
            count *= extent
        return st.lists(element, min_size=count, max_size=count).map(lambda elements: ("array", shape, elements))

    shapes = st.tuples(*[st.integers(0, 3 if rest[0] < 3 else 2)] * rest[0])
    return shapes.flatmap(array), after


@st.composite
def typed_values(draw):
    tag = draw(TAGS)
    assert skip(tag) == b""
    return tag, draw(values(tag)[0])


ANY = {"deadline": None, "derandomize": True, "database": None, "suppress_health_check": list(HealthCheck)}


@settings(max_examples=150, **ANY)
@given(typed_values())
def test_arbitrary_value_round_trips_by_rpc(echo, typed):
    echo.round_trip(*typed)


@pytest.mark.long
@settings(max_examples=4000, **ANY)
@given(typed_values())
def test_many_arbitrary_values_round_trip(echo, typed):
    echo.round_trip(*typed)


LARGE = {
    "integers": (b"li", list(range(1 << 18))),
    "wide integers": (b"lI", list(range(1 << 17))),
    "truths": (b"lb", [True, False] * (1 << 16)),
    "bytes": (b"B", bytes(range(256)) * 4096),
    "text": (b"s", "µ✓離\U0001f600" * 90_000),
    "matrix": (b"a\2f", ("array", (256, 512), [0.5] * (256 * 512))),
    "texts": (b"ls", [f"text {number}" for number in range(3000)]),
    "lists": (b"lli", [list(range(number % 7)) for number in range(3000)]),
    "pairs": (b"lt\2lsi", [(["a"] * (number % 3), number) for number in range(2000)]),
    "nothing": (b"ln", [None] * 10_000),
    "tuple of 58": (b"t\x3a" + b"i" * 58, tuple(range(58))),
    "tuple of 255": (b"t\xff" + b"I" * 255, tuple(range(255))),
    "nested": (b"l" * 12 + b"i", [[[[[[[[[[[[7], []]], []]]]], []]]]]]),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_values_round_trip_by_rpc(echo, name):
    echo.round_trip(*LARGE[name])


def test_reply_in_single_bytes_is_decoded(device, echo):
    """The rest of the device keeps working: the management service answers meanwhile."""
    tag, value = b"t\2lis", ([1, -2, 3], "slow")
    echo.order(tag)
    message = b"ZZZZ\x07" + struct.pack("<I", len(tag)) + tag + encode(tag, value)[0]
    for index, byte in enumerate(message):
        echo.session.write(bytes([byte]))
        if index % 8 == 0:
            Management(device).close()
    assert echo.request(3, True).arguments == [value]
    echo.close()


@pytest.mark.parametrize("reset", [False, True])
def test_host_lost_within_reply_leaves_device_working(device, echo, reset):
    tag, value = b"t\2lis", ([1, -2, 3], "cut")
    message = b"ZZZZ\x07" + struct.pack("<I", len(tag)) + tag + encode(tag, value)[0]
    for length in range(len(message)):
        echo.order(tag)
        echo.session.write(message[:length])
        if reset:
            echo.session.reset()
        echo.close()
    echo.round_trip(tag, value)


def reply(tag, wire, length=None):
    return b"ZZZZ\x07" + struct.pack("<I", len(tag) if length is None else length) + tag + wire


WRONG = {
    "a tag that is too long": reply(b"i" * 600, bytes(4)),
    "a tag of absurd length": reply(b"i", bytes(4), 0xFFFF_FFFF),
    "more bytes than its type has": reply(b"li", struct.pack("<Ii", 1, 5) + bytes(1000)),
    "a value of another type": reply(b"I", bytes(8)),
    "another message": b"ZZZZ\x03",
    "an unknown message": b"ZZZZ\x2a",
    "a second run": b"ZZZZ\x06",
    "a list for which there is no memory": reply(b"li", struct.pack("<I", 0x0F00_0000)),
    "a list of 2^31 elements": reply(b"li", struct.pack("<I", 0x8000_0000)),
    "a list of 2^32 - 1 elements": reply(b"li", struct.pack("<I", 0xFFFF_FFFF)),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_reply_of_host_leaves_device_working(device, echo, what):
    """The session ends, or the message is answered as specified; the device keeps working."""
    echo.order(b"li")
    echo.session.write(WRONG[what])
    try:
        if what == "another message":
            assert echo.session.read(9) == b"ZZZZ\x02ARZQ"
        elif what == "a second run":
            echo.session.message(8)
        else:
            with pytest.raises(Closed):
                while True:
                    echo.session.message(10)
                    echo.session.request()
    finally:
        echo.close()
    echo.round_trip(b"li", [1, 2, 3])
    echo.end()
    echo.close()
