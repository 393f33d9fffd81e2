"""Mapping of ``artiq`` and ``sipyco`` modules and names to modules of Kairos.

A line of `GATHERED` maps names of an ``artiq`` module: the Kairos module on the left, its names on
the right; ``ours=theirs`` where they differ, ``*`` for all that the module exports. Supporting a
new name means adding a word.
"""

__all__ = ["ABSENT", "GATHERED", "SAME", "VERSION"]

VERSION = "9.0+kairos"
"""The version of ARTIQ whose language and names are provided; experiments compare the part before
the dot."""

SAME = {
    "artiq.experiment": "kairos.experiment",
    "artiq.language.core": "kairos.language.core",
    "artiq.language.types": "kairos.language.types",
    "artiq.language.units": "kairos.language.units",
    "artiq.language.scan": "kairos.experiment.scan",
    "artiq.sim.devices": "kairos.dry_run.devices",
    "sipyco.pyon": "kairos.pyon",
}
"""Modules with a single equivalent; those of ``artiq.coredevice`` have the same name in
``kairos.coredevice``."""

_ENVIRONMENT = {
    "kairos.experiment.arguments": """NoDefault DefaultMissing CancelledArgsError PYONValue BooleanValue
        EnumerationValue NumberValue StringValue Processor=_SimpleArgProcessor""",
    "kairos.experiment.environment": """Experiment EnvExperiment HasEnvironment ProcessArgumentManager
        InteractiveArguments is_public_experiment""",
    "kairos.experiment.examination": "TraceArgumentManager",
}

GATHERED = {
    "artiq.language": {
        "kairos.language": "*",
        **_ENVIRONMENT,
        "kairos.experiment.scan": "*",
    },
    "artiq.language.environment": _ENVIRONMENT,
    "artiq.coredevice.comm_analyzer": {
        "kairos.network.analyzer": """fetch=get_analyzer_dump decode=decode_dump Dump=DecodedDump OutputMessage
            InputMessage ExceptionMessage StoppedMessage""",
        "kairos.contracts.analyzer": "Message=MessageType Exception=ExceptionType",
        "kairos.compat.clients": "decoded_dump_to_vcd",
    },
    "artiq.coredevice.comm_kernel": {
        "kairos.session": "Session=CommKernel",
        "kairos.compat.clients": "CommKernelDummy",
        "kairos.exceptions": "RPCReturnValueError UnsupportedDevice LoadError ClockFailure",
    },
    "artiq.coredevice.comm_moninj": {"kairos.compat.moninj": "*"},
    "artiq.coredevice.comm_mgmt": {"kairos.compat.clients": "CommMgmt"},
    "artiq.compiler.import_cache": {"kairos.compat.tools": "install_hook"},
    "artiq.compiler.targets": {"kairos.compiler.codegen": "CortexA9Target"},
    "artiq.tools": {
        "kairos.cli.experiments": "parse_arguments import_file=file_import choose_class=get_experiment",
        "kairos.compat.tools": """elide exc_to_warning get_user_config_dir parse_devarg_override scale_from_metadata
            short_format unparse_devarg_override""",
    },
    "artiq.master.worker_db": {
        "kairos.devices": "DeviceManager DeviceError DummyDevice",
        "kairos.compat.databases": "DatasetManager",
    },
    "artiq.master.databases": {"kairos.compat.databases": "DeviceDB DatasetDB device_db_from_file"},
    "artiq.master.worker_impl": {
        "kairos.experiment.examination": "ExamineDeviceMgr ExamineDatasetMgr TraceArgumentManager",
        "kairos.cli.experiments": "choose_class=get_experiment",
    },
    "artiq.master.scheduler": {"kairos.schedule": "Scheduler"},
    "artiq.master.experiments": {"kairos.schedule": "ExperimentDB FilesystemBackend GitBackend"},
    "artiq.master.worker": {
        "kairos.schedule": "Worker WorkerError WorkerInternalException WorkerTimeout WorkerWatchdogTimeout"
    },
    "artiq.master.rid_counter": {"kairos.schedule": "RIDCounter"},
    "artiq.applets.simple": {"kairos.applets": "SimpleApplet TitleApplet"},
    "artiq.frontend.artiq_compile": {"kairos.compat.commands": "compile_experiment=main"},
    "artiq.frontend.artiq_run": {
        "kairos.cli.script": "run",
        "kairos.experiment.standalone": "SingleRun=DummyScheduler IgnoredCommands=DummyCCB",
    },
    "artiq.sim": {},
    "artiq.sim.time": {"kairos.dry_run.timeline": "Timeline=Manager manager"},
    "sipyco.pc_rpc": {
        "kairos.controllers": """AutoTarget Client AsyncClient=AsyncioClient BestEffortClient Server
            Incompatible=IncompatibleServer""",
        "kairos.compat.controllers": "simple_server_loop",
    },
    "sipyco.packed_exceptions": {"kairos.controllers": "RemoteError=GenericRemoteException"},
    "sipyco.sync_struct": {"kairos.compat.structures": "*"},
    "sipyco.asyncio_tools": {"kairos.compat.tasks": "*"},
    "sipyco.logging_tools": {"kairos.compat.logs": "*"},
    "sipyco.pipe_ipc": {"kairos.compat.pipes": "*"},
    "sipyco.remote_exec": {"kairos.compat.execution": "*"},
    "sipyco.common_args": {
        "kairos.compat.controllers": """bind_address_from_args init_logger_from_args simple_network_args
            verbosity_args""",
    },
}

_CLIENT = "submit experiments with 'kairos submit', show the queue with 'kairos queue'"
_MASTER = "start a laboratory with 'kairos lab', or run experiments with 'kairos run'"
_DASHBOARD = f"there is no dashboard: {_CLIENT}"

ABSENT = {
    "artiq.frontend.artiq_client": {"main": _CLIENT},
    "artiq.frontend.artiq_master": {"main": _MASTER},
    "artiq.frontend.artiq_dashboard": {"main": _DASHBOARD},
}
"""By module: names that experiments import and Kairos lacks, with a replacement."""
