// No kind and no field is without a sample: what to_wire() or from_wire() forgets would look as if
// it had been sent.
#include <boost/test/unit_test.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "frame_fields.hh"
#include "sample_frames.hh"

namespace bellwether::io::test {
namespace {

// By a field's message (its place in Frame::body) and its places in frame_fields.hh: whether a
// sample has something there that a new object has not.
using Sampled = std::map<std::string, bool>;

template <typename Value>
void look_at(const Value& value, const Value& plain, const std::string& place, Sampled& sampled);

template <typename Value>
void look_at(const std::optional<Value>& value, const std::optional<Value>&,
             const std::string& place, Sampled& sampled) {
  sampled[place] |= value.has_value();
  if (value) look_at(*value, {}, place, sampled);
}

template <typename Value>
void look_at(const std::vector<Value>& values, const std::vector<Value>&, const std::string& place,
             Sampled& sampled) {
  sampled[place] |= !values.empty();
  for (const Value& value : values) look_at(value, {}, place, sampled);
}

template <typename Value>
void look_at(const Value& value, const Value& plain, const std::string& place, Sampled& sampled) {
  if constexpr (requires { fields(value); }) {
    const auto parts = fields(value);
    const auto plain_parts = fields(plain);
    [&]<size_t... kPlaces>(std::index_sequence<kPlaces...>) {
      (look_at(std::get<kPlaces>(parts), std::get<kPlaces>(plain_parts),
               place + "." + std::to_string(kPlaces), sampled),
       ...);
    }
    (std::make_index_sequence<std::tuple_size_v<decltype(parts)>>{});
  } else {
    sampled[place] |= value != plain;
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(codec_fields)

BOOST_AUTO_TEST_CASE(every_kind_and_every_field_is_in_a_sample) {
  Sampled sampled;
  look_at(sample_greeting(), {}, "HELLO", sampled);
  look_at(largest_greeting(), {}, "HELLO", sampled);
  std::set<size_t> kinds;
  for (const Frame& frame : sample_frames()) {
    kinds.insert(frame.body.index());
    std::visit(
        [&]<typename Body>(const Body& body) {
          // Members are in HELLO as well.
          if constexpr (!std::is_same_v<Body, MembersFrame>) {
            look_at(body, {}, "body " + std::to_string(frame.body.index()), sampled);
          }
        },
        frame.body);
  }
  BOOST_TEST(kinds.size() == std::variant_size_v<decltype(Frame::body)>);
  for (const auto& [place, is_sampled] : sampled) BOOST_TEST(is_sampled, place);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::io::test
