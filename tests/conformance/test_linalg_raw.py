"""Linear algebra through the kernel ABI: matrices by address, results in buffers of the kernel.
Compared with NumPy, or verified by the properties of a decomposition."""

import struct
from pathlib import Path

import numpy as np
import pytest

from tests.support.raw_session import Session

LIBRARY = Path(__file__).parents[1] / "kernels" / "linalg.elf"
NAMES = "cholesky inv pinv det qr svd matrix_power lu schur hessenberg solve".split()
LIN_ALG_ERROR, VALUE_ERROR = 20, 18

RNG = np.random.default_rng(7)
SQUARE, TALL, WIDE = RNG.normal(size=(5, 5)), RNG.normal(size=(4, 3)), RNG.normal(size=(2, 4))
POSITIVE = SQUARE @ SQUARE.T + np.eye(5)


def packed_list(tag: bytes, layout: str, values) -> bytes:
    return struct.pack("<I", len(values)) + struct.pack(f"<{len(values)}{layout}", *values)


@pytest.fixture
def session(device):
    with Session(device) as session:
        assert session.load(LIBRARY.read_bytes()) is None
        session.run()
        session.message(10)
        assert session.request().service == 1
        yield session


def order(session, name, *arguments):
    """Requests a function call with matrices and numbers."""
    words, data = [], []
    for argument in arguments:
        if isinstance(argument, int):
            words += [-1, argument, 0]
        else:
            words += [argument.ndim, *argument.shape, *[0] * (2 - argument.ndim)]
            data += argument.ravel().tolist()
    value = struct.pack("<i", NAMES.index(name)) + packed_list(b"i", "i", words) + packed_list(b"f", "d", data)
    session.reply(b"t\x03ililf", value)


def call(session, name, given, *shapes):
    """Returns the results, in the given shapes."""
    places = [np.full(shape, np.nan) for shape in shapes]
    order(session, name, *given, *places)
    session.message(10)
    (data,) = session.request().arguments
    session.message(10)
    session.request()
    sizes = [argument.size for argument in [*given, *places] if not isinstance(argument, int)]
    parts = np.split(np.array(data), np.cumsum(sizes)[:-1])
    return [part.reshape(shape) for part, shape in zip(parts[-len(shapes) :], shapes, strict=True)]


def raised(session, name, *arguments):
    """Returns the exception with which a call ends the kernel."""
    order(session, name, *arguments)
    requests, exception = session.until_end()
    assert requests == []
    return exception.exceptions[0]["id"], exception.exceptions[0]["message"]


def close(value, expected):
    np.testing.assert_allclose(value, expected, atol=1e-12)


def test_decompositions_of_square_matrices_agree_with_numpy(session):
    (root,) = call(session, "cholesky", [POSITIVE], (5, 5))
    close(root, np.linalg.cholesky(POSITIVE))
    (inverse,) = call(session, "inv", [SQUARE], (5, 5))
    close(inverse, np.linalg.inv(SQUARE))
    (determinant,) = call(session, "det", [SQUARE], (1,))
    close(determinant[0], np.linalg.det(SQUARE))
    right = RNG.normal(size=(5, 2))
    (solution,) = call(session, "solve", [SQUARE, right], (5, 2))
    close(solution, np.linalg.solve(SQUARE, right))
    (solution,) = call(session, "solve", [SQUARE, right[:, 0].copy()], (5,))
    close(solution, np.linalg.solve(SQUARE, right[:, 0]))


@pytest.mark.parametrize("exponent", [3, np.array([3.0]), np.array([[3.0]])], ids=["number", "vector", "matrix"])
def test_powers_of_a_matrix_agree_with_numpy(session, exponent):
    (power,) = call(session, "matrix_power", [SQUARE, exponent], (5, 5))
    close(power, np.linalg.matrix_power(SQUARE, 3))


@pytest.mark.parametrize("matrix", [SQUARE, TALL, WIDE], ids=["square", "tall", "wide"])
def test_decompositions_of_any_matrix_agree_with_numpy(session, matrix):
    rows, columns = matrix.shape
    fewer = min(rows, columns)
    for count, mode in ((fewer, "reduced"), (rows, "complete")):
        q, r = call(session, "qr", [matrix], (rows, count), (count, columns))
        close(abs(q[:, :fewer]), abs(np.linalg.qr(matrix, mode).Q[:, :fewer]))
        close(q @ r, matrix)
    for whole in (False, True):
        shapes = (rows, rows if whole else fewer), (fewer,), (columns if whole else fewer, columns)
        u, values, v = call(session, "svd", [matrix], *shapes)
        close(values, np.linalg.svd(matrix).S)
        close(u[:, :fewer] * values @ v[:fewer], matrix)
    (inverse,) = call(session, "pinv", [matrix], (columns, rows))
    close(inverse, np.linalg.pinv(matrix))
    lower, upper = call(session, "lu", [matrix], (rows, fewer), (fewer, columns))
    close(lower @ upper, matrix)
    close(np.tril(upper, -1), 0)


@pytest.mark.parametrize("name", ["schur", "hessenberg"])
def test_hessenberg_and_schur_forms_keep_the_eigenvalues(session, name):
    middle, around = call(session, name, [SQUARE], (5, 5), (5, 5))
    close(around @ middle @ around.T, SQUARE)
    close(around @ around.T, np.eye(5))
    close(np.tril(middle, -2), 0)
    close(np.sort_complex(np.linalg.eigvals(middle)), np.sort_complex(np.linalg.eigvals(SQUARE)))


ROOM = np.zeros((2, 2))


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("inv", [np.zeros((2, 2)), ROOM], (LIN_ALG_ERROR, "Singular matrix")),
        ("cholesky", [-np.eye(2), ROOM], (LIN_ALG_ERROR, "Matrix is not positive definite")),
        ("det", [TALL, ROOM[0]], (LIN_ALG_ERROR, "Last 2 dimensions of the array must be square")),
        ("svd", [np.full((2, 2), np.nan), ROOM, ROOM[0], ROOM], (LIN_ALG_ERROR, "the iteration did not converge")),
        ("inv", [np.eye(2), np.zeros((3, 3))], (VALUE_ERROR, "linear algebra: no matrix, or no room")),
        ("matrix_power", [np.eye(2), np.zeros((1, 0)), ROOM], (VALUE_ERROR, "linear algebra: no matrix")),
        ("qr", [np.eye(300), ROOM, ROOM], (VALUE_ERROR, "the matrix is too large")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_unsolvable_matrix_raises_an_exception(session, name, arguments, expected):
    number, message = raised(session, name, *arguments)
    assert number == expected[0] and message.startswith(expected[1])
