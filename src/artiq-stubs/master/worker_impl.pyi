"""Generated from the table of names: `python -m kairos.compat.stubs src` renews it."""
from kairos.experiment.examination import ExamineDeviceMgr as ExamineDeviceMgr
from kairos.experiment.examination import ExamineDatasetMgr as ExamineDatasetMgr
from kairos.experiment.examination import TraceArgumentManager as TraceArgumentManager
from kairos.cli.experiments import choose_class as get_experiment
