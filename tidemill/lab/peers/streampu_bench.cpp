#include "tidemill/lab/peers/stream_peer.hpp"

#ifdef TIDEMILL_WITH_STREAMPU
#include <streampu.hpp>
#endif

namespace tidemill::peers {

#ifdef TIDEMILL_WITH_STREAMPU
namespace {

class StreamPuTask final : public spu::module::Stateful {
  public:
    StreamPuTask(TaskState& state, const std::uint64_t& turns, bool is_first, bool is_last) {
        set_name("Task");
        set_short_name("Task");
        auto& next = create_task("next");
        const std::size_t x = is_first ? 0 : create_socket_in<std::uint64_t>(next, "x", 1);
        const std::size_t y = is_last ? 0 : create_socket_out<std::uint64_t>(next, "y", 1);
        create_codelet(next, [=, &state, &turns](spu::module::Module&, spu::runtime::Task& task,
                                                 std::size_t) {
            const std::uint64_t value = is_first ? state.frames : *task[x].get_dataptr<const std::uint64_t>();
            const std::uint64_t made = run_task(state, value, turns);
            if (!is_last) *task[y].get_dataptr<std::uint64_t>() = made;
            return static_cast<int>(spu::runtime::status_t::SUCCESS);
        });
    }
};

// Two stages of four tasks, which is the best cut where all cost the same. It waits as it does by default.
class StreamPuStream final : public StreamPeer {
  public:
    StreamPuStream() {
        for (std::size_t k = 0; k < kTasks; ++k) {
            tasks_.push_back(std::make_unique<StreamPuTask>(states()[k], turns_, k == 0, k + 1 == kTasks));
            if (k > 0) (*tasks_[k])["next::x"].bind((*tasks_[k - 1])["next::y"]);
        }
        using Tasks = std::vector<spu::runtime::Task*>;
        const auto at = [this](std::size_t k) { return &(*tasks_[k])("next"); };
        const std::vector<std::pair<Tasks, Tasks>> stages{{{at(0)}, {at(kTasks / 2 - 1)}},
                                                          {{at(kTasks / 2)}, {at(kTasks - 1)}}};
        pipeline_ = std::make_unique<spu::runtime::Pipeline>(*at(0), stages, std::vector<std::size_t>{1, 1},
                                                             std::vector<std::size_t>{kWindow},
                                                             std::vector<bool>{false});
    }

    std::string name() const override { return "StreamPU"; }
    void run(std::uint64_t frames, std::uint64_t turns) override {
        turns_ = turns;
        // Asked behind each frame, each by the stage that writes that state: so nothing is left between them.
        using Ends = std::vector<std::function<bool()>>;
        const std::uint64_t end = states().front().frames + frames;
        pipeline_->exec(Ends{[this, end] { return states().front().frames >= end; },
                             [this, end] { return states().back().frames >= end; }});
    }

  private:
    std::uint64_t turns_ = 0;
    std::vector<std::unique_ptr<StreamPuTask>> tasks_;
    std::unique_ptr<spu::runtime::Pipeline> pipeline_;
};

}  // namespace

std::unique_ptr<StreamPeer> make_streampu_stream() {
    return std::make_unique<StreamPuStream>();
}
#else
std::unique_ptr<StreamPeer> make_streampu_stream() {
    return nullptr;
}
#endif

}  // namespace tidemill::peers
