/*
 * Skips the flush that an acknowledgement waits for (fdatasync of the write-ahead log): the control of the power cuts.
 * SQLite's own flushes are fsync and stay.
 *
 *   cc -shared -fPIC -O2 -o no-flush.so no-flush.c
 */
int fdatasync(int descriptor)
{
  (void)descriptor;
  return 0;
}
