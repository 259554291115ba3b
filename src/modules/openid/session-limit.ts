import { LIMITS, type LimitSettings, type NoteRefusal } from '../../http/limits.ts';
import { applyLimit, type LimitUses } from '../../http/rate-limit.ts';

export interface SessionLimitDependencies {
  readonly limiter: LimitUses;
  readonly limits: Pick<LimitSettings, 'sessionPerMinute'>;
  readonly noteRefusal: NoteRefusal;
}

/** Counts a call of a session that authentication has not counted. @throws {AppError} rate_limited */
export type CountSessionCall = (
  headers: Record<string, string>,
  session: { readonly sessionId: string; readonly applicationId: string },
) => Promise<void>;

export function sessionLimit({ limiter, limits, noteRefusal }: SessionLimitDependencies): CountSessionCall {
  return async (headers, { sessionId, applicationId }) => {
    const state = await limiter.consume(LIMITS.sessionPerMinute, sessionId, limits.sessionPerMinute);
    if (!state.isAllowed) noteRefusal(applicationId, 'sessionPerMinute');
    applyLimit(headers, state);
  };
}
