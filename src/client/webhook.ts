/** Whether a webhook delivery is genuine and fresh, and the event that it brings. */
import { GatehouseError } from './errors.ts';
import type { webhooks } from './generated/api.ts';

/** All that may come; `type` tells them apart. There may be new types: leave alone what you do not know. */
export type WebhookEvent = {
  [Type in keyof webhooks]: webhooks[Type]['post']['requestBody']['content']['application/json'];
}[keyof webhooks];

export interface WebhookOptions {
  /** How far the time of the signature may be off. */
  readonly toleranceSeconds?: number;
  /** Epoch milliseconds. */
  readonly now?: () => number;
}

/** The delivery is not to be believed: answer 400 or 401. */
export class WebhookRefused extends GatehouseError {
  declare readonly code: 'no_signature' | 'wrong_signature' | 'too_old' | 'no_event';
}

/** As many as stand side by side while a secret is rotated, and some more. */
const MOST_SIGNATURES = 8;

/**
 * Deduplicate by the event's `id`: a delivery may come more than once.
 *
 * @param rawBody to the byte as it came, before anything has parsed it.
 * @param secret `whsec_…`; several where you rotate, any of which may have signed.
 * @throws {WebhookRefused}
 */
export async function verifyWebhook(
  rawBody: string | Uint8Array | ArrayBuffer,
  headers: { get(name: string): string | null } | { readonly [name: string]: string | readonly string[] | undefined },
  secret: string | readonly string[],
  { toleranceSeconds = 300, now = Date.now }: WebhookOptions = {},
): Promise<WebhookEvent> {
  const { time, signatures } = parse(signatureIn(headers));
  const body = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : new Uint8Array(rawBody);
  const stamp = new TextEncoder().encode(`${time}.`);
  const signed = new Uint8Array(stamp.length + body.length);
  signed.set(stamp);
  signed.set(body, stamp.length);
  let isGenuine = false;
  for (const one of typeof secret === 'string' ? [secret] : secret) {
    const key = await keyOf(one);
    // It compares in constant time.
    for (const signature of signatures)
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) isGenuine = true;
  }
  if (!isGenuine) throw new WebhookRefused('wrong_signature', 'The signature is not of this secret and this body.');
  if (!(Math.abs(now() / 1000 - time) <= toleranceSeconds))
    throw new WebhookRefused('too_old', `It was signed more than ${toleranceSeconds} seconds off this clock.`);
  return eventIn(body);
}

function signatureIn(headers: Parameters<typeof verifyWebhook>[1]): string {
  if (typeof headers.get === 'function') return headers.get('svc-signature') ?? '';
  for (const [name, value] of Object.entries(headers))
    if (name.toLowerCase() === 'svc-signature' && typeof value === 'string') return value;
  return '';
}

/** `t=<unix seconds>,v1=<hex>`, with one `v1` for each secret in force. */
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
  if (!secret) throw new TypeError('verifyWebhook needs the signing secret of the endpoint.');
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  return crypto.subtle.importKey('raw', new TextEncoder().encode(secret), hmac, false, ['verify']);
}

function eventIn(body: Uint8Array): WebhookEvent {
  try {
    const event = JSON.parse(new TextDecoder().decode(body)) as WebhookEvent;
    if (typeof event.id === 'string' && typeof event.type === 'string' && event.data instanceof Object) return event;
  } catch {
    // Told below.
  }
  throw new WebhookRefused('no_event', 'The body is signed, and no event.');
}
