"""`tidemill bench sweep` and `tidemill bench engine`: what dealing and carrying cost, each beside its baseline."""
