#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tidemill::cli {

/// A command that the user wants to be run, as a child of this process. Whatever it leaves behind when it
/// ends becomes our child, too.
class CommandChild {
  public:
    /// A process that waits to be let go. Throws JobFailed when there can be none.
    explicit CommandChild(const std::vector<std::string>& words);

    /// Asks it to end if it still runs.
    ~CommandChild();
    CommandChild(const CommandChild&) = delete;
    CommandChild& operator=(const CommandChild&) = delete;

    /// Lets it begin. Throws JobFailed when it cannot be started.
    void go();

    int process() const { return process_; }
    /// Takes notice of children that have ended.
    void look();
    /// How the command ended, "exit status 3" or "signal 9"; nothing while it runs, and for status 0.
    const std::optional<std::string>& failure() const { return failure_; }
    /// Asks it to end, and waits until it has; ends it where it does not within seconds.
    void end();

  private:
    void note(int status);

    std::string name_;
    int process_ = -1;
    int go_ = -1;
    int failed_ = -1;
    bool runs_ = true;
    std::optional<std::string> failure_;
};

}  // namespace tidemill::cli
