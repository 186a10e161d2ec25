# Joins the files of this folder to one page, and writes it with its Content-Security-Policy as C++.
# The policy names style and scripts by their SHA-256, so it needs no number made for each answer.
#
# usage: cmake -D FOLDER=this -D OUTPUT=ui_page.cc -P embed.cmake
cmake_minimum_required(VERSION 3.25)

# A SHA-256 of 64 hexadecimal digits in base64, as policies have it.
function(to_base64 digest result)
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  set(text "")
  # 256 bits are 42 letters and 4 bits: two zeros complete the 43rd, and "=" takes the 44th's place.
  foreach(begin RANGE 0 60 6)
    string(SUBSTRING "${digest}00" ${begin} 6 digits)
    foreach(shift 18 12 6 0)
      math(EXPR index "(0x${digits} >> ${shift}) & 63")
      string(SUBSTRING "${alphabet}" ${index} 1 letter)
      string(APPEND text ${letter})
    endforeach()
  endforeach()
  string(SUBSTRING "${text}" 0 43 text)
  set(${result} "${text}=" PARENT_SCOPE)
endfunction()

# Puts a file in the place of the tag that loads it; appends its hash to `hashes`.
macro(embed tag begin file end hashes)
  file(READ "${FOLDER}/${file}" content)
  string(FIND "${page}" "${tag}" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "index.html does not load ${file} by ${tag}")
  endif()
  string(REPLACE "${tag}" "${begin}${content}${end}" page "${page}")
  string(SHA256 digest "${content}")
  to_base64(${digest} hash)
  string(APPEND ${hashes} " 'sha256-${hash}'")
endmacro()

file(READ "${FOLDER}/index.html" page)
set(style_hashes "")
set(script_hashes "")
embed("<link rel=\"stylesheet\" href=\"style.css\">" "<style>" style.css "</style>" style_hashes)
foreach(script view.js page.js)
  embed("<script src=\"${script}\"></script>" "<script>" ${script} "</script>" script_hashes)
endforeach()
if(page MATCHES "\\)page\"")
  message(FATAL_ERROR "the page contains what ends it in C++")
endif()

string(CONCAT policy "default-src 'none'; style-src${style_hashes}; script-src${script_hashes}; "
  "img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
  "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'")

file(WRITE "${OUTPUT}" "// Made by ui/embed.cmake of the files beside it.
#include \"api/bodies.hh\"

namespace bellwether::api {

std::string_view ui_page() { return R\"page(${page})page\"; }

std::string_view ui_policy() { return \"${policy}\"; }

}  // namespace bellwether::api
")
