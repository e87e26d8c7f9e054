#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tidemill::internal {

/// Mixes of loads by the simplex method: of all loads seen so far, the shares of a frame's work that go by
/// each of them so that the highest pool is as low as can be. A load has one number per pool, the time that
/// the pool is busy per frame. Loads are offered one at a time (column generation), so their number may be
/// huge. Ties are broken lexicographically, which keeps the method from going round in circles.
class LoadMix {
  public:
    explicit LoadMix(std::span<const double> first_load);

    /// Price of a unit of each pool's height in the best mix: at least 0, in sum 1.
    const std::vector<double>& prices() const { return prices_; }

    /// Height of the highest pool in the best mix.
    double height() const { return inverse_[highest_][pools_] * unit_; }

    /// Takes a load into the mix that is worth less than height() at the present prices.
    void add(std::span<const double> load);

  private:
    std::vector<double> column_of(std::span<const double> load) const;
    std::vector<double> in_basis(std::span<const double> column) const;
    std::size_t leaving(const std::vector<double>& direction) const;
    bool leaves_before(std::size_t a, std::size_t b, const std::vector<double>& direction) const;
    void enter(std::span<const double> column);
    void enter_idle_pools();

    std::size_t pools_;
    double unit_;                               // of loads inside: the first one's height
    std::size_t highest_;                       // the row that belongs to the height, which never leaves
    std::vector<std::vector<double>> inverse_;  // [row][pool, and the sum of shares]: of the basis
    std::vector<double> prices_;
};

}  // namespace tidemill::internal
