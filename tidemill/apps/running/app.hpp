#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "tidemill/runtime/graph/graph.hpp"

namespace tidemill {

/// Gives any `main` the command line of a Tidemill program: run, profile, schedule and topo, each with
/// --help.
///
///     int main(int argc, char** argv) {
///         return tidemill::App("my-chain", [](tidemill::Graph& g) { ... }).run(argc, argv);
///     }
class App {
  public:
    /// Describes the result of a run; asked once, when the run is over and its graph is still there.
    using Outcome = std::function<std::string()>;
    /// Fills an empty graph.
    using Build = std::function<Outcome(Graph&)>;
    /// A variable that an option of the command line sets; a bool becomes a flag.
    using Variable = std::variant<bool*, int*, std::uint64_t*, float*, double*, std::string*>;

    /// `build` is called once for the run and once for each kind of core that is profiled before it, each
    /// time with a new graph. It may return a callable that gives the outcome as text, which is printed.
    template <class F>
    App(std::string name, F build) : App(std::move(name), build_of(std::move(build)), Checked{}) {}

    /// The sentence that --help begins with.
    App& about(std::string text);

    /// An option of this program: `option("--taps", &taps, "Taps of the filter")`; `build` reads the
    /// variable.
    App& option(std::string name, Variable variable, std::string help);

    /// Does what the command line says. Returns an exit status: 0 done, 1 the job failed, 2 wrong usage, 3
    /// unusable input.
    int run(int argc, const char* const* argv) const;

  private:
    struct Checked {};
    struct Option {
        std::string name;
        Variable variable;
        std::string help;
    };

    App(std::string name, Build build, Checked) : name_(std::move(name)), build_(std::move(build)) {}

    template <class F>
    static Build build_of(F build) {
        if constexpr (std::is_void_v<std::invoke_result_t<F&, Graph&>>) {
            return [build = std::move(build)](Graph& graph) mutable {
                build(graph);
                return Outcome();
            };
        } else {
            return Build(std::move(build));
        }
    }

    std::string name_;
    Build build_;
    std::string about_ = "A stream program.";
    std::vector<Option> options_;
};

}  // namespace tidemill
