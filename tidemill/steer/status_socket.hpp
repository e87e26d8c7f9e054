#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tidemill/base/text_file.hpp"

namespace tidemill::steer {

/// How a status is wanted.
enum class StatusForm : char { text = 't', json = 'j', metrics = 'm' };

/// Folder of this user's daemons: /run/tidemill for root, $XDG_RUNTIME_DIR/tidemill or /tmp/tidemill-UID for
/// others. Makes it (mode 0700). Throws SteerError where others may write into it.
std::filesystem::path daemon_folder();

/// Keeps a daemon the only one of its name and user, and answers requests for its status at a socket in
/// daemon_folder(), to which only that user and root connect. A lock beside it is free again when its owner
/// ends, however that was.
class StatusSocket {
  public:
    /// Throws SteerError when another daemon of that name runs, saying which.
    explicit StatusSocket(const std::string& name);
    ~StatusSocket();
    StatusSocket(const StatusSocket&) = delete;
    StatusSocket& operator=(const StatusSocket&) = delete;

    /// Answers those that have asked since; waits for nobody. A client that asks nothing for a while is sent
    /// away.
    void answer(const std::function<std::string(StatusForm)>& status);

  private:
    using Clock = std::chrono::steady_clock;

    struct Asking {
        int descriptor;
        Clock::time_point until;  ///< when it is sent away if nothing happens
        std::string rest{};       ///< of the answer
    };

    void let_in();
    static bool take_request(Asking& from, const std::function<std::string(StatusForm)>& status);
    static bool send_rest(Asking& to);

    std::string path_;
    std::optional<FileLock> lock_{};
    int listening_ = -1;
    std::vector<Asking> asking_;
};

/// Status of this user's daemon of that name, or else of root's: at most 1 MiB. Throws SteerError where there
/// is none.
std::string ask_status(const std::string& name, StatusForm form);

}  // namespace tidemill::steer
