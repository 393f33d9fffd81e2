"""Loops that poll the counter: the time is skipped, and they end when the program says.

All shapes run in one kernel, each for two seconds of the device, which would take minutes if it polled.
"""

READ = "self.core.get_rtio_counter_mu()"
SHAPES = [
    (f"while {READ} < end:\n    pass", 0),
    (f"while end >= {READ}:\n    pass", 0),
    (f"while {READ} < self.deadline:\n    pass", 0),
    (f"while now_mu() - {READ} > 100_000:\n    pass", -100_000),
    (f"while 50_000 < end - {READ}:\n    pass", -50_000),
    (f"while {READ} + 2 * 1_000 <= end:\n    pass", -2_000),
    (f"while not ({READ} >= end):\n    continue", 0),
    (f"while True:\n    if {READ} >= end:\n        break", 0),
    (f"while True:\n    now = {READ}\n    if now >= end:\n        n += 1\n        break", 0),
    (f"now = {READ}\nwhile now < end:\n    now = {READ}", 0),
    (f"done = False\nwhile not done:\n    done = {READ} >= end", 0),
    (f"while True:\n    left = end - {READ}\n    if left <= 0:\n        break", 0),
    (
        f"while True:\n    left = end - {READ}\n    if left < 3_000:\n        break\n"
        "    if left < 9_000:\n        break",
        -9_000,
    ),
    ("while not self.has_come(end):\n    pass", 0),
    ("while not self.has_come(end=end - 500):\n    pass", -500),
    ("self.wait(end)", 0),
    (f"while self.core.mu_to_seconds({READ} - start) < 2.0:\n    pass", 0),
    (f"while self.waits and {READ} < end:\n    pass", 0),
    # The last look decides, and a loop that does not begin does not wait.
    (f"while {READ} < start:\n    pass", -2_000_000_000),
    (f"now = end\nwhile now < end:\n    now = {READ}", -2_000_000_000),
    # What is counted meanwhile is ahead as well.
    (f"while {READ} < end:\n    n += 1\nself.polls[0] = n", 0),
    (f"for i in range(2_000_000_000):\n    n = i\n    if {READ} >= end:\n        break\nself.polls[1] = n", 0),
    (f"for i in range(2_000_000_000):\n    if {READ} >= end:\n        break\n    n -= 2\nself.polls[2] = -n // 2", 0),
    (f"while n < 2_000_000_000 and {READ} < end:\n    n += 1\nself.polls[3] = n", 0),
    (
        f"while True:\n    n += 1\n    if n > 1_000_000_000:\n        raise ValueError\n    if {READ} > end:\n"
        "        break\nself.polls[4] = n",
        0,
    ),
    (f"for i in range(2_000_000_000, 0, -3):\n    n += 1\n    if {READ} >= end:\n        break\nself.polls[5] = n", 0),
    # Other ways to say it.
    (f"while {READ} < end:\n    n = n + 1\nself.polls[8] = n", 0),
    (f"while True:\n    n = 2 + n\n    if {READ} >= end:\n        break\nself.polls[9] = n // 2", 0),
    (f"while True:\n    if {READ} < end:\n        n = n - 1\n    else:\n        break\nself.polls[10] = -n", 0),
    (
        f"while True:\n    if {READ} >= end:\n        break\n    elif n > 1_000_000_000:\n        break\n    n += 1\n"
        "self.polls[11] = n",
        0,
    ),
    (f"while True:\n    if {READ} < end:\n        continue\n    break", 0),
    (f"while True:\n    if {READ} < end:\n        pass\n    else:\n        return", 0),
    (f"while True:\n    if {READ} > end - 1000:\n        if {READ} > end:\n            break", 0),
    (f"go = True\nwhile go:\n    if {READ} >= end:\n        go = False", 0),
    (
        f"done = False\nwhile not done:\n    if {READ} >= end:\n        done = True\n    n = n + 1\nself.polls[12] = n",
        0,
    ),
    (
        f"done, late = False, False\nwhile not done:\n    if {READ} > end - 1_000_000:\n        late = True\n"
        f"    done = late and {READ} > end\nself.polls[13] = 5_000_000 if late else 0",
        0,
    ),
    # What is done when the loop is left is done once.
    (
        f"while True:\n    if {READ} >= end:\n        self.polls[17] += 1\n        delay_mu(7)\n"
        "        break\n    n = n + 1\nself.polls[18] = int32(now_mu() - end)",
        0,
    ),
    (
        f"while True:\n    if {READ} < end:\n        n = n + 1\n    else:\n        self.polls[17] += 1\n        break",
        0,
    ),
    # Each pass moves the cursor, or sets it.
    (
        f"at_mu(start)\nwhile {READ} < end:\n    delay(1 * us)\nself.polls[14] = int32((now_mu() - start) // 1000)",
        0,
    ),
    (
        f"at_mu(start)\nwhile {READ} < end and now_mu() < start + 500 * 8:\n    delay_mu(8)\n"
        "self.polls[15] = int32((now_mu() - start) // 8)",
        -2_000_000_000,
    ),
    (f"while {READ} < end:\n    at_mu({READ} + 125_000)\nself.cursors[0] = now_mu() - end", 0),
    (f"at_mu(end)\nwhile {READ} < now_mu():\n    n += 1\nself.polls[16] = n", 0),
    # The count, or the range, ends first.
    (f"while n < 1000 and {READ} < end:\n    n += 1\nself.polls[6] = n", -2_000_000_000),
    (f"for i in range(1000):\n    n = i\n    if {READ} >= end:\n        break\nself.polls[7] = n", -2_000_000_000),
]
HEAD = """from artiq.experiment import *


class Exp(EnvExperiment):
    def build(self):
        self.setattr_device("core")
        self.deadline = np.int64(0)
        self.waits = True
        self.one = 1
        self.late = [0] * 100
        self.polls = [0] * 20
        self.cursors = [np.int64(0)]

    @kernel
    def has_come(self, end):
        now = self.core.get_rtio_counter_mu()
        return now >= end

    @kernel
    def wait(self, end):
        while not self.core.get_rtio_counter_mu() >= end:
            pass
"""
SHAPE = """
    @kernel
    def shape{number}(self):
        n = 0
        start = self.core.get_rtio_counter_mu()
        end = start + 2_000_000_000
        at_mu(end)
        self.deadline = end
        {loop}
        self.late[{number}] = int32(self.core.get_rtio_counter_mu() - end)
"""


