/* Adds the seconds in the file $WEFT_SHIFT to the wall clock of a program, in the place of libc's function. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t id, struct timespec *time) {
    int (*of_libc)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int result = of_libc(id, time);
    FILE *file = id == CLOCK_REALTIME ? fopen(getenv("WEFT_SHIFT"), "r") : NULL;
    long shift = 0;
    if (file && fscanf(file, "%ld", &shift) == 1) time->tv_sec += shift;
    if (file) fclose(file);
    return result;
}
