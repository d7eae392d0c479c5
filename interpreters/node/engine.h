/* Included before each file of the engine's C.
 *
 * The engine assumes that WASI has no stack that it could measure, and never notices a recursion that is too deep: such a
 * script would end the process. There is a stack, in the process's memory, and `src/engine.rs` sets its limit. So the parts
 * of the C library that WASI needs are included first, and then the engine is told that this is not WASI, but a system whose
 * allocator knows the sizes of its blocks. */
#include <assert.h>
#include <errno.h>
#include <fenv.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#undef __wasi__
#define __ANDROID__ 1
