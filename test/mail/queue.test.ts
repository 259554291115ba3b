/** The mail queue over a transport that the test controls: order, concurrency and retries. */
import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '../../src/core/actor.ts';
import { DAY, MINUTE } from '../../src/core/clock.ts';
import { type MailTransport, MailError } from '../../src/mail/transport.ts';
import { type MailPriority, queueMail } from '../../src/store/mails.ts';
import { eventually } from '../support/eventually.ts';
import * as given from '../support/given.ts';
import { createInstance, type Instance, START } from '../support/instance.ts';

const PLACES = 8;
/** The slots for codes to one domain. */
const SHARE = 4;

/** A transport that completes mails by subject when the test says so. */
function heldTransport() {
  const offered: string[] = [];
  const waiting = new Map<string, PromiseWithResolvers<void>>();
  let isOpen = false;
  const transport: MailTransport = {
    slots: PLACES,
    async send({ subject }) {
      offered.push(subject);
      if (isOpen) return;
      const arrival = Promise.withResolvers<void>();
      waiting.set(subject, arrival);
      await arrival.promise;
    },
    close() {},
  };
  return {
    transport,
    /** The subjects in the order they were sent. */
    offered,
    underWay: () => [...waiting.keys()],
    arrive(subject: string) {
      waiting.get(subject)!.resolve();
      waiting.delete(subject);
    },
    fail(subject: string, error: Error) {
      waiting.get(subject)!.reject(error);
      waiting.delete(subject);
    },
    /** Completes all mails from now on. */
    open() {
      isOpen = true;
      for (const { resolve } of waiting.values()) resolve();
      waiting.clear();
    },
  };
}

function queue({ db, clock }: Instance, lane: MailPriority, subjects: readonly string[]): Promise<void> {
  return db.write(SYSTEM_ACTOR, async (unit) => {
    for (const subject of subjects)
      await queueMail(unit, {
        to: 'ada@example.com',
        subject,
        text: 'Hello',
        html: '<p>Hello</p>',
        code: null,
        expiresAt: clock.now() + DAY,
        lane,
        origin: { applicationId: null, workspaceId: null },
      });
  });
}

