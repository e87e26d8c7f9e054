# SPDX-License-Identifier: GPL-3.0-or-later
"""Tidemill's DVB-S2 receiver and transmitter, and any graph, as blocks of GNU Radio."""

from .gr_tidemill_python import receiver, stream, transmitter

__all__ = ["receiver", "stream", "transmitter"]
