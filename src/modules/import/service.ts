/**
 * Bulk import of users, and the check of usernames that goes before it. One transaction, an outcome for each row,
 * idempotent; sends no mail and marks no address as verified. Statements are prepared once: 500 rows must not hold
 * other requests up.
 */
import { eq, sql } from 'drizzle-orm';
import type { Actor } from '../../core/actor.ts';
import { normalizeEmail } from '../../core/email.ts';
import { canonicalLocale, canonicalTimeZone } from '../../core/language.ts';
import { plainLine } from '../../core/line.ts';
import { isClaimableUsername, normalizeUsername } from '../../core/username.ts';
import type { Application } from '../../db/schema/applications.ts';
import { applicationUsers, userLanguages, users } from '../../db/schema/users.ts';
import type { Database, Unit } from '../../db/unit-of-work.ts';
import { addGrants, defaultGrants, grantIds } from '../grants/holders.ts';
import { ALL_KINDS, type GrantIds, type GrantKind } from '../grants/kinds.ts';
import { announceProfile } from '../users/announce.ts';
import {
  type ApplicationUser,
  findAliasHolder,
  findMember,
  findUserByEmail,
  insertMember,
  insertPerson,
  type User,
} from '../users/members.ts';
import type { ImportProfile, ImportResult, ImportRow, Outcome, UsernameCheck } from './model.ts';

/** As long as people may make theirs. */
const MAX_NAME = 100;

type RowResult = ImportResult['results'][number];

/** A profile whose values have been checked and brought into their normal form. */
interface CleanProfile {
  readonly username: string | null;
  givenName: string | null;
  familyName: string | null;
  fullName: string | null;
  readonly locale: string | null;
  readonly timezone: string | null;
  readonly languages: readonly { code: string; level: NonNullable<ImportProfile['languages']>[number]['level'] }[];
}

/** What every row of a batch needs, read once. */
interface Batch {
  readonly unit: Unit;
  readonly application: Application;
  readonly defaults: GrantIds;
  /** Ids of the slugs that exist, by kind. */
  readonly known: Record<GrantKind, Map<string, string>>;
}

const SLUG_FIELDS = { roles: 'roleSlugs', scopes: 'scopeSlugs', memberships: 'membershipSlugs' } as const;

export type Import = ReturnType<typeof importService>;

export function importService(db: Database) {
  const holderOfUsername = db.orm
    .select({ userId: applicationUsers.userId })
    .from(applicationUsers)
    .where(
      sql`${applicationUsers.applicationId} = ${sql.placeholder('applicationId')} AND ${applicationUsers.username} = ${sql.placeholder('username')}`,
    )
    .prepare();

  function findHolder(applicationId: string, username: string): string | undefined {
    return holderOfUsername.get({ applicationId, username })?.userId;
  }

  function importRow(batch: Batch, row: ImportRow): RowResult {
    const { unit, application } = batch;
    const email = normalizeEmail(row.email);
    const skip = (error: string, userId: string | null = null): RowResult => ({
      email: email ?? row.email.slice(0, 320),
      outcome: 'skipped',
      userId,
      error,
    });
    if (email === null) return skip('email_invalid');
    const profile = clean(row.profile ?? {});
    if (typeof profile === 'string') return skip(profile);
    const user = findUserByEmail(unit, email);
    if (!user && findAliasHolder(unit, email)) return skip('email_archived');
    const member = user && findMember(unit, application.id, user.id);
    if (user && (user.deletedAt !== null || member?.status === 'deleted')) return skip('user_deleted', user.id);
    // A user who has a name keeps it, so only a blank one can collide.
    const wantedName = member?.username == null ? profile.username : null;
    const holder = wantedName === null ? undefined : findHolder(application.id, wantedName);
    if (holder !== undefined && holder !== user?.id) return skip(`username_taken:${wantedName}`, user?.id ?? null);

    const person = user ?? insertPerson(unit, email, false, profile);
    const filled = user ? fillBlanks(unit, user, profile) : [];
    const hasNewLanguages = fillLanguages(unit, person, profile);
    if (user) {
      const categories = [
        ...(filled.length > 0 ? ['identity' as const] : []),
        ...(hasNewLanguages ? ['languages' as const] : []),
      ];
      announceProfile(unit, user.id, categories, filled);
    }
    if (member) {
      if (wantedName !== null) claimUsername(unit, member, wantedName);
      for (const kind of ALL_KINDS)
        addGrants(unit, kind, member, pick(batch.known[kind], row[SLUG_FIELDS[kind]] ?? []));
    } else {
      insertMember(unit, application.id, person.id, joiningGrants(batch, row), wantedName);
    }
    const outcome: Outcome = !user ? 'created' : member ? 'already_member' : 'linked';
    return { email, outcome, userId: person.id };
  }

  return {
    /** Adds and fills blanks; never removes or overwrites. Unknown slugs are reported, not dropped silently. */
    importUsers(actor: Actor, application: Application, rows: readonly ImportRow[]): ImportResult {
      return db.write(actor, (unit) => {
        const known = {} as Batch['known'];
        const unknownSlugs = { roles: [], scopes: [], memberships: [] } as ImportResult['unknownSlugs'];
        for (const kind of ALL_KINDS) {
          const slugs = [...new Set(rows.flatMap((row) => row[SLUG_FIELDS[kind]] ?? []))];
          known[kind] = grantIds(unit, kind, application.id, slugs);
          unknownSlugs[kind] = slugs.filter((slug) => !known[kind].has(slug)).sort();
        }
        const batch: Batch = { unit, application, known, defaults: defaultGrants(unit, application.id) };
        const results = rows.map((row) => importRow(batch, row));
        const count = (outcome: Outcome) => results.filter((result) => result.outcome === outcome).length;
        const summary = {
          requested: rows.length,
          created: count('created'),
          linked: count('linked'),
          alreadyMember: count('already_member'),
          skipped: count('skipped'),
        };
        unit.audit({
          kind: 'user.imported',
          applicationId: application.id,
          workspaceId: application.workspaceId,
          detail: summary,
        });
        return { summary, results, unknownSlugs };
      });
    },

    /** Writes nothing. A name asked for twice in one call is judged twice alike. */
    checkUsernames({ id }: Application, inputs: readonly string[]): UsernameCheck {
      const results = inputs.map((input): UsernameCheck['results'][number] => {
        const username = normalizeUsername(input);
        if (!isClaimableUsername(username)) return { input, username, status: 'format_invalid' };
        return { input, username, status: findHolder(id, username) === undefined ? 'available' : 'taken' };
      });
      const count = (status: string) => results.filter((result) => result.status === status).length;
      const summary = {
        requested: inputs.length,
        available: count('available'),
        taken: count('taken'),
        formatInvalid: count('format_invalid'),
      };
      return { results, summary };
    },
  };
}

