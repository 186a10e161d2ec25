// The page of /ui as it is sent: what it may do in a browser is in its head.
#include <boost/test/unit_test.hpp>
#include <regex>

#include "api_fixture.hh"

namespace bellwether::tests {
namespace {

constexpr size_t kMaxBytes = size_t{40} * 1024;

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

struct UiFixture : ApiFixture {
  const Answered answer = get("/ui");
  const std::string page = answer->response->body;
  const std::string policy = answer->header("Content-Security-Policy");

  // What the policy says of one kind of content; "" when it says nothing.
  std::string directive(const std::string& name) const {
    const std::string parts = "; " + policy + ";";
    const size_t begin = parts.find("; " + name + " ");
    if (begin == std::string::npos) return "";
    const size_t value = begin + name.size() + 3;
    return parts.substr(value, parts.find(';', value) - value);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(ui, UiFixture)

BOOST_AUTO_TEST_CASE(it_is_a_small_page_of_html) {
  BOOST_TEST(answer->status() == 200u);
  BOOST_TEST(answer->response->content_type == "text/html; charset=utf-8");
  BOOST_TEST(page.ends_with("</html>\n"));
  BOOST_TEST(page.size() < kMaxBytes);
  BOOST_TEST(answered == std::vector<std::string>{"/ui 200"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(it_is_read_only_and_for_the_api_only) {
  BOOST_TEST(request({.method = "HEAD", .path = "/ui"})->status() == 200u);
  const auto refused = request({.method = "POST", .path = "/ui"});
  BOOST_TEST(refused->status() == 405u);
  BOOST_TEST(refused->header("Allow") == "GET, HEAD");
  BOOST_TEST(request({.method = "GET", .path = "/ui"}, api::Entrance::kMetrics)->status() == 404u);
}

BOOST_AUTO_TEST_CASE(a_stranger_does_not_get_it) {
  BOOST_TEST(get("/ui", {{"Host", "evil.example"}})->status() == 403u);
}

BOOST_AUTO_TEST_CASE(it_is_one_file_that_loads_no_other) {
  BOOST_TEST(count(page, "<style>") == 1u);
  BOOST_TEST(count(page, "<script>") == 2u);
  BOOST_TEST(count(page, "<script src") == 0u);
  BOOST_TEST(count(page, "stylesheet") == 0u);
  // The namespace of SVG is a name, not an address.
  BOOST_TEST(count(page, "://") == count(page, "http://www.w3.org/2000/svg"));
}

BOOST_AUTO_TEST_CASE(nothing_but_its_own_style_and_scripts_is_allowed_in_it) {
  const std::string hash = "'sha256-[A-Za-z0-9+/]{43}='";
  BOOST_TEST(directive("default-src") == "'none'");
  BOOST_TEST(std::regex_match(directive("style-src"), std::regex(hash)));
  BOOST_TEST(std::regex_match(directive("script-src"), std::regex(hash + " " + hash)));
  BOOST_TEST(directive("connect-src") == "'self'");
  for (const char* name : {"base-uri", "form-action", "frame-ancestors", "trusted-types"}) {
    BOOST_TEST(directive(name) == "'none'", name);
  }
  BOOST_TEST(directive("require-trusted-types-for") == "'script'");
  BOOST_TEST(directive("img-src") == "data:");
  BOOST_TEST(count(policy, "unsafe") == 0u);
}

BOOST_AUTO_TEST_CASE(it_makes_no_markup_of_text) {
  for (const char* word :
       {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("}) {
    BOOST_TEST(count(page, word) == 0u, word);
  }
  BOOST_TEST(!std::regex_search(page, std::regex("<[^>]* (on[a-z]+|style)=")));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace bellwether::tests
