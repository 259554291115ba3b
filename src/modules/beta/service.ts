/** The sign-in gate and its waitlist: requests, decisions and notifications. */
import type { Actor } from '../../core/actor.ts';
import { isClosed, isInService } from '../../core/application-state.ts';
import type { AuditKind } from '../../core/audit.ts';
import { isoTime } from '../../core/clock.ts';
import { normalizeEmail } from '../../core/email.ts';
import { AppError, type FieldProblem, invalidField } from '../../core/error.ts';
import { newId } from '../../core/id.ts';
import { requestedLocale } from '../../core/locale.ts';
import type { Database, Unit } from '../../db/database.ts';
import { decodeCursor, type Page, pageOf } from '../../db/page.ts';
import { DEFAULT_PAGE_SIZE } from '../../http/schemas.ts';
import {
  type Application,
  findApplication,
  findApplicationState,
  requireApplication,
  updateApplication,
} from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import {
  type WaitlistEntry,
  type BetaStatus,
  countWaitlist,
  countPending,
  fillWaitlistLocale,
  deleteWaitlistEntry,
  findWaitlistEntry,
  findWaitlistEntryByEmail,
  insertWaitlistEntry,
  listWaitlist,
  updateWaitlistEntry,
} from '../../store/waitlist.ts';
import type { ApplicationRecord } from '../applications/model.ts';
import { presentApplication } from '../applications/present.ts';
import { betaDecisions, writeDecision } from './decisions.ts';
import type {
  AccessInterestInput,
  BetaAddInput,
  BetaAdded,
  BetaCounts,
  BetaDecided,
  BetaInterestRecord,
  BetaQuery,
  DecideInput,
  PolicyInput,
  PublicState,
} from './model.ts';
import type { BetaTasks } from './background-tasks.ts';
import { mayRequest } from './standing.ts';

type Gate = Application['signinGate'];
type Policy = Application['betaRequestPolicy'];

const STATUS_OF_REQUEST: Record<Policy, BetaStatus> = {
  manual: 'pending',
  auto_accept: 'approved',
  auto_decline: 'notify_when_public',
};

/** Rows decided per transaction: some milliseconds. */
const SLICE = 10;

export type Beta = ReturnType<typeof betaService>;

export interface BetaDependencies {
  readonly db: Database;
  readonly tasks: BetaTasks;
}

