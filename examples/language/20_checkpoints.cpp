#include <filesystem>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "tidemill/tidemill.hpp"

using namespace tidemill;

struct Reader : Module {
    Out<int> y = out<int>("y");
    Task read = task("read", &Reader::next);
    void begin(const Run& run) override { fmt::print("opened for frame {}\n", run.first_frame); }
    void end() override { fmt::print("closed\n"); }
    void keep(Archive& archive) override { archive("n", n_); }
    void next(Frame f) { f[y][0] = n_++; }
    int n_ = 0;
};

struct Sum : Module {
    In<int> x = in<int>("x");
    Task add = task("add", &Sum::more);
    void keep(Archive& archive) override { archive("total", total); }
    void more(Frame f) { total += f[x][0]; }
    int total = 0;
};

struct Program {
    Program() { graph.chain(reader, sum); }
    Graph graph{"program"};
    Reader& reader = graph.add<Reader>();
    Sum& sum = graph.add<Sum>();
};

int main() {
    const auto file = std::filesystem::temp_directory_path() / "tidemill-example.state";
    {
        Program program;
        CheckpointFile kept(file, std::chrono::seconds(10));
        Pipeline(program.graph, thread_per_task(program.graph)).run({.frames = 5, .checkpoint = &kept});
        fmt::print("sum {}\n", program.sum.total);
    }
    // Another day, another executor.
    const Checkpoint checkpoint = read_checkpoint(file);
    Program program;
    Dynamic dynamic(program.graph);
    dynamic.run({.frames = 3, .restore = &checkpoint});
    fmt::print("sum {}\n", program.sum.total);

    // A module without keep() is named.
    auto& other = program.graph.add(task("other", in<int>("x"), [last = 0](auto x) mutable { last = x[0]; }));
    program.graph.bind(program.reader.y, other["x"]);
    fmt::print("not kept: {}\n", fmt::join(program.graph.not_kept(), ", "));
    try {
        Sequence(program.graph).run({.frames = 1, .restore = &checkpoint});
    } catch (const CheckpointError& error) {
        const std::string what = error.what();
        fmt::print("{}\n", what.substr(0, what.find(" (")));
    }
    std::filesystem::remove(file);
}
