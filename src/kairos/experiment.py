"""What ``from artiq.experiment import *`` (or ``from kairos.experiment import *``) gives an experiment."""

from . import language
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
from .coredevice.exceptions import RTIOOverflow, RTIOUnderflow
from .environment import EnvExperiment, Experiment, HasEnvironment
from .language import *  # noqa: F403
from .scan import CenterScan, ExplicitScan, MultiScanManager, NoScan, RangeScan, Scannable, ScanObject

__all__ = [
    *language.__all__,
    "NoDefault",
    "DefaultMissing",
    "PYONValue",
    "BooleanValue",
    "EnumerationValue",
    "NumberValue",
    "StringValue",
    "HasEnvironment",
    "Experiment",
    "EnvExperiment",
    "CancelledArgsError",
    "ScanObject",
    "NoScan",
    "RangeScan",
    "CenterScan",
    "ExplicitScan",
    "Scannable",
    "MultiScanManager",
    "RTIOUnderflow",
    "RTIOOverflow",
]
