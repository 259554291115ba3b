/*
 * Fails calls of a process as a rules file says: one byte for each kind of call, 0 for success, else the errno.
 * Applies only to files of the database, whose path contains "gatehouse.db".
 *
 *   cc -shared -fPIC -O2 -o bad-disk.so bad-disk.c -ldl      BAD_DISK=FILE LD_PRELOAD=./bad-disk.so gatehouse serve
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

enum { DATASYNC, SYNC, WRITE, READ, TRUNCATE, KINDS };

static volatile const unsigned char *rules;

__attribute__((constructor)) static void begin(void)
{
  const char *path = getenv("BAD_DISK");
  int file = path ? open(path, O_RDONLY) : -1;
  if (file < 0)
    return;
  void *page = mmap(NULL, KINDS, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (page != MAP_FAILED)
    rules = page;
}

static int fails(int kind, int descriptor)
{
  char link[40], path[600];
  if (!rules || !rules[kind])
    return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0)
    return 0;
  path[length] = 0;
  if (!strstr(path, "gatehouse.db"))
    return 0;
  errno = rules[kind];
  return 1;
}

#define REAL(name) ((typeof(&name))real(#name))
static void *real(const char *name)
{
  return dlsym(RTLD_NEXT, name);
}

int fdatasync(int descriptor)
{
  return fails(DATASYNC, descriptor) ? -1 : REAL(fdatasync)(descriptor);
}

int fsync(int descriptor)
{
  return fails(SYNC, descriptor) ? -1 : REAL(fsync)(descriptor);
}

ssize_t pwrite64(int descriptor, const void *data, size_t length, off64_t offset)
{
  return fails(WRITE, descriptor) ? -1 : REAL(pwrite64)(descriptor, data, length, offset);
}

ssize_t pwrite(int descriptor, const void *data, size_t length, off_t offset)
{
  return fails(WRITE, descriptor) ? -1 : REAL(pwrite)(descriptor, data, length, offset);
}

ssize_t pread64(int descriptor, void *data, size_t length, off64_t offset)
{
  return fails(READ, descriptor) ? -1 : REAL(pread64)(descriptor, data, length, offset);
}

ssize_t pread(int descriptor, void *data, size_t length, off_t offset)
{
  return fails(READ, descriptor) ? -1 : REAL(pread)(descriptor, data, length, offset);
}

int ftruncate64(int descriptor, off64_t length)
{
  return fails(TRUNCATE, descriptor) ? -1 : REAL(ftruncate64)(descriptor, length);
}

int ftruncate(int descriptor, off_t length)
{
  return fails(TRUNCATE, descriptor) ? -1 : REAL(ftruncate)(descriptor, length);
}
