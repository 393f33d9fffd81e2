"""Names provided to experiments by ``from artiq.experiment import *`` (or ``from kairos.experiment import *``)."""

from .. import language
from ..exceptions import RTIOOverflow, RTIOUnderflow
from ..language import *  # noqa: F403
from .arguments import (
    BooleanValue,
    CancelledArgsError,
    DefaultMissing,
    EnumerationValue,
    NoDefault,
    NumberValue,
    PYONValue,
    StringValue,
)
from .environment import EnvExperiment, Experiment, HasEnvironment
from .scan import CenterScan, ExplicitScan, MultiScanManager, NoScan, RangeScan, Scannable, ScanObject

__all__ = [
    *language.__all__,
    "BooleanValue",
    "CancelledArgsError",
    "CenterScan",
    "DefaultMissing",
    "EnumerationValue",
    "EnvExperiment",
    "Experiment",
    "ExplicitScan",
    "HasEnvironment",
    "MultiScanManager",
    "NoDefault",
    "NoScan",
    "NumberValue",
    "PYONValue",
    "RTIOOverflow",
    "RTIOUnderflow",
    "RangeScan",
    "ScanObject",
    "Scannable",
    "StringValue",
]
