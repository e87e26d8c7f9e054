#include "tidemill/lab/peers/stream_peer.hpp"

#ifdef TIDEMILL_WITH_TASKFLOW
#include <functional>

#include <taskflow/taskflow.hpp>
// The order matters to Taskflow.
#include <taskflow/algorithm/pipeline.hpp>
#endif

namespace tidemill::peers {

#ifdef TIDEMILL_WITH_TASKFLOW
namespace {

// Frames lie in the program's own memory, one for each line of the pipeline, as Taskflow's examples do it.
class TaskflowStream final : public StreamPeer {
  public:
    std::string name() const override { return "ScalablePipeline"; }

    void run(std::uint64_t frames, std::uint64_t turns) override {
        using Pipe = tf::Pipe<std::function<void(tf::Pipeflow&)>>;
        std::vector<Pipe> pipes;
        const std::uint64_t end = states()[0].frames + frames;
        pipes.emplace_back(tf::PipeType::SERIAL, [this, turns, end](tf::Pipeflow& flow) {
            TaskState& state = states()[0];
            if (state.frames == end) return flow.stop();
            lines_[flow.line()].value = run_task(state, state.frames, turns);
        });
        for (std::size_t k = 1; k < kTasks; ++k) {
            pipes.emplace_back(tf::PipeType::SERIAL, [this, turns, &state = states()[k]](tf::Pipeflow& flow) {
                std::uint64_t& value = lines_[flow.line()].value;
                value = run_task(state, value, turns);
            });
        }
        tf::ScalablePipeline pipeline(kWindow, pipes.begin(), pipes.end());
        tf::Taskflow taskflow;
        taskflow.composed_of(pipeline);
        executor_.run(taskflow).wait();
    }

  private:
    struct alignas(64) Line {
        std::uint64_t value = 0;
    };

    std::array<Line, kWindow> lines_{};
    tf::Executor executor_{kWorkers};
};

}  // namespace

std::unique_ptr<StreamPeer> make_taskflow_stream() {
    return std::make_unique<TaskflowStream>();
}
#else
std::unique_ptr<StreamPeer> make_taskflow_stream() {
    return nullptr;
}
#endif

}  // namespace tidemill::peers
