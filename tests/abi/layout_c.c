/* The layout of the plugin ABI as a C compiler sees it. */
#include "layout.inc"

#define ROW(type, field)  \
  {#type,                 \
   #field,                \
   sizeof(type),          \
   _Alignof(type),        \
   offsetof(type, field), \
   sizeof(((const type*)NULL)->field)},

const layout_field* layout_seen_by_c(void) {
  /* NOLINTNEXTLINE(bugprone-sizeof-expression): of a field that is a pointer, this is the size */
  static const layout_field kReport[] = {ALL_FIELDS(ROW){NULL, NULL, 0, 0, 0, 0}};
  return kReport;
}
