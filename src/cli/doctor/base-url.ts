/** Checks the base URL: its form, whether it reaches this instance, and which proxies are in front of it. */
import { canonicalAddress, familyOf, isLoopbackName } from '../../core/ip-address.ts';
import { relyingPartyOf } from '../../core/relying-party.ts';
import type { DoctorAnswer } from '../../modules/health/doctor-route.ts';
import { isPlainToOthers } from '../../modules/health/warnings.ts';
import { SETTINGS } from '../../settings.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { ServerAnswer, Scene } from './scene.ts';

const SET_IT = 'Set GATEHOUSE_BASE_URL to the https address that people reach this server at, and restart it.';

/** Judges the base URL by its text alone. */
export function addressFindings({ baseUrl, given }: Scene): Finding[] {
  const { ok, warn } = findingsOf('base URL');
  if (isPlainToOthers(baseUrl))
    return warn(
      `${baseUrl} is not encrypted: sessions and codes can be read on the way, and passkeys do not work.`,
      'Put a proxy with a certificate before the server, or give it one (--tls-cert), and set GATEHOUSE_BASE_URL to the https address.',
    );
  if (given(SETTINGS.baseUrl.env) === null)
    return warn(`None is set: links lead to ${baseUrl}, on this machine alone.`, SET_IT);
  const relyingParty = relyingPartyOf(baseUrl);
  if (relyingParty === null)
    return warn(
      `${baseUrl} is an address without a name: no passkeys can be made there.`,
      'Give the server a host name, and set GATEHOUSE_BASE_URL to that.',
    );
  return ok(`${baseUrl}; passkeys are bound to ${relyingParty.id}.`);
}

/** @param public_ result of a request to the base URL. */
export function reachFindings({ baseUrl, server, note }: Scene, { response, facts, error }: ServerAnswer): Finding[] {
  const { ok, warn, fail } = findingsOf('base URL');
  if (server === null)
    return response === null
      ? []
      : warn(
          `Something answers at ${baseUrl}, while no server runs here.`,
          'See who that is; or name the folder of that server with --data.',
        );
  if (response === null)
    return fail(
      `${baseUrl} cannot be reached from here: ${reasonOf(error)}.`,
      'See its name (DNS), the proxy and the firewall. Some networks do not lead back to themselves: then look from outside.',
    );
  const { status, headers } = response;
  if (facts) return ok('It is reached from here, and leads to this instance.');
  if (status >= 300 && status < 400 && headers.has('location')) {
    const to = URL.parse(headers.get('location') ?? '', baseUrl)?.origin ?? 'another address';
    return fail(`${baseUrl} sends on to ${to}.`, `Set GATEHOUSE_BASE_URL to ${to}, if that is where people should be.`);
  }
  const isGatehouse = headers.get('x-request-id')?.startsWith('req_') === true;
  if (note === null)
    return isGatehouse
      ? ok('It is reached from here; whether by this very instance, an earlier version cannot say.')
      : fail(`What answers at ${baseUrl} is no Gatehouse (status ${status}).`, 'See where the proxy leads to.');
  if (isGatehouse)
    return fail(
      `Another instance answers at ${baseUrl}: not the one that runs on this folder.`,
      'See where the proxy leads to, or stop the other one; two must not share a name.',
    );
  const by = headers.get('server');
  return fail(
    `What answers at ${baseUrl} is not this server (status ${status}${by ? `, ${by}` : ''}).`,
    `Lead the proxy to ${note.localUrl}, with every path.`,
  );
}

/** Judges the proxy settings by what a request through the base URL revealed. */
export function proxyFindings(scene: Scene, seen: DoctorAnswer['seen'] | null, local: DoctorAnswer | null): Finding[] {
  const { baseUrl, given, server } = scene;
  const { ok, warn, fail } = findingsOf('proxies');
  const trusted = given(SETTINGS.trustedProxies.env);
  const isTlsHere = given(SETTINGS.tlsCert.env) !== null;
  const isBehind = baseUrl.startsWith('https:') && !isTlsHere;
  const set = (peer: string) => `Where that is your proxy, set GATEHOUSE_TRUSTED_PROXIES=${peer} and restart.`;
  if (seen === null) {
    const header = local?.untrustedProxyHeader ?? null;
    if (header !== null) return untrusted(header);
    if (isBehind && trusted === null)
      return warn(
        'https ends before this server, and no proxy is trusted: everybody counts as one client.',
        'Set GATEHOUSE_TRUSTED_PROXIES to the address of the proxy, such as 127.0.0.1.',
      );
    return server === null || local === null ? [] : ok(trusted === null ? 'None is trusted.' : `Trusted: ${trusted}.`);
  }
  const { peer, client, forwardedFor, forwarded } = seen;
  if (forwardedFor !== null && !isTrusted(trusted, peer))
    return fail(
      `X-Forwarded-For came from ${peer} and is not believed: everybody counts as one client.`,
      set(peer ?? 'ITS ADDRESS'),
    );
  if (forwardedFor !== null)
    return ok(`X-Forwarded-For of ${peer ?? 'the proxy'} is believed: this machine counts as ${client}.`);
  if (isBehind || forwarded !== null)
    return warn(
      `A proxy (${peer ?? 'unknown'}) sends no X-Forwarded-For: everybody counts as one client.`,
      'Let it send X-Forwarded-For with the address of its client; "gatehouse print" has examples.',
    );
  if (local?.untrustedProxyHeader) return untrusted(local.untrustedProxyHeader);
  if (trusted !== null) return ok(`The base URL leads here without one; trusted besides: ${trusted}.`);
  return ok('None stands before the server.');

  function untrusted(header: string): Finding[] {
    return warn(
      `${header} has come from a peer that is not trusted, and was not believed; the log says from whom.`,
      'Where that was your proxy, list its address in GATEHOUSE_TRUSTED_PROXIES; if you have none, there is nothing to do.',
    );
  }
}

function isTrusted(trusted: string | null, peer: string | null): boolean {
  const address = canonicalAddress(peer ?? '');
  return (
    address !== null &&
    SETTINGS.trustedProxies.parse(trusted ?? '', 'normal')?.check(address, familyOf(address)) === true
  );
}

function reasonOf(error: ServerAnswer['error']): string {
  if (error === null) return 'no answer';
  if (error.name === 'TimeoutError') return 'no answer in time';
  return `${error.message.replace(/[.\s]+$/, '').replace(/\. .*$/, '')}${error.code && !error.message.includes(error.code) ? ` (${error.code})` : ''}`;
}

/** Returns true for a loopback name; clocks are then the same, so comparing them proves nothing. */
export function isOnThisMachine(baseUrl: string): boolean {
  return isLoopbackName(new URL(baseUrl).hostname);
}
