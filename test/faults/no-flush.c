/*
 * Leaves out the flush that the server waits for before it acknowledges (fdatasync of the write-ahead log, off its loop):
 * the control of the power cuts. SQLite's own flushes are fsync here and stay, so all that is missing is that one.
 *
 *   cc -shared -fPIC -O2 -o no-flush.so no-flush.c
 */
int fdatasync(int descriptor)
{
  (void)descriptor;
  return 0;
}
