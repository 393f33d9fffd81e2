"""The pulse core across boards and in a loop with a laser: samples of two boards beside one another, and how far the
feed-forward leaves a drifting laser's beat off."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

PREFIXES = ("pulse.two_board_", "pulse.feed_forward_")
FIBRES_NS = (0, 1000, 1003, 20_005)


def loop_figures(figures):
    """Measure the figures that are wanted; builds the gateware that they need."""
    if figures.wants(("pulse.two_board_",)):
        _two_boards(figures)
    if figures.wants(("pulse.feed_forward_",)):
        _feed_forward(figures)


def _two_boards(figures):
    from tests.support.two_board_gate import play, skew_ps

    worst = 0.0
    for delay_ns in FIBRES_NS:
        with TemporaryDirectory() as folder:
            played = play(Path(folder), delay_ns)
        worst = max(worst, *(abs(skew_ps(*played.samples(shot))) for shot in range(len(played.begins))))
    source = (
        f"examples/two_board_gate.py: the greatest of four gates over fibres of {', '.join(map(str, FIBRES_NS))} ns, "
        "from the phase between both boards' samples; in the model both clocks are one, on boards they differ by "
        "sync.phase_error_ps"
    )
    figures.add("pulse.two_board_skew_ps", worst, "ps", target=1, source=source)


def _feed_forward(figures):
    from tests.support.command import Kairos
    from tests.support.gateware import built
    from tests.support.paths import EXAMPLES

    built("pulse")
    comb = EXAMPLES / "comb"
    with TemporaryDirectory() as folder:
        arguments = ("--bench", comb / "bench.toml", "--no-table")
        done = Kairos(Path(folder))("run", comb / "feed_forward.py", *arguments, device_db=comb / "device_db.py")
    found = re.search(r"beat: ([\d.]+) Hz without, ([\d.]+) Hz", done.stdout)
    if found is None:
        raise SystemExit(done.stdout + done.stderr)
    without, followed = map(float, found.groups())
    source = (
        "examples/comb/feed_forward.py: rms frequency of the beat of teeth and tone over 4 ms, from phases averaged "
        "over 0.1 ms, the tone times 3; laser 1.5 kHz off, drifting 2 kHz/s, swaying 300 Hz at 500 Hz; "
    )
    baseline = "baseline: without feed-forward"
    figures.add("pulse.feed_forward_residual_hz", followed, "Hz", target=5, baseline=without, source=source + baseline)
