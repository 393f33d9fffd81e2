"""Reference solutions by QuTiP of the systems that the bench's models solve: cases with all their
numbers, and the results.

`python -m tests.physics.reference` writes them to `src/bench/src/physics/qutip.json`, which the
tests of the models read; `test_reference.py` in this folder recomputes them. Nothing here is shared
with the models: operators are QuTiP's, kicks of light are exponentials in a larger space than the
simulated one, and time is integrated step by step.

Rates are in 1/s, frequencies in Hz, times in s; complex numbers are [real, imaginary]; state 1 of a
qubit is `D`.
"""

import json
from math import pi

import numpy as np
import qutip

from ..support.paths import ROOT

FILE = ROOT / "src/bench/src/physics/qutip.json"
LARGE = 80
"""Number of states in which kicks are exponentiated."""
EXACT = {"rtol": 1e-11, "atol": 1e-13, "nsteps": 10_000_000, "method": "vern9", "progress_bar": ""}


def pairs(numbers):
    return [[float(z.real), float(z.imag)] for z in np.asarray(numbers).ravel()]


# Four levels

LEVELS = {"linewidth": 1.35e8, "branching": [0.5, 0.44, 0.06], "decay": 1e3, "dephasing": 2e4}
DARK = {"rabi_hz": 0.0, "detuning_hz": 0.0, "turns": 0.0, "cooling": 0.0, "pumping": 0.0, "repump": 0.0}


def four_levels():
    """(what, lights, S-, S+, P, D, coherence of D and S-, time)"""
    return [
        ("shelving", {"rabi_hz": 5e4, "detuning_hz": 2e4, "turns": 0.2}, [1, 0, 0, 0], 0, 17e-6),
        ("shelving from a superposition", {"rabi_hz": 8e4, "detuning_hz": -3e4}, [0.5, 0, 0, 0.5], 0.3 + 0.2j, 9e-6),
        ("cooling begins", {"cooling": 4e7}, [1, 0, 0, 0], 0, 11e-9),
        ("cooling ends in D", {"cooling": 4e7}, [0.3, 0.7, 0, 0], 0, 1.5e-6),
        ("optical pumping", {"pumping": 2e7, "repump": 1e6}, [0.1, 0.6, 0, 0.3], 0, 1.2e-6),
        ("repumping takes coherence", {"repump": 3e5}, [0.5, 0, 0, 0.5], 0.5j, 2e-6),
        ("everything at once", DARK | {k: v for k, v in zip(DARK, (6e4, 1e4, 0.7, 2e6, 1e6, 5e5), strict=True)},
         [0.4, 0.1, 0, 0.5], 0.2, 3e-6),
    ]  # fmt: skip


def levels_case(what, lights, populations, coherence, time):
    lights = DARK | lights
    ket = [qutip.basis(4, n) for n in range(4)]

    def move(to, start):
        return ket[to] * ket[start].dag()

    lower, pumped, scattering, metastable = range(4)
    angle = 2 * pi * lights["turns"]
    rabi, detuning = pi * lights["rabi_hz"], 2 * pi * lights["detuning_hz"]
    up = rabi * move(metastable, lower)
    hamiltonian = [
        [up, lambda t: np.exp(-1j * (detuning * t + angle))],
        [up.dag(), lambda t: np.exp(1j * (detuning * t + angle))],
    ]
    rates = [
        (lower, scattering, lights["cooling"]),
        (pumped, scattering, lights["cooling"] + lights["pumping"]),
    ]
    rates += [(to, start, rate) for start, to, rate in rates]  # light that absorbs also emits
    rates += [(metastable, scattering, lights["repump"])]  # via a level that decays
    rates += [(scattering, n, LEVELS["linewidth"] * p) for n, p in zip((0, 1, 3), LEVELS["branching"], strict=True)]
    rates += [(metastable, lower, LEVELS["decay"])]
    jumps = [np.sqrt(rate) * move(to, start) for start, to, rate in rates if rate]
    # Dephasing of the qubit, which does not affect the other levels
    jumps += [np.sqrt(LEVELS["dephasing"] / 2) * (move(metastable, metastable) - move(lower, lower))]
    begin = qutip.qdiags(populations, 0)
    begin = begin + coherence * move(metastable, lower) + np.conj(coherence) * move(lower, metastable)
    end = qutip.mesolve(hamiltonian, begin, [0, time], jumps, options=EXACT).states[-1].full()
    return {
        "what": what,
        "lights": lights,
        "time": time,
        "begin": [*populations, coherence.real, complex(coherence).imag],
        "end": [*map(float, np.diag(end).real), *pairs([end[metastable, lower]])[0]],
    }


# Qubits and a mode


def kick(eta, states):
    """exp(i eta (a + a+)), restricted to the lowest states."""
    a = qutip.destroy(LARGE)
    return qutip.Qobj((1j * eta * (a + a.dag())).expm().full()[:states, :states])


def operators(ions, states):
    """Raising operators of the ions, and the mode's lowering operator; the last ion is the first
    factor, as in the models."""
    one, mode = qutip.qeye(2), qutip.qeye(states)
    raising = qutip.basis(2, 1) * qutip.basis(2, 0).dag()
    a = qutip.destroy(states)
    if ions == 1:
        return [qutip.tensor(raising, mode)], qutip.tensor(one, a)
    up = [qutip.tensor(one, raising, mode), qutip.tensor(raising, one, mode)]
    return up, qutip.tensor(one, one, a)


