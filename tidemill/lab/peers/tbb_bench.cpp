#include "tidemill/lab/peers/stream_peer.hpp"

#ifdef TIDEMILL_WITH_TBB
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_pipeline.h>
#endif

namespace tidemill::peers {

#ifdef TIDEMILL_WITH_TBB
namespace {

namespace tbb = oneapi::tbb;

// Frames are passed by value: they fit where the pipeline keeps a pointer.
class TbbStream final : public StreamPeer {
  public:
    std::string name() const override { return "parallel_pipeline"; }

    void run(std::uint64_t frames, std::uint64_t turns) override {
        using Middle = tbb::filter<std::uint64_t, std::uint64_t>;
        const auto task = [this, turns](std::size_t k) {
            return
                [&state = states()[k], turns](std::uint64_t value) { return run_task(state, value, turns); };
        };
        const auto in_order = tbb::filter_mode::serial_in_order;
        const std::uint64_t end = states()[0].frames + frames;
        tbb::filter<void, std::uint64_t> chain(
            in_order, [&state = states()[0], turns, end](tbb::flow_control& control) -> std::uint64_t {
                if (state.frames < end) return run_task(state, state.frames, turns);
                control.stop();
                return 0;
            });
        for (std::size_t k = 1; k + 1 < kTasks; ++k) chain = chain & Middle(in_order, task(k));
        const tbb::filter<std::uint64_t, void> last(
            in_order,
            [&state = states()[kTasks - 1], turns](std::uint64_t value) { run_task(state, value, turns); });
        tbb::parallel_pipeline(kWindow, chain & last);
    }

  private:
    tbb::global_control threads_{tbb::global_control::max_allowed_parallelism, kWorkers};
};

}  // namespace

std::unique_ptr<StreamPeer> make_tbb_stream() {
    return std::make_unique<TbbStream>();
}
#else
std::unique_ptr<StreamPeer> make_tbb_stream() {
    return nullptr;
}
#endif

}  // namespace tidemill::peers
