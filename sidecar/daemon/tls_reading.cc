// Reading is done in a thread of its own once the loop runs, OpenSSL's part of it included: a
// private key takes it a millisecond.
#include "daemon/tls_reading.hh"

#include <array>
#include <ctime>
#include <exception>
#include <utility>

namespace bellwether::daemon {
namespace {

constexpr const char* kSystemAuthorities = "the system's authorities";

// A certificate that has expired in the meantime is judged again, or one that is not valid yet
// because the clock was put back.
bool is_in_time(const io::TlsContextPtr& tls) {
  if (tls == nullptr) return true;
  const std::time_t now = std::time(nullptr);
  return tls->expiry().value_or(now + 1) > now && tls->beginning().value_or(now) <= now;
}

}  // namespace

io::CertificateLabels CertificateFiles::labels() const {
  return {.cert = keys + "cert " + cert,
          .key = keys + "key " + key,
          .ca = ca.empty() ? kSystemAuthorities : keys + ca_key + " " + ca};
}

void read_files(const CertificateFiles& files, io::TlsTexts& texts) {
  const auto read = [&](const std::string& path, const char* key, io::Secrecy secrecy) {
    const io::Secrecy asked = files.is_folder_shared ? io::Secrecy::kShared : secrecy;
    return path.empty() ? "" : io::read_guarded_file(path, files.keys + key, asked, &texts.marks);
  };
  texts.key = read(files.key, "key", io::Secrecy::kSecret);
  texts.cert = read(files.cert, "cert", io::Secrecy::kPublic);
  texts.ca = read(files.ca, files.ca_key, io::Secrecy::kPublic);
}

std::vector<std::string> paths_of(const CertificateFiles& files) {
  std::vector<std::string> paths{files.key, files.cert, files.ca};  // as they are read
  std::erase(paths, "");
  return paths;
}

TlsReading read_tls(const TlsReading& last, const TlsSource& source,
                    const std::function<void(io::TlsTexts&)>& read,
                    const std::function<void(const io::TlsTexts&, TlsReading&)>& make) {
  const bool may_stay =
      last.error.empty() && last.settings == source.settings && is_in_time(last.tls);
  TlsReading reading{.fingerprint = {}, .settings = source.settings};
  try {
    const FileMarks marks(source.files);
    if (may_stay && marks.show_no_change_since(last.marks)) return last;
    io::TlsTexts texts;
    read(texts);
    const std::array<std::string_view, 5> parts{source.settings, texts.cert, texts.key, texts.ca,
                                                texts.secret};
    reading.fingerprint = io::fingerprint(parts);
    if (may_stay && reading.fingerprint == last.fingerprint) {
      reading = last;
    } else {
      make(texts, reading);
    }
    reading.marks = marks.as_read(std::move(texts.marks));
  } catch (const std::exception& error) {
    reading.error = error.what();
  }
  return reading;
}

TlsReading unread_files(const TlsReading& last, const Unread& unread) {
  const std::string what = unread.file.empty() ? "its files" : unread.file;
  return {.fingerprint = last.fingerprint, .error = what + " cannot be read: " + unread.why};
}

void read_client_files(const CertificateFiles& files, io::TlsTexts& texts) {
  read_files(files, texts);
  if (!files.ca.empty()) return;
  const std::string bundle = io::system_authorities();
  if (bundle.empty()) {
    throw io::TlsError("this system has no file of authorities; give " + files.keys + files.ca_key);
  }
  texts.ca = io::read_guarded_file(bundle, kSystemAuthorities, io::Secrecy::kPublic, &texts.marks);
}

io::CertificateSet make_client_set(const CertificateFiles& files, const io::TlsTexts& texts) {
  io::CertificateSet set = io::parse_certificate_set(texts, files.labels());
  io::check_shown_certificate(set, X509_PURPOSE_SSL_CLIENT, std::time(nullptr));
  return set;
}

io::TlsContextPtr make_client_context(const CertificateFiles& files, const io::TlsTexts& texts) {
  if (files.cert.empty()) {
    io::CertificateSet set;
    set.ca = io::parse_certificates(texts.ca, files.labels().ca);
    return io::TlsContext::of_http_client(set);
  }
  return io::TlsContext::of_http_client(make_client_set(files, texts));
}

TlsReading read_client_tls(const ClientFiles& files, const TlsReading& last,
                           const std::function<void(std::string_view text)>& take_secret) {
  const auto read = [&](io::TlsTexts& texts) {
    if (files.is_https) read_client_files(files.certificates, texts);
    if (!files.secret.empty()) {
      texts.secret =
          io::read_guarded_file(files.secret, files.secret_key, files.secrecy, &texts.marks);
    }
  };
  const auto make = [&](const io::TlsTexts& texts, TlsReading& reading) {
    if (files.is_https) reading.tls = make_client_context(files.certificates, texts);
    if (!files.secret.empty()) take_secret(texts.secret);
  };
  TlsSource source;
  if (files.is_https) {
    source.files = paths_of(files.certificates);
    if (files.certificates.ca.empty()) source.files.push_back(io::system_authorities());
  }
  if (!files.secret.empty()) source.files.push_back(files.secret);
  return read_tls(last, source, read, make);
}

}  // namespace bellwether::daemon
