/** Whom an address stands for, as far as a workspace may know: people it has never seen look as if nobody knew them. */
import type { Reader, Unit } from '../../db/database.ts';
import { findAliasHolders, findUsersByEmail, insertPerson, type User } from '../../store/people.ts';
import { knownIn, placesKept, standInEmail } from '../../store/reservations.ts';

/** Anybody whom the workspace has not seen, whether or not the server knows them. */
export interface Stranger {
  readonly kind: 'stranger';
  /** Null where no account stands for the address yet. */
  readonly userId: string | null;
  /** What the account is found by: mostly the address itself. */
  readonly accountEmail: string;
  /** An application of the workspace keeps a place for the address already. */
  readonly isReserved: boolean;
}

export type Addressee =
  /** A member of one of the workspace's applications. */
  | { readonly kind: 'known'; readonly user: User }
  /** Once the address of such a member, given up since. */
  | { readonly kind: 'given_up' }
  | Stranger;

/** @returns one for each address, in as many statements for any number of them. */
export async function findAddressees(
  reader: Reader,
  workspaceId: string,
  emails: readonly string[],
): Promise<Map<string, Addressee>> {
  if (emails.length === 0) return new Map();
  const users = await findUsersByEmail(reader, [...emails, ...emails.map((email) => standInEmail(email, workspaceId))]);
  const holders = await findAliasHolders(reader, emails);
  const userIds = [...[...users.values()].map(({ id }) => id), ...holders.values()];
  const known = await knownIn(reader, workspaceId, userIds);
  const places = await placesKept(reader, workspaceId, emails, userIds);

  const addressee = (email: string): Addressee => {
    const user = users.get(email);
    if (user && known.has(user.id)) return { kind: 'known', user };
    const standIn = standInEmail(email, workspaceId);
    const own = places.filter((place) => place.email === email);
    const [kept] = own;
    const isReserved = own.some(({ isSeat }) => !isSeat);
    if (kept) return { kind: 'stranger', userId: kept.userId, accountEmail: email, isReserved };
    const holderId = holders.get(email);
    if (!user && holderId !== undefined && known.has(holderId)) return { kind: 'given_up' };
    // Their place is kept under another address: that both are one person's is theirs to tell.
    const isElsewhere = user !== undefined && places.some(({ userId }) => userId === user.id);
    const account = user && !isElsewhere ? user : users.get(standIn);
    const accountEmail = user || holderId !== undefined ? standIn : email;
    return { kind: 'stranger', userId: account?.id ?? null, accountEmail, isReserved };
  };
  return new Map(emails.map((email) => [email, addressee(email)]));
}

/** The id of the account that stands for the address, made where there is none. */
export async function accountOf(unit: Unit, { userId, accountEmail }: Stranger): Promise<string> {
  return userId ?? (await insertPerson(unit, accountEmail, false)).id;
}
