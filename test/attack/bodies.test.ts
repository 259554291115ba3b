/**
 * Floods of request bodies from clients without credentials use bounded memory and close only their own connections.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type EphemeralServer, request, signIn, startEphemeral } from '../support/binary.ts';
import { flood, type Flood } from '../support/body-flood.ts';
import { peakMiB } from '../support/memory.ts';

setDefaultTimeout(180_000);

const COUNT = 1000;
const BYTES = 900_000;
const MOST_GROWTH_MIB = 200;
const OPEN = '/api/v1/auth/otp/send';
const CLOSED = '/api/applications';

async function withServer(env: Record<string, string>, use: (server: EphemeralServer) => Promise<void>): Promise<void> {
  const server = await startEphemeral([], env);
  try {
    await use(server);
    expect((await request(server, 'GET', '/healthz')).status).toBe(200);
    expect((await signIn(server, 'ada@example.com', server.clientId)).token).toStartWith('est_');
  } finally {
    expect(await server.stop()).toBe(0);
  }
}

/** Peak memory is read from /proc. */
describe.if(process.platform === 'linux')('a flood of bodies', () => {
  test.each([
    ['whole ones, where anybody may send one', { path: OPEN, kind: 'whole' }],
    ['whole ones, where a key is needed', { path: CLOSED, kind: 'whole' }],
    ['all but the last byte of each', { path: OPEN, kind: 'held' }],
    ['in chunks, where anybody may send one', { path: OPEN, kind: 'chunked' }],
    ['in chunks, where a key is needed', { path: CLOSED, kind: 'chunked' }],
    ['with a key that nobody has', { path: CLOSED, kind: 'whole', token: 'eak_nobody' }],
    [
      'small enough to be read, all but the last byte',
      { path: '/api/v1/auth/otp/verify', kind: 'held', bytes: 65_000, count: 4000 },
    ],
  ] satisfies [string, Pick<Flood, 'path' | 'kind'> & Partial<Flood>][])(
    'uses less than 200 MiB, and every request is refused: %s',
    async (_, given) => {
      await withServer({ GATEHOUSE_LIMIT_BODY_SECONDS: '2' }, async (server) => {
        const { pid } = server.process;
        const before = peakMiB(pid);
        const { answers } = await flood(server.url, { count: COUNT, bytes: BYTES, ...given });
        // `none`: the reset of a closed connection may overtake its answer.
        expect(Object.keys(answers).filter((status) => !/^(4\d\d|503|none)$/.test(status))).toEqual([]);
        expect(peakMiB(pid) - before).toBeLessThan(MOST_GROWTH_MIB);
      });
    },
  );
});

test('thousands of slow bodies refused at the same moment do not end the process', async () => {
  await withServer(
    {
      GATEHOUSE_LIMIT_BODY_SECONDS: '3',
      GATEHOUSE_LIMIT_SLOW_BODIES_PER_ADDRESS: '10000',
      GATEHOUSE_LIMIT_SLOW_BODIES_IN_ALL: '100000',
    },
    async (server) => {
      const { answers } = await flood(server.url, { path: OPEN, count: 4500, bytes: 1000, kind: 'stalled' });
      expect(answers).toEqual({ 408: 4500 });
    },
  );
});
