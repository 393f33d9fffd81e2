"""``python -m kairos.applets NAME DATASET ...``: one of the applets that come with Kairos."""

from .supplied import main

main()
