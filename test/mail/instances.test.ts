/** Several instances on one database share the mail queue: each mail is sent once, and none is left behind. */
import { expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { DAY, SECOND } from '@/core/clock.ts';
import { smtpTransport } from '@/mail/smtp.ts';
import { MailError, type MailTransport } from '@/mail/transport.ts';
import { findMail, queueMail } from '@/store/mails.ts';
import { required } from '@/core/required.ts';
import { eventually } from '../support/eventually.ts';
import { createInstance, type Instance, START } from '../support/instance.ts';
import { startMailServer } from '../support/smtp.ts';

function queue({ db, clock, workspaceId }: Instance, to: readonly string[]): Promise<string[]> {
  return db.write(SYSTEM_ACTOR, async (unit) => {
    const ids: string[] = [];
    for (const recipient of to)
      ids.push(
        await queueMail(unit, {
          to: recipient,
          subject: recipient,
          text: 'Hello',
          html: '<p>Hello</p>',
          code: null,
          expiresAt: clock.now() + DAY,
          origin: { applicationId: null, workspaceId },
        }),
      );
    return ids;
  });
}

const addresses = (count: number) => Array.from({ length: count }, (_, index) => `u${index}@d${index % 9}.example.com`);

const hasLost = ({ logLines }: Instance) => logLines.some((line) => line.includes('a mail was not recorded here'));

/** The first instance sends one mail whose outcome the test decides; the second one's transport accepts at once. */
async function stalled() {
  let now = START;
  const outcome = Promise.withResolvers<void>();
  const offered: string[] = [];
  const transport: MailTransport = {
    slots: 4,
    async send({ subject }) {
      offered.push(subject);
      if (offered.length === 1) await outcome.promise;
      return undefined;
    },
    close() {},
  };
  const first = await createInstance({ mail: transport, leaseHolder: 'first', time: { now: () => now } });
  const [id = ''] = await queue(first, ['ada@example.com']);
  await eventually('it is under way', () => offered.length === 1);
  const second = await first.restart({}, { leaseHolder: 'second' });
  const mail = async () => {
    const { status, attempts } = required(await findMail(first.db.reader, id), 'the mail');
    return { status, attempts };
  };
  return { first, second, offered, outcome, mail, pass: (ms: number) => void (now += ms) };
}

const renew = ({ services }: Instance) => services.scheduler.runAll();

test('each mail is sent once by two instances over one mail server', async () => {
  const server = await startMailServer();
  const transport = () => smtpTransport({ url: server.url, from: 'Shop <no-reply@example.com>' });
  const first = await createInstance({ mail: transport(), leaseHolder: 'first' });
  const second = await first.restart({}, { leaseHolder: 'second', mail: transport() });
  const to = addresses(120);
  await queue(first, to);
  await Promise.all([first.services.mail.runOnce(), second.services.mail.runOnce()]);
  await Promise.all([first.services.mail.runOnce(), second.services.mail.runOnce()]);
  expect(server.received.flatMap(({ envelopeTo }) => envelopeTo).sort()).toEqual([...to].sort());
  expect([hasLost(first), hasLost(second)]).toEqual([false, false]);
  await Promise.all([first.services.mail.close(), second.services.mail.close()]);
  await server.close();
});

test('a dead instance’s mails are taken over within a minute', async () => {
  const { second, offered, mail, pass } = await stalled();
  pass(44 * SECOND);
  await second.services.mail.runOnce();
  expect(offered).toHaveLength(1);
  pass(2 * SECOND);
  await second.services.mail.runOnce();
  expect([offered.length, await mail()]).toEqual([2, { status: 'sent', attempts: 2 }]);
});

test('a living instance keeps its mails, however long the server takes', async () => {
  const { first, second, offered, outcome, mail, pass } = await stalled();
  for (let step = 0; step < 10; step += 1) {
    pass(20 * SECOND);
    await renew(first);
    await second.services.mail.runOnce();
  }
  expect(offered).toHaveLength(1);
  outcome.resolve();
  await first.services.mail.runOnce();
  expect(await mail()).toEqual({ status: 'sent', attempts: 1 });
});

test('a late refusal is neither recorded nor reported over the instance that took over', async () => {
  const { first, second, outcome, mail, pass } = await stalled();
  pass(46 * SECOND);
  await second.services.mail.runOnce();
  outcome.reject(new MailError('SMTP 550 5.1.1', true));
  await eventually('the first knows', () => hasLost(first));
  expect(await mail()).toEqual({ status: 'sent', attempts: 2 });
  expect(first.auditKinds().filter((kind) => kind.startsWith('mail.'))).toEqual([]);
});

test('the slot of a mail whose lease was lost is free after the next renewal', async () => {
  const { first, second, mail, pass } = await stalled();
  pass(46 * SECOND);
  await second.services.mail.runOnce();
  await renew(first);
  await eventually('the first knows', () => hasLost(first));
  await first.services.mail.runOnce();
  expect(await mail()).toEqual({ status: 'sent', attempts: 2 });
});

test('a stop waits for a mail under way and records it', async () => {
  const { first, outcome, mail } = await stalled();
  const closing = first.services.mail.close(10 * SECOND);
  outcome.resolve();
  await closing;
  expect(await mail()).toEqual({ status: 'sent', attempts: 1 });
});
