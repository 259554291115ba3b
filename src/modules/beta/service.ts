/** The sign-in gate and its allowlist: who has asked, who is let in, who is told. */
import { isClosed, isInService } from '../../core/application-state.ts';
import { and, asc, desc, eq, isNotNull, isNull, lt, ne } from 'drizzle-orm';
import type { Actor } from '../../core/actor.ts';
import { DAY, isoTime } from '../../core/clock.ts';
import { normalizeEmail } from '../../core/email.ts';
import { AppError, type FieldProblem, invalidField } from '../../core/error.ts';
import { newId } from '../../core/id.ts';
import { decodeCursor, type Page, pageOf } from '../../db/page.ts';
import { type Application, applications, type BetaInterest, betaInterests } from '../../db/schema/applications.ts';
import type { Database, Unit } from '../../db/unit-of-work.ts';
import { DEFAULT_PAGE_SIZE } from '../../http/schemas.ts';
import { type BetaMail, betaMail } from '../../mail/messages/beta.ts';
import type { ApplicationRecord } from '../applications/model.ts';
import type { Applications } from '../applications/service.ts';
import type {
  AccessInterestInput,
  BetaAddInput,
  BetaAdded,
  BetaInterestRecord,
  BetaQuery,
  PolicyInput,
  PublicState,
} from './model.ts';

type Status = BetaInterest['status'];
type Gate = Application['signinGate'];
type Policy = Application['betaRequestPolicy'];

const MAIL_LIFETIME_MS = 3 * DAY;
/** Launch mails queued in one transaction; the rest follows by job. */
const LAUNCH_BATCH = 500;

const STATUS_OF_REQUEST: Record<Policy, Status> = {
  manual: 'pending',
  auto_accept: 'approved',
  auto_decline: 'notify_when_public',
};

export interface BetaDependencies {
  readonly db: Database;
  readonly applications: Applications;
}

export type Beta = ReturnType<typeof betaService>;

