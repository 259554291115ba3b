/** A person's billing and shipping addresses. Each kind used in a workspace has exactly one default there. */
import type { Actor } from '../../core/actor.ts';
import { isoTime } from '../../core/clock.ts';
import { AppError, invalidField } from '../../core/error.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import type { Unit } from '../../db/database.ts';
import type { Page } from '../../db/page.ts';
import {
  deleteAddress,
  findAddress,
  insertAddress,
  listAddresses,
  unsetDefaultAddress,
  updateAddress,
  type UserAddress,
} from '../../store/addresses.ts';
import { detachAddress } from '../../store/legal-entities.ts';
import { recordChange } from './change.ts';
import { cleanFields, completeFields, differences, namesOfSet } from '../../http/text-fields.ts';
import {
  type Address,
  ADDRESS_RULES,
  type AddressInput,
  type AddressPatch,
  type AddressQuery,
  MAX_ENTRIES,
} from './model.ts';
import { visibleRows, type ProfileDependencies, requireVisible } from './profile-scope.ts';

/** The first of a kind in a workspace becomes its default regardless of input. place.ts decides which are visible. */
export function addressService({ db, clock }: ProfileDependencies) {
  return {
    /** Returns the visible addresses, or those of a kind; one page holds them all. */
    async list(principal: SessionPrincipal, { kind }: AddressQuery): Promise<Page<Address>> {
      const rows = await listAddresses(db.reader, principal.profileId);
      const inSight = await visibleRows(db.reader, principal, rows, clock.now());
      const items = inSight.filter((row) => kind === undefined || row.kind === kind).map(present);
      return { items, nextCursor: null };
    },

    /** @throws {AppError} invalid_request, invalid_state */
    async add(actor: Actor, principal: SessionPrincipal, input: AddressInput): Promise<Address> {
      const cleaned = completeFields(ADDRESS_RULES, input);
      const { kind } = input;
      const { profileId: userId, workspaceId } = principal;
      return db.write(actor, async (unit) => {
        const rows = (await listAddresses(unit, userId)).filter((row) => row.workspaceId === workspaceId);
        if (rows.length >= MAX_ENTRIES)
          throw new AppError('invalid_state', {
            hint: 'too_many_entries',
            values: { max: MAX_ENTRIES, entries: 'addresses' },
          });
        const isFirst = !rows.some((row) => row.kind === kind);
        const isDefault = isFirst || input.isDefault === true;
        if (isDefault) await unsetDefaultAddress(unit, { userId, workspaceId, kind });
        const row = await insertAddress(unit, { userId, workspaceId, kind, ...cleaned, isDefault });
        const fields = ['kind', ...namesOfSet(cleaned), 'isDefault'];
        await recordChange(unit, principal, { categories: ['addresses'], change: 'added', fields, targetId: row.id });
        return present(row);
      });
    },

    /** Changes only the given fields. @throws {AppError} invalid_request, not_found, reauthentication_required */
    async update(
      actor: Actor,
      principal: SessionPrincipal,
      { id, kind, isDefault, ...patch }: AddressPatch,
    ): Promise<Address> {
      const cleaned = cleanFields(ADDRESS_RULES, patch);
      return db.write(actor, async (unit) => {
        const row = await find(unit, principal, id);
        if (kind !== undefined && kind !== row.kind)
          throw invalidField('kind', 'The kind cannot be changed; add a new address and delete this one.');
        if (isDefault === false && row.isDefault)
          throw invalidField('isDefault', 'One address of each kind is the default; make another one the default.');
        const changes = differences(row, { ...cleaned, isDefault });
        const fields = Object.keys(changes);
        if (fields.length === 0) return present(row);
        if (changes.isDefault) await unsetDefaultAddress(unit, row);
        const changed = await updateAddress(unit, row, changes);
        await recordChange(unit, principal, { categories: ['addresses'], change: 'changed', fields, targetId: id });
        return present(changed);
      });
    },

    /**
     * Makes the oldest of its kind the new default, and clears the address of legal entities that named it.
     *
     * @throws {AppError} not_found, reauthentication_required
     */
    remove(actor: Actor, principal: SessionPrincipal, id: string): Promise<{ id: string }> {
      return db.write(actor, async (unit) => {
        const { kind, isDefault, userId, workspaceId } = await find(unit, principal, id);
        const wasNamed = await detachAddress(unit, userId, id);
        await deleteAddress(unit, id);
        const rows = await listAddresses(unit, userId);
        const successor = rows.find((row) => row.kind === kind && row.workspaceId === workspaceId);
        if (isDefault && successor) await updateAddress(unit, successor, { isDefault: true });
        await recordChange(unit, principal, {
          categories: wasNamed ? ['addresses', 'legal_entities'] : ['addresses'],
          change: 'removed',
          fields: [],
          targetId: id,
        });
        return { id };
      });
    },
  };
}

/** @throws {AppError} not_found, also for another person's address; reauthentication_required */
async function find(unit: Unit, principal: SessionPrincipal, id: string): Promise<UserAddress> {
  const address = await findAddress(unit, principal.profileId, id);
  if (!address) throw new AppError('not_found');
  await requireVisible(unit, principal, address);
  return address;
}

function present({ userId: _, workspaceId: __, createdAt, updatedAt, ...address }: UserAddress): Address {
  return { ...address, createdAt: isoTime(createdAt), updatedAt: isoTime(updatedAt) };
}
