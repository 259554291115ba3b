/** Applications: created, read, changed and brought from draft to test to live. */
import { and, asc, eq, gt, inArray, isNull, or, sql } from 'drizzle-orm';
import type { Actor } from '../../core/actor.ts';
import { type Clock, isoTime } from '../../core/clock.ts';
import { AppError, type FieldProblem, invalidField } from '../../core/error.ts';
import { newId } from '../../core/id.ts';
import type { Principal } from '../../core/principal.ts';
import { parseReturnUrl } from '../../core/return-url.ts';
import { decodeCursor, type Page, pageOf } from '../../db/page.ts';
import { type Application, applications } from '../../db/schema/applications.ts';
import { roles } from '../../db/schema/users.ts';
import type { Database, Unit } from '../../db/unit-of-work.ts';
import { DEFAULT_PAGE_SIZE } from '../../http/schemas.ts';
import { hashSecret, mintSecret, secretPrefix } from '../../core/secret.ts';
import type { Random } from '../../core/random.ts';
import type { ApplicationInput, ApplicationPatch, ApplicationRecord, ApplicationsQuery, StageChange } from './model.ts';

/** 30 days. */
const DEFAULT_SESSION_TTL_SECONDS = 30 * 24 * 60 * 60;

const DEFAULT_ROLES = [
  { slug: 'user', name: 'User', isDefault: true },
  { slug: 'developer', name: 'Developer', isDefault: false },
];

export type Applications = ReturnType<typeof applicationService>;

export interface ApplicationDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  /** Whether http addresses on loopback may be registered as return URLs (dev and ephemeral instances). */
  readonly isLoopbackAllowed: boolean;
}

