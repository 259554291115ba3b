/** Companies and other legal entities that a person acts for, as named on invoices. */
import type { Actor } from '../../core/actor.ts';
import { isoTime } from '../../core/clock.ts';
import { AppError, invalidField } from '../../core/error.ts';
import type { SessionPrincipal } from '../../core/principal.ts';
import type { Unit } from '../../db/database.ts';
import type { Page } from '../../db/page.ts';
import { findAddress } from '../../store/addresses.ts';
import {
  deleteLegalEntity,
  findLegalEntity,
  insertLegalEntity,
  type LegalEntity,
  listLegalEntities,
  updateLegalEntity,
} from '../../store/legal-entities.ts';
import { recordChange } from './change.ts';
import { cleanFields, completeFields, differences, namesOfSet } from '../../http/text-fields.ts';
import { type Entity, ENTITY_RULES, type EntityInput, type EntityPatch, MAX_ENTRIES } from './model.ts';
import { visibleRows, type ProfileDependencies, requireVisible } from './profile-scope.ts';

/** An entity can name only an address of the same person. place.ts decides which entities are visible. */
export function entityService({ db, clock }: ProfileDependencies) {
  return {
    /** One page holds them all. */
    async list(principal: SessionPrincipal): Promise<Page<Entity>> {
      const rows = await listLegalEntities(db.reader, principal.profileId);
      const inSight = await visibleRows(db.reader, principal, rows, clock.now());
      return { items: inSight.map(present), nextCursor: null };
    },

    /** @throws {AppError} invalid_request, invalid_state */
    async add(actor: Actor, principal: SessionPrincipal, input: EntityInput): Promise<Entity> {
      const { profileId: userId, workspaceId } = principal;
      const cleaned = { ...completeFields(ENTITY_RULES, input), addressId: input.addressId ?? null };
      return db.write(actor, async (unit) => {
        const rows = (await listLegalEntities(unit, userId)).filter((row) => row.workspaceId === workspaceId);
        if (rows.length >= MAX_ENTRIES)
          throw new AppError('invalid_state', {
            hint: 'too_many_entries',
            values: { max: MAX_ENTRIES, entries: 'legal entities' },
          });
        await requireOwnAddress(unit, principal, cleaned.addressId);
        const row = await insertLegalEntity(unit, { userId, workspaceId, ...cleaned });
        const fields = namesOfSet(cleaned);
        await recordChange(unit, principal, {
          categories: ['legal_entities'],
          change: 'added',
          fields,
          targetId: row.id,
        });
        return present(row);
      });
    },

    /** Changes only the given fields. @throws {AppError} invalid_request, not_found, reauthentication_required */
    async update(actor: Actor, principal: SessionPrincipal, { id, addressId, ...patch }: EntityPatch): Promise<Entity> {
      const cleaned = { ...cleanFields(ENTITY_RULES, patch), addressId };
      return db.write(actor, async (unit) => {
        const row = await find(unit, principal, id);
        await requireOwnAddress(unit, principal, addressId);
        const changes = differences(row, cleaned);
        const fields = Object.keys(changes);
        if (fields.length === 0) return present(row);
        const changed = await updateLegalEntity(unit, row, changes);
        await recordChange(unit, principal, {
          categories: ['legal_entities'],
          change: 'changed',
          fields,
          targetId: id,
        });
        return present(changed);
      });
    },

    /** @throws {AppError} not_found, reauthentication_required */
    remove(actor: Actor, principal: SessionPrincipal, id: string): Promise<{ id: string }> {
      return db.write(actor, async (unit) => {
        await find(unit, principal, id);
        await deleteLegalEntity(unit, id);
        await recordChange(unit, principal, {
          categories: ['legal_entities'],
          change: 'removed',
          fields: [],
          targetId: id,
        });
        return { id };
      });
    },
  };
}

/** @throws {AppError} not_found, also for another person's entity; reauthentication_required */
async function find(unit: Unit, principal: SessionPrincipal, id: string): Promise<LegalEntity> {
  const entity = await findLegalEntity(unit, principal.profileId, id);
  if (!entity) throw new AppError('not_found');
  await requireVisible(unit, principal, entity);
  return entity;
}

/** @throws {AppError} invalid_request, the same for another person's address as for an unknown one. */
async function requireOwnAddress(
  unit: Unit,
  principal: SessionPrincipal,
  addressId: string | null | undefined,
): Promise<void> {
  if (addressId === null || addressId === undefined) return;
  const address = await findAddress(unit, principal.profileId, addressId);
  const inSight = await visibleRows(unit, principal, address ? [address] : [], unit.now);
  if (inSight.length === 0)
    throw invalidField('addressId', 'This is not one of your addresses; give the id of one, or null.');
}

function present({ userId: _, workspaceId: __, createdAt, updatedAt, ...entity }: LegalEntity): Entity {
  return { ...entity, createdAt: isoTime(createdAt), updatedAt: isoTime(updatedAt) };
}
