#include "tidemill/graph/identity.hpp"

#include <cstdint>
#include <string_view>

#include <fmt/format.h>

namespace tidemill {

namespace {

/// FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/
class Fnv {
  public:
    void add(std::string_view text) {
        for (const char each : text) add_byte(static_cast<unsigned char>(each));
        add_byte(0);
    }
    void add(std::uint64_t number) { add(fmt::format("{}", number)); }
    std::uint64_t value() const { return value_; }

  private:
    void add_byte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3ull; }

    std::uint64_t value_ = 0xcbf29ce484222325ull;
};

void add_module(const Module& module, Fnv& fnv) {
    fnv.add(module.name());
    for (const SocketInfo& socket : module.sockets()) {
        fnv.add(socket.name);
        fnv.add(static_cast<std::uint64_t>(socket.direction));
        fnv.add(socket.type.name);
        fnv.add(socket.count);
        fnv.add(socket.knob ? 1 : 0);
    }
    for (const TaskInfo& task : module.tasks()) {
        fnv.add(task.name);
        fnv.add(task.ends_segment() ? 1 : 0);
    }
}

}  // namespace

std::string identity_of(const Graph& graph) {
    Fnv fnv;
    for (std::size_t m = 0; m < graph.module_count(); ++m) {
        const Module& module = graph.module(m);
        add_module(module, fnv);
        for (std::uint32_t s = 0; s < module.sockets().size(); ++s) {
            const internal::Source* source = graph.source_of(m, s);
            if (!source || !source->module) continue;
            fnv.add(source->module->path_of_socket(source->socket));
            fnv.add(source->streams ? 1 : 0);
        }
    }
    return fmt::format("{:016x}", fnv.value());
}

}  // namespace tidemill
