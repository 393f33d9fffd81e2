"""Generated from the table of names: `python -m kairos.compat.stubs src` renews it."""
from kairos.language import *
from kairos.experiment.arguments import NoDefault as NoDefault
from kairos.experiment.arguments import DefaultMissing as DefaultMissing
from kairos.experiment.arguments import CancelledArgsError as CancelledArgsError
from kairos.experiment.arguments import PYONValue as PYONValue
from kairos.experiment.arguments import BooleanValue as BooleanValue
from kairos.experiment.arguments import EnumerationValue as EnumerationValue
from kairos.experiment.arguments import NumberValue as NumberValue
from kairos.experiment.arguments import StringValue as StringValue
from kairos.experiment.arguments import Processor as _SimpleArgProcessor
from kairos.experiment.environment import Experiment as Experiment
from kairos.experiment.environment import EnvExperiment as EnvExperiment
from kairos.experiment.environment import HasEnvironment as HasEnvironment
from kairos.experiment.environment import ProcessArgumentManager as ProcessArgumentManager
from kairos.experiment.environment import InteractiveArguments as InteractiveArguments
from kairos.experiment.environment import is_public_experiment as is_public_experiment
from kairos.experiment.examination import TraceArgumentManager as TraceArgumentManager
from kairos.experiment.scan import *
