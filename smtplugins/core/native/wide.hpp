// SMT_WIDE marks a loop over many numbers that is compiled for wider registers, too; the processor chooses when the
// module is loaded. Results are the same to the last bit: AVX2 alone fuses no multiplication with an addition.
#pragma once

#include <cstddef>  // tells which C library there is: the choice is that of glibc's loader

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && \
    !defined(__SANITIZE_ADDRESS__)
#define SMT_WIDE __attribute__((target_clones("default", "avx2")))
#else
#define SMT_WIDE
#endif
