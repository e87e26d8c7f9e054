#include <memory>
#include <string>

#include <fmt/format.h>

#include "tidemill/c/plugin.h"
#include "tidemill/c/status.hpp"
#include "tidemill/machine/shared_library.hpp"
#include "tidemill/runtime/threads/run_error.hpp"

using namespace tidemill;
using tidemill::c::CallError;
using tidemill::c::carefully;
using tidemill::c::given;

struct tidemill_stream {
    const tidemill_plugin* plugin;
    void* stream;

    ~tidemill_stream() {
        if (stream) plugin->free(stream);
    }
};

namespace {

const tidemill_plugin* plugin_of(const std::string& library) {
    std::string why;
    const auto opened = SharedLibrary<CallError>::open(library, why);
    if (!opened) throw CallError(fmt::format("{} cannot be loaded: {}", library, why));
    const tidemill_plugin* (*find)() = nullptr;
    opened->find("tidemill_stream_plugin", find);
    const tidemill_plugin* const plugin = find();
    if (plugin->size < sizeof(tidemill_plugin))
        throw CallError(library + " was built with an older Tidemill: build it with this one");
    return plugin;
}

std::unique_ptr<tidemill_stream> opened(const std::string& library, const char* text) {
    const std::string name = library.empty() ? "this program" : library;
    std::unique_ptr<tidemill_stream> made(new tidemill_stream{plugin_of(library), nullptr});
    tidemill_plugin_error error{};
    made->stream = made->plugin->open(text, &error);
    if (!made->stream) throw CallError(fmt::format("{} makes no stream: {}", name, error.text));
    return made;
}

/// Calls a function of the plugin's, and throws what it says.
template <class Function, class... Arguments>
void ask(Function* function, const tidemill_stream& stream, Arguments... arguments) {
    tidemill_plugin_error error{};
    if (function(stream.stream, arguments..., &error) != 0) throw RunError(error.text);
}

// Without elements a null pointer will do.
tidemill_status push(tidemill_stream* stream, const void* elements, std::size_t count, bool waits,
                     std::size_t* taken) {
    return carefully([&] {
        (void)given(stream, "stream");
        given(taken, "taken") = 0;
        if (count == 0) return;
        (void)given(static_cast<const char*>(elements), "elements");
        ask(stream->plugin->push, *stream, elements, count, waits ? 1 : 0, taken);
    });
}

tidemill_status pull(tidemill_stream* stream, void* elements, std::size_t room, bool waits,
                     std::size_t* got) {
    return carefully([&] {
        (void)given(stream, "stream");
        given(got, "got") = 0;
        if (room == 0) return;
        (void)given(static_cast<char*>(elements), "elements");
        ask(stream->plugin->pull, *stream, elements, room, waits ? 1 : 0, got);
    });
}

}  // namespace

tidemill_stream* tidemill_stream_open(const char* library, const char* text) {
    return c::made_carefully([&] { return opened(&given(library, "library"), text ? text : ""); });
}

void tidemill_stream_free(tidemill_stream* stream) {
    delete stream;
}

size_t tidemill_stream_in_bytes(const tidemill_stream* stream) {
    return stream ? stream->plugin->in_bytes : 0;
}

size_t tidemill_stream_out_bytes(const tidemill_stream* stream) {
    return stream ? stream->plugin->out_bytes : 0;
}

tidemill_status tidemill_stream_push(tidemill_stream* stream, const void* elements, size_t count) {
    std::size_t taken = 0;
    return push(stream, elements, count, /*waits=*/true, &taken);
}

tidemill_status tidemill_stream_try_push(tidemill_stream* stream, const void* elements, size_t count,
                                         size_t* taken) {
    return push(stream, elements, count, /*waits=*/false, taken);
}

tidemill_status tidemill_stream_pull(tidemill_stream* stream, void* elements, size_t room, size_t* got) {
    return pull(stream, elements, room, /*waits=*/true, got);
}

tidemill_status tidemill_stream_try_pull(tidemill_stream* stream, void* elements, size_t room, size_t* got) {
    return pull(stream, elements, room, /*waits=*/false, got);
}

tidemill_status tidemill_stream_end(tidemill_stream* stream) {
    return carefully([&] { ask(given(stream, "stream").plugin->end, *stream); });
}

int tidemill_stream_running(const tidemill_stream* stream) {
    return stream ? stream->plugin->running(stream->stream) : 0;
}

tidemill_status tidemill_stream_join(tidemill_stream* stream) {
    return carefully([&] { ask(given(stream, "stream").plugin->join, *stream); });
}
