"""A gate across two boards, for several fibres: what both boards have played."""

from dataclasses import dataclass

import numpy as np

from kairos.pulse import Recording

from .boards import pair_description
from .command import Kairos
from .gateware import built
from .paths import EXAMPLES

__all__ = ["GATE_MU", "Played", "play", "skew_ps"]

GATE_MU = 4000
NAMES = ("pulse0", "sat_pulse0")
CARRIER = 200e6


@dataclass
class Played:
    """The recording, and when the gates began, in machine units."""

    recording: Recording
    begins: list[int]

    def samples(self, shot: int) -> list[np.ndarray]:
        """Return the samples of a shot, of each board, one per machine unit."""
        begin = self.begins[shot]
        return [self.recording.samples(0, begin, begin + GATE_MU, name=name).astype(float) for name in NAMES]


def play(folder, delay_ns: int, *options) -> Played:
    """Run the example with a fibre of so many ns; AssertionError if it fails."""
    built("pulse_pair", "pulse_satellite")
    (folder / "system.toml").write_text(pair_description("pulse_pair", "pulse_satellite", delay_ns))
    database = folder / "device_db.py"
    database.write_text(
        (EXAMPLES / "two_board_gate_device_db.py")
        .read_text()
        .replace("Path(__file__).parent", f"Path({str(EXAMPLES)!r})")
        .replace("emulator://pulse_pair", f"emulator://{folder / 'system.toml'}")
    )
    words = ("--pulses", folder / "pulses.npz", "--no-table", "-o", folder / "results.h5")
    done = Kairos(folder)("run", EXAMPLES / "two_board_gate.py", *words, *options, device_db=database)
    assert done.returncode == 0, done.stdout + done.stderr
    import h5py

    with h5py.File(folder / "results.h5") as file:
        begins = [int(begin) for begin in file["datasets/begins_mu"][()]]
    return Played(Recording.load(folder / "pulses.npz"), begins)


def skew_ps(one: np.ndarray, other: np.ndarray) -> float:
    """Return by how much `other` is later than `one`, from the phase between them at the carrier's sidebands, ps; both
    are sampled once per ns."""
    spectra = [np.fft.rfft(samples * np.hanning(len(samples))) for samples in (one, other)]
    phase = np.angle(np.vdot(spectra[1], spectra[0]))
    return float(phase / (2 * np.pi * CARRIER) * 1e12)
