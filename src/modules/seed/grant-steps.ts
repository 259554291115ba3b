/** Plans a document's roles, scopes and groups, and returns which of them will exist once it is applied. */
import type { Actor } from '../../core/actor.ts';
import { type GrantKind, listGrants } from '../../store/grants.ts';
import { type NewRole, STOCK_ROLES } from '../applications/service.ts';
import type { GrantServices } from '../grants/module.ts';
import type { ChangedKind } from './model.ts';
import { created, changedFields, type Site, updated } from './plan.ts';

const SECTIONS = { roles: 'roles', scopes: 'scopes', memberships: 'groups' } as const;
const CHANGED: Readonly<Record<GrantKind, ChangedKind>> = { roles: 'role', scopes: 'scope', memberships: 'group' };
const NOUNS = { roles: 'role', scopes: 'scope', groups: 'group' } as const;

/** All slugs that will exist, and those among them still to be created. */
export interface Slugs {
  readonly all: ReadonlySet<string>;
  readonly coming: ReadonlySet<string>;
}

export type SlugsBySection = Readonly<Record<keyof typeof NOUNS, Slugs>>;

export async function planGrants(services: GrantServices, actor: Actor, site: Site): Promise<SlugsBySection> {
  return {
    roles: await planKind('roles', services, actor, site),
    scopes: await planKind('scopes', services, actor, site),
    groups: await planKind('memberships', services, actor, site),
  };
}

async function planKind(kind: GrantKind, services: GrantServices, actor: Actor, site: Site): Promise<Slugs> {
  const { plan, wanted, present, place, db, open } = site;
  const section = SECTIONS[kind];
  const given = wanted[section];
  const known = new Map(
    present ? (await listGrants(db.reader, kind, present.id)).map((grant) => [grant.slug, grant]) : [],
  );
  const coming = new Set<string>();
  for (const [at, { slug, name, description, isDefault }] of (given ?? []).entries()) {
    const path = `${place}.${section}.${at}`;
    const grant = known.get(slug);
    if (!grant) {
      coming.add(slug);
      const input = { slug, ...(name !== undefined && { name }), ...(description !== undefined && { description }) };
      const create = async () =>
        services[kind].create(actor, await open(), { ...input, ...(isDefault !== undefined && { isDefault }) });
      // The roles of a new application are created together with it.
      const isMade = !present && kind === 'roles';
      plan.add(path, [created(CHANGED[kind], wanted.slug, slug)], isMade ? async () => {} : create);
      continue;
    }
    const fields = changedFields({ name: name?.trim(), description, isDefault }, { ...grant });
    if (fields.length === 0) plan.unchanged += 1;
    else
      plan.add(path, [updated(CHANGED[kind], wanted.slug, slug, fields)], async () =>
        services[kind].update(
          actor,
          await open(),
          grant.id,
          {
            ...(name !== undefined && { name }),
            ...(description !== undefined && { description }),
            ...(isDefault !== undefined && { isDefault }),
          },
          false,
        ),
      );
  }
  if (!present && kind === 'roles') for (const { slug } of initialRoles(wanted)) coming.add(slug);
  return { all: new Set([...known.keys(), ...coming]), coming };
}

/** Returns a new application's roles: `user` and `developer`, unless left out, and the document's, which override. */
export function initialRoles({ roles = [], standardRoles = true }: Site['wanted']): NewRole[] {
  const initial = new Map((standardRoles ? STOCK_ROLES : []).map((role) => [role.slug, role]));
  for (const { slug, name, description, isDefault } of roles) {
    const standard = initial.get(slug);
    initial.set(slug, {
      slug,
      name: name?.trim() ?? standard?.name ?? slug,
      description: description ?? null,
      isDefault: isDefault ?? standard?.isDefault ?? false,
    });
  }
  return [...initial.values()];
}

export function checkSlugs(
  { plan }: Site,
  path: string,
  slugs: SlugsBySection,
  named: Readonly<Partial<Record<keyof SlugsBySection, readonly string[] | undefined>>>,
): void {
  for (const section of Object.keys(NOUNS) as (keyof SlugsBySection)[])
    for (const [at, slug] of (named[section] ?? []).entries())
      if (!slugs[section].all.has(slug))
        plan.problems.add(
          `${path}.${section}.${at}`,
          `This ${NOUNS[section]} does not exist in the application, nor in the file; add it to "${section}".`,
        );
}