const many = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name} ${index}`);

async function setUp() {
  const held = heldTransport();
  return { held, instance: await createInstance({ mail: held.transport }) };
}

const statusesOf = ({ sqlite }: Instance) =>
  (sqlite.query('SELECT DISTINCT status FROM mails').all() as { status: string }[]).map(({ status }) => status);

describe('the mail queue', () => {
  test('sends a code at once that was queued behind two thousand launch mails', async () => {
    const { held, instance } = await setUp();
    await queue(instance, 'bulk', many('launch', 2000));
    await eventually('the launch is under way', () => held.underWay().length > 0);
    await queue(instance, 'code', ['code']);
    // No launch mail has completed, so the code had a slot.
    await eventually('the code has left', () => held.underWay().includes('code'));
    expect(held.offered.length).toBeLessThanOrEqual(PLACES);
    held.open();
    await instance.services.mail.runOnce();
    expect(held.offered).toHaveLength(2001);
    expect(statusesOf(instance)).toEqual(['sent']);
  });

  test('reserves slots for higher priorities: half of them from bulk, a quarter from notices', async () => {
    const { held, instance } = await setUp();
    const countOf = (name: string) => held.underWay().filter((subject) => subject.startsWith(name)).length;
    await queue(instance, 'bulk', many('bulk', 20));
    await eventually('bulk has its places', () => countOf('bulk') === 4);
    await queue(instance, 'notice', many('notice', 20));
    await eventually('notices have theirs', () => countOf('notice') === 2);
    await queue(instance, 'code', many('code', 20));
    await eventually('codes have the rest', () => countOf('code') === 2);
    await Bun.sleep(10);
    expect([countOf('bulk'), countOf('notice'), countOf('code')]).toEqual([4, 2, 2]);
    // A free slot goes to the highest priority.
    held.arrive('bulk 0');
    await eventually('a code took it', () => countOf('code') === 3);
    expect([countOf('bulk'), countOf('notice')]).toEqual([3, 2]);
    held.open();
    await instance.services.mail.runOnce();
    expect(held.offered).toHaveLength(60);
  });

  test('is a pool: a slow mail occupies only its own slot', async () => {
    const { held, instance } = await setUp();
    await queue(instance, 'code', many('code', 40));
    await eventually('its share is taken', () => held.underWay().length === SHARE);
    for (let arrived = 1; arrived < 40; arrived += 1) {
      await eventually('another is under way', () => held.underWay().some((subject) => subject !== 'code 0'));
      held.arrive(held.underWay().find((subject) => subject !== 'code 0')!);
    }
    expect(held.underWay()).toEqual(['code 0']);
    held.open();
    await instance.services.mail.runOnce();
  });

  test('does not retry a mail in progress, however long it takes', async () => {
    const { held, instance } = await setUp();
    await queue(instance, 'notice', ['slow']);
    await eventually('it is under way', () => held.underWay().length === 1);
    instance.clock.advance(10 * MINUTE);
    instance.services.mail.wake();
    await Bun.sleep(10);
    expect(held.offered).toEqual(['slow']);
    held.open();
    await instance.services.mail.runOnce();
    expect([held.offered, statusesOf(instance)]).toEqual([['slow'], ['sent']]);
  });

  test('sends interrupted mails again at once after a restart', async () => {
    const { held, instance } = await setUp();
    await queue(instance, 'notice', ['cut off']);
    await eventually('it is under way', () => held.underWay().length === 1);
    instance.services.mail.close();
    const { services } = await instance.restart();
    held.open();
    await services.mail.runOnce();
    expect([held.offered, statusesOf(instance)]).toEqual([['cut off', 'cut off'], ['sent']]);
  });

  test('does not send again what another instance on the same database is sending', async () => {
    const { held, instance } = await setUp();
    await queue(instance, 'notice', ['sent by the first']);
    await eventually('it is under way', () => held.underWay().length === 1);
    const second = await instance.restart({}, { leaseHolder: 'second' });
    await second.services.mail.runOnce();
    expect([held.offered, statusesOf(instance)]).toEqual([['sent by the first'], ['queued']]);
    held.open();
    await instance.services.mail.runOnce();
    await second.services.mail.runOnce();
    expect([held.offered, statusesOf(instance)]).toEqual([['sent by the first'], ['sent']]);
  });

  test('sends at once, after an upgrade, mails leased before leases had holders', async () => {
    const { held, instance } = await setUp();
    await queue(instance, 'notice', ['cut off']);
    await eventually('it is under way', () => held.underWay().length === 1);
    instance.services.mail.close();
    instance.sqlite.run('UPDATE mails SET lease_holder = NULL');
    const { services } = await instance.restart();
    held.open();
    await services.mail.runOnce();
    expect([held.offered, statusesOf(instance)]).toEqual([['cut off', 'cut off'], ['sent']]);
  });

  test('repeats a mail whose result could not be stored once its lease expires in real time', async () => {
    let now = START;
    const held = heldTransport();
    const instance = await createInstance({ mail: held.transport, time: { now: () => now } });
    held.open();
    const repair = given.brokenWrites(instance, 'UPDATE OF status ON mails');
    await queue(instance, 'notice', ['once more']);
    await instance.services.mail.runOnce();
    expect([held.offered, statusesOf(instance)]).toEqual([['once more'], ['queued']]);
    repair();
    instance.clock.advance(2 * MINUTE);
    await instance.services.mail.runOnce();
    expect(held.offered).toHaveLength(1);
    now += 2 * MINUTE;
    await instance.services.mail.runOnce();
    expect([held.offered.length, statusesOf(instance)]).toEqual([2, ['sent']]);
  });

  test('records the transport’s own reason for a rejected mail', async () => {
    const { held, instance } = await setUp();
    await queue(instance, 'notice', ['one', 'two', 'three']);
    await eventually('all are under way', () => held.underWay().length === 3);
    held.fail('one', new MailError('SMTP 450 4.2.1', false));
    held.fail('two', new MailError('SMTP 550 5.1.1', true));
    held.fail('three', new TypeError('ada@example.com is not to be written down'));
    await instance.services.mail.runOnce();
    const rows = instance.sqlite.query('SELECT subject, status, last_error AS error FROM mails ORDER BY rowid').all();
    expect(rows).toEqual([
      { subject: 'one', status: 'queued', error: 'SMTP 450 4.2.1' },
      { subject: '', status: 'failed', error: 'SMTP 550 5.1.1' },
      { subject: 'three', status: 'queued', error: 'TypeError' },
    ]);
  });

  test('yields to the event loop while it captures thousands', async () => {
    const instance = await createInstance();
    await queue(instance, 'bulk', many('launch', 3000));
    let isDone = false;
    const running = instance.services.mail.runOnce().then(() => void (isDone = true));
    let turns = 0;
    while (!isDone) {
      await new Promise((resolve) => setImmediate(resolve));
      turns += 1;
    }
    await running;
    expect(turns).toBeGreaterThanOrEqual(5);
    expect(statusesOf(instance)).toEqual(['captured']);
  });
});
