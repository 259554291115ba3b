/**
 * Applies seed files: validates everything first, then runs the steps through the services behind the API. Removes
 * nothing; applying again changes nothing, and an interrupted run can be repeated.
 */
import { isClosed } from '../../core/application-state.ts';
import type { Clock } from '../../core/clock.ts';
import { AppError } from '../../core/error.ts';
import { required } from '../../core/required.ts';
import { yieldIfLong } from '../../core/event-loop.ts';
import type { Database } from '../../db/database.ts';
import type { WorkLeases } from '../../jobs/work-leases.ts';
import { type Application, findApplication, findSlugHolder, type TenantApplication } from '../../store/applications.ts';
import { findBudget } from '../../store/budgets.ts';
import type { ApiKeys } from '../api-keys/service.ts';
import type { GrantServices } from '../grants/module.ts';
import type { Import } from '../import/service.ts';
import { type ApplicationTools, type StepActor, planOpening, planProvider, planSettings } from './application-steps.ts';
import { checkApplicationAlone, checkDocument, type Problems, type Secrets } from './check.ts';
import { planGrants } from './grant-steps.ts';
import { planApplicationKeys, planWorkspaceKey } from './key-steps.ts';
import type { ApplyResult, SeedApplication, SeedDocument } from './model.ts';
import { type OpenIdTools, planOpenId } from './openid-steps.ts';
import { planAllowlist, planUsers } from './people-steps.ts';
import { Plan, type Site, type SeedTold } from './plan.ts';
import { type ApplyPool, applyPool } from './apply-pool.ts';
import { planWebhooks, type WebhookTools } from './webhook-steps.ts';

export interface SeedTools extends ApplicationTools, OpenIdTools, WebhookTools {
  readonly db: Database;
  readonly clock: Clock;
  readonly leases: Pick<WorkLeases, 'begin'>;
  readonly grants: GrantServices;
  readonly imports: Import;
  readonly apiKeys: ApiKeys;
}

export interface ApplyOptions {
  readonly secrets: Secrets;
  readonly isDryRun: boolean;
  /** Prefix of the paths of problems: empty, or ending with a dot. */
  readonly place?: string;
}

/** How often a plan is made in all when concurrent changes interfere. */
const MOST_PLANS = 3;
const OVERTAKEN: readonly string[] = ['conflict', 'invalid_state', 'not_found'];

export type Seed = ReturnType<typeof seedService>;

