/** Requests that another site makes a signed-in person's browser send: the cookie is sent, and must not suffice. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { isOfClients, type Operation } from '@/http/operation.ts';
import { dumpTables } from '../support/stored.ts';
import { addressOf, createAttackWorld, send } from './world.ts';

setDefaultTimeout(120_000);

const OWN = 'https://id.example.com';
const world = await createAttackWorld({ environment: { GATEHOUSE_BASE_URL: OWN } });
const { instance } = world;
const { token } = await instance.signIn('console', 'owner@example.com');
const cookie = `__Host-gatehouse=${token}`;
const named = (list: readonly Operation[]) => list.map((operation) => [operation.id, operation] as const);
const { operations } = instance.app;
const takesCookie = operations.filter(({ access }) => ['session', 'person', 'read', 'full'].includes(access));
const changing = takesCookie.filter(({ method }) => method !== 'GET');
const reading = takesCookie.filter(({ method }) => method === 'GET');

const ELSEWHERE: Record<string, Record<string, string>> = {
  'another site': { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
  'another site, in a browser without fetch metadata': { origin: 'https://evil.example' },
  'an opaque origin, such as a sandboxed frame': { origin: 'null', 'sec-fetch-site': 'cross-site' },
  'an opaque origin alone': { origin: 'null' },
  'a sibling host': { origin: 'https://app.example.com', 'sec-fetch-site': 'same-site' },
  'another port': { origin: `${OWN}:8443`, 'sec-fetch-site': 'same-site' },
  'the same host without encryption': { origin: 'http://id.example.com', 'sec-fetch-site': 'cross-site' },
  'a host that begins like ours': { origin: 'https://id.example.com.evil.example' },
  'a host that ends like ours': { origin: 'https://evil-id.example.com' },
  'our name with a user in front': { origin: 'https://id.example.com@evil.example' },
  'a form in a browser that names no origin': { 'sec-fetch-site': 'cross-site' },
  'a sibling that names no origin': { 'sec-fetch-site': 'same-site' },
  'the address bar': { 'sec-fetch-site': 'none' },
  'nowhere that is named': {},
  'our origin, which the browser says is another site': { origin: OWN, 'sec-fetch-site': 'cross-site' },
  'two origins': { origin: `${OWN}, https://evil.example`, 'sec-fetch-site': 'cross-site' },
  'an empty origin': { origin: '', 'sec-fetch-site': 'same-site' },
  'our address as referrer alone': { referer: `${OWN}/console` },
};

/** Bodies that a page can send without a preflight. */
const SIMPLE_BODIES: readonly [type: string, body: string][] = [
  ['text/plain', '{}'],
  ['application/x-www-form-urlencoded', 'name=x'],
  ['multipart/form-data; boundary=x', '--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nx\r\n--x--'],
];

describe('a change authorised by cookie', () => {
  test.each(named(changing))('%s: is refused except from our own pages', async (_, operation) => {
    const before = dumpTables(instance);
    const address = addressOf(operation, world.ids);
    for (const [place, headers] of Object.entries(ELSEWHERE)) {
      const answer = await send(world, operation.method, address, { headers: { cookie, ...headers } });
      expect([place, answer.status, answer.json.error]).toEqual([place, 403, 'forbidden']);
      expect([place, answer.json.data]).toEqual([place, undefined]);
    }
    for (const [type, body] of SIMPLE_BODIES) {
      const headers = { cookie, 'content-type': type, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
      const answer = await send(world, operation.method, address, { body, headers });
      expect([type, answer.status, answer.json.error]).toEqual([type, 403, 'forbidden']);
    }
    expect(dumpTables(instance)).toEqual(before);
  });

  // A refused body shows that the request passed the origin check; it changes nothing.
  test.each(named(changing.filter(({ body }) => body)))('%s: is accepted from our own pages', async (_, operation) => {
    const ours: Record<string, string>[] = [{ origin: OWN, 'sec-fetch-site': 'same-origin' }, { origin: OWN }];
    for (const headers of ours) {
      const answer = await send(world, operation.method, addressOf(operation, world.ids), {
        body: '{"broken',
        headers: { cookie, ...headers },
      });
      expect([answer.status, answer.json.error]).toEqual([400, 'invalid_request']);
    }
  });
});

describe('a read authorised by cookie', () => {
  test.each(named(reading))('%s: is refused if a link on another site causes it', async (_, operation) => {
    const before = dumpTables(instance);
    for (const site of ['cross-site', 'same-site']) {
      const headers = { cookie, 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate' };
      const answer = await send(world, 'GET', addressOf(operation, world.ids), { headers });
      expect([site, answer.status, answer.json.error]).toEqual([site, 403, 'forbidden']);
    }
    expect(dumpTables(instance)).toEqual(before);
  });

  // An export is recorded in the audit log.
  test.each(named(reading.filter(({ id }) => id !== 'exportAccount')))('%s: changes nothing', async (_, operation) => {
    const before = dumpTables(instance);
    const headers = { cookie, 'sec-fetch-site': 'same-origin' };
    const { status } = await send(world, 'GET', addressOf(operation, world.ids), { headers });
    expect(status).toBeLessThan(500);
    expect(status).not.toBe(403);
    expect(dumpTables(instance)).toEqual(before);
  });
});

test.each(named(operations.filter(({ access }) => access === 'token' || access === 'key' || isOfClients(access))))(
  '%s: accepts no cookie as a credential, from any origin',
  async (_, operation) => {
    const headers = { cookie, origin: OWN, 'sec-fetch-site': 'same-origin' };
    const { status } = await send(world, operation.method, addressOf(operation, world.ids), { headers });
    expect(status).toBe(401);
  },
);

describe('a sign-in forged by another site', () => {
  // Operations that take a form set no cookie.
  const open = operations.filter(
    ({ access, method, body, isFormAccepted }) => access === 'none' && method === 'POST' && body && !isFormAccepted,
  );

  test.each(named(open))('%s: cannot be sent without a preflight', async (_, operation) => {
    for (const [type, body] of SIMPLE_BODIES) {
      const headers = { 'content-type': type, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
      const answer = await send(world, 'POST', addressOf(operation, world.ids), { body, headers });
      expect([type, answer.status, answer.headers.getSetCookie()]).toEqual([type, 415, []]);
    }
  });
});

test('no answer lets another site’s page read what the cookie opens', async () => {
  for (const operation of takesCookie) {
    const address = addressOf(operation, world.ids);
    const asked = { origin: 'https://evil.example', 'access-control-request-method': operation.method };
    const preflight = await send(world, 'OPTIONS', address, { headers: { cookie, ...asked } });
    const answer = await send(world, operation.method, address, {
      headers: { cookie, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    });
    for (const { headers } of [preflight, answer]) {
      expect([operation.id, headers.get('access-control-allow-credentials')]).toEqual([operation.id, null]);
      expect([operation.id, headers.get('access-control-allow-origin')]).not.toEqual([
        operation.id,
        'https://evil.example',
      ]);
    }
  }
});

test('the cookie is limited to this host, hidden from scripts, and not sent with other sites’ forms', async () => {
  instance.clock.advance(16 * 60_000);
  const { headers } = await instance.trySignIn('console', 'owner@example.com');
  const [name, ...attributes] = headers
    .getSetCookie()
    .find((line) => line.includes('est_'))!
    .split('; ');
  expect(name).toStartWith('__Host-gatehouse=est_');
  expect(attributes.filter((attribute) => !attribute.startsWith('Expires')).sort()).toEqual([
    'HttpOnly',
    'Path=/',
    'SameSite=Lax',
    'Secure',
  ]);
});
