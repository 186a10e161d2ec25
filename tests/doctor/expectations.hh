// How a test says what a check must find.
#pragma once

#include <boost/test/unit_test.hpp>
#include <string>

#include "healthy_facts.hh"

namespace bellwether::doctor {

// One finding, which begins with "warning: ..." and so on, up to where the remedy begins.
inline void expect_one(const Facts& facts, const std::string& check, const std::string& start) {
  const std::string lines = findings(facts, check);
  BOOST_TEST(lines.starts_with(start), "\"" << start << "\" is not how this begins: " << lines);
  BOOST_TEST(std::count(lines.begin(), lines.end(), '\n') == 1, "not one line: " << lines);
}

}  // namespace bellwether::doctor
