"""A copy of the tree for each test that changes it."""

import pytest

from tests.structure.copies import Tree


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path / "tree")
