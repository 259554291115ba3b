/** Deciding over one request to be let in, by hand: its row, its mail and its record, alone or as one of many. */
import { AppError } from '../../core/error.ts';
import type { Unit } from '../../db/database.ts';
import type { Application } from '../../store/applications.ts';
import { recordAudit } from '../../store/audit.ts';
import { type BetaInterest, type BetaStatus, findInterest, updateInterest } from '../../store/beta-interests.ts';
import type { BetaDecided, DecideInput } from './model.ts';
import type { Tell } from './trails.ts';

/** Notes who decided and when; who is pending is not decided over. */
export function writeDecision(
  unit: Unit,
  row: BetaInterest,
  status: BetaStatus,
  source?: string,
): Promise<BetaInterest> {
  return updateInterest(unit, row, {
    status,
    source,
    decidedById: status === 'pending' ? null : unit.actor.userId,
    decidedAt: status === 'pending' ? null : unit.now,
  });
}

/** Deciding again as it is changes nothing and gives the same row; what is refused has changed nothing. */
export function betaDecisions(tell: Tell) {
  /**
   * @param notify whether to mail the person; by default those who wait to be told.
   * @throws {AppError} rate_limited where the mail is one too many.
   */
  async function approve(
    unit: Unit,
    application: Application,
    row: BetaInterest,
    notify = waitsToBeTold(row),
  ): Promise<BetaInterest> {
    if (row.status === 'approved') return row;
    if (notify) await tell(unit, application, 'approved', [row.email], 'notice');
    const approved = await writeDecision(unit, row, 'approved');
    const { email, id: targetId } = row;
    await recordAudit(unit, { kind: 'beta.approved', applicationId: application.id, email, targetId });
    return approved;
  }

  /**
   * Keeps the row for the record; softly, it also waits for the launch mail and the person is told.
   *
   * @throws {AppError} rate_limited where the mail is one too many.
   */
  async function decline(
    unit: Unit,
    application: Application,
    row: BetaInterest,
    isSoft: boolean,
  ): Promise<BetaInterest> {
    const status: BetaStatus = isSoft ? 'notify_when_public' : 'declined';
    if (row.status === status) return row;
    if (isSoft) await tell(unit, application, 'declined', [row.email], 'notice');
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

    /** The same for one of many: what is refused of it does not stop the others. */
    async decideOne(
      unit: Unit,
      application: Application,
      id: string,
      decision: DecideInput['decision'],
    ): Promise<BetaDecided['results'][number]> {
      const row = await findInterest(unit, application.id, id);
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

/** They asked to be told, or were promised it. */
function waitsToBeTold({ source, status }: BetaInterest): boolean {
  return source === 'notify' || status === 'notify_when_public';
}
