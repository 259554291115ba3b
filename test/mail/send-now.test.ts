/** A mail that a caller waits for: the wait is bounded, and a later result is still recorded. */
import { expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { DAY } from '@/core/clock.ts';
import { MailError, type MailTransport } from '@/mail/transport.ts';
import { mailLeases } from '@/mail/leases.ts';
import { sendNow } from '@/mail/send-now.ts';
import { fixedMailServer } from '@/mail/server-in-use.ts';
import { queueMail } from '@/store/mails.ts';
import { createInstance, type Instance } from '../support/instance.ts';

/** The instance's own transport, which never completes. */
const SILENT: MailTransport = { slots: 1, send: () => new Promise(() => {}), close() {} };

const content = { to: 'ada@example.com', subject: 's', text: 't', html: 'h', code: null };

function senderOver({ db, clock }: Instance, send: MailTransport['send'], patienceMs = 20) {
  const log = { error() {} } as never;
  const way: MailTransport = { slots: 1, send, close() {} };
  const expiresAt = clock.now() + DAY;
  const origin = { applicationId: null, workspaceId: null };
  const leases = mailLeases({ db, clock, leaseHolder: 'instance' });
  return () =>
    sendNow({ db, inUse: fixedMailServer(way), onCapture: null, leases, log, patienceMs })(SYSTEM_ACTOR, (unit) =>
      queueMail(unit, { ...content, expiresAt, origin }),
    );
}

const stored = ({ sqlite }: Instance) =>
  sqlite.query('SELECT status, last_error AS "lastError" FROM mails').get() as object;

/** Waits until the instance has stored a status. */
async function recorded(instance: Instance, status: string): Promise<void> {
  while ((stored(instance) as { status: string }).status !== status)
    await new Promise((resume) => setImmediate(resume));
}

test('a silent server is waited for within the bound, and its later answer is recorded', async () => {
  const instance = await createInstance({ mail: SILENT });
  const answer = Promise.withResolvers<string>();
  const result = await senderOver(instance, () => answer.promise)();
  expect(result).toEqual({ outcome: 'timeout', answer: null, durationMs: expect.any(Number) });
  expect(stored(instance)).toEqual({ status: 'queued', lastError: null });
  answer.resolve('250 ok');
  await recorded(instance, 'sent');
});

test('a refusal after the wait is recorded, and nothing is sent again', async () => {
  const instance = await createInstance({ mail: SILENT });
  const answer = Promise.withResolvers<string>();
  expect((await senderOver(instance, () => answer.promise)()).outcome).toBe('timeout');
  answer.reject(new MailError('450 busy', false));
  await recorded(instance, 'failed');
  expect(stored(instance)).toEqual({ status: 'failed', lastError: '450 busy' });
});

test('an error of the transport is reported without its message', async () => {
  const instance = await createInstance({ mail: SILENT });
  const fail = async () => {
    throw new Error('secret of ada@example.com');
  };
  const result = await senderOver(instance, fail, 20_000)();
  expect(result).toMatchObject({ outcome: 'refused', answer: 'the mail could not be sent' });
});
