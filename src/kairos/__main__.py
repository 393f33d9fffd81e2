"""Entry point of ``python -m kairos``, the same as the ``kairos`` command."""

import sys

from .cli import main

sys.exit(main())
