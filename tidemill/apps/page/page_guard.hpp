#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tidemill::page {

/// Parts of a request by which it may be answered or not.
struct PageRequest {
    std::string host;           ///< header Host
    std::string origin;         ///< header Origin
    std::string token;          ///< header X-Tidemill-Token
    std::string authorization;  ///< header Authorization
};

/// Rights to look at a page, and to change something.
class PageGuard {
  public:
    /// `hosts` besides loopback; `password` may be empty: none.
    PageGuard(std::vector<std::string> hosts, const std::string& password);

    /// Token that an action must bring.
    const std::string& token() const { return token_; }

    /// Its host is one of ours: nobody was led here by another name.
    bool is_for_us(const PageRequest& request) const;
    /// It names no other origin than the page itself.
    bool is_own_origin(const PageRequest& request) const;
    /// It has the password, where one is wanted.
    bool is_let_in(const PageRequest& request) const;
    /// It comes from our own page, which was opened with the token.
    bool may_act(const PageRequest& request) const;

  private:
    std::vector<std::string> hosts_;
    std::string authorization_;  // behind the name: what the header ends with, decoded
    std::string token_;
};

/// The bytes of a text in base64; empty where it is none.
std::string from_base64(std::string_view text);

}  // namespace tidemill::page
