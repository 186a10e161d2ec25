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
#include <cstddef>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "metrics/identity.hh"
#include "metrics/labels.hh"

namespace bellwether::metrics {

// What people read as two words is one in a label: "in force" is in_force.
template <typename Label>
std::string text_of(Label value) {
  std::string text = name(value);
  std::replace(text.begin(), text.end(), ' ', '_');
  return text;
}

struct Description {
  std::string name;
  std::string help;
  prometheus::Labels constant_labels{};  // of all series
};

// A metric without series; the registry owns it.
template <typename Metric>
prometheus::Family<Metric>& add_family(prometheus::Registry& registry, const Description& about) {
  const auto build = [&](auto&& builder) -> prometheus::Family<Metric>& {
    return builder.Name(about.name)
        .Help(about.help)
        .Labels(about.constant_labels)
        .Register(registry);
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
  // `buckets`: the upper bounds of a histogram, ascending; +Inf is added.
  Series(prometheus::Registry& registry, const Description& about,
         const std::array<const char*, sizeof...(Labels)>& names = {},
         const std::vector<double>& buckets = {})
      : Series(add_family<Metric>(registry, about), {}, names, buckets) {}

  // Some of the series of `family`: those with `common` among their labels.
  Series(prometheus::Family<Metric>& family, const prometheus::Labels& common,
         const std::array<const char*, sizeof...(Labels)>& names,
         const std::vector<double>& buckets) {
    for (size_t i = 0; i < series_.size(); ++i) {
      prometheus::Labels labels = labels_at(i, names, std::index_sequence_for<Labels...>{});
      labels.insert(common.begin(), common.end());
      if constexpr (std::is_same_v<Metric, prometheus::Histogram>) {
        series_[i] = &family.Add(labels, buckets);
      } else {
        series_[i] = &family.Add(labels);
      }
    }
  }

  // The series of these values.
  Metric& of(Labels... values) const {
    size_t index = 0;
    ((index = index * kValues<Labels> + static_cast<size_t>(values)), ...);
    return *series_[index];
  }

 private:
  // The inverse of of(): the last label's value changes first.
  template <size_t... kPositions>
  static prometheus::Labels labels_at(size_t index,
                                      const std::array<const char*, sizeof...(Labels)>& names,
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
                  const Description& about,
                  const std::array<const char*, sizeof...(Labels)>& names = {},
                  const std::vector<double>& buckets = {}) {
    auto& family = add_family<Metric>(registry, about);
    for (const std::string& variant : variants) {
      by_variant_.try_emplace(variant, family, prometheus::Labels{{"variant", variant}}, names,
                              buckets);
    }
  }

  // Of one of the variants.
  const Series<Metric, Labels...>& of(const std::string& variant) const {
    return by_variant_.at(variant);
  }

 private:
  std::map<std::string, Series<Metric, Labels...>> by_variant_;
};

// Not every route answers with every code: series for the codes of each, and for "other".
class HttpCounters {
 public:
  HttpCounters(prometheus::Registry& registry, const std::vector<HttpRoute>& routes,
               const Description& about);

  prometheus::Counter& of(size_t route, unsigned code) const;

 private:
  struct Counted {
    std::span<const unsigned> codes;
    std::vector<prometheus::Counter*> series{};  // of the codes, and last of "other"
  };
  std::vector<Counted> routes_;
};

}  // namespace bellwether::metrics
