/* Moves the wall clock of a process by as many seconds as the file $WRONG_CLOCK says (int64_t). Other clocks stay.
   The file is mapped, so a change counts at once. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *offset_s;

__attribute__((constructor)) static void map_offset(void)
{
    int file = open(getenv("WRONG_CLOCK"), O_RDONLY);
    void *mapped = mmap(NULL, sizeof *offset_s, PROT_READ, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
        abort();
    offset_s = mapped;
    close(file);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    long failed = syscall(SYS_clock_gettime, clock, now);
    if (!failed && offset_s && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += *offset_s;
    return (int)failed;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec fine;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &fine);
    now->tv_sec = fine.tv_sec;
    now->tv_usec = fine.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *kept)
{
    struct timespec fine;
    clock_gettime(CLOCK_REALTIME, &fine);
    if (kept)
        *kept = fine.tv_sec;
    return fine.tv_sec;
}
