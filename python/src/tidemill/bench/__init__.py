"""`tidemill bench sweep`, `engine` and `python`: what dealing, carrying and tasks in Python cost, each beside its baseline."""
