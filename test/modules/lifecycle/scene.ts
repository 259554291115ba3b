/** An application whose lifecycle is changed by the codes mailed to its owner. */
import { createInstance, type Instance } from '../../support/instance.ts';
import { managing } from '../users/management.ts';

export const OWNER = 'owner@example.com';

export async function setUp() {
  const instance = await createInstance({ environment: { GATEHOUSE_LIMIT_CODES_PER_EMAIL: '100' } });
  const application = await instance.createApplication();
  const manage = managing(instance, application);
  const send = (body: unknown, token?: string) =>
    manage('POST', '/lifecycle/send', { body, ...(token !== undefined && { token }) });
  const confirm = (challengeId: string, code: string) =>
    manage('POST', '/lifecycle/confirm', { body: { challengeId, code } });
  /** Requests a change, and returns its challenge and code. */
  const ask = async (body: unknown): Promise<{ challengeId: string; code: string }> => {
    const sent = await send(body);
    return { challengeId: sent.json.data.challengeId, code: instance.codeFor(OWNER) };
  };
  const change = async (body: unknown) => {
    const { challengeId, code } = await ask(body);
    return confirm(challengeId, code);
  };
  const times = async () => {
    const { archivedAt, deletedAt, purgeAfter } = (await manage('GET', '')).json.data;
    return { archivedAt, deletedAt, purgeAfter };
  };
  return { instance, application, manage, send, confirm, ask, change, times };
}

export type SetUp = Awaited<ReturnType<typeof setUp>>;

export const wrong = (code: string) => (code === '000000' ? '000001' : '000000');
export const verify = (instance: Instance, token: string) => instance.call('POST', '/api/v1/session', { token });
export const mails = (instance: Instance) =>
  instance.sqlite.query('SELECT recipient, subject, text, code FROM mails ORDER BY rowid').all() as {
    recipient: string;
    subject: string;
    text: string;
    code: string | null;
  }[];
