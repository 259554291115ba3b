/** Decides which addresses this server may request for others: public ones, and ranges the operator has opened. */
import type { BlockList } from 'node:net';
import { canonicalAddress, familyOf, isPublicAddress } from '../core/ip-address.ts';

/** @param opened ranges that the operator allows although they are not public. */
export function isAddressAllowed(address: string, opened: BlockList): boolean {
  // A zone names a link of this machine, so such an address is refused.
  const plain = address.includes('%') ? null : canonicalAddress(address);
  return plain !== null && (opened.check(plain, familyOf(plain)) || isPublicAddress(plain));
}
