/** Applications: created, read, changed and moved from draft to test to live. */
import type { Actor } from '../../core/actor.ts';
import { ACCOUNT_FIELDS, OPTIONAL_PARTS } from '../../core/account-view.ts';
import { isClosed } from '../../core/application-state.ts';
import { type Clock, isoTime, SECOND } from '../../core/clock.ts';
import { AppError, type FieldProblem, invalidField } from '../../core/error.ts';
import { newId } from '../../core/id.ts';
import type { Principal } from '../../core/principal.ts';
import type { Random } from '../../core/random.ts';
import { parseReturnUrl, returnUrlRemedy } from '../../core/return-url.ts';
import { hashSecret, mintSecret, secretPrefix } from '../../core/secret.ts';
import type { Database, Unit } from '../../db/database.ts';
import { decodeCursor, type Page, pageOf } from '../../db/page.ts';
import { LIMITS, type LimitSettings } from '../../http/limits.ts';
import { DEFAULT_PAGE_SIZE } from '../../http/schemas.ts';
import {
  type Application,
  findApplication,
  findSlugHolder,
  insertApplication,
  keepFormerSlug,
  listFormerSlugTimes,
  listApplications,
  requireApplication,
  updateApplication,
} from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { type Grant, insertGrant, listGrants, updateGrant } from '../../store/grants.ts';
import { brandingColumns, dropUnusedImages } from './branding.ts';
import type { ApplicationInput, ApplicationPatch, ApplicationRecord, ApplicationsQuery, StageChange } from './model.ts';
import { presentApplication, presentApplications } from './present.ts';

const DEFAULT_SESSION_TTL_SECONDS = 30 * 24 * 60 * 60;

export type NewRole = Pick<Grant, 'slug' | 'name' | 'description' | 'isDefault'>;

/** Roles of a new application, unless others are given. */
export const STOCK_ROLES: readonly NewRole[] = [
  { slug: 'user', name: 'User', description: null, isDefault: true },
  { slug: 'developer', name: 'Developer', description: null, isDefault: false },
];

export type Applications = ReturnType<typeof applicationService>;

export interface ApplicationDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: LimitSettings;
  /** Whether http addresses on loopback may be registered as return URLs (dev and ephemeral instances). */
  readonly isLoopbackAllowed: boolean;
  /** Notifies everyone waiting for the application to open, once each. */
  readonly openToPublic: (unit: Unit, applicationId: string) => Promise<void>;
}

