// What the files of one use of TLS come to: read, judged, made into a context, and again when they
// have changed on the disk (reread.hh).
//
// Files come in any order: a helper writes certificate, key and authorities one after the other,
// another one renames them, a volume swaps a link to all.  So a set is taken when two readings of
// it are the same, and when it fits together; else the one before stays in force.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/file_marks.hh"
#include "daemon/reread.hh"
#include "io/tls/certificates.hh"
#include "io/tls/guarded_file.hh"
#include "io/tls/tls_context.hh"

namespace bellwether::daemon {

// One reading of the files.  Equal ones have the same bytes, and the same to complain of.
struct TlsReading {
  std::string fingerprint;  // of all bytes that were read, and of the settings
  std::string error{};      // why they are of no use: names key and file, never what is in it
  io::TlsContextPtr tls{};  // shared with connections; nullptr: off, or an error
  // With [voters]: the names of a certificate that could be that of each; empty: it tells them
  // apart, or there is none.
  std::string names_of_any_voter{};
  // Why members that have the same configuration would not believe the own certificate; empty: they
  // would, or it cannot be told.
  std::string refusal_by_members{};
  // As of when it was read.
  std::string settings{};
  FileMarks marks{};

  friend bool operator==(const TlsReading& one, const TlsReading& other) {
    return one.fingerprint == other.fingerprint && one.error == other.error;
  }
};

// Files of a certificate and its authorities, as a table names them; empty: none.
struct CertificateFiles {
  std::string keys;  // in front of the keys: "api."
  std::string cert;
  std::string key;
  std::string ca;
  const char* ca_key = "ca";
  bool is_folder_shared = false;  // Secrecy::kShared

  io::CertificateLabels labels() const;
};

// Of an HTTP client, which believes the system's authorities without `ca`.  Throws TlsError. Block.
void read_client_files(const CertificateFiles& files, io::TlsTexts& texts);
io::TlsContextPtr make_client_context(const CertificateFiles& files, const io::TlsTexts& texts);
// What it shows, if that can be shown now.  Throws TlsError.
io::CertificateSet make_client_set(const CertificateFiles& files, const io::TlsTexts& texts);
// Of anybody.  The same.
void read_files(const CertificateFiles& files, io::TlsTexts& texts);

// What a reading is made of.
struct TlsSource {
  std::vector<std::string> files;  // paths, in the order in which they are read
  std::string settings{};          // those that it depends on
};

// The paths that are not empty.
std::vector<std::string> paths_of(const CertificateFiles& files);

// What a client of HTTP has that proves who it is: certificates, which only https asks for, and a
// secret.
struct ClientFiles {
  CertificateFiles certificates;
  bool is_https = false;
  std::string secret_key;  // "etcd.password_file"
  std::string secret;      // a path; empty: none
  io::Secrecy secrecy = io::Secrecy::kSecret;
};

// `read` fills the texts, `make` makes of them what the reading has.  If nothing has changed since
// `last`, which had no error and no certificate that has expired since, that is returned:
// nothing is made, and mostly nothing read.
// What the two throw is the reading's error; it throws nothing itself.
TlsReading read_tls(const TlsReading& last, const TlsSource& source,
                    const std::function<void(io::TlsTexts&)>& read,
                    const std::function<void(const io::TlsTexts&, TlsReading&)>& make);

// What a reading comes to that is given up (Reread).
TlsReading unread_files(const TlsReading& last, const Unread& unread);

// `take_secret` is given what the secret's file holds, if there is one and it may have changed;
// what it throws is the reading's error.  Blocks; throws nothing.
TlsReading read_client_tls(const ClientFiles& files, const TlsReading& last,
                           const std::function<void(std::string_view text)>& take_secret);

}  // namespace bellwether::daemon
