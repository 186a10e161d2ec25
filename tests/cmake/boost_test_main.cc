// main() of every Boost.Test executable, compiled once.
#define BOOST_TEST_MODULE bellwether
#include <boost/test/unit_test.hpp>
