/**
 * Data kept in memory for the life of the process is bounded for every input of callers. The rate limiter is covered by
 * its own tests.
 */
import { heapStats } from 'bun:jsc';
import { describe, expect, test } from 'bun:test';
import { BlockList } from 'node:net';
import pino from 'pino';
import { adjustableClock } from '@/core/clock.ts';
import { browserOf } from '@/core/device-name.ts';
import { instanceKey } from '@/core/instance-key.ts';
import { systemRandom } from '@/core/random.ts';
import { cachedRow } from '@/db/lookups.ts';
import { query } from '@/db/statements.ts';
import { compressor } from '@/http/compression.ts';
import { PRODUCT } from '@/mail/letter.tsx';
import { lookOf } from '@/mail/letter-style.ts';
import { signInCodeMail } from '@/mail/messages/sign-in-code.ts';
import { smtpConversations } from '@/mail/smtp-conversation.ts';
import { providerDirectory } from '@/modules/provider/directory.ts';
import { dailyCounter } from '@/modules/stats/counts.ts';
import { expiredCredentials } from '@/modules/verification/expired-credentials.ts';
import { lastSeen } from '@/modules/verification/last-seen.ts';
import { deliveryAttempter } from '@/modules/webhooks/attempt.ts';
import { deliveryClaims } from '@/modules/webhooks/claims.ts';
import { OCCURRENCE } from '../support/letters.ts';
import { openTestDatabase } from '../support/database.ts';

const NOW = Date.parse('2026-03-02T12:00:00.000Z');

/** Returns the number of reachable objects in memory. */
async function reachableObjects(): Promise<number> {
  // Settled promises release their values in the next turn of the event loop.
  await Bun.sleep(0);
  Bun.gc(true);
  return heapStats().objectCount;
}

interface Flood {
  /** The approximate number of entries it keeps. */
  readonly bound: number;
  /** Adds the next entry. */
  readonly put: (index: number) => unknown;
}

const clock = adjustableClock({ now: () => NOW });
const colour = (index: number) => `#${(index % 0x1000000).toString(16).padStart(6, '0')}`;

