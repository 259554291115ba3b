import { describe, expect, test } from 'bun:test';
import { isoTime, MINUTE } from '../../../src/core/clock.ts';
import { hashSecret, isSecret } from '../../../src/core/secret.ts';
import { createInstance, type Instance, START } from '../../support/instance.ts';
import { auditsOf, databaseOf, workspaceKeyUserId } from '../beta/records.ts';

const setUp = async () => {
  const instance = await createInstance();
  const application = await instance.createApplication();
  const path = `/api/applications/${application.id}`;
  const rotate = (options: { token?: string; body?: unknown } = {}) =>
    instance.call('POST', `${path}/rotate-secret`, { token: instance.workspaceKey, ...options });
  return { instance, application, path, rotate };
};

const stored = ({ sqlite }: Instance, id: string) =>
  sqlite
    .query('SELECT client_secret_hash AS hash, client_secret_prefix AS prefix FROM applications WHERE id = ?')
    .get(id) as { hash: Uint8Array | null; prefix: string | null };

const hex = (bytes: Uint8Array | null) => bytes && Buffer.from(bytes).toString('hex');

describe('a client secret', () => {
  test('is shown only in the answer that creates it, and stored as hash and prefix', async () => {
    const { instance, application, path, rotate } = await setUp();
    expect(stored(instance, application.id)).toEqual({ hash: null, prefix: null });
    const before = auditsOf(instance).length;
    instance.clock.advance(MINUTE);
    const answer = await rotate();
    expect(answer.status).toBe(200);
    const { clientSecret, prefix } = answer.json.data;
    expect(answer.json).toEqual({
      success: true,
      data: { clientSecret, prefix: clientSecret.slice(0, 12), rotatedAt: isoTime(START + MINUTE) },
    });
    expect(isSecret('clientSecret', clientSecret)).toBe(true);
    expect(answer.headers.get('cache-control')).toBe('no-store');

    const row = stored(instance, application.id);
    expect([hex(row.hash), row.prefix]).toEqual([hex(hashSecret(clientSecret)), prefix]);
    expect(JSON.stringify(await databaseOf(instance))).not.toContain(clientSecret);
    expect(instance.logLines.join('')).not.toContain(clientSecret);
    expect(instance.logLines.join('')).not.toContain(prefix);

    for (const read of [path, '/api/applications']) {
      const { text } = await instance.call('GET', read, { token: instance.workspaceKey });
      expect(text).not.toContain(clientSecret);
      expect(text).toContain(`"clientSecretPrefix":"${prefix}"`);
      expect(text).not.toContain(hex(row.hash)!);
    }
    expect(auditsOf(instance, before)).toMatchObject([
      {
        kind: 'application.secret_rotated',
        applicationId: application.id,
        workspaceId: instance.workspaceId,
        targetId: application.id,
        actorUserId: workspaceKeyUserId(instance),
        requestId: answer.headers.get('x-request-id'),
      },
    ]);
    expect(JSON.stringify(auditsOf(instance, before))).not.toContain(prefix);
    expect(instance.events(application.id)).toEqual([]);
  });

  test('replaces the previous one', async () => {
    const { instance, application, rotate } = await setUp();
    const first = (await rotate()).json.data.clientSecret;
    const second = (await rotate()).json.data.clientSecret;
    expect(second).not.toBe(first);
    const { hash } = stored(instance, application.id);
    expect(hex(hash)).toBe(hex(hashSecret(second)));
    expect(hex(hash)).not.toBe(hex(hashSecret(first)));
  });

  test('rotated by ten concurrent calls is one of the ten returned', async () => {
    const { instance, application, rotate } = await setUp();
    const answers = await Promise.all(Array.from({ length: 10 }, () => rotate()));
    const secrets = answers.map(({ json }) => json.data.clientSecret as string);
    expect(new Set(secrets).size).toBe(10);
    const { hash, prefix } = stored(instance, application.id);
    const kept = secrets.filter((secret) => hex(hashSecret(secret)) === hex(hash));
    expect(kept).toHaveLength(1);
    expect(kept[0]).toStartWith(prefix!);
  });

  test('of another application does not change', async () => {
    const { instance, rotate } = await setUp();
    const other = await instance.createApplication({ name: 'Other' });
    await instance.call('POST', `/api/applications/${other.id}/rotate-secret`, { token: instance.workspaceKey });
    const before = stored(instance, other.id);
    await rotate();
    expect(stored(instance, other.id)).toEqual(before);
  });

  test.each([undefined, '', {}])('is created without a body, with an empty one and with {}: %p', async (body) => {
    expect((await (await setUp()).rotate({ body })).status).toBe(200);
  });

  test('is refused to read keys, keys of other applications, anonymous callers and unknown fields', async () => {
    const { instance, application, path, rotate } = await setUp();
    await rotate();
    const read = await instance.createKey(application.id, { access: 'read' });
    const foreign = await instance.createKey((await instance.createApplication({ name: 'Other' })).id);
    const before = await databaseOf(instance);
    const refusals = [
      await rotate({ token: read.token }),
      await rotate({ token: foreign.token }),
      await instance.call('POST', `${path}/rotate-secret`),
      await rotate({ body: { secret: 'mine' } }),
      await rotate({ body: [] }),
    ];
    expect(refusals.map(({ status, json }) => [status, json.error])).toEqual([
      [403, 'admin_scope_required'],
      [404, 'not_found'],
      [401, 'unauthenticated'],
      [400, 'invalid_request'],
      [400, 'invalid_request'],
    ]);
    for (const { text } of refusals) expect(text).not.toContain('ecs_');
    expect(await databaseOf(instance)).toEqual(before);
  });
});