export function betaService({ db, applications: records }: BetaDependencies) {
  const publicState = db.sqlite.prepare<PublicStateRow, [string]>(
    `SELECT id AS applicationId, client_id AS clientId, name, stage, signin_gate AS signinGate,
       beta_request_policy AS betaRequestPolicy, archived_at AS archivedAt, deleted_at AS deletedAt
     FROM applications WHERE id = ? AND workspace_id IS NOT NULL`,
  );

  function find({ tx }: Unit, application: Application, id: string): BetaInterest {
    const row = tx
      .select()
      .from(betaInterests)
      .where(and(eq(betaInterests.applicationId, application.id), eq(betaInterests.id, id)))
      .get();
    if (!row) throw new AppError('not_found');
    return row;
  }

  function findByEmail({ tx }: Unit, applicationId: string, email: string): BetaInterest | undefined {
    return tx
      .select()
      .from(betaInterests)
      .where(and(eq(betaInterests.applicationId, applicationId), eq(betaInterests.email, email)))
      .get();
  }

  function insert(unit: Unit, applicationId: string, email: string, status: Status, source: string): BetaInterest {
    const isDecided = status !== 'pending' && (status === 'approved' || source === 'admin_add');
    const [row] = unit.tx
      .insert(betaInterests)
      .values({
        id: newId('betaInterest', unit.now),
        applicationId,
        email,
        status,
        source,
        decidedById: isDecided ? unit.actor.userId : null,
        decidedAt: isDecided ? unit.now : null,
        createdAt: unit.now,
        updatedAt: unit.now,
      })
      .returning()
      .all();
    return row!;
  }

  function decide(unit: Unit, id: string, status: Status, source?: string): BetaInterest {
    const [row] = unit.tx
      .update(betaInterests)
      .set({
        status,
        source,
        decidedById: status === 'pending' ? null : unit.actor.userId,
        decidedAt: status === 'pending' ? null : unit.now,
        updatedAt: unit.now,
      })
      .where(eq(betaInterests.id, id))
      .returning()
      .all();
    return row!;
  }

  function pendingOf({ tx }: Unit, applicationId: string): BetaInterest[] {
    return tx
      .select()
      .from(betaInterests)
      .where(and(eq(betaInterests.applicationId, applicationId), eq(betaInterests.status, 'pending')))
      .all();
  }

  function tell(unit: Unit, application: Application, kind: BetaMail, email: string): void {
    unit.mail({ to: email, ...betaMail(kind, application.name), code: null, expiresAt: unit.now + MAIL_LIFETIME_MS });
  }

  /** Queues the launch mail of those who wait for it, each once: the stamp is set in the same transaction. */
  function launch(unit: Unit, application: Application): number {
    const waiting = unit.tx
      .select()
      .from(betaInterests)
      .where(
        and(
          eq(betaInterests.applicationId, application.id),
          isNotNull(betaInterests.launchQueuedAt),
          isNull(betaInterests.notifiedAt),
        ),
      )
      .orderBy(asc(betaInterests.id))
      .limit(LAUNCH_BATCH)
      .all();
    for (const { id, email } of waiting) {
      tell(unit, application, 'launched', email);
      unit.tx.update(betaInterests).set({ notifiedAt: unit.now }).where(eq(betaInterests.id, id)).run();
    }
    return waiting.length;
  }

  const audit = (unit: Unit, kind: Parameters<Unit['audit']>[0]['kind'], application: Application, detail: object) =>
    unit.audit({ kind, applicationId: application.id, workspaceId: application.workspaceId, detail: { ...detail } });

  return {
    /** Newest first. */
    list(application: Application, { limit = DEFAULT_PAGE_SIZE, cursor, status }: BetaQuery): Page<BetaInterestRecord> {
      const rows = db.orm
        .select()
        .from(betaInterests)
        .where(
          and(
            eq(betaInterests.applicationId, application.id),
            status === undefined ? undefined : eq(betaInterests.status, status),
            cursor === undefined ? undefined : lt(betaInterests.id, decodeCursor(cursor, ['string'])[0]),
          ),
        )
        .orderBy(desc(betaInterests.id))
        .limit(limit + 1)
        .all();
      return pageOf(rows, limit, (row) => [row.id], present);
    },

    /**
     * Adds addresses, or decides for those that are there; all or nothing. An approved row is never demoted.
     *
     * @throws {AppError} invalid_request naming each address that is none.
     */
    add(actor: Actor, application: Application, { emails, status }: BetaAddInput): BetaAdded {
      const addresses = normalizeAll(emails);
      const wanted: Status = status ?? (emails.length === 1 ? 'approved' : 'pending');
      return db.write(actor, (unit) => {
        const summary = { requested: emails.length, created: 0, updated: 0, unchanged: 0 };
        const items = addresses.map((email) => {
          const known = findByEmail(unit, application.id, email);
          if (!known) {
            summary.created += 1;
            return present(insert(unit, application.id, email, wanted, 'admin_add'));
          }
          if (known.status === wanted || known.status === 'approved') {
            summary.unchanged += 1;
            return present(known);
          }
          summary.updated += 1;
          return present(decide(unit, known.id, wanted, 'admin_add'));
        });
        audit(unit, 'beta.added', application, { status: wanted, ...summary });
        return { items, summary };
      });
    },

    /** Approving an approved row changes nothing. */
    approve(actor: Actor, application: Application, id: string, isNotified: boolean): BetaInterestRecord {
      return db.write(actor, (unit) => {
        const row = find(unit, application, id);
        if (row.status === 'approved') return present(row);
        const approved = decide(unit, id, 'approved');
        if (isNotified) tell(unit, application, 'approved', row.email);
        unit.audit({ kind: 'beta.approved', applicationId: application.id, email: row.email, targetId: id });
        return present(approved);
      });
    },

    /** Keeps the row for the record; softly, it also waits for the launch mail and the person is told. */
    decline(actor: Actor, application: Application, id: string, isSoft: boolean): BetaInterestRecord {
      const status: Status = isSoft ? 'notify_when_public' : 'declined';
      return db.write(actor, (unit) => {
        const row = find(unit, application, id);
        if (row.status === status) return present(row);
        const declined = decide(unit, id, status);
        if (isSoft) tell(unit, application, 'declined', row.email);
        unit.audit({
          kind: 'beta.declined',
          applicationId: application.id,
          email: row.email,
          targetId: id,
          detail: { soft: isSoft },
        });
        return present(declined);
      });
    },

    remove(actor: Actor, application: Application, id: string): { id: string } {
      return db.write(actor, (unit) => {
        const { email } = find(unit, application, id);
        unit.tx.delete(betaInterests).where(eq(betaInterests.id, id)).run();
        unit.audit({ kind: 'beta.removed', applicationId: application.id, email, targetId: id });
        return { id };
      });
    },

    /** Sets the policy for new requests and decides the pending ones by it. */
    setPolicy(
      actor: Actor,
      application: Application,
      { policy, notify }: PolicyInput,
    ): { policy: Policy; decided: number } {
      const isNotified = notify ?? policy === 'auto_decline';
      return db.write(actor, (unit) => {
        unit.tx
          .update(applications)
          .set({ betaRequestPolicy: policy, updatedAt: unit.now })
          .where(eq(applications.id, application.id))
          .run();
        const pending = policy === 'manual' ? [] : pendingOf(unit, application.id);
        for (const { id, email } of pending) {
          decide(unit, id, STATUS_OF_REQUEST[policy]);
          if (isNotified) tell(unit, application, policy === 'auto_accept' ? 'approved' : 'declined', email);
        }
        audit(unit, 'beta.policy_changed', application, { policy, decided: pending.length });
        return { policy, decided: pending.length };
      });
    },

    /** Takes effect at the very next sign-in. Opening to the public tells those who wait, each once. */
    setGate(actor: Actor, { id }: Application, gate: Gate): ApplicationRecord {
      return db.write(actor, (unit) => {
        const application = records.find(id)!;
        const [changed] = unit.tx
          .update(applications)
          .set({ signinGate: gate, updatedAt: unit.now })
          .where(eq(applications.id, id))
          .returning()
          .all();
        if (gate === 'public' && application.signinGate !== 'public') {
          unit.tx
            .update(betaInterests)
            .set({ status: 'notify_when_public', updatedAt: unit.now })
            .where(and(eq(betaInterests.applicationId, id), eq(betaInterests.status, 'pending')))
            .run();
          unit.tx
            .update(betaInterests)
            .set({ launchQueuedAt: unit.now })
            .where(
              and(
                eq(betaInterests.applicationId, id),
                eq(betaInterests.status, 'notify_when_public'),
                isNull(betaInterests.notifiedAt),
              ),
            )
            .run();
          // Whoever is told must be able to sign in: what is not in service yet is announced by the job once it is.
          if (isInService(application)) launch(unit, application);
        }
        audit(unit, 'application.gate_changed', application, { from: application.signinGate, to: gate });
        return records.present(changed!);
      });
    },

    /** Queues what launch mails are left of an opening that told very many. */
    continueLaunches(actor: Actor): void {
      const left = db.orm
        .selectDistinct({ id: betaInterests.applicationId })
        .from(betaInterests)
        .innerJoin(applications, eq(applications.id, betaInterests.applicationId))
        .where(
          and(
            eq(applications.signinGate, 'public'),
            ne(applications.stage, 'draft'),
            isNull(applications.archivedAt),
            isNull(applications.deletedAt),
            isNotNull(betaInterests.launchQueuedAt),
            isNull(betaInterests.notifiedAt),
          ),
        )
        .all();
      for (const { id } of left) db.write(actor, (unit) => launch(unit, records.find(id)!));
    },

    /**
     * Somebody without an account asks to be let in, or to be told. The answer tells nothing of what is known.
     *
     * @throws {AppError} not_found, application_archived, invalid_request
     */
    receiveInterest(actor: Actor, applicationId: string, input: AccessInterestInput): { received: boolean } {
      const email = normalizeEmail(input.email);
      if (email === null) throw invalidField('email', 'Give an e-mail address, such as ada@example.com.');
      const application = records.find(applicationId);
      if (!application || application.workspaceId === null) throw new AppError('not_found');
      if (isClosed(application)) throw new AppError('application_archived');
      return db.write(actor, (unit) => {
        const known = findByEmail(unit, application.id, email);
        const status =
          input.kind === 'notify' ? 'notify_when_public' : STATUS_OF_REQUEST[application.betaRequestPolicy];
        // Who only wanted to be told may still ask to be let in; what was asked for or decided stays as it is.
        const isUpgrade = known?.source === 'notify' && known.decidedAt === null && input.kind === 'request';
        if (known && !isUpgrade) {
          // Written unchanged: an answer that comes without a write would tell by its speed that the address is known.
          unit.tx.update(betaInterests).set({ updatedAt: known.updatedAt }).where(eq(betaInterests.id, known.id)).run();
          return { received: true };
        }
        if (known) decide(unit, known.id, status, input.kind);
        else insert(unit, application.id, email, status, input.kind);
        unit.audit({
          kind: 'beta.requested',
          applicationId: application.id,
          email,
          detail: { kind: input.kind, status },
        });
        return { received: true };
      });
    },

    /** One look-up, for the hosted page that polls it. @throws {AppError} not_found */
    publicState(applicationId: string): PublicState {
      const row = publicState.get(applicationId);
      if (!row) throw new AppError('not_found');
      return {
        ...row,
        archivedAt: isoTime(row.archivedAt),
        deletedAt: isoTime(row.deletedAt),
        isOpen: isInService(row),
      };
    },
  };
}

type PublicStateRow = Omit<PublicState, 'archivedAt' | 'deletedAt' | 'isOpen'> & {
  archivedAt: number | null;
  deletedAt: number | null;
};

/** @throws {AppError} invalid_request naming each address that is none; doubles count once. */
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

function present(row: BetaInterest): BetaInterestRecord {
  const { id, email, status, source, decidedById } = row;
  return {
    id,
    email,
    status,
    source,
    decidedById,
    decidedAt: isoTime(row.decidedAt),
    notifiedAt: isoTime(row.notifiedAt),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}
