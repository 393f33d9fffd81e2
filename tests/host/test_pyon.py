"""Encoding and decoding of PYON."""

import ast
import tracemalloc
from fractions import Fraction

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kairos import pyon
from kairos.pyon import literals

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
VALUES = st.recursive(
    SCALARS | st.fractions() | st.complex_numbers(allow_nan=False),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=8,
)


@given(VALUES)
def test_encoded_values_decode_to_the_same(value):
    assert pyon.decode(pyon.encode(value)) == value


def arrays(numbers):
    return numpy.array(numbers, "<u2")[::-1]


ODD = st.sets(st.integers()) | st.lists(st.integers(0, 999)).map(arrays) | st.text().map(numpy.str_)


@settings(max_examples=50)
@given(st.recursive(VALUES | ODD, lambda inner: st.lists(inner) | st.tuples(inner)), st.integers(0, 80))
def test_beginning_of_a_text_is_that_of_the_complete_one(value, count):
    assert pyon.beginning(value, count) == pyon.encode(value)[:count]


def test_beginning_of_the_text_of_a_long_value_takes_little_memory():
    text = "x" * 1_000_000
    for value in (numpy.zeros(1 << 20), [[[0.5] * 1000] * 1000] * 1000, dict.fromkeys("abc", text), text.encode()):
        tracemalloc.start()
        try:
            assert len(pyon.beginning({"a": value}, 200)) == 200
            assert tracemalloc.get_traced_memory()[1] < 200_000
        finally:
            tracemalloc.stop()


def test_encoded_numpy_values_keep_their_type():
    array = numpy.arange(6, dtype="<i4").reshape(2, 3)
    again = pyon.decode(pyon.encode({"a": array, "s": numpy.float64(1.5)}))
    assert again["a"].tolist() == array.tolist() and again["a"].dtype == array.dtype
    assert type(again["s"]) is numpy.float64


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ('"a"', "a"),
        ("'a'", "a"),
        ("(1, 2)", (1, 2)),
        ("1, 2", (1, 2)),
        ("True", True),
        ("true", True),
        ("[1.5]", [1.5]),
    ],
)
def test_values_typed_by_users_are_decoded(text, value):
    assert pyon.decode(text) == value


@pytest.mark.parametrize("text", ["", "abc", "[1,", "__import__('os')", '{"__jsonclass__": ["os", []]}'])
def test_text_that_is_no_pyon_is_rejected(text):
    with pytest.raises(ValueError):
        pyon.decode(text)


def test_value_of_unknown_type_is_not_encoded():
    with pytest.raises(TypeError):
        pyon.encode(object())
    assert pyon.decode(pyon.encode(Fraction(1, 3))) == Fraction(1, 3)


class Unshown:
    def __repr__(self):
        raise KeyError("torn")


@pytest.mark.parametrize("version", [1, 2])
def test_value_that_cannot_be_encoded_is_type_error(version):
    loop: list = [1]
    loop.append(loop)
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    for value in (loop, {"a": loop}, deep, Unshown(), [Unshown()], 10**5000):
        with pytest.raises(TypeError, match="PYON"):
            pyon.encode(value, version)


@given(VALUES | st.sets(st.integers()))
def test_values_in_version_1_round_trip(value):
    assert pyon.decode(pyon.encode(value, 1)) == value


def test_version_1_has_the_texts_of_its_format():
    assert pyon.encode({"a": (1,), "b": [None, True, "µ\n"]}, 1) == '{"a": (1, ), "b": [null, true, "\\u00b5\\n"]}'
    assert pyon.encode(slice(1, None, 2), 1) == "slice(1, null, 2)"
    assert pyon.encode(numpy.zeros((2, 1), "<i2"), 1) == 'nparray((2, 1, ), "<i2", b"AAAAAA==")'
    assert pyon.encode(numpy.float64(0), 1) == 'npscalar("<f8", b"AAAAAAAAAAA=")'
    assert pyon.decode('nparray((2,), "<i2", b"AAABAA==")').tolist() == [0, 1]
    assert pyon.decode("slice(1, 5, null)") == slice(1, 5) and pyon.decode("-1.5e3") == -1500.0
    assert pyon.decode("[nan, inf, -inf]")[1:] == [float("inf"), -float("inf")]
    assert pyon.decode('OrderedDict([("b", 1), ("a", 2)])') == {"b": 1, "a": 2}


