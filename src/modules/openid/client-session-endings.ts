import type { BackgroundTask } from '../../jobs/background-tasks.ts';
import { findOAuthGrant } from '../../store/oauth-grants.ts';
import { listUnrevokedOfApplication } from '../../store/sessions.ts';
import { endSessions } from '../sessions/end.ts';

/**
 * Ends the sessions that an application's client got by code exchanges until a time, by user and id; its endpoint is sent
 * a logout token for each. Other sessions of the application go on.
 */
export const clientSessionEndings: BackgroundTask<{ readonly at: number }, string> = {
  name: 'end_client_sessions',
  async step(unit, { applicationId, data: { at }, cursor }, limit) {
    const [userId, sessionId] = cursor === null ? ['', ''] : (JSON.parse(cursor) as [string, string]);
    const sessions = await listUnrevokedOfApplication(unit, { applicationId, userId, sessionId, limit });
    let done = 0;
    for (const { sessionId: id, createdAt } of sessions) {
      if (id === null || createdAt > at || !(await findOAuthGrant(unit, id))) continue;
      done += await endSessions(unit, { sessionId: id }, 'openid_ended');
    }
    const last = sessions.at(-1);
    const next = last ? JSON.stringify([last.userId, last.sessionId ?? '']) : null;
    return { done, cursor: next, isFinished: sessions.length < limit };
  },
};
