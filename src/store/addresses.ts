/** The billing and shipping addresses of people. */
import { and, eq, sql } from 'drizzle-orm';
import { newId } from '../core/id.ts';
import type { Reader, Unit } from '../db/database.ts';
import { orm, prepared } from '../db/statements.ts';
import { type ADDRESS_KINDS, userAddresses } from './schema/account.ts';

export { ADDRESS_KINDS } from './schema/account.ts';

const { placeholder } = sql;

export type AddressKind = (typeof ADDRESS_KINDS)[number];

export type UserAddress = typeof userAddresses.$inferSelect;

const addressesOf = prepared((db) =>
  db
    .select()
    .from(userAddresses)
    .where(eq(userAddresses.userId, placeholder('userId')))
    .orderBy(userAddresses.id)
    .prepare(),
);

/** Returns a person's addresses, oldest first: ids sort by creation. */
export function listAddresses(reader: Reader, userId: string): Promise<UserAddress[]> {
  return addressesOf(reader, { userId });
}

const addressOfPerson = prepared((db) =>
  db
    .select()
    .from(userAddresses)
    .where(and(eq(userAddresses.userId, placeholder('userId')), eq(userAddresses.id, placeholder('id'))))
    .prepare(),
);

/** Returns an address of this person; undefined for anyone else's. */
export async function findAddress(reader: Reader, userId: string, id: string): Promise<UserAddress | undefined> {
  const [address] = await addressOfPerson(reader, { userId, id });
  return address;
}

/** Inserts an address. A default must be the only one of its kind and place: see {@link unsetDefaultAddress}. */
export async function insertAddress(
  unit: Unit,
  fields: Omit<UserAddress, 'id' | 'createdAt' | 'updatedAt'>,
): Promise<UserAddress> {
  const row = { id: newId('address', unit.now), ...fields, createdAt: unit.now, updatedAt: unit.now };
  await orm(unit).insert(userAddresses).values(row);
  return row;
}

export async function updateAddress(
  unit: Unit,
  address: UserAddress,
  changes: Partial<Omit<UserAddress, 'id' | 'userId' | 'workspaceId' | 'createdAt' | 'updatedAt'>>,
): Promise<UserAddress> {
  const columns = { ...changes, updatedAt: unit.now };
  await orm(unit).update(userAddresses).set(columns).where(eq(userAddresses.id, address.id));
  return { ...address, ...columns };
}

export async function unsetDefaultAddress(
  unit: Unit,
  { userId, workspaceId, kind }: Pick<UserAddress, 'userId' | 'workspaceId' | 'kind'>,
): Promise<void> {
  const isOfPlace = and(
    eq(userAddresses.userId, userId),
    sql`${userAddresses.workspaceId} IS NOT DISTINCT FROM ${workspaceId}`,
    eq(userAddresses.kind, kind),
    eq(userAddresses.isDefault, true),
  );
  await orm(unit).update(userAddresses).set({ isDefault: false, updatedAt: unit.now }).where(isOfPlace);
}

/** Deletes an address that nothing refers to. */
export async function deleteAddress(unit: Unit, id: string): Promise<void> {
  await orm(unit).delete(userAddresses).where(eq(userAddresses.id, id));
}

/** Deletes all addresses of a person; legal entities lose the reference. */
export async function deleteAddressesOf(unit: Unit, userId: string): Promise<void> {
  await orm(unit).delete(userAddresses).where(eq(userAddresses.userId, userId));
}
