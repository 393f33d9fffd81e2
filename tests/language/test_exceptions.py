"""Which exception reaches the host when one is raised while another is being handled."""

import pytest

from kairos.language import rpc


class Holder:
    def __init__(self, core):
        self.core = core
        self.zero = 0

    @rpc
    def fail(self):
        raise KeyError("of the host")

    @rpc
    def fine(self):
        pass


IN_HANDLER = """
try:
    raise ValueError("older")
except ValueError:
    RAISE
"""
IN_FINALLY = """
try:
    raise ValueError("older")
finally:
    RAISE
"""
NESTED = """
try:
    try:
        raise ValueError("oldest")
    except ValueError:
        raise IndexError("older")
except IndexError:
    RAISE
"""
AFTER_ONE_THAT_ENDED = """
try:
    raise ValueError("older")
except ValueError:
    try:
        raise IndexError("over")
    except IndexError:
        pass
    RAISE
"""
HANDLED_REMOTE = """
try:
    self.fail()
except Exception:
    RAISE
"""
INNER_FINALLY = """
try:
    raise ValueError("older")
except ValueError:
    try:
        RAISE
    finally:
        self.fine()
"""
RAISES = [
    ("raise RuntimeError('newer')", RuntimeError, "newer"),
    ("1 // self.zero", ZeroDivisionError, "cannot divide by zero"),
    ("self.fail()", KeyError, "of the host"),
]


@pytest.mark.parametrize("raises, kind, text", RAISES, ids=["raise", "check", "rpc"])
@pytest.mark.parametrize(
    "body",
    [IN_HANDLER, IN_FINALLY, NESTED, AFTER_ONE_THAT_ENDED, HANDLED_REMOTE, INNER_FINALLY],
    ids=["handler", "finally", "nested", "after another", "remote", "inner finally"],
)
def test_newest_exception_reaches_host(run, core, body, raises, kind, text):
    with pytest.raises(kind) as caught:
        run(body.replace("RAISE", raises), holder=Holder(core))
    assert text in str(caught.value)


def test_reraised_exception_counts_as_the_newest(run, core):
    body = """
try:
    raise ValueError("older")
except ValueError:
    try:
        raise IndexError("inner")
    except IndexError:
        pass
    raise
"""
    with pytest.raises(ValueError, match="older"):
        run(body, holder=Holder(core))


@pytest.mark.parametrize("how", ["raise ValueError", "self.fail()", "self.zero = 1 // self.zero"])
def test_cursor_after_exception_in_parallel_is_the_latest_reached(run, core, how):
    holder = Holder(core)
    run("at_mu(5000)", holder=holder)
    with pytest.raises((ValueError, KeyError, ZeroDivisionError)):
        run(
            f"with parallel:\n    delay_mu(70)\n    with sequential:\n        delay_mu(20)\n        {how}",
            holder=holder,
        )
    assert run("return now_mu()", holder=holder) == 5070
