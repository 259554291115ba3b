/** The companies and other legal entities that a person acts for, as invoices name them. */
import { and, asc, eq } from 'drizzle-orm';
import type { Actor } from '../../core/actor.ts';
import { isoTime } from '../../core/clock.ts';
import { AppError, invalidField } from '../../core/error.ts';
import { newId } from '../../core/id.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import { legalEntities, userAddresses } from '../../db/schema/account.ts';
import type { Page } from '../../db/page.ts';
import type { Database, Unit } from '../../db/unit-of-work.ts';
import { recordChange } from './change.ts';
import { cleanFields, completeFields, differences, namesOfSet } from './fields.ts';
import { type Entity, ENTITY_RULES, type EntityInput, type EntityPatch, MAX_ENTRIES } from './model.ts';

type EntityRow = typeof legalEntities.$inferSelect;

export type Entities = ReturnType<typeof entityService>;

export function entityService(db: Database) {
  /** Oldest first: ids sort by creation. */
  function rowsOf(userId: string): EntityRow[] {
    return db.orm
      .select()
      .from(legalEntities)
      .where(eq(legalEntities.userId, userId))
      .orderBy(asc(legalEntities.id))
      .all();
  }

  return {
    /** There are few enough for one page. */
    list: ({ userId }: SessionPrincipal): Page<Entity> => ({ items: rowsOf(userId).map(present), nextCursor: null }),

    /** @throws {AppError} invalid_request, invalid_state */
    add(actor: Actor, principal: SessionPrincipal, input: EntityInput): Entity {
      const { userId } = principal;
      const cleaned = { ...completeFields(ENTITY_RULES, input), addressId: input.addressId ?? null };
      return db.write(actor, (unit) => {
        if (rowsOf(userId).length >= MAX_ENTRIES)
          throw new AppError('invalid_state', {
            message: `You can have at most ${MAX_ENTRIES} legal entities; delete one first.`,
          });
        requireOwnAddress(unit, userId, cleaned.addressId);
        const times = { createdAt: unit.now, updatedAt: unit.now };
        const row = { id: newId('legalEntity', unit.now), userId, ...cleaned, ...times };
        unit.tx.insert(legalEntities).values(row).run();
        const fields = namesOfSet(cleaned);
        recordChange(unit, principal, { categories: ['legal_entities'], change: 'added', fields, targetId: row.id });
        return present(row);
      });
    },

    /**
     * Changes what is named and leaves the rest.
     *
     * @throws {AppError} invalid_request, not_found
     */
    update(actor: Actor, principal: SessionPrincipal, { id, addressId, ...patch }: EntityPatch): Entity {
      const cleaned = { ...cleanFields(ENTITY_RULES, patch), addressId };
      return db.write(actor, (unit) => {
        const row = find(unit, principal, id);
        requireOwnAddress(unit, principal.userId, addressId);
        const changes = differences(row, cleaned);
        const fields = Object.keys(changes);
        if (fields.length === 0) return present(row);
        const changed = { ...row, ...changes, updatedAt: unit.now };
        unit.tx
          .update(legalEntities)
          .set({ ...changes, updatedAt: unit.now })
          .where(eq(legalEntities.id, id))
          .run();
        recordChange(unit, principal, { categories: ['legal_entities'], change: 'changed', fields, targetId: id });
        return present(changed);
      });
    },

    /** @throws {AppError} not_found */
    remove(actor: Actor, principal: SessionPrincipal, id: string): { id: string } {
      return db.write(actor, (unit) => {
        find(unit, principal, id);
        unit.tx.delete(legalEntities).where(eq(legalEntities.id, id)).run();
        recordChange(unit, principal, { categories: ['legal_entities'], change: 'removed', fields: [], targetId: id });
        return { id };
      });
    },
  };
}

/** @throws {AppError} not_found for an entity of somebody else, as for none at all. */
function find({ tx }: Unit, { userId }: SessionPrincipal, id: string): EntityRow {
  const row = tx
    .select()
    .from(legalEntities)
    .where(and(eq(legalEntities.userId, userId), eq(legalEntities.id, id)))
    .get();
  if (!row) throw new AppError('not_found');
  return row;
}

/** @throws {AppError} invalid_request, alike for an address of somebody else and for none at all. */
function requireOwnAddress({ tx }: Unit, userId: string, addressId: string | null | undefined): void {
  if (addressId === null || addressId === undefined) return;
  const own = tx
    .select({ id: userAddresses.id })
    .from(userAddresses)
    .where(and(eq(userAddresses.userId, userId), eq(userAddresses.id, addressId)))
    .get();
  if (!own) throw invalidField('addressId', 'This is none of your addresses; give the id of one, or null.');
}

function present({ userId: _, createdAt, updatedAt, ...entity }: EntityRow): Entity {
  return { ...entity, createdAt: isoTime(createdAt), updatedAt: isoTime(updatedAt) };
}