def hamiltonian(case):
    up, a = operators(case["ions"], case["states"])
    moved = kick(case["eta"], case["states"])
    moved = qutip.tensor(*[qutip.qeye(2)] * case["ions"], moved)
    parts = [2 * pi * case["mode_hz"] * a.dag() * a]
    for tone in case["tones"]:
        excite = sum(up[ion] * moved for ion in range(case["ions"]) if tone["ions"] >> ion & 1)
        excite = pi * tone["rabi_hz"] * excite
        turn = 2 * pi * tone["detuning_hz"], 2 * pi * tone["turns"]
        parts.append([excite, lambda t, turn=turn: np.exp(-1j * (turn[0] * t + turn[1]))])
        parts.append([excite.dag(), lambda t, turn=turn: np.exp(1j * (turn[0] * t + turn[1]))])
    return parts


def tone(rabi_hz, detuning_hz, turns=0.0, ions=1):
    return {"rabi_hz": rabi_hz, "detuning_hz": detuning_hz, "turns": turns, "ions": ions}


def gate(time_ns, states=10, **more):
    """Tones at both sidebands of two ions, detuned outwards by 20 kHz: a Mølmer-Sørensen gate that
    closes after 50 us."""
    mode_hz, detuning_hz, eta = 2e6, 20e3, 0.05
    rabi_hz = detuning_hz / (2 * eta)  # one circle in the mode's phase space is a quarter turn of both
    tones = [tone(rabi_hz, sign * (mode_hz + detuning_hz), ions=3) for sign in (1, -1)]
    for beam, turns in zip(tones, more.get("turns", (0.0, 0.0)), strict=True):
        beam["turns"] = turns
    mode = {"ions": 2, "states": states, "mode_hz": mode_hz, "eta": eta}
    return mode | {"tones": tones, "quanta": more.get("quanta", 0), "up": 0, "time_ns": time_ns}


def waves():
    one = {"ions": 1, "states": 12, "mode_hz": 1e6, "eta": 0.2, "up": 0}
    two = {"ions": 2, "states": 8, "mode_hz": 1e6, "eta": 0.1, "up": 0}
    return [
        one | {"what": "carrier of a moving ion", "tones": [tone(1e5, 1e3, 0.3)], "quanta": 3, "time_ns": 12_345},
        one | {"what": "blue sideband", "tones": [tone(5e4, 1e6)], "quanta": 1, "time_ns": 20_001},
        one | {"what": "red sideband", "tones": [tone(5e4, -1e6, 0.9)], "quanta": 2, "up": 0, "time_ns": 31_007},
        two | {"what": "one of two ions", "tones": [tone(7e4, 1e6, 0.1, 2)], "quanta": 0, "up": 1, "time_ns": 15_000},
        two | {"what": "a beam on each", "tones": [tone(7e4, 0.0, 0.1, 1), tone(5e4, 1e6, 0.4, 2)], "quanta": 1,
               "time_ns": 12_345},
        two | {"what": "two beams of one frequency", "tones": [tone(7e4, 2e3, 0.1, 3), tone(5e4, 2e3, 0.4, 1)],
               "quanta": 0, "time_ns": 9_876},
        two | {"what": "a slow beat", "tones": [tone(6e4, 2e2, 0.2, 3), tone(5e4, 0.0, 0.6, 3)], "quanta": 0,
               "time_ns": 5_003},
        gate(50_000) | {"what": "gate"},
        gate(17_171, quanta=2, turns=(0.31, 0.87)) | {"what": "within a gate"},
    ]  # fmt: skip


def start(case):
    bits = [case["up"] >> ion & 1 for ion in reversed(range(case["ions"]))]
    return qutip.tensor(*(qutip.basis(2, bit) for bit in bits), qutip.basis(case["states"], case["quanta"]))


def wave_case(case):
    end = qutip.sesolve(hamiltonian(case), start(case), [0, case["time_ns"] * 1e-9], options=EXACT).states[-1]
    return case | {"end": pairs(end.full())}


# Disturbances


def disturbed():
    one = {"ions": 1, "states": 10, "mode_hz": 1e6, "eta": 0.15, "up": 0, "quanta": 0}
    quiet = {"heating": 0.0, "dephasing": 0.0, "leaving": 0.0}
    return [
        one | quiet | {"what": "heating on the blue sideband", "tones": [tone(4e4, 1e6)], "heating": 2e4,
                       "time_ns": 60_000},
        one | quiet | {"what": "heating in the dark", "tones": [], "heating": 2e4, "time_ns": 50_000},
        one | quiet | {"what": "dephasing on the carrier", "tones": [tone(5e4, 0.0)], "dephasing": 5e4,
                       "time_ns": 40_000},
        one | quiet | {"what": "red sideband with repumping", "tones": [tone(4e4, -1e6)], "leaving": 5e4, "quanta": 2,
                       "time_ns": 80_000},
    ]  # fmt: skip


def disturbed_case(case):
    (up,), a = operators(1, case["states"])
    above = up * up.dag()
    jumps = [np.sqrt(case["heating"]) * a, np.sqrt(case["heating"]) * a.dag()]
    jumps += [np.sqrt(case["dephasing"] / 2) * (2 * above - 1), np.sqrt(case["leaving"]) * up.dag()]
    jumps = [jump for jump in jumps if jump.norm() > 0]
    options = EXACT | {"rtol": 1e-8, "atol": 1e-10}
    end = qutip.mesolve(hamiltonian(case), start(case), [0, case["time_ns"] * 1e-9], jumps, options=options).states[-1]
    return case | {"upper": float(qutip.expect(above, end)), "mean_quanta": float(qutip.expect(a.dag() * a, end))}


def cases():
    return {
        "qutip": qutip.__version__,
        "levels": LEVELS,
        "four_levels": [levels_case(*case) for case in four_levels()],
        "waves": [wave_case(case) for case in waves()],
        "disturbed": [disturbed_case(case) for case in disturbed()],
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(cases(), indent=1) + "\n")
    print(f"wrote {FILE}")
