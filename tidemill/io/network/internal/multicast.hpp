#pragma once

#include <string>

#include <sys/socket.h>

namespace tidemill::io::internal {

/// Whether datagrams to an address go to all members.
bool is_group(const sockaddr& address);

/// Has a socket that is not bound yet get what is sent to a group, as others on this machine may, too;
/// through an interface by its name, or the one that the system chooses. Throws IoError.
void join_group(int socket, const sockaddr& group, const std::string& interface);

/// Has a socket send through an interface what goes to a group. Throws IoError.
void send_through(int socket, const sockaddr& group, const std::string& interface);

/// How many hops what goes to a group may take, 0: none beyond this machine. Throws IoError.
void send_so_far(int socket, const sockaddr& group, int ttl);

}  // namespace tidemill::io::internal
