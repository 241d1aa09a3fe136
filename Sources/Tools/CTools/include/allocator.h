// The allocator's own statistics, which the standard module map of the C library leaves out.
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif
