"""Every single-bit and every double-bit error of a word."""

from itertools import combinations

import numpy as np
import pytest
from migen import *

from kairos_gateware.link.line.secded import Decoder, Encoder, check_columns, encode
from kairos_gateware.link.line.word import CHECK_BITS, PAYLOAD_BITS, STREAM_BITS, WORD_BITS
from kairos_gateware.testbenches.simulator import run_simulation

DATA_BITS = PAYLOAD_BITS + STREAM_BITS


class Bench(Module):
    def __init__(self):
        self.submodules.encoder = Encoder(DATA_BITS, CHECK_BITS)
        self.submodules.decoder = Decoder(DATA_BITS, CHECK_BITS)


def test_a_check_bit_is_a_parity_of_32_bits():
    columns = check_columns(DATA_BITS, CHECK_BITS)
    assert len(set(columns)) == DATA_BITS
    assert [sum(column >> row & 1 for column in columns) for row in range(CHECK_BITS)] == [31] * CHECK_BITS


def test_every_single_error_is_corrected_and_every_double_error_detected():
    rng = np.random.default_rng(1)
    dut = Bench()
    errors = [()] + [(bit,) for bit in range(WORD_BITS)] + list(combinations(range(WORD_BITS), 2))

    def play():
        for wrong in errors:
            data = int(rng.integers(2**DATA_BITS))
            word = encode(data, DATA_BITS, CHECK_BITS)
            yield dut.encoder.data.eq(data)
            yield dut.decoder.word.eq(word ^ sum(1 << bit for bit in wrong))
            yield
            assert (yield dut.encoder.word) == word
            assert (yield dut.decoder.corrected) == (len(wrong) == 1)
            assert (yield dut.decoder.broken) == (len(wrong) == 2)
            if len(wrong) < 2:
                assert (yield dut.decoder.data) == data

    run_simulation(dut, play())


@pytest.mark.parametrize("data_bits, check_bits", [(1, 3), (4, 4), (26, 6), (57, 7), (64, 8), (120, 8)])
def test_columns_of_every_width_are_distinct_and_odd(data_bits, check_bits):
    columns = check_columns(data_bits, check_bits)
    assert len(set(columns)) == data_bits
    assert all(column.bit_count() % 2 == 1 and column.bit_count() >= 3 for column in columns)


def test_too_few_check_bits_are_refused():
    with pytest.raises(ValueError, match="7 check bits are not enough for 58 data bits"):
        check_columns(58, 7)
