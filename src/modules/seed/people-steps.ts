/** Plans the allowlist and users of a document, in batches that keep changes short. */
import type { Actor } from '../../core/actor.ts';
import { required } from '../../core/required.ts';
import { yieldIfLong } from '../../core/event-loop.ts';
import { normalizeEmail } from '../../core/email.ts';
import { findWaitlistEntryByEmail } from '../../store/waitlist.ts';
import type { Beta } from '../beta/service.ts';
import type { Import } from '../import/service.ts';
import { importRowOf } from './check.ts';
import { checkSlugs, type SlugsBySection } from './grant-steps.ts';
import type { SeedChange, SeedUser } from './model.ts';
import { created, type Site, updated } from './plan.ts';

const SLICE = 50;
/** Rows per import call. */
const ROWS = 500;

export async function planAllowlist(beta: Beta, actor: Actor, site: Site): Promise<void> {
  const { plan, wanted, place, present, db, open } = site;
  const missing: string[] = [];
  for (const email of wanted.allowlist ?? []) {
    const address = normalizeEmail(email) ?? email;
    const row = present ? await findWaitlistEntryByEmail(db.reader, present.id, address) : undefined;
    if (row?.status === 'approved') plan.unchanged += 1;
    else missing.push(address);
    await yieldIfLong();
  }
  for (let from = 0; from < missing.length; from += SLICE) {
    const emails = missing.slice(from, from + SLICE);
    const changes = emails.map((email) => created('allowlist', wanted.slug, email));
    plan.add(`${place}.allowlist`, changes, async () => beta.add(actor, await open(), { emails, status: 'approved' }));
  }
}

export async function planUsers(
  imports: Import,
  actor: Actor,
  site: Site,
  slugs: SlugsBySection,
  isSound: () => boolean,
): Promise<void> {
  const { wanted, place, present } = site;
  const { users = [] } = wanted;
  for (const [at, user] of users.entries()) {
    checkSlugs(site, `${place}.users.${at}`, slugs, user);
    await yieldIfLong();
  }
  if (!isSound()) return;
  for (let from = 0; from < users.length; from += ROWS) {
    const slice = users.slice(from, from + ROWS);
    if (!present)
      addUsers(
        imports,
        actor,
        site,
        slice,
        slice.map(({ email }) => created('user', wanted.slug, normalizeEmail(email) ?? email)),
      );
    else await planSlice(imports, actor, site, slice, slugs);
  }
}

async function planSlice(
  imports: Import,
  actor: Actor,
  site: Site,
  users: readonly SeedUser[],
  slugs: SlugsBySection,
): Promise<void> {
  const { plan, wanted, present } = site;
  const changed: SeedUser[] = [];
  const changes: SeedChange[] = [];
  const application = required(present, 'an application that is there');
  for (const [at, row] of (await imports.previewUsers(actor, application, users.map(importRowOf))).entries()) {
    const user = required(users[at], 'user of a row');
    // The preview cannot see grants that an earlier step creates.
    const isGiven = (['roles', 'scopes', 'groups'] as const).some((section) =>
      user[section]?.some((slug) => slugs[section].coming.has(slug)),
    );
    if (row.outcome === 'skipped') {
      plan.skipped.push({ application: wanted.slug, email: row.email, error: row.error ?? row.outcome });
      continue;
    }
    if (!row.isChanged && !isGiven) {
      plan.unchanged += 1;
      continue;
    }
    changed.push(user);
    const isThere = row.outcome === 'already_member';
    changes.push(isThere ? updated('user', wanted.slug, row.email, []) : created('user', wanted.slug, row.email));
  }
  if (changed.length > 0) addUsers(imports, actor, site, changed, changes);
}

/** Adds a step that imports the users and reports those it skips. */
function addUsers(
  imports: Import,
  actor: Actor,
  { plan, wanted, place, open }: Site,
  users: readonly SeedUser[],
  changes: readonly SeedChange[],
): void {
  plan.add(`${place}.users`, changes, async (told) => {
    const { results } = await imports.importUsers(actor, await open(), users.map(importRowOf));
    for (const { email, outcome, error = outcome } of results)
      if (outcome === 'skipped') told.skipped.push({ application: wanted.slug, email, error });
  });
}
