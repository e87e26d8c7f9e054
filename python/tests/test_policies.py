"""Policies of one's own are obeyed, in simulations and by Dynamic, and what they raise comes out."""

import pytest

import tidemill as tm


class Oldest:
    """What the policy of that name does."""

    def __init__(self):
        self.began, self.ended = [], []

    def rank(self, task):
        return task.number

    def issued(self, task, worker):
        self.began.append(task.number)

    def completed(self, task, worker):
        self.ended.append(task.number)


@pytest.mark.parametrize("program", ["fig4.6a", "fm", "cholesky"])
def test_the_same_rule_in_python_gives_the_same_run(program):
    theirs = tm.simulate_tasks(program, policy="oldest", iterations=30)
    ours = tm.simulate_tasks(program, policy=lambda task: task.number, iterations=30)
    assert ours.steps == theirs.steps and dict(ours.report) == dict(theirs.report)


def test_worst_cases_are_the_published_ones():
    workers = 5
    oldest = tm.simulate_tasks("fig4.6a", policy="oldest", workers=workers).report.efficiency
    assert oldest == pytest.approx(workers / (2 * workers - 1), abs=0.001)
    # One that knows the bottleneck.
    longest_first = tm.simulate_tasks("fig4.6a", policy=lambda task: -task.number, workers=workers).report.efficiency
    assert longest_first > 0.99


def test_a_profile_runs_under_a_policy_by_the_names_of_its_tasks(published_profile):
    profile = tm.Profile.read(published_profile)
    seen = set()

    def late_tasks_first(task):
        seen.add(task.type)
        return -profile.data["task"].index(task.type)

    made = tm.simulate_tasks(profile, policy=late_tasks_first, cores={"big": 2, "little": 2}, iterations=100)
    assert seen == set(profile.data["task"]) and made.report.tasks == 100 * len(seen)
    assert made.period_us > 0 and made.report.workers == 4


def test_an_object_is_told_when_tasks_begin_and_end():
    policy = Oldest()
    tm.simulate_tasks("fig4.6a", policy=policy, iterations=20)
    assert sorted(policy.began) == sorted(policy.ended) == list(range(len(policy.began)))


def test_what_a_policy_raises_comes_out():
    def fail(task):
        raise ValueError(f"no rank for {task.number}")

    with pytest.raises(ValueError, match="no rank for 0"):
        tm.simulate_tasks("fm", policy=fail, iterations=3)
    with pytest.raises(tm.PolicyError, match="'high': give a whole number"):
        tm.simulate_tasks("fm", policy=lambda task: "high", iterations=3)


def test_what_is_no_policy_is_refused():
    with pytest.raises(tm.PolicyError, match="rank"):
        tm.simulate_tasks("fm", policy=7)
    with pytest.raises(tm.PolicyError, match="is not a policy"):
        tm.simulate_tasks("fm", policy="newest")
    with pytest.raises(tm.ScheduleError, match="nothing"):
        tm.simulate_tasks("nothing")
    assert "gpriority" in tm.policies() and "fm" in tm.task_programs()
