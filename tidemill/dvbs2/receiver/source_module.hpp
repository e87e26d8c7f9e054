#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tidemill/io/live/sample_source.hpp"
#include "tidemill/runtime/graph/module.hpp"

namespace tidemill::dvbs2 {

/// A module that reads samples. What may be changed of their source are its knobs.
class SourceModule : public Module {
  protected:
    SourceModule(std::string name, io::SampleSource& source) : Module(std::move(name)), source_(source) {
        for (const io::SourceControl& control : source.controls()) {
            knobs_.push_back(knob<double>(control.name, control.value, {control.least, control.most}));
            values_.push_back(control.value);
        }
    }

    /// Before a frame is read: its knobs' values hold for the source from then on.
    void adjust(Frame f) {
        for (std::size_t i = 0; i < knobs_.size(); ++i)
            if (const double value = f[knobs_[i]]; value != std::exchange(values_[i], value))
                source_.control(i, value);
    }

    io::SampleSource& source_;

  private:
    std::vector<Knob<double>> knobs_{};
    std::vector<double> values_{};  // that the source has
};

}  // namespace tidemill::dvbs2
