/* Random numbers: from the kernel for secrets, from a fast generator for ids and jitter. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Fit for keys and tokens. Stops the program if the kernel has none. */
void random_secret(void *out, size_t size);

/* Unpredictable enough for trace ids, UUIDs and back-off; never for secrets. One
 * generator per thread, seeded from the kernel. */
uint64_t random_fast(void);

/* The same as 16 letters, without a NUL. */
enum { RANDOM_LETTERS = 16 };
void random_letters(char out[RANDOM_LETTERS]);

/* 0 … below - 1 */
uint64_t random_below(uint64_t below);

#endif
