"""Policies of one's own are obeyed, in simulations and by Dynamic, and what they raise comes out."""

import queue
import threading

import numpy as np
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


def order_of_tasks(policy, frames=3):
    """Three tasks that are ready together, on one worker: in which order they are called."""
    order = []
    graph = tm.Graph()
    source = graph.add(tm.source(lambda y: None, y=tm.Out(np.float32), name="source"))
    sink = graph.add(tm.sink(lambda a, b, c: None, {name: tm.In(np.float32) for name in "abc"}, name="sink"))
    for name in "abc":
        task = tm.task(lambda x, y, name=name: order.append(name), x=tm.In(np.float32), y=tm.Out(np.float32), name=name,
                       pure=True)  # fmt: skip
        made = graph.add(task)
        graph.bind(source.y, made.x)
        graph.bind(made.y, sink[name])
    tm.Dynamic(graph, workers=1, policy=policy).run(frames=frames)
    return "".join(order)


def test_dynamic_obeys_a_policy_in_python():
    # Frames follow each other in each order; within a frame the policy has its way.
    order = order_of_tasks(lambda task: 10 * task.iteration - "abc".find(task.type[0]))
    assert order == "cbacbacba"
    assert order_of_tasks(lambda task: 10 * task.iteration + "abc".find(task.type[0])) == "abcabcabc"


def test_dynamic_tells_a_policy_what_begins_and_ends():
    policy = Oldest()
    assert sorted(order_of_tasks(policy)) == list("aaabbbccc")
    assert sorted(policy.began) == sorted(policy.ended) == list(range(15))


@pytest.mark.parametrize("workers", [1, 3])
def test_a_stream_is_the_same_under_any_policy(workers):
    def delivered(policy):
        seen = []
        graph = tm.Graph()
        graph.chain(tm.source(range(300), y=tm.Out(np.int64)),
                    tm.task(lambda x, y: np.multiply(x, x, out=y), pure=True, x=tm.In(np.int64), y=tm.Out(np.int64)),
                    tm.sink(lambda x: seen.append(int(x[0]))))  # fmt: skip
        tm.Dynamic(graph, workers=workers, policy=policy).run()
        return seen

    assert delivered("gpriority") == delivered(lambda task: -task.number) == [n * n for n in range(300)]


def test_what_a_policy_raises_ends_a_run_of_dynamic_which_can_go_on():
    class Failing:
        fails = True

        def rank(self, task):
            if self.fails and task.iteration == 5:
                raise ValueError(f"no rank for {task.type}")
            return task.number

    policy, seen = Failing(), []
    graph = tm.Graph()
    graph.chain(tm.source(range(1000), y=tm.Out(np.int64)), tm.sink(lambda x: seen.append(int(x[0]))))
    dynamic = tm.Dynamic(graph, policy=policy)
    with pytest.raises(ValueError, match="no rank for"):
        dynamic.run()
    assert 5 <= len(seen) < 1000
    policy.fails = False
    dynamic.resume()
    assert seen == list(range(1000))


def test_dynamic_refuses_what_is_no_policy():
    graph = tm.Graph()
    graph.chain(tm.source(range(3), y=tm.Out(np.int64)), tm.sink(lambda x: None))
    with pytest.raises(tm.PolicyError, match="rank"):
        tm.Dynamic(graph, policy=7)
    with pytest.raises(tm.PolicyError, match="is not a policy"):
        tm.Dynamic(graph, policy="newest")


def test_under_dynamic_a_source_that_may_wait_holds_up_nothing():
    given, taken = queue.Queue(), queue.Queue()
    graph = tm.Graph()

    def from_outside(y):
        y[0] = item = given.get()
        return tm.Flow.STOP if item < 0 else None

    graph.chain(tm.source(from_outside, y=tm.Out(np.int64), may_wait=True),
                tm.task(lambda x, y: np.add(x, 1, out=y), x=tm.In(np.int64), y=tm.Out(np.int64)),
                tm.sink(lambda x: taken.put(int(x[0])), may_wait=True))  # fmt: skip
    run = threading.Thread(target=tm.Dynamic(graph, workers=2).run)
    run.start()
    for n in range(50):
        given.put(n)
        assert taken.get(timeout=60) == n + 1  # before the next one is given
    given.put(-1)
    run.join(timeout=60)
    assert not run.is_alive()
