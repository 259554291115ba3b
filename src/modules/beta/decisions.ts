/** Decides a single waitlist entry: writes the row, queues the mail and records the audit entry. */
import { AppError } from '../../core/error.ts';
import type { Unit } from '../../db/database.ts';
import type { Application } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { type WaitlistEntry, type BetaStatus, findWaitlistEntry, updateWaitlistEntry } from '../../store/waitlist.ts';
import type { BetaDecided, DecideInput } from './model.ts';
import type { SendBetaMail } from './background-tasks.ts';

/** Writes a status with who decided and when; a pending entry has neither. */
export function writeDecision(
  unit: Unit,
  row: WaitlistEntry,
  status: BetaStatus,
  source?: string,
): Promise<WaitlistEntry> {
  return updateWaitlistEntry(unit, row, {
    status,
    source,
    decidedById: status === 'pending' ? null : unit.actor.userId,
    decidedAt: status === 'pending' ? null : unit.now,
  });
}

/** A repeated decision changes nothing and returns the same row. A refused decision changes nothing. */
export function betaDecisions(sendMail: SendBetaMail) {
  /** @param notify by default only people who wait for a mail. @throws {AppError} rate_limited past the mail limit */
  async function approve(
    unit: Unit,
    application: Application,
    row: WaitlistEntry,
    notify = awaitsNotice(row),
  ): Promise<WaitlistEntry> {
    if (row.status === 'approved') return row;
    if (notify) await sendMail(unit, application, 'approved', [row], 'notice');
    const approved = await writeDecision(unit, row, 'approved');
    const { email, id: targetId } = row;
    await recordAudit(unit, { kind: 'beta.approved', applicationId: application.id, email, targetId });
    return approved;
  }

  /**
   * Declines an entry but keeps its row. A soft decline mails the person and keeps them for the launch mail.
   *
   * @throws {AppError} rate_limited if the workspace has used up its mail limit
   */
  async function decline(
    unit: Unit,
    application: Application,
    row: WaitlistEntry,
    isSoft: boolean,
  ): Promise<WaitlistEntry> {
    const status: BetaStatus = isSoft ? 'notify_when_public' : 'declined';
    if (row.status === status) return row;
    if (isSoft) await sendMail(unit, application, 'declined', [row], 'notice');
    const declined = await writeDecision(unit, row, status);
    await recordAudit(unit, {
      kind: 'beta.declined',
      applicationId: application.id,
      email: row.email,
      targetId: row.id,
      detail: { soft: isSoft },
    });
    return declined;
  }

  return {
    approve,
    decline,

    /** Decides one entry of a batch. A refusal is returned as its outcome, so that the rest of the batch is decided. */
    async decideOne(
      unit: Unit,
      application: Application,
      id: string,
      decision: DecideInput['decision'],
    ): Promise<BetaDecided['results'][number]> {
      const row = await findWaitlistEntry(unit, application.id, id);
      if (!row) return { id, outcome: 'not_found' };
      try {
        const decided =
          decision === 'approve'
            ? await approve(unit, application, row)
            : await decline(unit, application, row, decision === 'soft_decline');
        return { id, outcome: decided === row ? 'unchanged' : 'changed', status: decided.status };
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        return { id, outcome: 'refused', status: row.status, error: error.code, message: error.message };
      }
    },
  };
}

/** Returns whether the person asked for a mail or was promised one. */
function awaitsNotice({ source, status }: WaitlistEntry): boolean {
  return source === 'notify' || status === 'notify_when_public';
}