/** Every change is audited in the same transaction. Callers are authorized before. */
export function applicationService(dependencies: ApplicationDependencies) {
  const { db, clock, random, limits, isLoopbackAllowed, openToPublic } = dependencies;

  /** @throws {AppError} invalid_request for a slug that is no role of the application. */
  async function setDefaultRoles(unit: Unit, applicationId: string, slugs: readonly string[]): Promise<void> {
    const known = await listGrants(unit, 'roles', applicationId);
    const unknown = slugs.findIndex((slug) => !known.some((role) => role.slug === slug));
    if (unknown >= 0) throw invalidField(`defaultRoles.${unknown}`, 'This role does not exist in the application.');
    for (const role of known) {
      const isDefault = slugs.includes(role.slug);
      if (isDefault !== role.isDefault) await updateGrant(unit, 'roles', role.id, { isDefault });
    }
  }

  function toColumns({ legalUrls, branding, account, ...columns }: ApplicationInput) {
    columns.returnUrls?.forEach((url, index) => {
      if (!parseReturnUrl(url, isLoopbackAllowed)) throw invalidField(`returnUrls.${index}`, returnUrlRemedy(url));
    });
    return {
      ...columns,
      ...(columns.name !== undefined && { name: columns.name.trim() }),
      termsUrl: legalUrls?.terms,
      privacyUrl: legalUrls?.privacy,
      imprintUrl: legalUrls?.imprint,
      ...brandingColumns(branding),
      hiddenAccountParts: account?.parts && OPTIONAL_PARTS.filter((part) => !account.parts?.includes(part)),
      hiddenAccountFields: account?.fields && ACCOUNT_FIELDS.filter((field) => !account.fields?.includes(field)),
    };
  }

  async function isSlugTaken(unit: Unit, slug: string, exceptId?: string): Promise<boolean> {
    const holderId = await findSlugHolder(unit, slug);
    return holderId !== undefined && holderId !== exceptId;
  }

  /** Returns a free slug made from the name, numbered if necessary. */
  async function freeSlug(unit: Unit, name: string): Promise<string> {
    const base =
      name
        .normalize('NFKD')
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-')
        .slice(0, 50)
        .replace(/^-+|-+$/g, '') || 'application';
    let slug = base;
    for (let number = 2; await isSlugTaken(unit, slug); number += 1) slug = `${base}-${number}`;
    return slug;
  }

  /** Limits renames, since former slugs stay reserved for good. @throws {AppError} rate_limited */
  async function refuseFurtherSlugs(unit: Unit, id: string): Promise<void> {
    const { windowMs } = LIMITS.slugsPerApplication;
    const allowed = limits.slugsPerApplication;
    const range = { since: unit.now - windowMs, now: unit.now };
    const inTheWay = (await listFormerSlugTimes(unit, { applicationId: id, ...range }))[allowed - 1];
    if (inTheWay === undefined) return;
    const retryAfterSeconds = Math.max(1, Math.ceil((inTheWay + windowMs - unit.now) / SECOND));
    throw new AppError('rate_limited', { hint: 'too_many_slugs', limit: allowed, retryAfterSeconds });
  }

  async function refuseTakenSlug(unit: Unit, slug: string | undefined, exceptId?: string): Promise<void> {
    if (slug !== undefined && (await isSlugTaken(unit, slug, exceptId)))
      throw new AppError('conflict', { hint: 'application_slug_taken' });
  }

  /** Inserts an application with its first roles in the caller's transaction. */
  async function insert(
    unit: Unit,
    row: Pick<Application, 'workspaceId' | 'clientId'>,
    input: ApplicationInput,
    roles = STOCK_ROLES,
  ): Promise<Application> {
    const columns = toColumns(input);
    await refuseTakenSlug(unit, columns.slug);
    const name = columns.name ?? 'Untitled application';
    const application = await insertApplication(unit, {
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
      slug: columns.slug ?? (await freeSlug(unit, name)),
    });
    const { id } = application;
    for (const role of roles) await insertGrant(unit, 'roles', { applicationId: id, ...role });
    await recordAudit(unit, {
      kind: 'application.created',
      applicationId: id,
      workspaceId: row.workspaceId,
      targetId: id,
    });
    return application;
  }

  /** Moves an application to the next stage; refuses any other state. */
  function changeStage(
    actor: Actor,
    { id }: Application,
    from: 'draft' | 'test',
    to: 'test' | 'live',
  ): Promise<StageChange> {
    return db.write(actor, async (unit) => {
      const application = await findApplication(unit, id);
      if (application?.stage !== from || isClosed(application))
        throw new AppError('invalid_state', { hint: 'application_stage', values: { stage: from } });
      const changed = await updateApplication(unit, id, { stage: to });
      // Behind another gate, people wait until that gate opens.
      if (to === 'live' && changed.signinGate === 'public') await openToPublic(unit, id);
      await recordAudit(unit, {
        kind: to === 'test' ? 'application.published' : 'application.went_live',
        applicationId: id,
        workspaceId: changed.workspaceId,
        targetId: id,
      });
      return { ...(await presentApplication(unit, changed, unit.now)), warnings: readinessWarnings(changed) };
    });
  }

  return {
    insert,

    get: (application: Application): Promise<ApplicationRecord> =>
      presentApplication(db.reader, application, clock.now()),

    create(
      actor: Actor,
      workspaceId: string,
      input: ApplicationInput,
      roles = STOCK_ROLES,
    ): Promise<ApplicationRecord> {
      return db.write(actor, async (unit) => {
        const clientId = newId('client', unit.now);
        return presentApplication(unit, await insert(unit, { workspaceId, clientId }, input, roles), unit.now);
      });
    },

    /** Returns the applications the principal can reach, oldest first, hidden ones only on request. */
    async list(principal: Principal, query: ApplicationsQuery): Promise<Page<ApplicationRecord>> {
      const { limit = DEFAULT_PAGE_SIZE, cursor, include } = query;
      const now = clock.now();
      const rows = await listApplications(db.reader, {
        ...reachOf(principal),
        // Hides applications whose grace period has ended or was skipped.
        hiddenSince: include === 'hidden' ? null : now,
        after: cursor === undefined ? '' : decodeCursor(cursor, ['string'])[0],
        limit: limit + 1,
      });
      const records = await presentApplications(db.reader, rows, now);
      return pageOf(
        records,
        limit,
        ({ id }) => [id],
        (record) => record,
      );
    },

    update(actor: Actor, { id, workspaceId }: Application, patch: ApplicationPatch): Promise<ApplicationRecord> {
      const { defaultRoles, ...input } = patch;
      return db.write(actor, async (unit) => {
        await refuseTakenSlug(unit, input.slug, id);
        const { slug } = await requireApplication(unit, id);
        if (input.slug !== undefined && input.slug !== slug) {
          await refuseFurtherSlugs(unit, id);
          await keepFormerSlug(unit, { id, slug });
        }
        if (defaultRoles) await setDefaultRoles(unit, id, defaultRoles);
        const changed = await updateApplication(unit, id, toColumns(input));
        await dropUnusedImages(unit, changed, input.branding);
        await recordAudit(unit, {
          kind: 'application.updated',
          applicationId: id,
          workspaceId,
          targetId: id,
          detail: { fields: Object.keys(patch) },
        });
        return presentApplication(unit, changed, unit.now);
      });
    },

    /** Replaces the client secret; the previous one stops working. The plain text is returned only here. */
    rotateSecret(actor: Actor, { id, workspaceId }: Application) {
      const clientSecret = mintSecret('clientSecret', random);
      const prefix = secretPrefix(clientSecret);
      const clientSecretHash = Buffer.from(hashSecret(clientSecret));
      return db.write(actor, async (unit) => {
        await updateApplication(unit, id, {
          clientSecretHash,
          clientSecretPrefix: prefix,
          clientSecretRotatedAt: unit.now,
        });
        await recordAudit(unit, { kind: 'application.secret_rotated', applicationId: id, workspaceId, targetId: id });
        return { clientSecret, prefix, rotatedAt: isoTime(unit.now) };
      });
    },

    publish: (actor: Actor, application: Application) => changeStage(actor, application, 'draft', 'test'),

    goLive: (actor: Actor, application: Application) => changeStage(actor, application, 'test', 'live'),
  };
}

/** Returns which applications the principal may list. */
function reachOf(principal: Principal): { workspaceIds: readonly string[]; ids: readonly string[] | null } {
  if (principal.kind !== 'key')
    return { workspaceIds: principal.workspaces.map(({ workspaceId }) => workspaceId), ids: null };
  const { workspaceId, applicationId, applicationIds } = principal;
  return { workspaceIds: [workspaceId], ids: applicationId === null ? applicationIds : [applicationId] };
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
