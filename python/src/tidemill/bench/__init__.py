"""`tidemill bench sweep` and `python`: what dealing and tasks in Python cost, each beside its baseline."""
