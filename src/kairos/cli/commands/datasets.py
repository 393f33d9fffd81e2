"""``kairos datasets``: persistent datasets."""

from ..command import Command, Option
from ..options import JSON

_KEY = Option("key", metavar="KEY", completes="dataset", help="name of the dataset")

COMMAND = Command(
    "show or change persistent datasets",
    Option(
        "--dataset-db",
        metavar="FILE",
        help="file with persistent datasets; default: the laboratory that is running here, or else dataset_db.mdb",
    ),
    tools={
        "list": Command("list the names and values of all datasets", JSON, runs="datasets.list_all"),
        "get": Command("print the complete value of a dataset as PYON", _KEY, JSON, runs="datasets.get"),
        "set": Command(
            "set the value of a dataset",
            _KEY,
            Option("value", metavar="VALUE", help="value as PYON; strings need quotes; - reads it from standard input"),
            runs="datasets.set_value",
        ),
        "delete": Command("delete a dataset", _KEY, runs="datasets.delete"),
    },
    default="list",
    examples=(
        "kairos datasets",
        "kairos datasets list --json",
        "kairos datasets set detuning 1.5e3",
        "kairos datasets get detuning",
        "kairos datasets set image -",
        "kairos datasets delete detuning",
    ),
)
