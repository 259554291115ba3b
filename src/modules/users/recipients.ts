/** Resolves addresses for a workspace. People it has never seen look the same as unknown ones. */
import type { Reader, Unit } from '../../db/database.ts';
import { findAliasHolders, findUsersByEmail, insertPerson, type User } from '../../store/people.ts';
import { knownIn, listReservedPlaces, placeholderEmail } from '../../store/reservations.ts';

/** A person whom the workspace has not seen, known to the server or not. */
export interface Stranger {
  readonly kind: 'stranger';
  /** Null if no account exists for the address. */
  readonly userId: string | null;
  /** The address the account is stored under: mostly the address itself. */
  readonly accountEmail: string;
  /** An application of the workspace has a reservation for the address. */
  readonly isReserved: boolean;
}

export type Recipient =
  /** A member of one of the workspace's applications. */
  | { readonly kind: 'known'; readonly user: User }
  /** A former address of such a member. */
  | { readonly kind: 'given_up' }
  | Stranger;

/** @returns one entry per address; the number of statements is constant. */
export async function findRecipients(
  reader: Reader,
  workspaceId: string,
  emails: readonly string[],
): Promise<Map<string, Recipient>> {
  if (emails.length === 0) return new Map();
  const users = await findUsersByEmail(reader, [
    ...emails,
    ...emails.map((email) => placeholderEmail(email, workspaceId)),
  ]);
  const holders = await findAliasHolders(reader, emails);
  const userIds = [...[...users.values()].map(({ id }) => id), ...holders.values()];
  const known = await knownIn(reader, workspaceId, userIds);
  const places = await listReservedPlaces(reader, workspaceId, emails, userIds);

  const addressee = (email: string): Recipient => {
    const user = users.get(email);
    if (user && known.has(user.id)) return { kind: 'known', user };
    const placeholder = placeholderEmail(email, workspaceId);
    const own = places.filter((place) => place.email === email);
    const [kept] = own;
    const isReserved = own.some(({ isSeat }) => !isSeat);
    if (kept) return { kind: 'stranger', userId: kept.userId, accountEmail: email, isReserved };
    const holderId = holders.get(email);
    if (!user && holderId !== undefined && known.has(holderId)) return { kind: 'given_up' };
    // Their reservation is under another address: only the person may reveal that both are theirs.
    const isElsewhere = user !== undefined && places.some(({ userId }) => userId === user.id);
    const account = user && !isElsewhere ? user : users.get(placeholder);
    const accountEmail = user || holderId !== undefined ? placeholder : email;
    return { kind: 'stranger', userId: account?.id ?? null, accountEmail, isReserved };
  };
  return new Map(emails.map((email) => [email, addressee(email)]));
}

/** Creates the account if there is none. @returns its id. */
export async function accountOf(unit: Unit, { userId, accountEmail }: Stranger): Promise<string> {
  return userId ?? (await insertPerson(unit, accountEmail, false)).id;
}
