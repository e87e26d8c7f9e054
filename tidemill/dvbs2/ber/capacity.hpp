#pragma once

#include "tidemill/dvbs2/standard/modcod.hpp"

namespace tidemill::dvbs2 {

/// Bits that a symbol of the MODCOD's constellation, its points equally likely, carries over white noise.
double mutual_information_bits(const Modcod& modcod, double esn0_db);

/// The Es/N0 from which on so many bits a symbol can be had by any code whatever.
double capacity_esn0_db(const Modcod& modcod, double bits_per_symbol);

}  // namespace tidemill::dvbs2
