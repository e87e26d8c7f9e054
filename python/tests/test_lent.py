"""Large arrays on their way to processes of this machine: whole, and in places that are used again."""

import os

import numpy as np
import pytest

from tidemill.sweep.lent import Lender, do_packed
from tidemill.sweep.processes import Processes


def total(*arrays, scale=1):
    return [int(array.sum(dtype=np.int64)) * scale for array in arrays]


def arrays_of(seed, *sizes):
    chance = np.random.default_rng(seed)
    return [chance.integers(-128, 128, size, dtype=np.int8) for size in sizes]


def places_open():
    return sum("tidemill-lent" in os.readlink(f"/proc/self/fd/{each}") for each in os.listdir("/proc/self/fd") if _is_open(each))


def _is_open(descriptor):
    return os.path.lexists(f"/proc/self/fd/{descriptor}")


def test_a_call_with_arrays_of_any_size_gives_what_it_gives_here():
    with Processes(2) as helpers:
        for seed, sizes in enumerate([(), (1,), (16383, 16384, 65), (300_000, 0, 70_000), (5_000_000,)]):
            arrays = arrays_of(seed, *sizes)
            assert helpers.submit(total, *arrays, scale=3).result() == total(*arrays, scale=3)


def test_many_calls_at_once_do_not_read_each_others_arrays():
    with Processes(2) as helpers:
        arrays = [arrays_of(k, 100_000 + k)[0] for k in range(60)]
        futures = [helpers.submit(total, array) for array in arrays]
        assert [future.result() for future in futures] == [total(array) for array in arrays]


def test_places_are_used_again_and_closed_in_the_end():
    before = places_open()
    with Processes(1) as helpers:
        for k in range(20):
            helpers.submit(total, *arrays_of(k, 100_000)).result()
        assert places_open() - before <= 2  # a result is there a moment before its place is free
    assert places_open() == before


def test_an_array_that_comes_back_is_a_copy_of_what_was_sent():
    with Processes(1) as helpers:
        (first,) = arrays_of(1, 100_000)
        back = helpers.submit(np.asarray, first).result()
        helpers.submit(total, *arrays_of(2, 100_000)).result()
        assert np.array_equal(back, first)


def test_what_was_sent_can_only_be_read_there():
    with Processes(1) as helpers, pytest.raises(ValueError, match="read-only"):
        helpers.submit(np.ndarray.fill, np.zeros(100_000, np.int8), 1).result()


def test_a_call_whose_process_dies_gives_its_place_back():
    before = places_open()
    with Processes(1) as helpers:
        with pytest.raises(Exception, match="terminated abruptly"):
            helpers.submit(_die, np.zeros(100_000, np.int8)).result()
        assert helpers.submit(total, np.ones(100_000, np.int8)).result() == [100_000]
        assert places_open() - before <= 2


def _die(_):
    os._exit(1)


def test_a_call_without_large_arrays_needs_no_place():
    lender = Lender()
    packed, place = lender.pack(total, (np.ones(10, np.int8),), {"scale": 2})
    assert place is None and do_packed(packed) == [20]
