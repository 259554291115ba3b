/** Deliveries are accepted only with the server's valid signature. */
import { describe, expect, test } from 'bun:test';
import { verifyWebhook, type WebhookEvent, type WebhookRefused } from '@/client/gatehouse.ts';
import type { EventData, EventType } from '@/core/event.ts';
import { signatureHeader } from '@/modules/webhooks/signature.ts';

const NOW = 1_780_000_000;
const SECRET = 'whsec_one';
const BODY = JSON.stringify({
  id: 'evt_1',
  type: 'user.banned',
  createdAt: '2026-05-28T20:26:40.000Z',
  applicationId: 'app_1',
  data: { userId: 'usr_1', reason: 'Spät – “so”' },
});

const now = () => NOW * 1000;
const signed = (body = BODY, secrets = [SECRET], time = NOW) => ({
  'svc-signature': signatureHeader(secrets, time, body),
});
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'accepted',
    (error: WebhookRefused) => error.code,
  );

describe('a delivery', () => {
  test('is accepted as text, as bytes and with either kind of headers', async () => {
    const headers = signed();
    for (const body of [BODY, new TextEncoder().encode(BODY), Buffer.from(BODY), new TextEncoder().encode(BODY).buffer])
      for (const given of [headers, new Headers(headers), { 'Svc-Signature': headers['svc-signature'] }])
        expect(await verifyWebhook(body, given, SECRET, { now })).toEqual(JSON.parse(BODY));
  });

  test('is accepted with either secret during a rotation, on either side', async () => {
    for (const secret of ['whsec_old', 'whsec_new', ['whsec_other', 'whsec_old']])
      expect((await verifyWebhook(BODY, signed(BODY, ['whsec_new', 'whsec_old']), secret, { now })).id).toBe('evt_1');
  });

  test('is refused with a changed byte, another secret, or no signature', async () => {
    const verdict = (body: string, headers: Record<string, string>, secret = SECRET) =>
      codeOf(verifyWebhook(body, headers, secret, { now }));
    expect(await verdict(`${BODY} `, signed())).toBe('wrong_signature');
    expect(await verdict(BODY, signed(), 'whsec_two')).toBe('wrong_signature');
    expect(await verdict(BODY, signed(`${BODY} `))).toBe('wrong_signature');
    for (const header of ['', 't=1', `t=${NOW},v1=00`, `t=${NOW},v0=${'0'.repeat(64)}`, `v1=${'0'.repeat(64)}`])
      expect(await verdict(BODY, { 'svc-signature': header })).toBe('no_signature');
    expect(await verdict(BODY, { 'svc-signature': `t=${NOW}${`,v1=${'0'.repeat(64)}`.repeat(9)}` })).toBe(
      'no_signature',
    );
    expect(await verdict(BODY, {})).toBe('no_signature');
    expect(await verdict('[1]', signed('[1]'))).toBe('no_event');
    expect(await verdict('nonsense', signed('nonsense'))).toBe('no_event');
  });

  test('is refused with an answer to send, 401 in either style', async () => {
    const error = (await verifyWebhook(BODY, {}, SECRET).catch((thrown: unknown) => thrown)) as WebhookRefused;
    const { response } = error;
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({ success: false, error: 'no_signature', message: error.message });
    const sent: unknown[] = [];
    error.sendTo({ writeHead: (status) => sent.push(status), end: (body) => sent.push(body) });
    expect(sent).toEqual([401, error.body]);
  });

  test('is refused once a framework has parsed it, with the advice to give the raw body', async () => {
    for (const parsed of [JSON.parse(BODY), undefined, null, 7]) {
      const error = await verifyWebhook(parsed, signed(), SECRET, { now }).catch((thrown: WebhookRefused) => thrown);
      expect(error).toMatchObject({ code: 'no_raw_body', status: 401, message: expect.stringMatching('the raw body') });
    }
  });

  test('cannot be checked without a secret, and the error names what to set', () => {
    for (const secret of ['', undefined, [], [undefined], ['whsec_one', '']])
      expect(verifyWebhook(BODY, signed(), secret as string)).rejects.toThrow(
        /secret is (?:empty|missing).*SIGNING_SECRET/,
      );
  });

  test('is refused if it is more than five minutes off in either direction, or than the given tolerance', async () => {
    const verdict = (time: number, options = {}) =>
      codeOf(verifyWebhook(BODY, signed(BODY, [SECRET], time), SECRET, { now, ...options }));
    expect(await verdict(NOW - 300)).toBe('accepted');
    expect(await verdict(NOW + 300)).toBe('accepted');
    expect(await verdict(NOW - 301)).toBe('too_old');
    expect(await verdict(NOW + 301)).toBe('too_old');
    expect(await verdict(NOW - 11, { toleranceSeconds: 10 })).toBe('too_old');
    expect(await verdict(NOW, { toleranceSeconds: Number.NaN })).toBe('too_old');
  });
});

test('the event types match the sent ones, and `type` discriminates their data', () => {
  type Sent = EventType | 'webhook.test';
  type Same<A, B> = [A, B] extends [B, A] ? true : false;
  type DataOf<Type extends EventType> = Extract<WebhookEvent, { type: Type }>['data'];
  const areTypes: Same<WebhookEvent['type'], Sent> = true;
  const isData: { [Type in EventType]: EventData[Type] extends DataOf<Type> ? true : false }[EventType] = true;
  const event = JSON.parse(BODY) as WebhookEvent;
  // @ts-expect-error only some have a reason
  const early: unknown = event.data.reason;
  const late = event.type === 'user.banned' ? event.data.reason : null;
  expect([areTypes, isData, early === late]).toEqual([true, true, true]);
});