export function applicationService({ db, clock, random, isLoopbackAllowed }: ApplicationDependencies) {
  const byId = db.orm
    .select()
    .from(applications)
    .where(eq(applications.id, sql.placeholder('id')))
    .prepare();
  const byClientId = db.orm
    .select()
    .from(applications)
    .where(eq(applications.clientId, sql.placeholder('clientId')))
    .prepare();

  const defaultRoleSlugs = db.orm
    .select({ slug: roles.slug })
    .from(roles)
    .where(and(eq(roles.applicationId, sql.placeholder('id')), eq(roles.isDefault, true)))
    .orderBy(asc(roles.slug))
    .prepare();

  function present(row: Application): ApplicationRecord {
    return presentWith(
      row,
      defaultRoleSlugs.all({ id: row.id }).map(({ slug }) => slug),
    );
  }

  /** @throws {AppError} invalid_request for a slug that is no role of the application. */
  function setDefaultRoles(unit: Unit, applicationId: string, slugs: readonly string[]): void {
    const known = unit.tx.select().from(roles).where(eq(roles.applicationId, applicationId)).all();
    const unknown = slugs.findIndex((slug) => !known.some((role) => role.slug === slug));
    if (unknown >= 0) throw invalidField(`defaultRoles.${unknown}`, 'This role does not exist in the application.');
    for (const role of known) {
      const isDefault = slugs.includes(role.slug);
      if (isDefault !== role.isDefault)
        unit.tx.update(roles).set({ isDefault, updatedAt: unit.now }).where(eq(roles.id, role.id)).run();
    }
  }

  function toColumns({ legalUrls, branding, ...columns }: ApplicationInput) {
    columns.returnUrls?.forEach((url, index) => {
      if (!parseReturnUrl(url, isLoopbackAllowed) || url.includes('#'))
        throw invalidField(`returnUrls.${index}`, 'Give an absolute https address without user name or fragment.');
    });
    return {
      ...columns,
      ...(columns.name !== undefined && { name: columns.name.trim() }),
      termsUrl: legalUrls?.terms,
      privacyUrl: legalUrls?.privacy,
      imprintUrl: legalUrls?.imprint,
      logoUrl: branding?.logoUrl,
      accentColor: branding?.accentColor,
    };
  }

  function isSlugTaken(unit: Unit, slug: string, exceptId?: string): boolean {
    const holder = unit.tx.select({ id: applications.id }).from(applications).where(eq(applications.slug, slug)).get();
    return holder !== undefined && holder.id !== exceptId;
  }

  /** A slug nobody chose is made from the name and numbered until it is free. */
  function freeSlug(unit: Unit, name: string): string {
    const base =
      name
        .normalize('NFKD')
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .slice(0, 50)
        .replace(/^-+|-+$/g, '') || 'application';
    let slug = base;
    for (let number = 2; isSlugTaken(unit, slug); number += 1) slug = `${base}-${number}`;
    return slug;
  }

  function refuseTakenSlug(unit: Unit, slug: string | undefined, exceptId?: string): void {
    if (slug !== undefined && isSlugTaken(unit, slug, exceptId))
      throw new AppError('conflict', { message: 'Another application has this slug; choose another.' });
  }

  /** Inserts an application with its default roles, inside the caller's transaction. */
  function insert(
    unit: Unit,
    row: Pick<Application, 'workspaceId' | 'clientId'>,
    input: ApplicationInput,
  ): Application {
    const columns = toColumns(input);
    refuseTakenSlug(unit, columns.slug);
    const name = columns.name ?? 'Untitled application';
    const [application] = unit.tx
      .insert(applications)
      .values({
        id: newId('application', unit.now),
        stage: 'draft',
        signinGate: 'public',
        betaRequestPolicy: 'manual',
        sessionTtlSeconds: DEFAULT_SESSION_TTL_SECONDS,
        returnUrls: [],
        createdAt: unit.now,
        updatedAt: unit.now,
        ...columns,
        ...row,
        name,
        slug: columns.slug ?? freeSlug(unit, name),
      })
      .returning()
      .all();
    for (const role of DEFAULT_ROLES)
      unit.tx
        .insert(roles)
        .values({
          id: newId('role', unit.now),
          applicationId: application!.id,
          ...role,
          createdAt: unit.now,
          updatedAt: unit.now,
        })
        .run();
    unit.audit({
      kind: 'application.created',
      applicationId: application!.id,
      workspaceId: row.workspaceId,
      targetId: application!.id,
    });
    return application!;
  }

  /** Moves to the next stage in one statement; any other state is refused. */
  function changeStage(
    actor: Actor,
    application: Application,
    from: 'draft' | 'test',
    to: 'test' | 'live',
  ): StageChange {
    return db.write(actor, (unit) => {
      const [changed] = unit.tx
        .update(applications)
        .set({ stage: to, updatedAt: unit.now })
        .where(
          and(
            eq(applications.id, application.id),
            eq(applications.stage, from),
            isNull(applications.archivedAt),
            isNull(applications.deletedAt),
          ),
        )
        .returning()
        .all();
      if (!changed)
        throw new AppError('invalid_state', {
          message: `Only an application in stage "${from}", neither archived nor deleted, can do this.`,
        });
      unit.audit({
        kind: to === 'test' ? 'application.published' : 'application.went_live',
        applicationId: changed.id,
        workspaceId: changed.workspaceId,
        targetId: changed.id,
      });
      return { ...present(changed), warnings: readinessWarnings(changed) };
    });
  }

  return {
    insert,
    present,

    find: (id: string): Application | undefined => byId.get({ id }),

    findByClientId: (clientId: string): Application | undefined => byClientId.get({ clientId }),

    create(actor: Actor, workspaceId: string, input: ApplicationInput): ApplicationRecord {
      return db.write(actor, (unit) =>
        present(insert(unit, { workspaceId, clientId: newId('client', unit.now) }, input)),
      );
    },

    /** What the principal can reach, oldest first; hidden ones are left out. */
    list(principal: Principal, query: ApplicationsQuery): Page<ApplicationRecord> {
      const { limit = DEFAULT_PAGE_SIZE, cursor, include } = query;
      // An application whose grace is over, or was skipped, is hidden.
      const isShown = or(isNull(applications.deletedAt), gt(applications.purgeAfter, clock.now()));
      const after = cursor === undefined ? '' : decodeCursor(cursor, ['string'])[0];
      const rows = db.orm
        .select()
        .from(applications)
        .where(and(...reachOf(principal), gt(applications.id, after), include === 'hidden' ? undefined : isShown))
        .orderBy(asc(applications.id))
        .limit(limit + 1)
        .all();
      return pageOf(rows, limit, (row) => [row.id], present);
    },

    update(actor: Actor, { id, workspaceId }: Application, patch: ApplicationPatch): ApplicationRecord {
      const { defaultRoles, ...input } = patch;
      return db.write(actor, (unit) => {
        refuseTakenSlug(unit, input.slug, id);
        if (defaultRoles) setDefaultRoles(unit, id, defaultRoles);
        const [changed] = unit.tx
          .update(applications)
          .set({ ...toColumns(input), updatedAt: unit.now })
          .where(eq(applications.id, id))
          .returning()
          .all();
        unit.audit({
          kind: 'application.updated',
          applicationId: id,
          workspaceId,
          targetId: id,
          detail: { fields: Object.keys(patch) },
        });
        return present(changed!);
      });
    },

    /** Makes a new client secret; the one before stops working. In plain text this once. */
    rotateSecret(actor: Actor, { id, workspaceId }: Application) {
      const clientSecret = mintSecret('clientSecret', random);
      return db.write(actor, (unit) => {
        const prefix = secretPrefix(clientSecret);
        unit.tx
          .update(applications)
          .set({
            clientSecretHash: Buffer.from(hashSecret(clientSecret)),
            clientSecretPrefix: prefix,
            clientSecretRotatedAt: unit.now,
            updatedAt: unit.now,
          })
          .where(eq(applications.id, id))
          .run();
        unit.audit({ kind: 'application.secret_rotated', applicationId: id, workspaceId, targetId: id });
        return { clientSecret, prefix, rotatedAt: isoTime(unit.now) };
      });
    },

    publish: (actor: Actor, application: Application) => changeStage(actor, application, 'draft', 'test'),

    goLive: (actor: Actor, application: Application) => changeStage(actor, application, 'test', 'live'),
  };
}

