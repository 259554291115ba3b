/** Printed texts that strangers and servers have chosen: none controls the terminal, and JSON keeps the same data. */
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jsonText } from '@/cli/sanitize.ts';
import { oneServer, personAt, URL_A } from './scene.ts';

/** Clears the screen by both kinds of control characters, reverses text, and breaks the line. */
const EVIL = 'x\u001b[2J\u009b2J\u202e\u2066\u061c\u2028\u007fy';
const STEERING = /(?!\n)[\p{Cc}\u061c\u2028-\u202e\u2066-\u2069]/u;

/** A server that answers every call alike; waits end at once. */
function answering(status: number, body: unknown) {
  const fetch = async () => Response.json(body as object, { status });
  return { fetch, wait: async () => {} };
}

test('no answer of a server, at login or later, controls the terminal', async () => {
  const person = personAt({ [URL_A]: (await oneServer()).instance });
  const begun = {
    device_code: 'd',
    user_code: EVIL,
    verification_uri: `https://${EVIL}`,
    verification_uri_complete: 'https://a',
    expires_in: 5,
    interval: 5,
  };
  const shown = await person.gatehouse(['login', '--url', URL_A], answering(200, begun));
  expect(shown.out).toContain('and enter the code  x [2J 2J y\n');
  const refusal = {
    success: false,
    error: EVIL,
    message: EVIL,
    requestId: EVIL,
    fields: [{ path: EVIL, message: EVIL }],
  };
  const refused = await person.gatehouse(['login', '--url', URL_A], answering(400, refusal));
  const listed = await person.manage(['apps', 'list'], answering(403, refusal));
  const page = { success: true, data: { items: [], nextCursor: EVIL } };
  const more = await person.manage(['apps', 'list'], answering(200, page));
  expect(more.err).toContain('more: --cursor x [2J 2J y, or --all\n');
  for (const { out, err } of [shown, refused, listed, more]) expect(out + err).not.toMatch(STEERING);
});

test('the names in a question do not control the terminal', async () => {
  const { person } = await oneServer();
  const application = { id: 'app_1', slug: 'shop', name: EVIL, clientId: 'c', deletedAt: null };
  const asked = await person.manage(['apps', 'archive', 'app_1'], {
    ...answering(200, { success: true, data: application }),
    answers: ['no'],
  });
  expect(asked.err).toContain('x [2J 2J y: nobody can sign in any more');
  expect(asked.err).not.toMatch(STEERING);
});

test('JSON contains no control characters and keeps the same data', async () => {
  const data = { name: EVIL, list: [EVIL], 'ke\u009by': 'a\nb' };
  for (const indent of [undefined, 2]) {
    expect(jsonText(data, indent)).not.toMatch(STEERING);
    expect(JSON.parse(jsonText(data, indent))).toEqual(data);
  }

  const { instance, person } = await oneServer();
  const { id, clientId } = await instance.createApplication();
  const { userId } = await instance.signIn(clientId, 'ada@example.com');
  await person.manage(['users', 'ban', userId, '--app', id, '--reason', 'spam']);
  // Stored as before reasons were validated.
  instance.sqlite.query('UPDATE application_users SET status_reason = ? WHERE user_id = ?').run(EVIL, userId);
  const banned = await person.manage(['users', 'show', userId, '--app', id, '--json']);
  expect(banned.out).not.toMatch(STEERING);
  expect(banned.json().statusReason).toBe(EVIL);
  const shown = await person.manage(['users', 'show', userId, '--app', id]);
  const exported = await person.manage(['users', 'export', '--app', id]);
  for (const { out } of [shown, exported]) expect(out).not.toMatch(STEERING);
});

test('the error for an unreadable file contains no control characters', async () => {
  const { instance, person } = await oneServer();
  const { id } = await instance.createApplication();
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-hostile-'));
  try {
    const file = join(folder, 'users.json');
    writeFileSync(file, JSON.stringify([{ email: `no${EVIL}`, roleSlugs: [] }]));
    const { err } = await person.manage(['users', 'import', file, '--app', id]);
    expect(err).toStartWith('skipped  no');
    expect(err).not.toMatch(STEERING);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
