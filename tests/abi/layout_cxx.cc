// The layout of the plugin ABI as a C++ compiler sees it.
#include "layout.inc"

#define ROW(type, field) \
  {#type, #field, sizeof(type), alignof(type), offsetof(type, field), sizeof(type::field)},

const layout_field* layout_seen_by_cxx() {
  // NOLINTNEXTLINE(bugprone-sizeof-expression): of a field that is a pointer, this is the size
  static const layout_field kReport[] = {ALL_FIELDS(ROW){nullptr, nullptr, 0, 0, 0, 0}};
  return kReport;
}