export function seedService(tools: SeedTools) {
  const { db, clock, leases, grants, imports, apiKeys, beta } = tools;
  const applies = applyPool(leases);
  const inTurn: ApplyPool['run'] = async (workspaceId, work) =>
    applies.run(await findBudget(db.reader, workspaceId), work);

  /** Returns `taken` for a slug of another workspace or an earlier one, null for a free one. */
  async function ofWorkspace(workspaceId: string, slug: string): Promise<TenantApplication | 'taken' | null> {
    const id = await findSlugHolder(db.reader, slug);
    const holder = id === undefined ? undefined : await findApplication(db.reader, id);
    if (!holder) return null;
    return isTenant(holder) && holder.workspaceId === workspaceId && holder.slug === slug ? holder : 'taken';
  }

  async function planSite(
    plan: Plan,
    doer: StepActor,
    secrets: Secrets,
    at: Pick<Site, 'wanted' | 'place' | 'present'>,
  ) {
    const { wanted, place, present } = at;
    let id = present?.id;
    const open = async () => {
      const found = await findApplication(db.reader, required(id, 'an application that was made'));
      return required(found && isTenant(found) ? found : undefined, 'an application of a tenant');
    };
    const site: Site = { plan, db, secrets, wanted, place, present, open };
    if (present && isClosed(present))
      return plan.problems.add(
        place,
        'This application is archived or deleted; bring it back first (gatehouse apps restore), or leave it out.',
      );
    await planSettings(tools, doer, site, (made) => void (id = made));
    const slugs = await planGrants(grants, doer.actor, site);
    await planProvider(tools, doer, site);
    await planOpenId(tools, doer.actor, site);
    await planWebhooks(tools, doer.actor, site);
    const keyTools = { apiKeys, reader: db.reader, now: clock.now };
    await planApplicationKeys(keyTools, doer.actor, site, doer.workspaceId, slugs);
    await planAllowlist(beta, doer.actor, site);
    await planUsers(imports, doer.actor, site, slugs, () => plan.problems.found.length === 0);
    planOpening(tools, doer, site);
  }

  async function planDocument(doer: StepActor, document: SeedDocument, problems: Problems, options: ApplyOptions) {
    const { workspaceId, actor } = doer;
    const { secrets, place: prefix = '' } = options;
    const plan = new Plan(problems);
    const { applications = [], apiKeys: keys = [] } = document;
    for (const [at, wanted] of applications.entries()) {
      const place = `${prefix}applications.${at}`;
      const present = await ofWorkspace(workspaceId, wanted.slug);
      if (present === 'taken') problems.add(`${place}.slug`, 'This slug is taken, or was before; choose another.');
      else await planSite(plan, doer, secrets, { wanted, place, present });
      await yieldIfLong();
    }
    const coming = new Set(applications.map(({ slug }) => slug));
    for (const [at, key] of keys.entries()) {
      const path = `${prefix}apiKeys.${at}`;
      for (const [index, slug] of (key.applications ?? []).entries())
        if (!coming.has(slug) && !isThere(await ofWorkspace(workspaceId, slug)))
          problems.add(`${path}.applications.${index}`, 'There is no such application here, nor in the file.');
      const idsOf = (slugs: readonly string[]) => Promise.all(slugs.map((slug) => idOf(workspaceId, slug)));
      const token = secrets(key.token.env) ?? '';
      const keyTools = { apiKeys, reader: db.reader, now: clock.now };
      await planWorkspaceKey(keyTools, actor, { plan, path }, { workspaceId, key, token }, idsOf);
    }
    return plan;
  }

  async function idOf(workspaceId: string, slug: string): Promise<string> {
    const application = await ofWorkspace(workspaceId, slug);
    if (!isThere(application)) throw new AppError('not_found');
    return application.id;
  }

  /** Runs a plan; after a conflict with a concurrent change, plans and runs what is left. */
  async function carryOut(
    check: () => Promise<Problems>,
    makePlan: (problems: Problems) => Promise<Plan>,
    isDryRun: boolean,
  ): Promise<ApplyResult> {
    const told: SeedTold = { skipped: [], signingSecrets: [] };
    const changes: ApplyResult['changes'] = [];
    let unchanged: number | undefined;
    for (let plans = 1; ; plans += 1) {
      const problems = await check();
      problems.refuse();
      const plan = await makePlan(problems);
      problems.refuse();
      unchanged ??= plan.unchanged;
      told.skipped.push(...plan.skipped);
      if (isDryRun) changes.push(...plan.steps.flatMap((step) => step.changes));
      if (isDryRun || (await isDone(plan, told, changes, plans === MOST_PLANS)))
        return { changes: withoutSkipped(changes, told), unchanged, notes: plan.notes, ...told };
      told.skipped.length = 0;
    }
  }

  return {
    /** The caller needs full access. @throws {AppError} invalid_request naming every problem, before any change. */
    apply(doer: StepActor, document: SeedDocument, options: ApplyOptions): Promise<ApplyResult> {
      const { place = '', secrets, isDryRun } = options;
      return inTurn(doer.workspaceId, () =>
        carryOut(
          () => checkDocument(document, place, secrets),
          (problems) => planDocument(doer, document, problems, options),
          isDryRun,
        ),
      );
    },

    /** Needs access to this application only; the slug must be its own. @throws {AppError} invalid_request */
    applyTo(
      doer: StepActor,
      present: TenantApplication,
      wanted: SeedApplication,
      { place = '', secrets, isDryRun }: ApplyOptions,
    ): Promise<ApplyResult> {
      return inTurn(doer.workspaceId, () =>
        carryOut(
          () => checkApplicationAlone(wanted, place, secrets),
          async (problems) => {
            const plan = new Plan(problems);
            const now = required(await findApplication(db.reader, present.id), 'an application');
            if (now.slug !== wanted.slug) problems.add(`${place}.slug`, 'Give the slug that the application has.');
            else await planSite(plan, doer, secrets, { wanted, place, present: isTenant(now) ? now : present });
            return plan;
          },
          isDryRun,
        ),
      );
    },
  };
}

/** @returns false if a new plan is needed. */
async function isDone(plan: Plan, told: SeedTold, changes: ApplyResult['changes'], isLast: boolean): Promise<boolean> {
  for (const { place, changes: made, run } of plan.steps) {
    try {
      await run(told);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (OVERTAKEN.includes(error.code) && !isLast) return false;
      throw placed(error, place);
    }
    changes.push(...made);
    await yieldIfLong();
  }
  return true;
}

/** Prefixes a service's field paths with the path in the document. */
function placed(error: AppError, place: string): AppError {
  if (!error.fields) return error;
  const fields = error.fields.map(({ path, message }) => ({ path: `${place}.${path}`, message }));
  return new AppError(error.code, { fields, cause: error });
}

/** Drops the changes of users who were skipped during apply. */
function withoutSkipped(changes: ApplyResult['changes'], { skipped }: SeedTold): ApplyResult['changes'] {
  const names = new Set(skipped.map(({ application, email }) => `${application} ${email}`));
  return changes.filter(({ kind, application, name }) => kind !== 'user' || !names.has(`${application} ${name}`));
}

const isThere = (found: TenantApplication | 'taken' | null): found is TenantApplication =>
  found !== null && found !== 'taken';

function isTenant(application: Application): application is TenantApplication {
  return application.workspaceId !== null;
}
