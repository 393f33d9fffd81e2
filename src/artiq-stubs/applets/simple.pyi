"""Generated from the table of names: `python -m kairos.compat.stubs src` renews it."""
from kairos.applets import SimpleApplet as SimpleApplet
from kairos.applets import TitleApplet as TitleApplet
