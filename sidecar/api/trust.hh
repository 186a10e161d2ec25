// Which requests a browser on this machine may have been talked into: those are refused, whatever
// they ask for.  That the API listens on loopback is what protects it, and a web page must not get
// around that.
#pragma once

#include <string>

#include "config/config.hh"
#include "io/http/http_server.hh"

namespace bellwether::api {

// Why the request is refused, as a sentence; empty when it is not.
//
//   Host    is loopback, [api] listen (every address when that is a wildcard), the node's name or
//           its advertised host: otherwise a name of a stranger's was made to point here (DNS
//           rebinding).  Over the unix socket any, and by TLS, where a browser has compared the
//           name with the certificate; without the header (HTTP/1.0, no browser) too.
//   Origin  of a request that commands is this server's own, and Sec-Fetch-Site is not
//           "cross-site": otherwise another site's page sent it.
std::string distrust(const io::HttpRequest& request, const Config& config);

}  // namespace bellwether::api
