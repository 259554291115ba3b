import { describe, expect, test } from 'bun:test';
import { SYSTEM_ACTOR } from '@/core/actor.ts';
import { MINUTE } from '@/core/clock.ts';
import { instanceKey } from '@/core/instance-key.ts';
import { systemRandom } from '@/core/random.ts';
import { isSecret } from '@/core/secret.ts';
import { retentionJob } from '@/jobs/retention.ts';
import { deviceAuthorizationService } from '@/modules/devices/authorization.ts';
import * as given from '../../support/given.ts';
import { createInstance } from '../../support/instance.ts';
import { dumpTables } from '../../support/stored.ts';
import { CODE_PATH, createScene, grants, sceneOf } from './scene.ts';

const SHAPE = /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/;

describe('a device code', () => {
  test('is issued as flat JSON with a user code and the verification addresses', async () => {
    const { instance, application } = await createScene();
    const answer = await instance.call('POST', CODE_PATH, { body: { client_id: application.clientId } });
    const { device_code, user_code, ...rest } = answer.json;
    expect(answer.status).toBe(200);
    expect(isSecret('deviceCode', device_code)).toBe(true);
    expect(user_code).toMatch(SHAPE);
    expect(rest).toEqual({
      verification_uri: 'http://localhost:8080/device',
      verification_uri_complete: `http://localhost:8080/device?code=${user_code}`,
      expires_in: 900,
      interval: 5,
    });
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('content-type')).toStartWith('application/json');
  });

  test('is issued for a form as well as for JSON, and unknown parameters are ignored in both', async () => {
    const { instance, application, sendForm } = await createScene();
    const fields = { client_id: application.clientId, scope: 'openid', device_name: '', colour: 'red' };
    for (const answer of [await sendForm(CODE_PATH, fields), await instance.call('POST', CODE_PATH, { body: fields })])
      expect([answer.status, answer.json.interval]).toEqual([200, 5]);
    expect(grants(instance).map(({ device_name }) => device_name)).toEqual([null, null]);
  });

  test('stores the device name, address, country and user agent of its request', async () => {
    const { instance, begin } = await createScene({
      environment: {
        GATEHOUSE_COUNTRY_HEADER: 'cf-ipcountry',
        GATEHOUSE_TRUSTED_PROXIES: '192.0.2.0/24, 198.51.100.0/24, 203.0.113.0/24',
      },
    });
    instance.peer = '192.0.2.44';
    const headers = { 'user-agent': `acme-cli/2 ${'x'.repeat(400)}`, 'cf-ipcountry': 'de' };
    await begin({ device_name: '  Ada’s laptop ' }, headers);
    expect(grants(instance)).toMatchObject([
      {
        status: 'pending',
        device_name: 'Ada’s laptop',
        ip: '192.0.2.44',
        ip_country: 'DE',
        user_agent: headers['user-agent'].slice(0, 300),
      },
    ]);
  });

  test.each([
    ['nothing', {}],
    ['an empty client_id', { client_id: '' }],
    ['a client_id that is no text', { client_id: 5 }],
    ['a name that is no text', { device_name: null }],
    ['a name too long', { device_name: 'x'.repeat(101) }],
    ['a name of two lines', { device_name: 'a\nb' }],
    ['a name that reads backwards', { device_name: 'a\u202eb' }],
    ['a key of no days', { key_days: '0' }],
    ['a key of negative days', { key_days: '-1' }],
    ['a key of half a day', { key_days: '0.5' }],
    ['a key of more than ten years', { key_days: '3651' }],
    ['a key of days in words', { key_days: 'thirty' }],
    ['a key of nearly never', { key_days: 'Never' }],
  ])('is refused for %s with invalid_request, and nothing is written', async (what, fields) => {
    const { instance, application } = await createScene();
    const before = dumpTables(instance);
    const body = what === 'nothing' ? fields : { client_id: application.clientId, ...fields };
    const { status, json } = await instance.call('POST', CODE_PATH, { body });
    expect([status, json]).toEqual([
      400,
      { error: 'invalid_request', error_description: expect.any(String), requestId: expect.any(String) },
    ]);
    expect(dumpTables(instance)).toEqual(before);
  });

  test('is refused when a parameter is sent twice', async () => {
    const { instance, application } = await createScene();
    const { status, json } = await instance.call('POST', CODE_PATH, {
      body: `client_id=${application.clientId}&client_id=${application.clientId}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect([status, json.error]).toEqual([400, 'invalid_request']);
  });

  test('is refused to an unknown client and to an archived application', async () => {
    const { instance, application } = await createScene();
    const ask = (client_id: string) => instance.call('POST', CODE_PATH, { body: { client_id } });
    for (const clientId of ['cli_01h455vb4pex5vsknk084sn02q', application.id, 'nobody']) {
      const { status, json } = await ask(clientId);
      expect([status, json.error]).toEqual([400, 'invalid_client']);
    }
    await given.lifecycle(instance, application.id, { kind: 'archive' });
    const { status, json } = await ask(application.clientId);
    expect([status, json.error]).toEqual([400, 'unauthorized_client']);
    expect(grants(instance)).toEqual([]);
  });

  test('is issued for the console too', async () => {
    const { instance } = await createScene();
    const { status } = await instance.call('POST', CODE_PATH, { body: { client_id: 'console' } });
    expect(status).toBe(200);
  });

  test('comes with a unique user code: a duplicate is drawn again', async () => {
    const { db, services, config } = await createInstance();
    const drawn = ['BBBBBBBB', 'BBBBBBBB', 'BBBBBBBB', 'CCCCCCCC'];
    const authorization = deviceAuthorizationService({
      db,
      random: { ...systemRandom, text: () => drawn.shift()! },
      instanceKey: instanceKey(systemRandom.bytes(32)),
      personalKeys: services.personalKeys,
      limits: config.limits,
      baseUrl: () => 'http://localhost',
    });
    const ask = async () => (await authorization.issue(SYSTEM_ACTOR, { client_id: 'console' }, null)).user_code;
    expect([await ask(), await ask()]).toEqual(['BBBB-BBBB', 'CCCC-CCCC']);
  });

  test('is limited to sixty per client address and quarter of an hour, without affecting other addresses', async () => {
    const scene = await createScene();
    const { instance, application } = scene;
    const ask = () => instance.call('POST', CODE_PATH, { body: { client_id: application.clientId } });
    instance.clock.advance(15 * MINUTE - (instance.clock.now() % (15 * MINUTE)));
    instance.peer = '192.0.2.1';
    for (let count = 0; count < 60; count += 1) expect((await ask()).status).toBe(200);
    const refused = await ask();
    expect([refused.status, refused.json.error, refused.headers.get('retry-after')]).toEqual([
      429,
      'rate_limited',
      '900',
    ]);
    instance.peer = '192.0.2.2';
    expect((await ask()).status).toBe(200);
    instance.peer = '192.0.2.1';
    instance.clock.advance(15 * MINUTE);
    expect((await ask()).status).toBe(200);
  });

  test('is rate limited as configured, and not at all in an ephemeral instance', async () => {
    const environment = { GATEHOUSE_LIMIT_DEVICE_CODES_PER_ADDRESS: '2' };
    const statuses = async (mode: 'normal' | 'ephemeral') => {
      const instance = await createInstance({ mode, environment });
      const { begin } = sceneOf(instance, await instance.createApplication());
      const outcomes = [];
      for (let count = 0; count < 3; count += 1)
        outcomes.push(
          await begin().then(
            () => 200,
            () => 429,
          ),
        );
      return outcomes;
    };
    expect(await statuses('normal')).toEqual([200, 200, 429]);
    expect(await statuses('ephemeral')).toEqual([200, 200, 200]);
  });
});

describe('a grant', () => {
  test('is deleted thirty days after its expiry', async () => {
    const { instance, begin } = await createScene();
    await begin();
    const DAYS_30 = 30 * 24 * 60 * MINUTE;
    const clean = () => retentionJob({ ...instance, auditDays: 365 }).runOnce();
    instance.clock.advance(15 * MINUTE + DAYS_30);
    await clean();
    expect(grants(instance)).toHaveLength(1);
    instance.clock.advance(1);
    await clean();
    expect(grants(instance)).toEqual([]);
  });
});
