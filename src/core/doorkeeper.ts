/** Filter before a cache: a key that is requested once would evict reused keys, and add garbage. */

/** Bits by the hashes of keys: 128 KiB. */
const BITS = 2 ** 20;
/** Set bits at which one key in eight would be mistaken for another: the filter is cleared. */
const MOST_SET = BITS / 8;

/** @returns whether a key with this hash of 32 bits was requested lately. */
export function doorkeeper(): (hash: number) => boolean {
  const bits = new Uint8Array(BITS / 8);
  let set = 0;
  return (hash) => {
    const bit = hash & (BITS - 1);
    const [at, mask] = [bit >>> 3, 1 << (bit & 7)];
    const byte = bits[at] as number;
    if ((byte & mask) !== 0) return true;
    if ((set += 1) > MOST_SET) {
      bits.fill(0);
      set = 1;
    }
    bits[at] = (bits[at] as number) | mask;
    return false;
  };
}
