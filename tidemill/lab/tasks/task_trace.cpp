#include "tidemill/lab/tasks/task_trace.hpp"

#include <algorithm>
#include <array>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "tidemill/base/cli_error.hpp"
#include "tidemill/base/json.hpp"

namespace tidemill::cli {

namespace {

class TraceFile : public TaskTrace {
  public:
    explicit TraceFile(const std::string& path) : to_(path) {
        if (!to_) throw JobFailed(fmt::format("cannot write the trace {}", path));
    }

  protected:
    void close() {
        to_.close();
        if (!to_) throw JobFailed("the trace could not be written to its end; is the disk full?");
    }

    std::ofstream to_;
};

class Events final : public TraceFile {
  public:
    explicit Events(const std::string& path) : TraceFile(path) { fmt::print(to_, "{{\"traceEvents\":["); }

    void add(const RanTask& task, const std::string& type) override {
        fmt::print(to_,
                   "{}\n{{\"name\":{},\"ph\":\"X\",\"pid\":0,\"tid\":{},\"ts\":{:.3f},\"dur\":{:.3f},"
                   "\"args\":{{\"task\":{},\"iteration\":{}}}}}",
                   first_ ? "" : ",", to_text(Json(type)), task.worker, task.begin_us,
                   task.end_us - task.begin_us, task.number, task.iteration);
        first_ = false;
    }

    void finish() override {
        fmt::print(to_, "\n]}}\n");
        close();
    }

  private:
    bool first_ = true;
};

// One line per worker, one box per task, one colour per iteration.
class Picture final : public TraceFile {
  public:
    Picture(const std::string& path, std::size_t workers) : TraceFile(path), workers_(workers) {}

    void add(const RanTask& task, const std::string& type) override { boxes_.push_back({task, type}); }

    void finish() override {
        double end_us = 0;
        for (const Box& box : boxes_) end_us = std::max(end_us, box.task.end_us);
        scale_ = kWidth / end_us;
        const double height = kLine * static_cast<double>(workers_) + kAxis;
        fmt::print(to_,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" "
                   "font-family=\"sans-serif\" font-size=\"11\">\n"
                   "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
                   kLeft + kWidth + kRight, height);
        for (std::size_t worker = 0; worker < workers_; ++worker) {
            fmt::print(to_, "<text x=\"4\" y=\"{:.1f}\">worker {}</text>\n",
                       kLine * (static_cast<double>(worker) + 0.7), worker);
        }
        for (const Box& box : boxes_) draw(box.task, box.type);
        fmt::print(to_, "<text x=\"{}\" y=\"{:.1f}\">0</text>\n", kLeft, height - 4);
        fmt::print(to_, "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{:.3f} ms</text>\n</svg>\n",
                   kLeft + kWidth, height - 4, end_us / 1e3);
        close();
    }

  private:
    struct Box {
        RanTask task;
        std::string type;
    };

    static constexpr double kLeft = 64;
    static constexpr double kWidth = 900;
    static constexpr double kRight = 8;
    static constexpr double kLine = 22;
    static constexpr double kAxis = 18;
    static constexpr double kRoomForName = 12;
    static constexpr double kStroke = 0.4;  // narrow boxes have less, or they would be all stroke
    static constexpr std::array kColours{"#9ecae1", "#fdae6b", "#a1d99b", "#bcbddc", "#fc9272", "#d9d9d9"};

    void draw(const RanTask& task, const std::string& name) {
        const double width = (task.end_us - task.begin_us) * scale_;
        const double x = kLeft + task.begin_us * scale_;
        const double y = kLine * task.worker;
        fmt::print(to_,
                   "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" fill=\"{}\" "
                   "stroke=\"#444444\" stroke-width=\"{:.2f}\"/>\n",
                   x, y + 2, width, kLine - 4, kColours[task.iteration % kColours.size()],
                   std::min(kStroke, width / 8));
        if (width < kRoomForName || name.size() > 3) return;
        fmt::print(to_, "<text x=\"{:.2f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x + width / 2,
                   y + 0.7 * kLine, name);
    }

    std::size_t workers_;
    std::vector<Box> boxes_;
    double scale_ = 1;
};

}  // namespace

std::unique_ptr<TaskTrace> make_task_trace(const std::string& path, std::size_t workers) {
    if (path.ends_with(".svg")) return std::make_unique<Picture>(path, workers);
    return std::make_unique<Events>(path);
}

}  // namespace tidemill::cli
