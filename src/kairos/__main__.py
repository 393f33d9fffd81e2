"""``python -m kairos`` is the ``kairos`` command."""

import sys

from .cli import main

sys.exit(main())
