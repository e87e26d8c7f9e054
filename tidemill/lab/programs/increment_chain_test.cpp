#include "tidemill/lab/programs/increment_chain.hpp"

#include <doctest/doctest.h>

namespace tidemill {

TEST_CASE("increments: no stage is left out, in order and however stages are pinned") {
    const Topology topology = Topology::here();
    IncrementChain chain(4096, topology);
    CHECK(chain.stages() >= 2);
    CHECK(chain.stages() <= 16);
    CHECK(chain.frame_ns({}) > 0);
    if (topology.cores.size() < 2) return;  // active stages on one core take turns by the tick
    for (const Pinning pinning : {Pinning::kPacked, Pinning::kGuided, Pinning::kDistant, Pinning::kLoose}) {
        CHECK(chain.frame_ns(pinning) > 0);
        CHECK(chain.token_bytes() >= 4096);
    }
}

}  // namespace tidemill