function reachOf(principal: Principal) {
  if (principal.kind !== 'key')
    return [
      inArray(
        applications.workspaceId,
        principal.workspaces.map(({ workspaceId }) => workspaceId),
      ),
    ];
  const { workspaceId, applicationId, applicationIds } = principal;
  return [
    eq(applications.workspaceId, workspaceId),
    ...(applicationId === null ? [] : [eq(applications.id, applicationId)]),
    ...(applicationIds === null ? [] : [inArray(applications.id, [...applicationIds])]),
  ];
}

function readinessWarnings({ termsUrl, privacyUrl, returnUrls }: Application): FieldProblem[] {
  const warnings: FieldProblem[] = [];
  if (termsUrl === null) warnings.push({ path: 'legalUrls.terms', message: 'There is no link to the terms yet.' });
  if (privacyUrl === null)
    warnings.push({ path: 'legalUrls.privacy', message: 'There is no link to the privacy policy yet.' });
  if (returnUrls.length === 0)
    warnings.push({
      path: 'returnUrls',
      message: 'Without a return URL the hosted sign-in page cannot send people back.',
    });
  return warnings;
}

function presentWith(row: Application, defaultRoles: string[]): ApplicationRecord {
  return {
    id: row.id,
    workspaceId: row.workspaceId ?? '',
    clientId: row.clientId,
    slug: row.slug,
    name: row.name,
    stage: row.stage,
    signinGate: row.signinGate,
    betaRequestPolicy: row.betaRequestPolicy,
    signinMethods: row.signinMethods,
    defaultRoles,
    sessionTtlSeconds: row.sessionTtlSeconds,
    returnUrls: row.returnUrls,
    legalUrls: { terms: row.termsUrl, privacy: row.privacyUrl, imprint: row.imprintUrl },
    branding: { logoUrl: row.logoUrl, accentColor: row.accentColor },
    clientSecretPrefix: row.clientSecretPrefix,
    archivedAt: isoTime(row.archivedAt),
    deletedAt: isoTime(row.deletedAt),
    purgeAfter: isoTime(row.purgeAfter),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}
