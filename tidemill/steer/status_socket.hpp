#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tidemill::steer {

/// How a status is wanted.
enum class StatusForm : char { text = 't', json = 'j', metrics = 'm' };

/// Keeps a daemon the only one of its name on the machine, and answers who asks it for its status. The name
/// is one of sockets that are no files: it is free again when its owner ends, however that was.
class StatusSocket {
  public:
    /// Throws SteerError when another daemon of that name runs, saying which.
    explicit StatusSocket(const std::string& name);
    ~StatusSocket();
    StatusSocket(const StatusSocket&) = delete;
    StatusSocket& operator=(const StatusSocket&) = delete;

    /// Answers those that have asked since; waits for nobody. Who asks nothing for a while is sent away.
    void answer(const std::function<std::string(StatusForm)>& status);

  private:
    struct Asking {
        int descriptor;
        int looks = 0;
    };

    void let_in();

    int listening_;
    std::vector<Asking> asking_;
};

/// What the daemon of that name answers. Throws SteerError where there is none.
std::string ask_status(const std::string& name, StatusForm form);

}  // namespace tidemill::steer
