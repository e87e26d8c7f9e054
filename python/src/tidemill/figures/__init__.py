"""Figures for papers and notebooks: each with its data, and a note of how it came about. Needs matplotlib."""

from .figure import Figure, Note
from .style import COLUMN_WIDTH_IN

__all__ = ["COLUMN_WIDTH_IN", "Figure", "Note"]
