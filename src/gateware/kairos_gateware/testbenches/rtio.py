"""For the tests of dispatchers: plays events into one in Migen's simulator."""

__all__ = ["submit"]


def submit(request, events, now, accepted):
    """Offers events (coarse, channel, data) back to back on a dispatcher's `request`; appends the
    signal `now` in the cycle of each acceptance to `accepted`."""
    for coarse, channel, data in events:
        yield request.valid.eq(1)
        yield request.timestamp.eq(coarse << 3)
        yield request.channel.eq(channel)
        yield request.data.eq(data)
        yield
        while not (yield request.ready):
            yield
        accepted.append((yield now))
    yield request.valid.eq(0)
    yield
