// What the figure must have whatever it looks like: it is well-formed, every count is a point at
// its place on both axes, the axes carry round numbers, and nothing falls out of the picture.
#include "simulator/plot.hh"

#include <algorithm>
#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <boost/test/unit_test.hpp>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using bellwether::simulator::draw_plot;
using bellwether::simulator::Initiator;
using bellwether::simulator::TableRow;
using boost::property_tree::ptree;

TableRow row(const std::string& variant, uint32_t processes, uint64_t total) {
  TableRow row;
  row.variant = variant;
  row.processes = processes;
  row.election = total;
  return row;
}

const std::vector<TableRow> kRows{row("classic", 4, 11),   row("classic", 10, 89),
                                  row("classic", 28, 755), row("modified", 4, 8),
                                  row("modified", 10, 26), row("modified", 28, 80)};

std::string draw(const std::vector<TableRow>& rows, Initiator initiator = Initiator::kLowest) {
  std::ostringstream out;
  draw_plot(out, rows, initiator, {"classic", "modified"});
  return out.str();
}

struct Point {
  double x = 0;
  double y = 0;
};

// The parsed figure.
class Figure {
 public:
  explicit Figure(const std::vector<TableRow>& rows) {
    std::istringstream in(draw(rows));
    ptree document;
    boost::property_tree::read_xml(in, document);
    svg_ = document.get_child("svg");
  }

  const ptree& svg() const { return svg_; }

  // All elements of this name, at any depth, whose class contains the word.
  std::vector<ptree> find(const std::string& name, const std::string& word = "") const {
    std::vector<ptree> found;
    collect(svg_, name, word, found);
    return found;
  }

  std::vector<std::string> texts(const std::string& word) const {
    std::vector<std::string> texts;
    for (const ptree& element : find("text", word)) texts.push_back(element.data());
    return texts;
  }

  // The number at each tick and where the tick is.
  std::map<double, double> ticks(const std::string& word, const char* coordinate) const {
    std::map<double, double> ticks;
    for (const ptree& element : find("text", word)) {
      std::string number = element.data();
      std::erase(number, ',');
      if (number.find_first_not_of("0123456789") != std::string::npos) continue;  // the axis' title
      ticks[std::stod(number)] = attribute<double>(element, coordinate);
    }
    return ticks;
  }

  // The points of each polyline.
  std::vector<std::vector<Point>> curves() const {
    std::vector<std::vector<Point>> curves;
    for (const ptree& polyline : find("polyline")) {
      std::istringstream in(attribute<std::string>(polyline, "points"));
      std::vector<Point> points;
      char comma = 0;
      for (Point point; in >> point.x >> comma >> point.y;) points.push_back(point);
      curves.push_back(std::move(points));
    }
    return curves;
  }

  template <typename Value>
  static Value attribute(const ptree& element, const std::string& name) {
    return element.get<Value>("<xmlattr>." + name);
  }

 private:
  static void collect(const ptree& parent, const std::string& name, const std::string& word,
                      std::vector<ptree>& found) {
    for (const auto& [child_name, child] : parent) {
      const std::string classes = " " + child.get("<xmlattr>.class", "") + " ";
      const bool has_word = word.empty() || classes.find(" " + word + " ") != std::string::npos;
      if (child_name == name && has_word) found.push_back(child);
      collect(child, name, word, found);
    }
  }

  ptree svg_;
};