def test_loops_that_poll_the_counter_end_at_their_times(kairos, device_db):
    loops = [loop.replace("\n", "\n        ") for loop, _ in SHAPES]
    body = "".join(SHAPE.format(number=number, loop=loop) for number, loop in enumerate(loops))
    calls = "".join(f"\n        self.shape{number}()" for number in range(len(SHAPES)))
    body += f"\n    @kernel\n    def all(self):\n        self.core.reset(){calls}\n"
    body += "\n    def run(self):\n        self.all()\n        print('late', self.late)\n"
    body += "        print('polls', self.polls)\n        print('cursor', self.cursors[0])\n"
    done = kairos.run(body, head=f"import numpy as np\n{HEAD}", device_db=device_db)
    assert done.returncode == 0, done.stderr
    late = [int(text) for text in done.stdout.partition("late [")[2].partition("]")[0].split(",")]
    for (loop, least), found in zip(SHAPES, late, strict=False):
        within = 5_000 if least > -2_000_000_000 else 2_000_000
        assert least <= found < least + within, loop
    polls = [int(text) for text in done.stdout.partition("polls [")[2].partition("]")[0].split(",")]
    assert polls[6:8] == [1000, 999]
    # Two seconds of polls of 50 to 500 ns.
    assert all(4_000_000 < found < 40_000_000 for found in [*polls[:6], *polls[8:15], polls[16]]), polls
    assert polls[15] == 500
    assert polls[17:19] == [2, 7]
    assert 124_000 < int(done.stdout.partition("cursor ")[2].split()[0]) < 130_000


def test_skipped_polls_are_counted_as_they_would_have_been(kairos, device_db):
    loop = f"while {READ} < end:\n            {{}}\n        self.polls[{{}}] = n"
    # The first counts in a way that is not recognised.
    polls, sleeps = (SHAPE.format(number=n, loop=loop.format(s, n)) for n, s in enumerate(["n += self.one", "n += 1"]))
    body = polls.replace("2_000_000_000", "200_000") + sleeps.replace("2_000_000_000", "20_000_000")
    body += "\n    def run(self):\n        self.shape0()\n        self.shape1()\n        print('polls', self.polls)\n"
    done = kairos.run(body, head=f"import numpy as np\n{HEAD}", device_db=device_db)
    assert done.returncode == 0, done.stderr
    polled, skipped = (int(text) for text in done.stdout.partition("polls [")[2].split(",")[:2])
    assert polled > 200
    assert 0.9 < skipped / (100 * polled) < 1.1
