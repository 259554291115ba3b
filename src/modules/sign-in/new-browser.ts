/** Recognises a sign-in in a browser that has not signed the person in before, of which they are told by mail. */
import type { Unit } from '../../db/database.ts';
import { hasComeAnywhere } from '../../store/memberships.ts';
import type { User } from '../../store/people.ts';
import type { BrowserOf } from '../codes/code-challenge.ts';

/**
 * Returns whether a person who has signed in before does so in another browser. The first proof of an address has a mail
 * of its own, and browsers are remembered only after it.
 */
export async function isNewBrowserOf(
  unit: Unit,
  known: User | undefined,
  pageBrowser: BrowserOf | null = null,
): Promise<boolean> {
  if (!known || known.emailVerifiedAt === null || pageBrowser === null) return false;
  return (await pageBrowser(unit, known.email)) === null && (await hasComeAnywhere(unit, known.id));
}
