#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>

#include "tidemill/run/weigh/adaptation.hpp"

namespace tidemill::cli {

/// Whether and how to change the schedule of a run, as the command line says it.
struct AdaptOptions {
    bool adapt = false;
    double every_s = 1;
    double threshold = 0.1;
};

void add_adapt_options(CLI::App& verb, AdaptOptions& options);

/// Lets an adaptation look, again and again, from its making to its end.
class Adapting {
  public:
    /// `changed` is called after each change of schedule.
    Adapting(Adaptation& adaptation, double every_s, std::function<void(const Schedule&)> changed = {});

  private:
    void look_until(const std::stop_token& done, double every_s,
                    const std::function<void(const Schedule&)>& changed);

    Adaptation& adaptation_;
    std::mutex mutex_;  // for the condition alone
    std::condition_variable_any wake_;
    std::jthread thread_;
};

/// The changes in words, a line each.
std::string changes_text(const std::vector<AdaptationChange>& changes);

/// The changes as a list of objects.
nlohmann::ordered_json changes_json(const std::vector<AdaptationChange>& changes);

}  // namespace tidemill::cli
