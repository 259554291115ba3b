/*
 * Moves a process's wall clock by the milliseconds in a file: eight signed bytes in the machine's byte order.
 * Monotonic clocks stay unchanged.
 *
 *   cc -shared -fPIC -O2 -o moved-clock.so moved-clock.c -ldl      MOVED_CLOCK=FILE LD_PRELOAD=./moved-clock.so gatehouse serve
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile const int64_t *offset;

__attribute__((constructor)) static void begin(void)
{
  const char *path = getenv("MOVED_CLOCK");
  int file = path ? open(path, O_RDONLY) : -1;
  if (file < 0)
    return;
  void *page = mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (page != MAP_FAILED)
    offset = page;
}

static void move(int64_t *seconds, int64_t *fraction, int64_t second)
{
  int64_t ms = offset ? *offset : 0;
  *seconds += ms / 1000;
  *fraction += ms % 1000 * (second / 1000);
  if (*fraction < 0) {
    *fraction += second;
    *seconds -= 1;
  } else if (*fraction >= second) {
    *fraction -= second;
    *seconds += 1;
  }
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
  static int (*real)(clockid_t, struct timespec *);
  if (!real)
    real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    move(&now->tv_sec, &now->tv_nsec, 1000000000);
  return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
  (void)zone;
  struct timespec time;
  int result = clock_gettime(CLOCK_REALTIME, &time);
  now->tv_sec = time.tv_sec;
  now->tv_usec = time.tv_nsec / 1000;
  return result;
}

time_t time(time_t *seconds)
{
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (seconds)
    *seconds = now.tv_sec;
  return now.tv_sec;
}
