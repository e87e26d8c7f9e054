#pragma once

#include <cmath>

#include "tidemill/tidemill.hpp"

/// Mean power of a stream of samples.
class LevelMeter : public tidemill::Module {
  public:
    explicit LevelMeter(std::size_t samples_per_frame)
        : samples(in<float>("samples", samples_per_frame)),
          measure(task("measure", &LevelMeter::run, tidemill::cloned)) {}

    tidemill::In<float> samples;
    tidemill::Task measure;

    /// 0 dB is a mean square of 1.
    double level_db() const { return 10 * std::log10(energy_ / static_cast<double>(count_)); }

    /// Replicas of this module begin with nothing, and add up what they measured.
    void reset_counters() override {
        energy_ = 0;
        count_ = 0;
    }
    void merge(tidemill::Module& clone) override {
        energy_ += static_cast<LevelMeter&>(clone).energy_;
        count_ += static_cast<LevelMeter&>(clone).count_;
    }

  private:
    void run(tidemill::Frame f) {
        for (const float sample : f[samples]) energy_ += sample * sample;
        count_ += f[samples].size();
    }

    double energy_ = 0;
    std::size_t count_ = 0;
};
