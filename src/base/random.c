#include "base/random.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

void random_secret(void *out, size_t size)
{
    char *at = out;
    while (size) {
        ssize_t got = getrandom(at, size, 0);
        if (got < 0) {
            perror("tickettock: getrandom");
            abort();
        }
        at += got;
        size -= (size_t)got;
    }
}

/* splitmix64 */
uint64_t random_fast(void)
{
    static _Thread_local uint64_t state;
    static _Thread_local bool seeded;
    if (!seeded) {
        random_secret(&state, sizeof(state));
        seeded = true;
    }
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void random_letters(char out[RANDOM_LETTERS])
{
    uint64_t random = random_fast();
    for (size_t i = 0; i < RANDOM_LETTERS; i++, random >>= 4)
        out[i] = (char)('a' + (random & 15));
}

uint64_t random_below(uint64_t below)
{
    return (uint64_t)(((unsigned __int128)random_fast() * below) >> 64);
}
