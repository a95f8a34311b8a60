// The warp view and the block view (common/views) as text that a page can hold. report_views.cmake writes it into the
// program when that is built.
#pragma once

#include <string_view>

namespace guide {

/// All modules as one script; report_views.mjs, the last one, says what it looks for in the page.
extern const std::string_view views_script;
extern const std::string_view views_style;

}  // namespace guide
