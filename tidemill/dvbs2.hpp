#pragma once

/// The DVB-S2 transceiver: Receiver, a graph from samples to transport stream packets; Transmitter, the other
/// way; recordings and transport streams as files. How to run a graph is in tidemill/tidemill.hpp.

#include "tidemill/dvbs2/receiver/receiver.hpp"
#include "tidemill/dvbs2/send/transmitter.hpp"
#include "tidemill/io/recordings/recording_reader.hpp"
#include "tidemill/io/recordings/recording_writer.hpp"
#include "tidemill/io/transport/ts_writer.hpp"
