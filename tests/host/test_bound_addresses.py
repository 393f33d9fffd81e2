"""Addresses on which servers listen: each once, and none without a word."""

import pytest

from kairos.controllers.sockets import LOCAL, bound
from kairos.errors import UsageError


@pytest.mark.parametrize(
    ("more", "addresses"),
    [
        ((), {"127.0.0.1", "::1"}),
        (("127.0.0.2",), {"127.0.0.1", "127.0.0.2", "::1"}),
        (("127.0.0.1", "localhost", "0::1"), {"127.0.0.1", "::1"}),
        (("0.0.0.0",), {"0.0.0.0", "::1"}),
        (("::",), {"127.0.0.1", "::"}),
        (("*", "127.0.0.2"), {"0.0.0.0", "::"}),
    ],
)
def test_address_that_another_one_covers_is_opened_once(more, addresses):
    sockets = bound((*LOCAL, *more), 0, "tests")
    names = [connection.getsockname()[:2] for connection in sockets]
    for connection in sockets:
        connection.close()
    assert {name for name, _ in names} == addresses and len(names) == len(addresses)
    assert len({port for _, port in names}) == 1


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("192.0.2.1", "Cannot assign requested address"),  # reserved for documentation
        ("2001:db8::1", "Cannot assign requested address"),  # likewise
        ("", "Name or service not known"),
        ("a" * 300, "it is no name of a computer"),
    ],
)
def test_address_that_this_computer_does_not_have_is_named(address, reason):
    with pytest.raises(UsageError) as refused:
        bound((*LOCAL, address), 0, "tests")
    assert str(refused.value) == f"port 0 for tests cannot be opened at {address!r}: {reason}"
