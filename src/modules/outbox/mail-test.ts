/** Sends a test mail while the caller waits, only to members of the workspace. */
import type { Actor } from '../../core/actor.ts';
import { type Clock, MINUTE } from '../../core/clock.ts';
import { normalizeEmail } from '../../core/email.ts';
import { AppError, invalidField } from '../../core/error.ts';
import { localeToWriteIn } from '../../core/locale.ts';
import type { Principal } from '../../core/principal.ts';
import type { Database, Unit } from '../../db/database.ts';
import type { HeldLease, WorkLeases } from '../../jobs/work-leases.ts';
import { mailTestMail } from '../../mail/messages/mail-test.ts';
import type { SendNow } from '../../mail/send-now.ts';
import type { MailTransport } from '../../mail/transport.ts';
import type { MailStanding, WorkspaceMail } from '../../mail/workspace-mail.ts';
import { recordAudit } from '../../store/audit.ts';
import { findBudget } from '../../store/budgets.ts';
import { findUserByEmail, requireUser } from '../../store/people.ts';
import { localeShownTo } from '../../store/reservations.ts';
import { isWorkspaceMemberByEmail } from '../../store/workspace-members.ts';
import { requireWorkspace } from '../../store/workspaces.ts';
import type { InstanceFacts } from '../health/facts.ts';
import type { MailTestRecord } from './model.ts';
import { answersFor } from './hidden-server.ts';

export interface MailTestDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly leases: Pick<WorkLeases, 'begin'>;
  readonly mails: WorkspaceMail;
  readonly sendNow: SendNow;
  readonly baseUrl: () => string;
  readonly instance: Pick<InstanceFacts, 'mail'>;
}

/** A later test mail proves nothing any more. */
const LIFETIME_MS = 5 * MINUTE;
const RETRY_AFTER_SECONDS = 15;

export type MailTests = ReturnType<typeof mailTestService>;

export function mailTestService({ db, clock, leases, mails, sendNow, baseUrl, instance }: MailTestDependencies) {
  const testing = new Set<string>();

  const underWay = () =>
    new AppError('rate_limited', { hint: 'mail_tests_under_way', retryAfterSeconds: RETRY_AFTER_SECONDS });

  /** Runs one test at a time per budget, so that none takes the slots of others. @throws {AppError} rate_limited */
  async function alone<Result>(workspaceId: string, work: () => Promise<Result>): Promise<Result> {
    const budgetId = await findBudget(db.reader, workspaceId);
    if (testing.has(budgetId)) throw underWay();
    testing.add(budgetId);
    let lease: HeldLease | null = null;
    try {
      lease = await leases.begin(`mail test ${budgetId}`);
      if (!lease) throw underWay();
      return await work();
    } finally {
      testing.delete(budgetId);
      await lease?.end();
    }
  }

  /** @throws {AppError} invalid_request if a key names no recipient, or for an invalid address. */
  async function addressee(principal: Principal, to: string | undefined): Promise<string> {
    if (to === undefined && principal.kind !== 'key') return (await requireUser(db.reader, principal.userId)).email;
    if (to === undefined) throw invalidField('to', 'Name a member of the workspace: a key has no mailbox of its own.');
    const email = normalizeEmail(to);
    if (email === null) throw invalidField('to', 'Give an e-mail address, such as ada@example.com.');
    return email;
  }

  return {
    standing: (workspaceId: string): Promise<MailStanding> => mails.standing(db.reader, workspaceId, clock.now()),

    /**
     * Returns the mail server's answer, refusals included.
     * @param candidate is tested instead of the server in use. @throws {AppError} invalid_request; rate_limited
     */
    async send(
      actor: Actor,
      principal: Principal,
      workspaceId: string,
      to: string | undefined,
      candidate?: MailTransport,
    ): Promise<MailTestRecord> {
      const email = await addressee(principal, to);
      const test = async (unit: Unit) => {
        if (!(await isWorkspaceMemberByEmail(unit, { workspaceId, email })))
          throw invalidField('to', 'Name the address of a member of the workspace.');
        const { name: workspaceName } = await requireWorkspace(unit, workspaceId);
        const person = await findUserByEmail(unit, email);
        const locale = localeToWriteIn(await localeShownTo(unit, workspaceId, person));
        const content = mailTestMail({ locale, workspaceName, host: new URL(baseUrl()).host });
        const expiresAt = unit.now + LIFETIME_MS;
        const origin = { applicationId: null, workspaceId };
        const ids = await mails.queue(unit, workspaceId, [{ to: email, ...content, code: null, expiresAt, origin }]);
        const [id = ''] = ids;
        await recordAudit(unit, { kind: 'mail.tested', workspaceId, targetId: id, email });
        return id;
      };
      const result = await alone(workspaceId, () => sendNow(actor, test, candidate));
      const told = await answersFor(db.reader, instance, workspaceId);
      const transport = result.outcome === 'captured' ? 'outbox' : 'smtp';
      return { transport, to: email, ...result, answer: told(result.answer) };
    },
  };
}