// Where `value` belongs on an axis, judged by two of its ticks.
double place(const std::map<double, double>& ticks, double value) {
  const auto [first, first_at] = *ticks.begin();
  const auto [last, last_at] = *ticks.rbegin();
  return first_at + (last_at - first_at) * (value - first) / (last - first);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(plot)

BOOST_AUTO_TEST_CASE(the_figure_is_one_well_formed_svg_with_a_title_and_a_description) {
  const Figure figure(kRows);
  BOOST_TEST(Figure::attribute<std::string>(figure.svg(), "xmlns") == "http://www.w3.org/2000/svg");
  BOOST_TEST(Figure::attribute<std::string>(figure.svg(), "role") == "img");
  BOOST_TEST(!figure.svg().get<std::string>("title").empty());
  const auto description = figure.svg().get<std::string>("desc");
  BOOST_TEST(description.find("classic: 11 messages with 4 processes, 755 with 28") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(it_fits_light_and_dark_pages_and_runs_no_script) {
  const Figure figure(kRows);
  const auto style = figure.svg().get<std::string>("style");
  BOOST_TEST(style.find("@media (prefers-color-scheme: dark)") != std::string::npos);
  BOOST_TEST(figure.find("script").empty());
  BOOST_TEST(draw(kRows).find("href") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(each_variant_is_one_line_with_its_name_and_last_count_at_the_end) {
  const Figure figure(kRows);
  BOOST_TEST(figure.find("polyline").size() == 2u);
  auto names = figure.texts("name");
  std::sort(names.begin(), names.end());
  BOOST_TEST(names == (std::vector<std::string>{"classic", "modified"}),
             boost::test_tools::per_element());
  auto counts = figure.texts("count");
  std::sort(counts.begin(), counts.end());
  BOOST_TEST(counts == (std::vector<std::string>{"755 messages", "80 messages"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(every_count_is_a_point_at_its_place_on_both_axes) {
  const Figure figure(kRows);
  const auto x_ticks = figure.ticks("x-tick", "x");
  // The baseline of the text is a little below the line that it names, everywhere the same.
  auto y_ticks = figure.ticks("y-tick", "y");
  const double shift =
      Figure::attribute<double>(figure.find("line", "axis").back(), "y1") - y_ticks.at(0);
  for (auto& [number, at] : y_ticks) at += shift;

  const auto curves = figure.curves();
  BOOST_TEST_REQUIRE(curves.size() == 2u);
  for (size_t i = 0; i < kRows.size(); ++i) {
    BOOST_TEST_CONTEXT(kRows[i].variant << ", " << kRows[i].processes) {
      const auto& points = curves[i / 3];
      BOOST_TEST_REQUIRE(points.size() == 3u);
      const Point& point = points[i % 3];
      BOOST_TEST(std::abs(point.x - place(x_ticks, kRows[i].processes)) < 0.2);
      BOOST_TEST(std::abs(point.y - place(y_ticks, static_cast<double>(kRows[i].total()))) < 0.2);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_count_has_a_marker_that_names_it) {
  std::vector<std::string> titles;
  for (const ptree& group : Figure(kRows).find("g", "points")) {
    for (const auto& [name, marker] : group) {
      if (name != "<xmlattr>") titles.push_back(marker.get<std::string>("title"));
    }
  }
  BOOST_TEST_REQUIRE(titles.size() == kRows.size());
  BOOST_TEST(titles.front() == "classic, 4 processes: 11 messages");
  BOOST_TEST(titles.back() == "modified, 28 processes: 80 messages");
}

BOOST_AUTO_TEST_CASE(the_axes_carry_a_few_round_numbers_from_zero_on) {
  const Figure figure(kRows);
  std::vector<double> x;
  for (const auto& [number, at] : figure.ticks("x-tick", "x")) x.push_back(number);
  std::vector<double> y;
  for (const auto& [number, at] : figure.ticks("y-tick", "y")) y.push_back(number);
  BOOST_TEST(x == (std::vector<double>{0, 5, 10, 15, 20, 25, 30}),
             boost::test_tools::per_element());
  BOOST_TEST(y == (std::vector<double>{0, 200, 400, 600, 800}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(whatever_the_sizes_a_handful_of_ticks_covers_them) {
  const std::vector<std::pair<uint32_t, uint32_t>> ranges{
      {2, 2}, {2, 3}, {2, 12}, {4, 28}, {7, 61}, {99, 101}, {500, 1000}, {998, 1000}, {2, 1000}};
  for (const auto& [smallest, largest] : ranges) {
    BOOST_TEST_CONTEXT(smallest << " to " << largest) {
      const uint64_t most = uint64_t{largest} * largest - largest - 1;
      const Figure figure({row("classic", smallest, 1), row("classic", largest, most)});
      const auto x_ticks = figure.ticks("x-tick", "x");
      const auto y_ticks = figure.ticks("y-tick", "y");
      BOOST_TEST((x_ticks.size() >= 2 && x_ticks.size() <= 8));
      BOOST_TEST((y_ticks.size() >= 2 && y_ticks.size() <= 8));
      BOOST_TEST(x_ticks.begin()->first <= smallest);
      BOOST_TEST(x_ticks.rbegin()->first >= largest);
      BOOST_TEST(y_ticks.begin()->first == 0);
      BOOST_TEST(y_ticks.rbegin()->first >= static_cast<double>(most));
    }
  }
}

BOOST_AUTO_TEST_CASE(sizes_are_drawn_in_rising_order_however_they_are_given) {
  const Figure figure({row("classic", 28, 755), row("classic", 4, 11), row("classic", 10, 89)});
  const auto curves = figure.curves();
  BOOST_TEST_REQUIRE(curves.size() == 1u);
  BOOST_TEST(std::is_sorted(curves[0].begin(), curves[0].end(),
                            [](const Point& a, const Point& b) { return a.x < b.x; }));
}

BOOST_AUTO_TEST_CASE(names_do_not_overlap_and_stay_in_the_picture_even_if_all_counts_are_equal) {
  for (const uint64_t count : {0u, 1u, 1000u}) {
    const Figure figure({row("a", 4, count), row("b", 4, count), row("c", 4, count)});
    std::vector<double> heights;
    for (const ptree& name : figure.find("text", "name")) {
      heights.push_back(Figure::attribute<double>(name, "y"));
    }
    std::sort(heights.begin(), heights.end());
    BOOST_TEST_REQUIRE(heights.size() == 3u);
    BOOST_TEST(heights[1] - heights[0] >= 30);
    BOOST_TEST(heights[2] - heights[1] >= 30);
    BOOST_TEST(heights[0] > 0);
    BOOST_TEST(heights[2] < Figure::attribute<double>(figure.svg(), "height"));
  }
}

BOOST_AUTO_TEST_CASE(a_variant_looks_the_same_alone_and_in_company) {
  const Figure alone({row("modified", 4, 8)});
  BOOST_TEST(alone.find("polyline", "curve-1").size() == 1u);
  BOOST_TEST(Figure(kRows).find("polyline", "curve-1").size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_variant_may_have_any_name) {
  const std::string name = "<b> & \"c\" ]]>";
  const Figure figure({row(name, 4, 8)});
  BOOST_TEST(figure.texts("name").at(0) == name);
}

BOOST_AUTO_TEST_CASE(the_figure_says_who_noticed) {
  const auto says = [](Initiator initiator, const char* who) {
    return draw(kRows, initiator).find(std::string("died and ") + who) != std::string::npos;
  };
  BOOST_TEST(says(Initiator::kLowest, "the lowest noticed"));
  BOOST_TEST(says(Initiator::kHighest, "the next in line noticed"));
  BOOST_TEST(says(Initiator::kAll, "all noticed at once"));
}

BOOST_AUTO_TEST_CASE(no_rows_give_empty_axes) {
  const Figure figure(std::vector<TableRow>{});
  BOOST_TEST(figure.find("polyline").empty());
  BOOST_TEST(figure.ticks("x-tick", "x").size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
