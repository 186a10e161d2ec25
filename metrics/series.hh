// The series of one metric, one for each combination of its labels' values.  All are made with the
// metric, at 0, and found by the values' numbers, so that an increment looks nothing up.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/clock.hh"
#include "metrics/labels.hh"

namespace bellwether::metrics {

// The upper bounds of a histogram, ascending; +Inf is added.
using Buckets = std::span<const double>;

inline double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

// What people read as two words is one in a label: "in force" is in_force.
template <typename Label>
std::string text_of(Label value) {
  std::string text = name(value);
  std::replace(text.begin(), text.end(), ' ', '_');
  return text;
}

// A metric without series; the registry owns it.
template <typename Metric>
prometheus::Family<Metric>& add_family(prometheus::Registry& registry, const std::string& name,
                                       const std::string& help) {
  const auto build = [&](auto&& builder) -> prometheus::Family<Metric>& {
    return builder.Name(name).Help(help).Register(registry);
  };
  if constexpr (std::is_same_v<Metric, prometheus::Counter>) {
    return build(prometheus::BuildCounter());
  } else if constexpr (std::is_same_v<Metric, prometheus::Gauge>) {
    return build(prometheus::BuildGauge());
  } else {
    return build(prometheus::BuildHistogram());
  }
}

template <typename Metric, typename... Labels>
class Series {
 public:
  // A family of its own.  `more`: names of the labels, or buckets.
  Series(prometheus::Registry& registry, const std::string& name, const std::string& help,
         const auto&... more)
      : Series(add_family<Metric>(registry, name, help), {}, more...) {}
  // Some of the series of `family`: those with `common` among their labels.
  Series(prometheus::Family<Metric>& family, const prometheus::Labels& common,
         std::convertible_to<const char*> auto... names)
      : Series(family, common, Names{names...}, Buckets{}) {
    static_assert(sizeof...(names) == sizeof...(Labels));
  }
  Series(prometheus::Family<Metric>& family, const prometheus::Labels& common, Buckets buckets)
      : Series(family, common, Names{}, buckets) {}

  // The series of these values.
  Metric& of(Labels... values) const {
    size_t index = 0;
    ((index = index * kValues<Labels> + static_cast<size_t>(values)), ...);
    return *series_[index];
  }

  // Of a counter.
  void count(Labels... values) const { of(values...).Increment(); }
  void add(uint64_t times, Labels... values) const {
    of(values...).Increment(static_cast<double>(times));
  }
  // Of a gauge without labels: a number, or whether something is so.
  void set(auto value) const { of().Set(static_cast<double>(value)); }
  // Of gauges that say which of its values something has: 1 for it, 0 for all others.
  void set_only(Labels... values) const {
    for (Metric* const each : series_) each->Set(0);
    of(values...).Set(1);
  }
  // Of a histogram without labels.
  void observe(Duration duration) const { of().Observe(seconds(duration)); }

 private:
  using Names = std::array<const char*, sizeof...(Labels)>;  // of the labels

  Series(prometheus::Family<Metric>& family, const prometheus::Labels& common, const Names& names,
         Buckets buckets) {
    for (size_t i = 0; i < series_.size(); ++i) {
      prometheus::Labels labels = labels_at(i, names, std::index_sequence_for<Labels...>{});
      labels.insert(common.begin(), common.end());
      if constexpr (std::is_same_v<Metric, prometheus::Histogram>) {
        series_[i] = &family.Add(labels, std::vector<double>(buckets.begin(), buckets.end()));
      } else {
        series_[i] = &family.Add(labels);
      }
    }
  }

  // The inverse of of(): the last label's value changes first.
  template <size_t... kPositions>
  static prometheus::Labels labels_at(size_t index, const Names& names,
                                      std::index_sequence<kPositions...>) {
    prometheus::Labels labels;
    constexpr std::array<size_t, sizeof...(Labels)> kCounts = {kValues<Labels>...};
    std::array<size_t, sizeof...(Labels)> values{};
    for (size_t i = sizeof...(Labels); i-- > 0; index /= kCounts[i]) values[i] = index % kCounts[i];
    (labels.emplace(names[kPositions], text_of(static_cast<Labels>(values[kPositions]))), ...);
    return labels;
  }

  std::array<Metric*, (kValues<Labels> * ... * size_t{1})> series_{};
};

template <typename... Labels>
using Counters = Series<prometheus::Counter, Labels...>;
template <typename... Labels>
using Gauges = Series<prometheus::Gauge, Labels...>;
template <typename... Labels>
using Histograms = Series<prometheus::Histogram, Labels...>;

// The same for each variant that the plugin has.
template <typename Metric, typename... Labels>
class SeriesByVariant {
 public:
  SeriesByVariant(prometheus::Registry& registry, const std::vector<std::string>& variants,
                  const std::string& name, const std::string& help, const auto&... more) {
    auto& family = add_family<Metric>(registry, name, help);
    for (const std::string& variant : variants) {
      by_variant_.try_emplace(variant, family, prometheus::Labels{{"variant", variant}}, more...);
    }
  }

  // Of one of the variants.
  const Series<Metric, Labels...>& of(const std::string& variant) const {
    return by_variant_.at(variant);
  }

  // Of gauges: 1 for this variant, 0 for all others.
  void set_only(const std::string& variant) const {
    for (const auto& [name, series] : by_variant_) series.set(name == variant);
  }

 private:
  std::map<std::string, Series<Metric, Labels...>> by_variant_;
};

// Not every route answers with every code: series for the codes of each, and for "other".
class HttpCounters {
 public:
  HttpCounters(prometheus::Registry& registry, const std::vector<HttpRoute>& routes,
               const std::string& name, const std::string& help);

  // `route`: its place among the routes.
  void count(size_t route, unsigned code) const;

 private:
  struct Counted {
    std::span<const unsigned> codes;
    std::vector<prometheus::Counter*> series{};  // of the codes, and last of "other"
  };
  std::vector<Counted> routes_;
};

}  // namespace bellwether::metrics
