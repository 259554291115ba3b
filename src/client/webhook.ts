/** Verifies the signature and age of a webhook delivery and returns its event. */
import type { webhooks } from './generated/api.ts';
import { type AnyHeaders, headerOf } from './headers.ts';
import { signingSecrets } from './options.ts';
import { Refusal } from './refusal.ts';

/** Every event, discriminated by `type`. New types may appear: ignore the unknown ones. */
export type WebhookEvent = {
  [Type in keyof webhooks]: webhooks[Type]['post']['requestBody']['content']['application/json'];
}[keyof webhooks];

export interface WebhookOptions {
  /** Maximum difference between the signature's time and this clock; default 300. */
  readonly toleranceSeconds?: number;
  /** Returns epoch milliseconds. */
  readonly now?: () => number;
}

/** The delivery is not authentic; holds the response to send, which has status 401. */
export class WebhookRefused extends Refusal {
  declare readonly code: 'no_signature' | 'wrong_signature' | 'too_old' | 'no_event' | 'no_raw_body';
  readonly status = 401;
}

/** A rotation has a few signatures side by side; more than this is refused. */
const MOST_SIGNATURES = 8;

/**
 * Verifies a delivery. It may arrive more than once: deduplicate by the event's `id`.
 * @param rawBody exact bytes, before any parsing.
 * @param secret `whsec_…`; several during a rotation, of which any may have signed.
 * @throws {WebhookRefused}
 * @throws {TypeError} without a secret.
 */
export async function verifyWebhook(
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: AnyHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = 300, now = Date.now }: WebhookOptions = {},
): Promise<WebhookEvent> {
  const secrets = signingSecrets('verifyWebhook', secret);
  const body = bytesOf(rawBody);
  const { time, signatures } = parse(headerOf(headers, 'svc-signature'));
  const stamp = new TextEncoder().encode(`${time}.`);
  const signed = new Uint8Array(stamp.length + body.length);
  signed.set(stamp);
  signed.set(body, stamp.length);
  let isGenuine = false;
  for (const one of secrets) {
    const key = await keyOf(one);
    // `verify` compares in constant time.
    for (const signature of signatures)
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) isGenuine = true;
  }
  if (!isGenuine) throw new WebhookRefused('wrong_signature', 'The signature is not of this secret and this body.');
  if (!(Math.abs(now() / 1000 - time) <= toleranceSeconds))
    throw new WebhookRefused('too_old', `It was signed more than ${toleranceSeconds} seconds off this clock.`);
  return eventIn(body);
}

/** Reads bytes of any realm, since test runners such as Jest have their own `ArrayBuffer`. */
function bytesOf(rawBody: unknown): Uint8Array<ArrayBuffer> {
  if (typeof rawBody === 'string') return new TextEncoder().encode(rawBody);
  if (ArrayBuffer.isView(rawBody))
    return new Uint8Array(rawBody.buffer as ArrayBuffer, rawBody.byteOffset, rawBody.byteLength);
  if (Object.prototype.toString.call(rawBody) === '[object ArrayBuffer]') return new Uint8Array(rawBody as ArrayBuffer);
  throw new WebhookRefused('no_raw_body', 'Give the raw body: a parsed one is not what was signed.');
}

/** Parses `t=<unix seconds>,v1=<hex>`, with one `v1` per active secret. */
function parse(header: string): { time: number; signatures: Uint8Array<ArrayBuffer>[] } {
  const [, time] = /^t=(\d{1,12}),/.exec(header) ?? [];
  const signatures = [...header.matchAll(/,v1=([0-9a-f]{64})(?=,|$)/g)].map(([, hex = '']) =>
    Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)),
  );
  if (time === undefined || signatures.length === 0 || signatures.length > MOST_SIGNATURES)
    throw new WebhookRefused('no_signature', 'There is no Svc-Signature header of the form t=…,v1=….');
  return { time: Number(time), signatures };
}

function keyOf(secret: string): Promise<CryptoKey> {
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  return crypto.subtle.importKey('raw', new TextEncoder().encode(secret), hmac, false, ['verify']);
}

function eventIn(body: Uint8Array): WebhookEvent {
  try {
    const event = JSON.parse(new TextDecoder().decode(body)) as WebhookEvent;
    if (typeof event.id === 'string' && typeof event.type === 'string' && event.data instanceof Object) return event;
  } catch {
    // Refused below.
  }
  throw new WebhookRefused('no_event', 'The body is no event.');
}
