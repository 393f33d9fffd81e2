"""``kairos datasets``: what is kept between runs."""

from ..command import Command, Option
from ..options import DATASET_DB, JSON

_KEY = Option("key", metavar="KEY", help="name of the dataset")

COMMAND = Command(
    "show or change the datasets that are kept between runs",
    DATASET_DB,
    tools={
        "list": Command("names and values of all", JSON, runs="datasets.list_all"),
        "get": Command("one value, whole, as PYON", _KEY, JSON, runs="datasets.get"),
        "set": Command(
            "keep a value",
            _KEY,
            Option("value", metavar="VALUE", help="as PYON; text needs quotes"),
            runs="datasets.set_value",
        ),
        "delete": Command("forget one", _KEY, runs="datasets.delete"),
    },
    examples=(
        "kairos datasets list --json",
        "kairos datasets set detuning 1.5e3",
        "kairos datasets get detuning",
        "kairos datasets delete detuning",
    ),
)
