#include <cstdio>
#include <numbers>

#include "level_meter.hpp"

#include "tidemill/tidemill.hpp"

using namespace tidemill;

int main(int argc, char** argv) {
    constexpr std::size_t kSamples = 1024;
    float amplitude = 1;
    App app("my-chain", [&](Graph& graph) {
        auto& sine = graph.add(task("sine", out<float>("y", kSamples), [n = 0u](auto y) mutable {
            for (float& each : y) each = std::sin(2 * std::numbers::pi_v<float> * (n++ % 64) / 64);
        }));
        auto& gain = graph.add(task("gain", pure, in<float>("x", kSamples), out<float>("y", kSamples),
                                    [amplitude](auto x, auto y) {
                                        for (std::size_t i = 0; i < x.size(); ++i) y[i] = amplitude * x[i];
                                    }));
        auto& meter = graph.add<LevelMeter>(kSamples);
        graph.chain(sine, gain, meter);
        return [&meter] {
            char text[64];
            std::snprintf(text, sizeof text, "level      %.2f dB", meter.level_db());
            return std::string(text);
        };
    });
    app.about("Measures the level of a sine.").option("--amplitude", &amplitude, "Amplitude of the sine");
    return app.run(argc, argv);
}