function pick(ids: ReadonlyMap<string, string>, slugs: readonly string[]): Map<string, string> {
  return new Map(slugs.flatMap((slug) => (ids.has(slug) ? [[slug, ids.get(slug)!] as const] : [])));
}

const NAMES = ['givenName', 'familyName', 'fullName'] as const;

/** @returns the clean profile, or the error of its row. */
function clean(profile: ImportProfile): CleanProfile | string {
  const blankToNull = (text: string | null | undefined) => text?.trim().normalize('NFC') || null;
  const name = blankToNull(profile.username);
  const username = name === null ? null : normalizeUsername(name);
  if (username !== null && !isClaimableUsername(username)) return 'username_invalid';
  const locale = blankToNull(profile.locale);
  const canonical = locale === null ? null : canonicalLocale(locale);
  if (locale !== null && canonical === null) return 'locale_invalid';
  const zone = blankToNull(profile.timezone);
  const timezone = zone === null ? null : canonicalTimeZone(zone);
  if (zone !== null && timezone === null) return 'timezone_invalid';
  const languages: CleanProfile['languages'][number][] = [];
  for (const { code, level } of profile.languages ?? []) {
    const tag = canonicalLocale(code);
    if (tag === null) return 'language_invalid';
    languages.push({ code: tag, level });
  }
  const names: Pick<CleanProfile, (typeof NAMES)[number]> = { givenName: null, familyName: null, fullName: null };
  for (const field of NAMES) {
    const text = blankToNull(profile[field]);
    names[field] = text === null ? null : plainLine(text, MAX_NAME);
    if (text !== null && names[field] === null) return 'name_invalid';
  }
  return {
    username,
    ...names,
    locale: canonical,
    timezone,
    languages,
  };
}

/** What a new member gets: the application's defaults and what the row names. */
function joiningGrants({ defaults, known }: Batch, row: ImportRow): GrantIds {
  const idsOf = (kind: GrantKind) => [
    ...new Set([...defaults[kind], ...pick(known[kind], row[SLUG_FIELDS[kind]] ?? []).values()]),
  ];
  return { roles: idsOf('roles'), scopes: idsOf('scopes'), memberships: idsOf('memberships') };
}

/** Fills what is blank in the profile of somebody who was there before, and leaves the rest. */
function fillBlanks(unit: Unit, user: User, profile: CleanProfile): string[] {
  const fields = ['givenName', 'familyName', 'fullName', 'locale', 'timezone'] as const;
  const blanks = fields.filter((field) => user[field] === null && profile[field] !== null);
  if (blanks.length === 0) return [];
  unit.tx
    .update(users)
    .set({ ...Object.fromEntries(blanks.map((field) => [field, profile[field]])), updatedAt: unit.now })
    .where(eq(users.id, user.id))
    .run();
  return blanks;
}

/** Only where the person has given none at all. @returns whether it did. */
function fillLanguages(unit: Unit, user: User, { languages }: CleanProfile): boolean {
  if (languages.length === 0) return false;
  if (unit.tx.select().from(userLanguages).where(eq(userLanguages.userId, user.id)).limit(1).get()) return false;
  for (const { code, level } of languages)
    unit.tx.insert(userLanguages).values({ userId: user.id, code, level }).onConflictDoNothing().run();
  return true;
}

/** Gives a member who has none a username. */
function claimUsername(unit: Unit, { id, applicationId, userId }: ApplicationUser, username: string): void {
  unit.tx.update(applicationUsers).set({ username, updatedAt: unit.now }).where(eq(applicationUsers.id, id)).run();
  unit.emit({
    type: 'user.username_changed',
    applicationId,
    data: { userId, username, previousUsername: null },
  });
}
