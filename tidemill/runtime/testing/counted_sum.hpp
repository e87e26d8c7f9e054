#pragma once

#include "tidemill/runtime/graph/graph.hpp"

namespace tidemill::internal {

/// For tests: 0, 1, ... and then the end.
class Count : public Module {
  public:
    explicit Count(int frames) : frames_(frames) {}
    Out<int> value = out<int>("value");
    Task next = task("next", &Count::count);
    void keep(Archive& archive) override { archive("n", n_); }

  private:
    Flow count(Frame f) {
        f[value][0] = n_;
        return n_++ == frames_ ? Flow::stop : Flow::ok;
    }
    int frames_;
    int n_ = 0;
};

/// Adds up what comes.
class Sum : public Module {
  public:
    In<int> value = in<int>("value");
    Task take = task("take", &Sum::add);
    long total = 0;
    void keep(Archive& archive) override { archive("total", total); }

  private:
    void add(Frame f) { total += f[value][0]; }
};

}  // namespace tidemill::internal
