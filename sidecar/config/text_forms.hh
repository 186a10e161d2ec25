// The forms that text in a configuration may have, as plain predicates.
#pragma once

#include <string_view>

#include "base/host_port.hh"

namespace bellwether {

// UTF-8 without control characters.
bool is_printable(std::string_view text);

// Of a group or a node: 1 to 63 letters, digits and -._ with a letter or digit at both ends.
bool is_name(std::string_view text);

// A plugin's name (letters, digits, - and _) or a path to it, which has a slash.
bool is_plugin(std::string_view text);

// A variant's name, or nothing.
bool is_variant(std::string_view text);

bool is_absolute_path(std::string_view text);
bool is_absolute_path_or_empty(std::string_view text);
// As before, and short enough for the address of a unix socket.
bool is_socket_path_or_empty(std::string_view text);

// What tls.members may name: a SPIFFE id, a DNS name, or one that begins with "*." for one label.
bool is_member_name(std::string_view text);

// Of a user or a group (useradd(8)), or a number.
bool is_account_name(std::string_view text);

// http:// or https:// with a host, perhaps a port and a path; no user, no fragment.
bool is_http_url(std::string_view text);

// As logs and answers show it: what follows "?" may be a secret of its receiver.
std::string shown_url(const std::string& url);

// The same with neither path nor query.
bool is_server_url(std::string_view text);

// Host and port of such URLs; of a wrong one nothing that can be connected to.
HostPort place_of_url(std::string_view url);

// What Kubernetes takes as the name of an object (a DNS subdomain of RFC 1123), and of a namespace
// (a label).
bool is_object_name(std::string_view text);
bool is_namespace_name(std::string_view text);

// Of a key of etcd: 1 to 200 printable characters.
bool is_key_prefix(std::string_view text);

// One that stands in a file or a URL by itself: 1 to 100 visible characters, or none.
bool is_user_or_empty(std::string_view text);

// Of this host: http:// with a loopback address or "localhost", or unix:/PATH:/URL; or nothing.
bool is_local_url_or_empty(std::string_view text);
// The path of the socket in unix:/PATH:/URL; "" of another URL.
std::string_view socket_of_url(std::string_view url);

}  // namespace bellwether
