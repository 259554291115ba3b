/** The team in the console: its members sign in when they have something to do. */
import { HOUR } from '../../src/core/clock.ts';
import type { Past, Signed } from './past.ts';
import { colleague, type Person } from './people.ts';

export const TEAM = {
  owner: colleague('Mara Lindqvist', 'en SE Europe/Stockholm', '192.0.2.251'),
  admin: colleague('Jonas Weber', 'de DE Europe/Berlin', '198.51.100.251'),
  /** Reads and changes nothing. */
  member: colleague('Ines Moreau', 'fr FR Europe/Paris', '203.0.113.251'),
} as const satisfies Record<string, Person>;

export type Colleague = keyof typeof TEAM;

export interface Team {
  /** Manages as a member of the team. @throws if it is refused. @returns the answer's data. */
  as(colleague: Colleague, method: string, path: string, body?: unknown): Promise<any>;
  /** Confirms a lifecycle change with a mailed code. */
  confirmed(colleague: Colleague, applicationId: string, change: { readonly kind: string }): Promise<void>;
}

const WORKDAY_MS = 10 * HOUR;

export function team(past: Past): Team {
  const sessions = new Map<Colleague, { signed: Signed; at: number }>();

  async function as(who: Colleague, method: string, path: string, body?: unknown): Promise<any> {
    let session = sessions.get(who);
    if (!session || past.now() - session.at > WORKDAY_MS) {
      const signed = await past.signIn(TEAM[who], undefined);
      if (!signed) throw new Error(`${who} cannot sign in to the console`);
      session = { signed, at: past.now() };
      sessions.set(who, session);
    }
    past.pass(past.random.whole(3, 25));
    return past.call(session.signed, method, path, body);
  }

  return {
    as,
    async confirmed(who, applicationId, change) {
      const path = `/api/applications/${applicationId}/lifecycle`;
      const { challengeId } = await as(who, 'POST', `${path}/send`, change);
      await as(who, 'POST', `${path}/confirm`, { challengeId, code: await past.codeFor(TEAM[who].email) });
    },
  };
}
