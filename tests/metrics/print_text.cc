// Prints the text of a process that leads, so that every metric is in it.
#include <iostream>

#include "scrape.hh"

int main() {
  bellwether::metrics::Metrics metrics(bellwether::tests::sample_identity());
  metrics.set_leader("orders-0", {});
  metrics.set_leading(bellwether::tests::at(std::chrono::seconds(1)));
  std::cout << bellwether::tests::text_of(metrics);
}
