/** A person's billing and shipping addresses. Of each kind that there is, exactly one is the default. */
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
import {
  type Address,
  ADDRESS_RULES,
  type AddressInput,
  type AddressPatch,
  type AddressQuery,
  MAX_ENTRIES,
} from './model.ts';

type AddressRow = typeof userAddresses.$inferSelect;

export type Addresses = ReturnType<typeof addressService>;

export function addressService(db: Database) {
  /** Oldest first: ids sort by creation. */
  function rowsOf(userId: string): AddressRow[] {
    return db.orm
      .select()
      .from(userAddresses)
      .where(eq(userAddresses.userId, userId))
      .orderBy(asc(userAddresses.id))
      .all();
  }

  return {
    /** All of them, or those of a kind; there are few enough for one page. */
    list({ userId }: SessionPrincipal, { kind }: AddressQuery): Page<Address> {
      const rows = rowsOf(userId).filter((row) => kind === undefined || row.kind === kind);
      return { items: rows.map(present), nextCursor: null };
    },

    /** @throws {AppError} invalid_request, invalid_state */
    add(actor: Actor, principal: SessionPrincipal, input: AddressInput): Address {
      const cleaned = completeFields(ADDRESS_RULES, input);
      const { kind } = input;
      return db.write(actor, (unit) => {
        const rows = rowsOf(principal.userId);
        if (rows.length >= MAX_ENTRIES)
          throw new AppError('invalid_state', {
            message: `You can have at most ${MAX_ENTRIES} addresses; delete one first.`,
          });
        const isFirst = !rows.some((row) => row.kind === kind);
        const isDefault = isFirst || input.isDefault === true;
        if (isDefault) unsetDefault(unit, principal.userId, kind);
        const { userId } = principal;
        const times = { createdAt: unit.now, updatedAt: unit.now };
        const row = { id: newId('address', unit.now), userId, kind, ...cleaned, isDefault, ...times };
        unit.tx.insert(userAddresses).values(row).run();
        const fields = ['kind', ...namesOfSet(cleaned), 'isDefault'];
        recordChange(unit, principal, { categories: ['addresses'], change: 'added', fields, targetId: row.id });
        return present(row);
      });
    },

    /**
     * Changes what is named and leaves the rest.
     *
     * @throws {AppError} invalid_request, not_found
     */
    update(actor: Actor, principal: SessionPrincipal, { id, kind, isDefault, ...patch }: AddressPatch): Address {
      const cleaned = cleanFields(ADDRESS_RULES, patch);
      return db.write(actor, (unit) => {
        const row = find(unit, principal, id);
        if (kind !== undefined && kind !== row.kind)
          throw invalidField('kind', 'The kind cannot be changed; add a new address and delete this one.');
        if (isDefault === false && row.isDefault)
          throw invalidField('isDefault', 'One address of each kind is the default; make another one the default.');
        const changes = differences(row, { ...cleaned, isDefault });
        const fields = Object.keys(changes);
        if (fields.length === 0) return present(row);
        if (changes.isDefault) unsetDefault(unit, row.userId, row.kind);
        const changed = { ...row, ...changes, updatedAt: unit.now };
        unit.tx
          .update(userAddresses)
          .set({ ...changes, updatedAt: unit.now })
          .where(eq(userAddresses.id, id))
          .run();
        recordChange(unit, principal, { categories: ['addresses'], change: 'changed', fields, targetId: id });
        return present(changed);
      });
    },

    /**
     * The oldest of its kind takes the place of a default; legal entities that named the address have none from then on.
     *
     * @throws {AppError} not_found
     */
    remove(actor: Actor, principal: SessionPrincipal, id: string): { id: string } {
      return db.write(actor, (unit) => {
        const { kind, isDefault, userId } = find(unit, principal, id);
        const bereft = unit.tx
          .update(legalEntities)
          .set({ addressId: null, updatedAt: unit.now })
          .where(and(eq(legalEntities.userId, userId), eq(legalEntities.addressId, id)))
          .returning({ id: legalEntities.id })
          .all();
        unit.tx.delete(userAddresses).where(eq(userAddresses.id, id)).run();
        const successor = rowsOf(userId).find((row) => row.kind === kind);
        if (isDefault && successor) setDefault(unit, successor.id);
        recordChange(unit, principal, {
          categories: bereft.length > 0 ? ['addresses', 'legal_entities'] : ['addresses'],
          change: 'removed',
          fields: [],
          targetId: id,
        });
        return { id };
      });
    },
  };
}

/** @throws {AppError} not_found for an address of somebody else, as for none at all. */
function find({ tx }: Unit, { userId }: SessionPrincipal, id: string): AddressRow {
  const row = tx
    .select()
    .from(userAddresses)
    .where(and(eq(userAddresses.userId, userId), eq(userAddresses.id, id)))
    .get();
  if (!row) throw new AppError('not_found');
  return row;
}

function unsetDefault({ tx, now }: Unit, userId: string, kind: AddressRow['kind']): void {
  tx.update(userAddresses)
    .set({ isDefault: false, updatedAt: now })
    .where(and(eq(userAddresses.userId, userId), eq(userAddresses.kind, kind), eq(userAddresses.isDefault, true)))
    .run();
}

function setDefault({ tx, now }: Unit, id: string): void {
  tx.update(userAddresses).set({ isDefault: true, updatedAt: now }).where(eq(userAddresses.id, id)).run();
}

function present({ userId: _, createdAt, updatedAt, ...address }: AddressRow): Address {
  return { ...address, createdAt: isoTime(createdAt), updatedAt: isoTime(updatedAt) };
}
