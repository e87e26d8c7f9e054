"""The laboratory is an extension of its own, which is loaded when it is used, and may be missing."""

import subprocess
import sys

import tidemill as tm
from tidemill import _core


def run(text):
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False, timeout=60)


def test_the_street_has_no_names_of_the_laboratory():
    from tidemill import _lab

    names = {name for name in vars(_lab) if not name.startswith("_")}
    assert {"reproduce", "reproductions", "ChainLaw", "study_chain", "simulate_program", "task_programs"} < names
    assert names & vars(_core).keys() == {"end_live_runs"}
    assert "SimError" not in vars(_core) and issubclass(tm.SimError, tm.Error)


def test_it_is_loaded_when_it_is_used():
    told = run("""
import sys, tidemill as tm
print("tidemill._lab" in sys.modules, "fig6" in tm.reproductions(), "tidemill._lab" in sys.modules)
""")
    assert told.stdout == "False True True\n", told.stderr


def test_types_and_errors_of_the_street_are_those_of_the_laboratory():
    from tidemill import _lab

    law = _lab.ChainLaw(tasks=3, stateless=1, heaviest=9, slowest=2)
    profile = _lab.random_profile(law, seed=1)
    assert type(profile) is _core.Profile
    assert tm.simulate_tasks(tm.Profile(profile), cores={"big": 1}, iterations=5).report.tasks == 15


def test_without_it_all_else_works_and_its_functions_say_so():
    told = run("""
import sys
sys.modules["tidemill._lab"] = None
from tidemill import *
import tidemill as tm
profile = tm.Profile.from_json('{"tasks": [{"name": "a", "replicable": true, "weight": {"big": 2}}]}')
print(tm.simulate(tm.schedule(profile, cores={"big": 1})).period_us, "gpriority" in tm.policies(), tm.SimError.__name__)
for use in (tm.reproductions, tm.slowdowns, tm.task_programs, lambda: tm.simulate_tasks(profile, cores="big=1")):
    try:
        use()
    except ImportError as error:
        print(error)
""")
    assert told.returncode == 0, told.stderr
    all_else, *refused = told.stdout.splitlines()
    assert all_else == "2.0 True SimError"
    assert len(refused) == 4 and all(each.startswith("this build of Tidemill has no laboratory: ") for each in refused)
