"""States of a kernel session: each function brings a new session into one."""

from .kernels import kernel, marks


def absent(session):
    pass


def loaded(session):
    assert session.load(kernel("empty")) is None


def running(session):
    """Run forever."""
    assert session.load(kernel("endless")) is None
    session.run()
    session.message(10)
    assert marks([session.request()]) == [1]


def waiting(session):
    """Wait for the reply to a call that returns an int32."""
    assert session.load(kernel("rpc_exception")) is None
    session.run()
    session.message(10)
    assert session.request().tag == b"i"


STATES = [absent, loaded, running, waiting]