/** Each creates the structure that it floods. */
const FLOODS: Readonly<Record<string, () => Flood | Promise<Flood>>> = {
  async 'sessions, members and keys that were seen'() {
    const seen = lastSeen((await openTestDatabase(clock)).db, 5000);
    const put = (index: number) => {
      seen.sessionSeen({ sessionId: `ses_${index}`, applicationUserId: `apu_${index}`, lastSeenAt: 0 }, NOW);
      seen.keyUsed({ keyId: `key_${index}`, lastUsedAt: null }, NOW);
    };
    return { bound: 15_000, put };
  },
  'credentials that were found expired'() {
    const ended = expiredCredentials();
    return { bound: 50_000, put: (index) => ended.note(`ses_${index}`, index) };
  },
  async 'counts of the day'() {
    const counts = dailyCounter({ ...(await openTestDatabase(clock)), clock });
    const attempt = { applicationId: 'app', kind: 'events', isDelivered: true, durationMs: 5 } as const;
    return { bound: 50_000, put: (index) => counts.attempted({ ...attempt, webhookId: `whk_${index}` }) };
  },
  async 'endpoints that something may be due for'() {
    const claims = deliveryClaims({ db: (await openTestDatabase(clock)).db, clock, leaseHolder: 'instance' }, 5000);
    return { bound: 5000, put: (index) => claims.note([`whk_${index}`]) };
  },
  'signing secrets of endpoints'() {
    const key = instanceKey(systemRandom.bytes(32));
    const attempt = deliveryAttempter({
      clock,
      random: systemRandom,
      instanceKey: { ...key, unseal: async (_, sealed) => sealed },
      outbound: async () => ({ status: 204, headers: new Headers(), body: new Uint8Array() }),
      logoutToken: async () => '',
      log: pino({ level: 'silent' }),
    });
    const put = (index: number) =>
      attempt({
        deliveryId: 'dlv',
        attempts: 1,
        id: 'evt',
        applicationId: 'app',
        type: 'user.left',
        data: '{}',
        createdAt: 1,
        budgetId: 'console',
        isInOrder: false,
        lost: new AbortController().signal,
        endpoint: {
          id: 'whk',
          kind: 'events',
          url: 'https://example.com',
          sealedSecret: `secret ${index}`,
          previousSealedSecret: null,
          previousSecretEndsAt: null,
          inOrderUntil: null,
          inOrderAfter: null,
        },
      });
    return { bound: 10_000, put };
  },
  'browsers by their user agent'() {
    return { bound: 500, put: (index) => void browserOf(`Mozilla/5.0 (X11; Linux x86_64) Firefox/${index}`) };
  },
  'letters with a code'() {
    const put = (index: number) =>
      signInCodeMail({
        locale: 'en',
        application: { ...PRODUCT, name: `Shop ${index}` },
        code: '123456',
        occurrence: OCCURRENCE,
        line: null,
        lifetimeMinutes: 10,
        host: 'shop.example.com',
      });
    return { bound: 500, put };
  },
  'colours of letters': () => ({ bound: 300, put: (index) => lookOf(colour(index * 977)) }),
  'conversations with mail servers'() {
    const { logger } = smtpConversations();
    return { bound: 200, put: (index) => logger.debug({ tnx: 'client', sid: `c${index}` }, 'EHLO here') };
  },
  'compressed answers'() {
    const compress = compressor();
    const request = new Request('http://localhost/', { headers: { 'accept-encoding': 'gzip' } });
    const put = async (index: number) => {
      const headers = { 'content-type': 'text/css', etag: `"${index}"` };
      await (await compress(request, new Response('a'.repeat(2000), { headers }))).bytes();
    };
    return { bound: 500, put };
  },
  'what identity providers publish'() {
    const directory = providerDirectory({
      clock,
      outbound: async ({ url }) => ({
        status: 200,
        headers: new Headers({ 'content-type': 'application/json' }),
        body: new TextEncoder().encode(
          JSON.stringify({
            issuer: new URL(url).origin,
            authorization_endpoint: `${new URL(url).origin}/a`,
            token_endpoint: `${new URL(url).origin}/t`,
            jwks_uri: `${new URL(url).origin}/k`,
          }),
        ),
      }),
      isLoopbackAllowed: false,
      allowedCidrs: new BlockList(),
    });
    return { bound: 1000, put: (index) => directory(`https://id${index}.example.com`) };
  },
  async 'statements of a connection'() {
    const { db } = await openTestDatabase(clock);
    return { bound: 2000, put: (index) => query.rows(`SELECT ${index}`)(db.reader) };
  },
};

/** Answers of the query cache, which remembers them by the hash that was asked for. */
async function cachedAnswers(): Promise<Flood> {
  const { db } = await openTestDatabase(clock);
  const find = cachedRow({ sql: 'SELECT hex(:hash) AS hash, 1 AS one', rowIds: () => [], rowTables: [] });
  const ask = (index: number) => find(db.reader, Bun.SHA256.hash(String(index)) as Uint8Array, (row) => row as object);
  // Only a repeated lookup is cached.
  return { bound: 51_200, put: async (index) => void (await ask(index), await ask(index)) };
}

async function addMany({ put }: Flood, from: number, count: number): Promise<void> {
  for (let index = from; index < from + count; index += 1) {
    const done = put(index);
    if (done instanceof Promise) await done;
  }
}

async function expectBounded(flood: Flood): Promise<void> {
  const { bound } = flood;
  await addMany(flood, 0, bound + Math.ceil(bound / 10));
  const full = await reachableObjects();
  await addMany(flood, 2 * bound, 2 * bound);
  // An unbounded structure keeps at least one object per name.
  expect((await reachableObjects()) - full).toBeLessThan(1.5 * bound);
}

describe('a flood of invented names', () => {
  test.each(Object.entries(FLOODS))(
    'does not grow the %s beyond their bound',
    async (_, make) => expectBounded(await make()),
    120_000,
  );

  test('does not grow the answers that are remembered by a hash beyond their bound', async () => {
    await expectBounded(await cachedAnswers());
  }, 120_000);
});
