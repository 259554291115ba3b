/*
 * Lets User-mode Linux start on processors whose XSAVE area exceeds its buffer (AVX-512, AMX), where the kernel
 * refuses to set registers. Reads the whole area first, and writes it back with the guest's part on top.
 *
 *   cc -shared -fPIC -O2 -o ptrace-xstate.so ptrace-xstate.c
 */
#define _GNU_SOURCE
#include <elf.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef NT_X86_XSTATE
#define NT_X86_XSTATE 0x202
#endif

static __thread char area[65536];

static long trace(long request, pid_t pid, void *address, void *data)
{
  return syscall(SYS_ptrace, request, pid, address, data);
}

static long exchange_registers(long request, pid_t pid, void *address, struct iovec *part)
{
  struct iovec whole = {area, sizeof area};
  long result = trace(PTRACE_GETREGSET, pid, address, &whole);
  if (result < 0)
    return result;
  size_t length = part->iov_len < whole.iov_len ? part->iov_len : whole.iov_len;
  if (request == PTRACE_GETREGSET) {
    memcpy(part->iov_base, area, length);
    part->iov_len = length;
    return 0;
  }
  memcpy(area, part->iov_base, length);
  return trace(PTRACE_SETREGSET, pid, address, &whole);
}

long ptrace(enum __ptrace_request request, ...)
{
  va_list arguments;
  va_start(arguments, request);
  pid_t pid = va_arg(arguments, pid_t);
  void *address = va_arg(arguments, void *);
  void *data = va_arg(arguments, void *);
  va_end(arguments);
  if ((request == PTRACE_SETREGSET || request == PTRACE_GETREGSET) && (long)address == NT_X86_XSTATE)
    return exchange_registers(request, pid, address, data);
  /* The library's wrapper returns what was read; the system call stores it. */
  if (request == PTRACE_PEEKUSER || request == PTRACE_PEEKDATA || request == PTRACE_PEEKTEXT) {
    long word;
    long result = trace(request, pid, address, &word);
    return result < 0 ? result : word;
  }
  return trace(request, pid, address, data);
}
