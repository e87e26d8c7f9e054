// The mean power of so many complex samples each, as the text says: "64".
#include <charconv>
#include <complex>
#include <stdexcept>
#include <string>

#include "tidemill/c/plugin.h"
#include "tidemill/runtime/graph/graph.hpp"

namespace {

using Iq = std::complex<float>;

std::size_t count_of(std::string_view text) {
    std::size_t count = 0;
    const auto [end, error] = std::from_chars(text.begin(), text.end(), count);
    if (error != std::errc() || end != text.end() || count == 0 || count > 1 << 20)
        throw std::invalid_argument("'" + std::string(text) + "' is no number of samples: give 1 to 1048576");
    return count;
}

struct Power {
    explicit Power(std::string_view text)
        : count(count_of(text)),
          inlet(graph.add<tidemill::Inlet<Iq>>(count)),
          outlet(graph.add<tidemill::Outlet<float>>(1)) {
        auto& mean = graph.add(tidemill::task(
            "mean", tidemill::in<Iq>("x", count), tidemill::out<float>("y"), [](auto x, auto y) {
                double sum = 0;
                for (const Iq sample : x) sum += std::norm(sample);
                y[0] = static_cast<float>(sum / static_cast<double>(x.size()));
            }));
        graph.chain(inlet, mean, outlet);
    }
    std::size_t count;
    tidemill::Graph graph;
    tidemill::Inlet<Iq>& inlet;
    tidemill::Outlet<float>& outlet;
};

}  // namespace

TIDEMILL_STREAM(Power)
