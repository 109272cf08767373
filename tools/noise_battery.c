/* Run one TestU01 battery on the 32-bit words of standard input.

   noise_battery smallcrush|crush|rabbit|alphabit plain|reversed|normal bits

   Views of the words: as they are; bits reversed (the low bits come first); the 24 bits
   that a normal uses (31..9 and 0), packed. `bits` is the length for rabbit and alphabit.
   Prints "P<tab>p-value<tab>name" per statistic and "N<tab>words read" last. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<testu01/unif01.h>) /* Debian */
#include <testu01/bbattery.h>
#include <testu01/swrite.h>
#include <testu01/unif01.h>
#else
#include <bbattery.h>
#include <swrite.h>
#include <unif01.h>
#endif

static uint32_t buffer[1 << 16];
static size_t filled, taken;
static unsigned long long words;

static inline uint32_t next(void) {
    if (taken == filled) {
        filled = fread(buffer, 4, sizeof buffer / 4, stdin);
        taken = 0;
        if (filled == 0) {
            fprintf(stderr, "the words ran out\n");
            exit(1);
        }
    }
    words++;
    return buffer[taken++];
}

static unsigned int plain(void) { return next(); }

static unsigned int reversed(void) {
    uint32_t x = __builtin_bswap32(next());
    x = (x >> 4 & 0x0F0F0F0Fu) | (x & 0x0F0F0F0Fu) << 4;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    return (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
}

static unsigned int normal(void) {
    static uint64_t pool;
    static int held;
    while (held < 32) {
        uint32_t x = next();
        pool = pool << 24 | (x >> 9) << 1 | (x & 1);
        held += 24;
    }
    held -= 32;
    return (unsigned int)(pool >> held);
}

int main(int count, char **argument) {
    if (count != 4) return 2;
    unsigned int (*view)(void) = argument[2][0] == 'p' ? plain : argument[2][0] == 'r' ? reversed : normal;
    double bits = atof(argument[3]);
    unif01_Gen *generator = unif01_CreateExternGenBits("words", view);
    swrite_Basic = FALSE;
    if (!strcmp(argument[1], "smallcrush")) bbattery_SmallCrush(generator);
    else if (!strcmp(argument[1], "crush")) bbattery_Crush(generator);
    else if (!strcmp(argument[1], "rabbit")) bbattery_Rabbit(generator, bits);
    else if (!strcmp(argument[1], "alphabit")) bbattery_Alphabit(generator, bits, 0, 32);
    else return 2;
    for (int i = 0; i < bbattery_NTests; i++)
        printf("P\t%.17g\t%s\n", bbattery_pVal[i], bbattery_TestNames[i]);
    printf("N\t%llu\n", words);
    return 0;
}
