/** Companies and other legal entities that people act for. */
import { and, eq, sql } from 'drizzle-orm';
import { newId } from '../core/id.ts';
import type { Reader, Unit } from '../db/database.ts';
import { orm, prepared } from '../db/statements.ts';
import { legalEntities } from './schema/account.ts';

const { placeholder } = sql;

export type LegalEntity = typeof legalEntities.$inferSelect;

const entitiesOf = prepared((db) =>
  db
    .select()
    .from(legalEntities)
    .where(eq(legalEntities.userId, placeholder('userId')))
    .orderBy(legalEntities.id)
    .prepare(),
);

/** Returns a person's entities, oldest first: ids sort by creation. */
export function listLegalEntities(reader: Reader, userId: string): Promise<LegalEntity[]> {
  return entitiesOf(reader, { userId });
}

const entityOfPerson = prepared((db) =>
  db
    .select()
    .from(legalEntities)
    .where(and(eq(legalEntities.userId, placeholder('userId')), eq(legalEntities.id, placeholder('id'))))
    .prepare(),
);

/** Returns an entity of this person; undefined for anyone else's. */
export async function findLegalEntity(reader: Reader, userId: string, id: string): Promise<LegalEntity | undefined> {
  const [entity] = await entityOfPerson(reader, { userId, id });
  return entity;
}

/** Inserts an entity. Its address must belong to the same person. */
export async function insertLegalEntity(
  unit: Unit,
  fields: Omit<LegalEntity, 'id' | 'createdAt' | 'updatedAt'>,
): Promise<LegalEntity> {
  const row = { id: newId('legalEntity', unit.now), ...fields, createdAt: unit.now, updatedAt: unit.now };
  await orm(unit).insert(legalEntities).values(row);
  return row;
}

export async function updateLegalEntity(
  unit: Unit,
  entity: LegalEntity,
  changes: Partial<Omit<LegalEntity, 'id' | 'userId' | 'workspaceId' | 'createdAt' | 'updatedAt'>>,
): Promise<LegalEntity> {
  const columns = { ...changes, updatedAt: unit.now };
  await orm(unit).update(legalEntities).set(columns).where(eq(legalEntities.id, entity.id));
  return { ...entity, ...columns };
}

/** Removes an address from the person's entities. @returns whether any entity had it. */
export async function detachAddress(unit: Unit, userId: string, addressId: string): Promise<boolean> {
  const bereft = await orm(unit)
    .update(legalEntities)
    .set({ addressId: null, updatedAt: unit.now })
    .where(and(eq(legalEntities.userId, userId), eq(legalEntities.addressId, addressId)))
    .returning({ id: legalEntities.id });
  return bereft.length > 0;
}

/** Deletes an entity; its address stays. */
export async function deleteLegalEntity(unit: Unit, id: string): Promise<void> {
  await orm(unit).delete(legalEntities).where(eq(legalEntities.id, id));
}

export async function deleteLegalEntitiesOf(unit: Unit, userId: string): Promise<void> {
  await orm(unit).delete(legalEntities).where(eq(legalEntities.userId, userId));
}
