"""The file of a sweep: HDF5 in the layout of netCDF 4, which ``xarray.open_dataset`` reads.

Coordinates are the scanned names, ``sample`` and ``repeat``. A variable is a dataset of the experiment
at all points: if it has the same shape everywhere, as an array with further dimensions; a text as it
is; anything else as text (PYON). ``error`` is empty where a point was successful; its numbers are NaN elsewhere.
"""

from io import BytesIO

import numpy as np

from ... import files, pyon
from .space import Space

__all__ = ["arrays", "write"]


def arrays(space: Space, results: list[dict]) -> tuple[dict, dict]:
    """Return coordinates and variables, each (names of dimensions, array), by name. `results`: of
    all points, in order."""
    axes = space.axes
    names = tuple(axes)
    coordinates = {name: ((name,), values) for name, values in axes.items()}
    coordinates |= {name: (("sample",), values) for name, values in space.drawn.items()}
    variables = {
        "error": (names, _shaped([result["error"] or "" for result in results], space, object)),
        "device_s": (names, _shaped([result["device_ns"] * 1e-9 for result in results], space, float)),
        "seed": (names, _shaped([space.point(number).seed for number in range(space.size)], space, np.int64)),
    }
    for key in sorted({key for result in results for key in result["datasets"]}):
        texts = [result["datasets"].get(key) for result in results]
        name = key if key not in coordinates and key not in variables else f"dataset.{key}"
        variables[name] = _variable(name, texts, space, names)
    return coordinates, variables


def _shaped(values, space: Space, kind) -> np.ndarray:
    found = np.empty(len(values), kind)
    found[:] = values
    return found.reshape(space.shape)


def _variable(key: str, texts: list, space: Space, names: tuple) -> tuple:
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
    more = tuple(f"{key}_{place}" for place in range(len(shape)))
    return (*names, *more), stacked.reshape(*space.shape, *shape)


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
            file.attrs[name] = text
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

    kind = h5py.string_dtype() if values.dtype == object else values.dtype
    large = {"compression": "gzip", "shuffle": True} if values.size > 1000 and values.dtype != object else {}
    return file.create_dataset(name, data=values, dtype=kind, **large)
