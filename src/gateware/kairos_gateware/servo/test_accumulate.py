"""The multiplier and the limits, against integers."""

import random

from migen import *

from kairos_gateware.servo.accumulate import Accumulator, Limiter
from kairos_gateware.servo.format import COEFF_SHIFT, COEFF_WIDTH, STATE_WIDTH
from kairos_gateware.testbenches.simulator import run_simulation


class Bench(Module):
    def __init__(self):
        self.submodules.accumulator = Accumulator()
        self.submodules.limiter = Limiter(self.accumulator.total)
        self.comb += self.limiter.update.eq(1)


def test_sum_of_three_products_is_exact_and_limited():
    chance, bench, found, expected = random.Random(5), Bench(), [], []
    a = bench.accumulator

    def process():
        for _ in range(300):
            terms = []
            for _ in range(3):
                scale = chance.randrange(1, STATE_WIDTH - 2)
                values = [chance.randrange(-(1 << scale), 1 << scale) for _ in range(2)]
                terms.append((*values, chance.randrange(-(1 << COEFF_WIDTH - 1), 1 << COEFF_WIDTH - 1)))
            for cycle in range(8):
                if cycle < 3:
                    operand, summand, factor = terms[cycle]
                    yield a.operand.eq(operand)
                    yield a.summand.eq(summand)
                    yield a.factor.eq(factor)
                yield a.first.eq(cycle == 2)
                yield a.more.eq(cycle in (3, 4))
                yield
            yield
            found.append((yield bench.limiter.y))
            total = sum((operand + summand) * factor for operand, summand, factor in terms)
            whole = total >> COEFF_SHIFT
            expected.append(min(max(whole, 0), (1 << STATE_WIDTH - 1) - 1))

    run_simulation(bench, process())
    assert found == expected
    assert 0 in expected and any(0 < y < (1 << STATE_WIDTH - 1) - 1 for y in expected)
