"""Large kernels and replies: none deadlocks host and device, none ends the session."""

import pytest

LOADS = """
    def prepare(self):
        self.sizes = [100, 3000, 4000, 5000, 20000, 100000, 300000]
        self.data = list(range(self.sizes[-1]))

    def run(self):
        for size in self.sizes:
            self.cut = self.data[:size]
            print(self.last())

    @kernel
    def last(self) -> TInt32:
        return self.cut[len(self.cut) - 1]
"""

REPLIES = """
    def text(self, length) -> TStr:
        return "x" * length

    def rows(self) -> TList(TTuple([TStr, TList(TInt32)])):
        return [("abc", [1, 2, 3])] * 10 + [("y" * 20000000, [1] * 1000)] * 2 + [("", [])]

    @kernel
    def run(self):
        try:
            print(len(self.rows()))
        except RuntimeError:
            print("refused")
        print(len(self.text(300000)))
        print(len(self.text(40000000)))
"""


def test_loads_of_any_size_never_wait_for_wall_clock(kairos):
    """With this `host_wait_ms`, a waiting device would advance by the wall clock only after hours."""
    done = kairos.run(LOADS, "--set", "host_wait_ms=10000000")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[:7] == ["99", "2999", "3999", "4999", "19999", "99999", "299999"]


def test_reply_larger_than_the_stack_raises_an_exception(kairos):
    done = kairos.run(REPLIES)
    assert done.stdout.split()[:2] == ["refused", "300000"]
    assert done.returncode == 1
    assert "RuntimeError: the reply to an RPC needs 40000000 bytes of stack, of which " in done.stderr


AHEAD = """
    @kernel
    def run(self):
        self.core.reset()
        delay(10000*s)
        self.ttl4.pulse(1*us)
"""


@pytest.mark.long
def test_output_hours_ahead_is_played(kairos):
    done = kairos.run(AHEAD, timeout=1200)
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert "2 pin events" in done.stdout