@given(
    st.text()
    | st.recursive(
        st.sampled_from(
            ["1", "null", "slice(", "nparray(", '{"__jsonclass__": ["nparray", [', "[", "(", "]", ")", "-", "+"]
        ),
        lambda inner: st.lists(inner, max_size=6).map(" ".join),
    )
)
def test_random_text_is_a_value_or_a_value_error(text):
    try:
        pyon.decode(text)
    except ValueError:
        pass


@pytest.mark.parametrize(
    "text",
    [
        '{"__jsonclass__": 5}',
        '{"__jsonclass__": ["nparray", [[2], "<f8", ""]]}',
        "[" * 99999,
        'npscalar("<U1", "//8A/w==")',  # no character has this number
        'nparray((1,), "<U1,<f8", "//8A/wAAAAAAAAAA")',
    ],
)
def test_malformed_object_is_rejected(text):
    with pytest.raises(ValueError):
        pyon.decode(text)


def test_value_in_a_file_is_replaced_completely(tmp_path):
    path, value = tmp_path / "state.pyon", {"a": (1, 2.5), "b": [numpy.int64(3)]}
    pyon.store_file(path, value)
    assert pyon.load_file(path) == value and path.read_text().startswith('{\n    "a"')
    with pytest.raises(TypeError):
        pyon.store_file(path, {"a": object()})
    assert pyon.load_file(path) == value and list(tmp_path.iterdir()) == [path]


NESTED = st.recursive(
    st.sampled_from(
        "1 -2 0777 0x1F 1_0 1e3 .5 1. 2j -0.0 None True nan '' b'a' 'é\\n' \"'\" r'\\' ''' ' ''' 'a'b'c' ... a f'1' "
        "set() slice(1) Fraction(1,2) int(1) --1 1+2j 1-True (1) 1if 2else 3 *a 1__0 0b12 '\\x' u'a' ub'' '\n'".split(
            " "
        )
    ),
    lambda inner: st.lists(inner, max_size=4).flatmap(
        lambda values: st.sampled_from(["[{}]", "({})", "({},)", "{{{}}}", "set([{}])", "{{{}}}", "{}", "[{},]"]).map(
            lambda form: form.format(", ".join(values)).replace(", ", ": ", form == "{{{}}}")
        )
    ),
    max_leaves=12,
)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::SyntaxWarning")
@given(NESTED)
def test_literals_have_the_values_of_python(text):
    names = {"nan": 0.5, "set": set, "slice": slice, "Fraction": Fraction}
    try:
        tree = ast.parse(text.strip(), mode="eval")
        allowed = not any(
            isinstance(node, ast.Starred | ast.IfExp | ast.JoinedStr)
            or (isinstance(node, ast.Constant) and node.value is ...)
            or (isinstance(node, ast.BinOp | ast.UnaryOp) and "True" in ast.unparse(node))
            for node in ast.walk(tree)
        )
        wanted = eval(compile(tree, "", "eval"), {"__builtins__": {}, **names}) if allowed else ValueError
    except Exception:
        wanted = ValueError
    try:
        found = literals.value_of(text, {"None": None, "True": True, "nan": 0.5}, names)
    except Exception:
        found = ValueError
    assert repr(found) == repr(wanted)


def test_literals_of_megabytes_take_little_memory():
    tracemalloc.start()
    try:
        assert len(pyon.decode(f"({'1,' * 50_000})")) == 50_000
        assert tracemalloc.get_traced_memory()[1] < 2 << 20
    finally:
        tracemalloc.stop()
