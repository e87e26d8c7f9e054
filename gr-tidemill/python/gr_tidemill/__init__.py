# SPDX-License-Identifier: GPL-3.0-or-later
"""Tidemill's DVB-S2 receiver and transmitter as blocks of GNU Radio."""

from .gr_tidemill_python import receiver, transmitter

__all__ = ["receiver", "transmitter"]
