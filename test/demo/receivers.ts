/** The receivers of the demo's webhooks: a healthy, a failing and a removed one. */
import { type Clock, DAY, HOUR } from '../../src/core/clock.ts';
import type { GuardedFetch } from '../../src/outbound/guarded-fetch.ts';
import type { Chance } from './chance.ts';

/** Accepts everything. */
export const HEALTHY = 'https://api.harbour.example/hooks/gatehouse';
/** Accepts everything for weeks, and nothing in the last hours. */
export const FAILING = 'https://crm.harbour.example/inbound/users';
/** Removed some days before the end. */
export const GONE = 'https://billing.harbour.example/webhooks/accounts';

/** @returns a replacement for the network, including the pages of the legal URLs. */
export function receivers({ now }: Clock, random: Chance, endAt: number): GuardedFetch {
  return async ({ url }) => {
    const leftMs = endAt - now();
    // Takes as long as a real receiver, only in the last hours, since the delays add up.
    if (leftMs < 5 * HOUR) await Bun.sleep(random.whole(4, 30));
    if (url === FAILING && leftMs < 3 * HOUR)
      return answer(503, 'upstream connect error or disconnect/reset before headers');
    if (url === FAILING && random.percent(2)) return answer(500, '{"error":"Deadlock found when trying to get lock"}');
    if (url === GONE && leftMs < 4 * DAY) return answer(410, 'This service has moved to billing-2.');
    return answer(200, url === HEALTHY ? '{"ok":true}' : '');
  };
}

function answer(status: number, text: string) {
  return { status, headers: new Headers({ 'content-type': 'text/plain' }), body: new TextEncoder().encode(text) };
}
