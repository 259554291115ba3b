/** An application with its waitlist, and the calls that the tests of beta access make. */
import { expect } from 'bun:test';
import { MINUTE } from '@/core/clock.ts';
import type { Application } from '@/store/applications.ts';
import { type Answer, createInstance, type Instance, type InstanceOptions } from '../../support/instance.ts';

export interface Row {
  readonly id: string;
  readonly email: string;
  readonly status: string;
  readonly source: string;
  readonly locale: string | null;
  readonly decidedById: string | null;
  readonly decidedAt: string | null;
  readonly notifiedAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface Beta {
  readonly instance: Instance;
  readonly application: Application;
  /** Calls a path below the application as an admin. */
  admin(method: string, path: string, body?: unknown): Promise<Answer>;
  add(...emails: string[]): Promise<Answer>;
  /** Creates one entry with this status, as an admin or a visitor would. */
  seed(email: string, status: string): Promise<Row>;
  setGate(gate: string): Promise<Answer>;
  setPolicy(policy: string, notify?: boolean): Promise<Answer>;
  /** Sends a request as a visitor. */
  ask(email: string, kind?: string): Promise<Answer>;
  /** Reads all entries, by e-mail. */
  rows(): Promise<Record<string, Row>>;
  statuses(): Promise<Record<string, string>>;
}

export function betaOf(instance: Instance, application: Application): Beta {
  const path = (rest: string) => `/api/applications/${application.id}${rest}`;
  const admin = (method: string, rest: string, body?: unknown) =>
    instance.call(method, path(rest), { token: instance.workspaceKey, body });
  const add = (...emails: string[]) => admin('POST', '/beta-interests', { emails });
  const ask = (email: string, kind = 'request') =>
    instance.call('POST', path('/public/access-interest'), { body: { kind, email } });

  async function rows(): Promise<Record<string, Row>> {
    const found: Record<string, Row> = {};
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Answer = await admin('GET', `/beta-interests?limit=200${cursor && `&cursor=${cursor}`}`);
      for (const row of page.json.data.items) found[row.email] = row;
      cursor = page.json.data.nextCursor;
    }
    return found;
  }

  return {
    instance,
    application,
    admin,
    add,
    ask,
    rows,
    async seed(email, status) {
      if (status === 'notify_when_public') await ask(email, 'notify');
      else await admin('POST', '/beta-interests', { emails: [email], status: 'pending' });
      let row = (await rows())[email]!;
      const step = { approved: 'approve', declined: 'decline' }[status];
      if (step) row = (await admin('POST', `/beta-interests/${row.id}/${step}`)).json.data;
      expect(row.status).toBe(status);
      return row;
    },
    setGate: (gate) => admin('POST', '/signin-gate', { gate }),
    setPolicy: (policy, notify) => admin('POST', '/beta-policy', { policy, ...(notify !== undefined && { notify }) }),
    async statuses() {
      return Object.fromEntries(Object.entries(await rows()).map(([email, { status }]) => [email, status]));
    },
  };
}

/** Tries to sign in, and returns `in` or the error. */
export async function signIn({ instance, application }: Beta, email: string): Promise<string> {
  instance.clock.advance(MINUTE);
  const { json } = await instance.trySignIn(application.clientId, email);
  return json.success ? 'in' : json.error;
}

/** Creates an application behind a gate, as a private beta has it. */
export async function setUpBeta({ gate = 'private_beta', ...options }: InstanceOptions & { gate?: string } = {}) {
  const instance = await createInstance(options);
  const beta = betaOf(instance, await instance.createApplication());
  if (gate !== 'public') await beta.setGate(gate);
  return beta;
}
