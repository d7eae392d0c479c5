/* Comes before each file of the engine's C.
 *
 * The engine takes WASI to have no stack that it could measure, and never notices that it recurses too deeply: a script that
 * does would end the process. There is one, in the process's memory, whose limit `src/engine.rs` sets. So what WASI needs of
 * the C library is included first, and then the engine is told that this is not WASI, but something whose allocator
 * knows the sizes of what it gave out. */
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
