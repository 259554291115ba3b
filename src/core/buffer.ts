/** Frees large buffers at once instead of leaving them to the garbage collector. */

/** Frees a buffer's memory now; the buffer is empty afterwards. */
export function free({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}

/** Frees a chunk that was read from a stream, unless its memory may be shared. */
export function freePart(part: Uint8Array): void {
  if (part.byteLength === part.buffer.byteLength) free(part);
}
