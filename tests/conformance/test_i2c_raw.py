"""I2C with a handwritten kernel library: errors, and a kernel killed in the middle of a byte."""

import pytest

from tests.support.kernels import begin, marks
from tests.support.raw_session import Session

READ_FOR_EVER, POLL, TWO_CHANNELS, NO_SWITCH, OTHER_BUS, SPI = range(6)
I2C_ERROR, SPI_ERROR = 4, 6


def test_interrupted_i2c_device_releases_the_bus(device):
    for _ in range(2):
        with Session(device) as session:
            begin(session, "i2c", READ_FOR_EVER)
            session.message(10)
            assert session.request().arguments == [1]
        with Session(device) as session:
            begin(session, "i2c", POLL)
            requests, exception = session.until_end()
            assert exception is None and marks(requests) == [1, 0]


@pytest.mark.parametrize(
    "what, exception_id, message",
    [
        (TWO_CHANNELS, I2C_ERROR, "I2C switch select fail"),
        (NO_SWITCH, I2C_ERROR, "I2C switch select fail"),
        (OTHER_BUS, I2C_ERROR, "I2C start fail"),
        (SPI, SPI_ERROR, "SPI bus could not be accessed: this device has no SPI outside of RTIO"),
    ],
)
def test_i2c_errors_raise_their_exception(device, what, exception_id, message):
    with Session(device) as session:
        begin(session, "i2c", what)
        _, exception = session.until_end()
        assert [(one["id"], one["message"]) for one in exception.exceptions] == [(exception_id, message)]
        begin(session, "i2c", POLL)
        requests, exception = session.until_end()
        assert exception is None and marks(requests) == [1, 0]
