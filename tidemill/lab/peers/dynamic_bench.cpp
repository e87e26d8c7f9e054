#include "tidemill/lab/peers/stream_peer.hpp"
#include "tidemill/runtime/dynamic/dynamic.hpp"

namespace tidemill::peers {
namespace {

class FirstTask : public Module {
  public:
    FirstTask(TaskState& state, const std::uint64_t& turns) : state_(state), turns_(turns) {}
    Out<std::uint64_t> y = out<std::uint64_t>("y");
    Task next = task("next", &FirstTask::run);

  private:
    void run(Frame f) { f[y][0] = run_task(state_, state_.frames, turns_); }
    TaskState& state_;
    const std::uint64_t& turns_;
};

class LaterTask : public Module {
  public:
    LaterTask(TaskState& state, const std::uint64_t& turns) : state_(state), turns_(turns) {}
    In<std::uint64_t> x = in<std::uint64_t>("x");
    Out<std::uint64_t> y = out<std::uint64_t>("y");
    Task next = task("next", &LaterTask::run);

  private:
    void run(Frame f) { f[y][0] = run_task(state_, f[x][0], turns_); }
    TaskState& state_;
    const std::uint64_t& turns_;
};

class DynamicStream final : public StreamPeer {
  public:
    DynamicStream() {
        const Out<std::uint64_t>* last = &graph_.add<FirstTask>(states()[0], turns_).y;
        for (std::size_t k = 1; k < kTasks; ++k) {
            auto& later = graph_.add<LaterTask>(states()[k], turns_);
            graph_.bind(*last, later.x);
            last = &later.y;
        }
        dynamic_.emplace(graph_, DynamicOptions{.workers = kWorkers, .window = {.iterations = kWindow}});
    }

    std::string name() const override { return "Dynamic"; }
    void run(std::uint64_t frames, std::uint64_t turns) override {
        turns_ = turns;
        dynamic_->run({.frames = frames, .statistics = false});
    }

  private:
    std::uint64_t turns_ = 0;
    Graph graph_;
    std::optional<Dynamic> dynamic_;
};

}  // namespace

std::unique_ptr<StreamPeer> make_dynamic_stream() {
    return std::make_unique<DynamicStream>();
}

}  // namespace tidemill::peers
