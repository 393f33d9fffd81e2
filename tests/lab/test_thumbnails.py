"""Which dataset of a run its thumbnail shows, and with which of its points."""

import h5py
import numpy as np
import pytest

from kairos.lab.thumbnails import COLUMNS, SIDE, thumbnail


@pytest.fixture
def run(tmp_path):
    """Write a run's file with these datasets."""

    def write(**datasets):
        path = tmp_path / "run.h5"
        with h5py.File(path, "w") as file:
            for name, values in datasets.items():
                file[f"datasets/{name}"] = values
        return path

    return write


def test_thumbnail_shows_the_first_curve_that_is_no_axis(run):
    path = run(axis=[1.0, 2.0, 3.0], counts=[5, 4, 6], name="text", total=7, other=[1.0, 0.0])
    found = thumbnail(path)
    assert (found.y, found.x, found.width) == ("counts", "axis", 0)
    assert found.places.tolist() == [1, 2, 3] and found.values.tolist() == [5, 4, 6]
    found = thumbnail(path, [("missing", ""), ("other", "axis")])
    assert (found.y, found.x, len(found.places)) == ("other", "axis", 2)


def test_thumbnail_of_shuffled_points_has_rising_places(run):
    found = thumbnail(run(x=[3.0, np.nan, 1.0, 2.0], y=[30, 0, 10, 20]), [("y", "x")])
    assert found.places.tolist() == [1, 2, 3] and found.values.tolist() == [10, 20, 30]


def test_thumbnail_of_many_points_keeps_extremes_and_gaps(run):
    values = np.sin(np.arange(100_000) / 1e4)
    values[70_001], values[:5000] = 9, np.nan
    found = thumbnail(run(values=values))
    assert len(found.values) <= 2 * COLUMNS and np.nanmax(found.values) == 9 and np.isnan(found.values[0])
    assert (np.diff(found.places) > 0).all()


def test_thumbnail_of_matrix_is_a_small_image(run):
    found = thumbnail(run(camera=np.arange(100 * 70).reshape(100, 70)))
    assert found.width <= SIDE and len(found.values) == found.width * 25 and not len(found.places)
    assert thumbnail(run(volume=np.zeros((2, 2, 2)), empty=np.zeros(0))).y == ""
    assert thumbnail(run()).y == ""