/** Every decision takes effect at the next sign-in. */
export function betaService({ db, tasks }: BetaDependencies) {
  const { decideAll, openToPublic, stopLaunch } = tasks;
  const { approve, decline, decideOne } = betaDecisions(tasks.sendMail);

  async function find(unit: Unit, { id: applicationId }: Application, id: string): Promise<WaitlistEntry> {
    const row = await findWaitlistEntry(unit, applicationId, id);
    if (!row) throw new AppError('not_found');
    return row;
  }

  function insert(
    unit: Unit,
    applicationId: string,
    email: string,
    { status, source, locale }: Pick<WaitlistEntry, 'status' | 'source' | 'locale'>,
  ): Promise<WaitlistEntry> {
    return insertWaitlistEntry(unit, {
      id: newId('betaInterest', unit.now),
      applicationId,
      email,
      status,
      source,
      locale,
      ...decisionOf(unit, status, source),
    });
  }

  /** An entry that only waits for the launch mail, by request or by policy, counts as undecided. */
  function decisionOf({ actor, now }: Unit, status: BetaStatus, source: string) {
    const isDecided = status === 'approved' || (status !== 'pending' && source === 'admin_add');
    return { decidedById: isDecided ? actor.userId : null, decidedAt: isDecided ? now : null };
  }

  const audit = (unit: Unit, kind: AuditKind, { id, workspaceId }: Application, detail: object) =>
    recordAudit(unit, { kind, applicationId: id, workspaceId, detail: { ...detail } });

  return {
    /** Returns entries, newest first. */
    async list(
      { id: applicationId }: Application,
      { limit = DEFAULT_PAGE_SIZE, cursor, status, email }: BetaQuery,
    ): Promise<Page<BetaInterestRecord>> {
      if (email !== undefined) {
        const row = await findWaitlistEntryByEmail(db.reader, applicationId, normalizeEmail(email) ?? email);
        const isAskedFor = row !== undefined && (status === undefined || row.status === status);
        return { items: isAskedFor ? [present(row)] : [], nextCursor: null };
      }
      const before = cursor === undefined ? undefined : decodeCursor(cursor, ['string'])[0];
      const rows = await listWaitlist(db.reader, { applicationId, status, before, limit: limit + 1 });
      return pageOf(rows, limit, (row) => [row.id], present);
    },

    /** Counts outside a transaction, since the list may be long; the numbers may be slightly out of date. */
    async counts({ id }: Application): Promise<BetaCounts> {
      const { byStatus, untold } = await countWaitlist(db.reader, id);
      const { pending, approved, declined, notify_when_public: notifyWhenPublic } = byStatus;
      return { pending, approved, notifyWhenPublic, declined, toldAtLaunch: pending + untold };
    },

    /** Adds or decides entries, all or nothing; an approved row is never demoted. @throws {AppError} invalid_request */
    async add(actor: Actor, application: Application, input: BetaAddInput): Promise<BetaAdded> {
      const { emails, status } = input;
      const addresses = normalizeAll(emails);
      const locale = requestedLocale(input.locale, null);
      const wanted: BetaStatus = status ?? (emails.length === 1 ? 'approved' : 'pending');
      return db.write(actor, async (unit) => {
        const summary = { requested: emails.length, created: 0, updated: 0, unchanged: 0 };
        const items: BetaInterestRecord[] = [];
        for (const email of addresses) {
          const known = await findWaitlistEntryByEmail(unit, application.id, email);
          if (!known) {
            summary.created += 1;
            const entry = { status: wanted, source: 'admin_add', locale };
            items.push(present(await insert(unit, application.id, email, entry)));
          } else if (known.status === wanted || known.status === 'approved') {
            summary.unchanged += 1;
            items.push(present(known));
          } else {
            summary.updated += 1;
            await fillWaitlistLocale(unit, { id: known.id, locale });
            items.push(present(await writeDecision(unit, known, wanted, 'admin_add')));
          }
        }
        await audit(unit, 'beta.added', application, { status: wanted, ...summary });
        return { items, summary };
      });
    },

    /** Approves an entry: see {@link betaDecisions}. @throws {AppError} not_found, rate_limited */
    approve(actor: Actor, application: Application, id: string, notify?: boolean): Promise<BetaInterestRecord> {
      return db.write(actor, async (unit) => {
        const row = await find(unit, application, id);
        return present(await approve(unit, application, row, notify));
      });
    },

    /** Declines an entry: see {@link betaDecisions}. @throws {AppError} not_found, rate_limited */
    decline(actor: Actor, application: Application, id: string, isSoft: boolean): Promise<BetaInterestRecord> {
      return db.write(actor, async (unit) => {
        const row = await find(unit, application, id);
        return present(await decline(unit, application, row, isSoft));
      });
    },

    /** Decides each entry as a single call would, in several transactions to let other writers in. Idempotent. */
    async decideMany(actor: Actor, application: Application, { decision, ids }: DecideInput): Promise<BetaDecided> {
      const results: BetaDecided['results'] = [];
      for (let from = 0; from < ids.length; from += SLICE) {
        const slice = await db.write(actor, async (unit) => {
          const decided: BetaDecided['results'] = [];
          for (const id of ids.slice(from, from + SLICE))
            decided.push(await decideOne(unit, application, id, decision));
          return decided;
        });
        results.push(...slice);
      }
      const changed = results.filter(({ outcome }) => outcome === 'changed').length;
      return { summary: { requested: ids.length, changed, skipped: ids.length - changed }, results };
    },

    remove(actor: Actor, application: Application, id: string): Promise<{ id: string }> {
      return db.write(actor, async (unit) => {
        const { email } = await find(unit, application, id);
        await deleteWaitlistEntry(unit, id);
        await recordAudit(unit, { kind: 'beta.removed', applicationId: application.id, email, targetId: id });
        return { id };
      });
    },

    /** Sets the policy and applies it to all pending requests at once; a background task writes rows and mails. */
    setPolicy(
      actor: Actor,
      application: Application,
      { policy, notify }: PolicyInput,
    ): Promise<{ policy: Policy; decided: number }> {
      // Automatically declined people are always mailed.
      const isNotified = policy === 'auto_decline' || notify === true;
      const mail = policy === 'auto_accept' ? 'approved' : 'declined';
      return db.write(actor, async (unit) => {
        await updateApplication(unit, application.id, { betaRequestPolicy: policy });
        const decided = policy === 'manual' ? 0 : await countPending(unit, application.id);
        if (decided > 0) {
          const decision = {
            status: STATUS_OF_REQUEST[policy],
            decidedById: unit.actor.userId,
            decidedAt: unit.now,
          };
          await decideAll(unit, application.id, decision, isNotified ? mail : null);
        }
        await audit(unit, 'beta.policy_changed', application, { policy, decided });
        return { policy, decided };
      });
    },

    /** Sets the gate, effective at the next sign-in. Opening to the public notifies everyone waiting, once each. */
    setGate(actor: Actor, { id }: Application, gate: Gate): Promise<ApplicationRecord> {
      return db.write(actor, async (unit) => {
        const application = await requireApplication(unit, id);
        const { signinGate: from } = application;
        const changed = await updateApplication(unit, id, { signinGate: gate });
        if (gate !== 'public') await stopLaunch(unit, id);
        else if (from !== 'public') await openToPublic(unit, id);
        await audit(unit, 'application.gate_changed', application, { from, to: gate });
        return presentApplication(unit, changed, unit.now);
      });
    },

    /** Hides whether the address is known. @throws {AppError} not_found, application_archived, invalid_request */
    async receiveInterest(
      actor: Actor,
      applicationId: string,
      input: Pick<AccessInterestInput, 'kind' | 'email'> & Pick<WaitlistEntry, 'locale'>,
    ): Promise<{ received: true }> {
      const { locale } = input;
      const email = normalizeEmail(input.email);
      if (email === null) throw invalidField('email', 'Give an e-mail address, such as ada@example.com.');
      return db.write(actor, async (unit) => {
        const application = await findApplication(unit, applicationId);
        if (!application || application.workspaceId === null) throw new AppError('not_found');
        if (isClosed(application)) throw new AppError('application_archived');
        const known = await findWaitlistEntryByEmail(unit, applicationId, email);
        const status =
          input.kind === 'notify' ? 'notify_when_public' : STATUS_OF_REQUEST[application.betaRequestPolicy];
        // A person waiting for the launch may still request access; any other existing entry stays as it is.
        const isUpgrade = known !== undefined && mayRequest(known) && input.kind === 'request';
        if (known && !isUpgrade) {
          // Always a write: without one, the faster response would reveal that the address is known.
          await fillWaitlistLocale(unit, { id: known.id, locale });
          return { received: true };
        }
        if (known)
          await updateWaitlistEntry(unit, known, {
            status,
            source: input.kind,
            locale: locale ?? known.locale,
            ...decisionOf(unit, status, input.kind),
          });
        else await insert(unit, applicationId, email, { status, source: input.kind, locale });
        await recordAudit(unit, {
          kind: 'beta.requested',
          applicationId,
          email,
          detail: { kind: input.kind, status },
        });
        return { received: true };
      });
    },

    /** Returns the state with a single query, since the hosted page polls it. @throws {AppError} not_found */
    async publicState(applicationId: string): Promise<PublicState> {
      const state = await findApplicationState(db.reader, applicationId);
      if (!state) throw new AppError('not_found');
      return {
        ...state,
        archivedAt: isoTime(state.archivedAt),
        deletedAt: isoTime(state.deletedAt),
        isOpen: isInService(state),
      };
    },
  };
}

/** Normalizes addresses and drops duplicates. @throws {AppError} invalid_request naming each invalid address. */
function normalizeAll(emails: readonly string[]): string[] {
  const fields: FieldProblem[] = [];
  const addresses = new Set<string>();
  emails.forEach((text, index) => {
    const email = normalizeEmail(text);
    if (email === null) fields.push({ path: `emails.${index}`, message: 'Give an e-mail address.' });
    else addresses.add(email);
  });
  if (fields.length > 0) throw new AppError('invalid_request', { fields });
  return [...addresses];
}

function present(row: WaitlistEntry): BetaInterestRecord {
  const { id, email, status, source, locale, decidedById } = row;
  return {
    id,
    email,
    status,
    source,
    locale,
    decidedById,
    decidedAt: isoTime(row.decidedAt),
    notifiedAt: isoTime(row.notifiedAt),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}
