// The record as one key of etcd, 3.4 or later, by its JSON gateway (POST of /v3/...): a transaction
// that compares the key's mod_revision, a linearizable range, a watch.
//
// The key belongs to no lease of etcd and is never deleted: a key that is gone says nothing about
// who may still believe in it.  Members of the cluster are asked in turn.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/store_record.hh"
#include "io/store/store_dialect.hh"

namespace bellwether::io {

struct EtcdSettings {
  std::vector<std::string> endpoints;  // http[s]://host[:port], without a path; at least one
  std::string key;
  std::string user;           // "": nobody logs in
  std::string password_name;  // where the password is from, for people: "etcd.password_file /path"
};

std::unique_ptr<StoreDialect> etcd_record(const EtcdSettings& settings);

// The value of the key, on one line; `record` is of no stranger.
std::string to_etcd_value(const StoreRecord& record, WallTime now);
// One that is not ours is a stranger's, whom the beginning of it names; an empty one is unknown.
StoreRecord from_etcd_value(std::string_view value);

}  // namespace bellwether::io
