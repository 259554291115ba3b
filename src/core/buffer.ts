/** Large buffers, whose memory is not left to the collector. */

/** Gives a buffer's memory back now rather than when it is collected; it is empty then. */
export function free({ buffer }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0);
}

/** The same for a part of a stream that has been read, unless others may have a share in its memory. */
export function freePart(part: Uint8Array): void {
  if (part.byteLength === part.buffer.byteLength) free(part);
}
