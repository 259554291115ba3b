/** Signs a delivery: HMAC-SHA256 over `<t>.<rawBody>`, with one `v1` per current secret. */
import { createHmac } from 'node:crypto';

/**
 * @param secrets the current one first; for 24 hours after a rotation the previous one signs as well.
 * @param timestampSeconds Unix time in seconds; receivers reject timestamps more than 5 minutes off.
 * @returns the value of `Svc-Signature`: `t=<unix_ts>,v1=<hex>[,v1=<hex>]`. The key is the whole `whsec_…` string.
 */
export function signatureHeader(secrets: readonly string[], timestampSeconds: number, rawBody: string): string {
  const signed = `${timestampSeconds}.${rawBody}`;
  const signatures = secrets.map((secret) => `v1=${createHmac('sha256', secret).update(signed).digest('hex')}`);
  return [`t=${timestampSeconds}`, ...signatures].join(',');
}
