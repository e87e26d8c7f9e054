"""Figures for papers and notebooks: each with its data, and a note of how it came about. Needs matplotlib."""

from .figure import Figure, Note
from .signals import eye, spectrum
from .style import COLUMN_WIDTH_IN
from .symbols import constellations
from .trace import trace

__all__ = ["COLUMN_WIDTH_IN", "Figure", "Note", "constellations", "eye", "spectrum", "trace"]
