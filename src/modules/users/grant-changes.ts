/** Gives and takes grants of one member, as a bulk change asks, and says what that changed. */
import { AppError, type FieldProblem } from '../../core/error.ts';
import type { Reader, Unit } from '../../db/database.ts';
import type { GrantSlugs } from '../../store/bulk-changes.ts';
import { ALL_KINDS, findGrantIds, type GrantKind, heldSlugs, type Holder } from '../../store/grants.ts';
import { knownGrants, replaceGrants } from '../grants/holders.ts';

const SIDES = ['add', 'remove'] as const;

export const kindsOf = (change: GrantSlugs): GrantKind[] => ALL_KINDS.filter((kind) => change[kind] !== undefined);

/** @throws {AppError} invalid_request naming each slug that does not exist in the application. */
export async function refuseUnknown(reader: Reader, applicationId: string, change: GrantSlugs): Promise<void> {
  for (const kind of kindsOf(change))
    for (const side of SIDES)
      await knownGrants(reader, kind, applicationId, change[kind]?.[side] ?? [], `${kind}.${side}`);
}

/** @throws {AppError} invalid_request naming each slug that is both given and taken. */
export function refuseBoth(change: GrantSlugs): void {
  const fields: FieldProblem[] = kindsOf(change).flatMap((kind) =>
    (change[kind]?.remove ?? []).flatMap((slug, index) =>
      change[kind]?.add?.includes(slug)
        ? [{ path: `${kind}.remove.${index}`, message: 'This slug is to be given as well; name it once.' }]
        : [],
    ),
  );
  if (fields.length > 0) throw new AppError('invalid_request', { fields });
}

export interface GrantsMade {
  readonly isChanged: boolean;
  /** Slugs now held, of the kinds in the change. */
  readonly held: { readonly [Kind in GrantKind]?: string[] };
  /** Slugs that were actually given and taken. */
  readonly made: GrantSlugs;
}

export async function changeGrantsOf(unit: Unit, holder: Holder, change: GrantSlugs): Promise<GrantsMade> {
  const held: Partial<Record<GrantKind, string[]>> = {};
  const made: Partial<Record<GrantKind, { add: string[]; remove: string[] }>> = {};
  for (const kind of kindsOf(change)) {
    const { add = [], remove = [] } = change[kind] ?? {};
    const before = await heldSlugs(unit, kind, holder.id);
    const wanted = new Set([...before, ...add]);
    for (const slug of remove) wanted.delete(slug);
    const after = await replaceGrants(unit, kind, holder, [...wanted]);
    held[kind] = after;
    const sides = { add: without(after, before), remove: without(before, after) };
    if (sides.add.length + sides.remove.length > 0) made[kind] = sides;
  }
  return { isChanged: Object.keys(made).length > 0, held, made };
}

/** Returns the opposite of a change, without grants that no longer exist. */
export async function undoneGrants(reader: Reader, applicationId: string, made: GrantSlugs): Promise<GrantSlugs> {
  const opposite: Partial<Record<GrantKind, { add: string[]; remove: string[] }>> = {};
  for (const kind of kindsOf(made)) {
    const { add = [], remove = [] } = made[kind] ?? {};
    const known = await findGrantIds(reader, kind, applicationId, [...add, ...remove]);
    const existing = (slugs: readonly string[]) => slugs.filter((slug) => known.has(slug));
    opposite[kind] = { add: existing(remove), remove: existing(add) };
  }
  return opposite;
}

const without = (slugs: readonly string[], others: readonly string[]) => slugs.filter((slug) => !others.includes(slug));
