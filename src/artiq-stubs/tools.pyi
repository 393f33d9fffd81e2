"""Generated from the table of names: `python -m kairos.compat.stubs src` renews it."""
from kairos.cli.experiments import parse_arguments as parse_arguments
from kairos.cli.experiments import import_file as file_import
from kairos.cli.experiments import choose_class as get_experiment
from kairos.compat.tools import elide as elide
from kairos.compat.tools import exc_to_warning as exc_to_warning
from kairos.compat.tools import get_user_config_dir as get_user_config_dir
from kairos.compat.tools import parse_devarg_override as parse_devarg_override
from kairos.compat.tools import scale_from_metadata as scale_from_metadata
from kairos.compat.tools import short_format as short_format
from kairos.compat.tools import unparse_devarg_override as unparse_devarg_override
