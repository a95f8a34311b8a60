#include "common/helpers/freed_memory.h"

#include <malloc.h>

namespace warpwise {

void keep_freed_memory() {
#ifdef __GLIBC__
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1);
#endif
}

}  // namespace warpwise
