"""The file of a sweep: HDF5 in the layout of netCDF 4, which ``xarray.open_dataset`` reads.

Coordinates are the scanned names, ``sample`` and ``repeat``. A variable is a dataset of the experiment
at all points: if it has the same shape everywhere, as an array with further dimensions; a text as it
is; anything else as text (PYON). ``error`` is empty where a point was successful; its numbers are NaN elsewhere.
Of two things with one name, what is scanned keeps it: the sweep's own are then ``sweep.NAME``, a dataset is
``dataset.NAME``. A ``/`` in a name is a dot, since HDF5 would make it a group.
"""

import itertools
from io import BytesIO

import numpy as np

from ... import files, pyon
from ...resultfiles import storable
from .space import Space

__all__ = ["arrays", "error_variable", "write"]

ERROR = "error"
OWN = "sweep."
"""Before names of the sweep's own variables, if something with that name is scanned."""


def arrays(space: Space, results: list[dict]) -> tuple[dict, dict]:
    """Return coordinates and variables, each (names of dimensions, array), by name. `results`: of
    all points, in order."""
    taken: set[str] = set()
    axes = {_named(name, taken): values for name, values in space.axes.items()}
    names = tuple(axes)
    coordinates = {name: ((name,), values) for name, values in axes.items()}
    for name, values in space.drawn.items():
        coordinates[_named(name, taken)] = ((names[list(space.axes).index(space.sample_axis)],), values)
    variables = {}
    for name, values, kind in (
        (ERROR, [result["error"] or "" for result in results], object),
        ("device_s", [result["device_ns"] * 1e-9 for result in results], float),
        ("seed", [space.point(number).seed for number in range(space.size)], np.int64),
    ):
        variables[_named(name, taken, OWN)] = names, _shaped(values, space, kind)
    keys = sorted({key for result in results for key in result["datasets"]})
    plain = {_plain(key) for key in keys}
    for key in keys:
        texts = [result["datasets"].get(key) for result in results]
        name = _named(key, taken, "dataset.")
        variables[name] = _variable(name, texts, space, names, taken | plain)
        taken.update(variables[name][0])
    return coordinates, variables


def error_variable(space: Space) -> str:
    """Return the name of the variable that says why points have failed."""
    scanned = {_plain(name) for name in (*space.axes, *space.drawn)}
    return f"{OWN}{ERROR}" if ERROR in scanned else ERROR


def _plain(name: str) -> str:
    """Return a name that is no path, as HDF5 accepts it."""
    return storable(name).replace("/", ".") if name.strip("./") else "unnamed"


def _named(name: str, taken: set[str], prefix: str = "dataset.") -> str:
    """Return a name that is not taken, which it is from then on: the own one, or with a prefix, or with a number."""
    own = _plain(name)
    numbered = (f"{prefix}{own}.{number}" for number in itertools.count(2))
    found = next(choice for choice in itertools.chain((own, prefix + own), numbered) if choice not in taken)
    taken.add(found)
    return found


def _shaped(values, space: Space, kind) -> np.ndarray:
    found = np.empty(len(values), kind)
    found[:] = values
    return found.reshape(space.shape)


def _variable(key: str, texts: list, space: Space, names: tuple, taken: set[str]) -> tuple:
    values = [None if text is None else pyon.decode(text) for text in texts]
    if all(value is None or isinstance(value, str) for value in values):
        return names, _shaped([value or "" for value in values], space, object)
    made = [None if value is None else _numeric(value) for value in values]
    shapes = {array.shape for array in made if array is not None}
    complete = all(array is not None for array, value in zip(made, values, strict=True) if value is not None)
    if not complete or len(shapes) != 1:
        return names, _shaped([text or "" for text in texts], space, object)
    (shape,) = shapes
    kind = np.result_type(*[array for array in made if array is not None])
    if any(array is None for array in made):
        kind = np.result_type(kind, np.float64)  # for the NaN
    stacked = np.full((len(made), *shape), np.nan if kind.kind in "fc" else 0, kind)
    for number, array in enumerate(made):
        if array is not None:
            stacked[number] = array
    more = tuple(_named(f"{key}_{place}", taken, "axis.") for place in range(len(shape)))
    return (*names, *more), stacked.reshape((*space.shape, *shape))


def _numeric(value) -> np.ndarray | None:
    try:
        found = np.asarray(value)
    except ValueError:
        return None  # of different lengths
    return found if found.dtype.kind in "biufc" else None


def write(path, space: Space, results: list[dict], more: dict[str, str]):
    """Write the file; the same results give the same bytes. `more`: attributes of the file.
    UsageError if it cannot be written."""
    import h5py  # imported late: workers do not need it

    coordinates, variables = arrays(space, results)
    memory = BytesIO()
    with h5py.File(memory, "w", track_order=True) as file:
        for name, text in more.items():
            file.attrs[name] = storable(text)
        scales: dict[str, h5py.Dataset] = {}
        for name, (dimensions, values) in coordinates.items():
            made = _dataset(file, name, values)
            if dimensions == (name,):
                made.make_scale(name)
                scales[name] = made
        for name, (dimensions, values) in variables.items():
            for dimension, length in zip(dimensions, values.shape, strict=True):
                if dimension not in scales:
                    scales[dimension] = _dataset(file, dimension, np.arange(length))
                    scales[dimension].make_scale(dimension)
            _dataset(file, name, values)
        for name, (dimensions, _) in [*coordinates.items(), *variables.items()]:
            if dimensions != (name,):
                for place, dimension in enumerate(dimensions):
                    file[name].dims[place].attach_scale(scales[dimension])
    files.write(path, memory.getvalue())


def _dataset(file, name: str, values: np.ndarray):
    import h5py  # imported late: workers do not need it

    if values.dtype == object:
        values = np.array([storable(value) for value in values.flat], object).reshape(values.shape)
    kind = h5py.string_dtype() if values.dtype == object else values.dtype
    large = {"compression": "gzip", "shuffle": True} if values.size > 1000 and values.dtype != object else {}
    return file.create_dataset(name, data=values, dtype=kind, **large)
