#pragma once

#include <span>
#include <vector>

#include "tidemill/fec/dvbs2_code.hpp"
#include "tidemill/fec/ldpc_circulants.hpp"

namespace tidemill::fec {

/// The information part of the parity checks, grouped in q layers: layer i holds, in lane t, check i + q t.
class LdpcLayers {
  public:
    explicit LdpcLayers(const Dvbs2Code& code);

    int size() const { return static_cast<int>(first_.size()) - 1; }
    /// The circulants of one layer, by rising block column.
    std::span<const Circulant> operator[](int layer) const;

  private:
    std::vector<Circulant> circulants_;
    std::vector<std::size_t> first_;
};

}  // namespace tidemill::fec
