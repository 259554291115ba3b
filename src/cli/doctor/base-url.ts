/** Checks the base URL: its form, whether it reaches this instance, and which proxies are in front of it. */
import { canonicalAddress, familyOf, isLoopbackName } from '../../core/ip-address.ts';
import { relyingPartyOf } from '../../core/relying-party.ts';
import type { DoctorAnswer } from '../../modules/health/doctor-route.ts';
import { isPlainToOthers } from '../../modules/health/warnings.ts';
import { SETTINGS } from '../../settings.ts';
import { type Finding, findingsOf } from './finding.ts';
import type { ServerAnswer, DoctorContext } from './context.ts';

const SET_IT = 'Set GATEHOUSE_BASE_URL to the https address that people reach this server at, and restart it.';

/** Judges the base URL by its text alone. */
export function addressFindings({ baseUrl, given }: DoctorContext): Finding[] {
  const { ok, warn } = findingsOf('base URL');
  if (isPlainToOthers(baseUrl))
    return warn(
      `${baseUrl} is not encrypted: others on the network can read sessions and codes, and passkeys do not work.`,
      'Put a proxy with a certificate before the server, or give it one (--tls-cert), and set GATEHOUSE_BASE_URL to the https address.',
    );
  if (given(SETTINGS.baseUrl.env) === null)
    return warn(`GATEHOUSE_BASE_URL is not set: links lead to ${baseUrl}, which works only on this machine.`, SET_IT);
  const relyingParty = relyingPartyOf(baseUrl);
  if (relyingParty === null)
    return warn(
      `${baseUrl} is an address without a host name, which passkeys need.`,
      'Give the server a host name, and set GATEHOUSE_BASE_URL to it.',
    );
  return ok(`${baseUrl}; passkeys are bound to ${relyingParty.id}.`);
}

/** Judges the response to a request that was sent to the base URL. @param isServed whether a server runs on the data. */
export function reachFindings(
  { baseUrl, identity, note }: DoctorContext,
  isServed: boolean,
  { response, facts, error }: ServerAnswer,
): Finding[] {
  const { ok, warn, fail } = findingsOf('base URL');
  if (facts)
    return ok(`It is reachable from here, and leads to ${note ? 'this instance' : 'an instance on this database'}.`);
  if (!isServed)
    return response === null
      ? []
      : warn(
          `Something answers at ${baseUrl}, but no server runs on this data.`,
          'Find out what answers, or name the data of that server with --data or --database-url.',
        );
  if (response === null)
    return fail(
      `${baseUrl} cannot be reached from here: ${reasonOf(error)}.`,
      'Check DNS, the proxy and the firewall. Some networks cannot reach their own public address: then check from outside.',
    );
  const { status, headers } = response;
  if (status >= 300 && status < 400 && headers.has('location')) {
    const to = URL.parse(headers.get('location') ?? '', baseUrl)?.origin ?? 'another address';
    return fail(`${baseUrl} redirects to ${to}.`, `Set GATEHOUSE_BASE_URL to ${to}, if that is the right address.`);
  }
  const isGatehouse = headers.get('x-request-id')?.startsWith('req_') === true;
  if (identity === null)
    return isGatehouse
      ? ok('It is reachable from here; whether it is this instance cannot be told.')
      : fail(`The server at ${baseUrl} is not Gatehouse (status ${status}).`, 'Check where the proxy forwards to.');
  if (isGatehouse)
    return fail(
      `Another instance answers at ${baseUrl}: it does not run on this data.`,
      'Check where the proxy forwards to, or stop the other instance: two cannot share a name.',
    );
  const by = headers.get('server');
  return fail(
    `The answer from ${baseUrl} is not this server’s (status ${status}${by ? `, ${by}` : ''}).`,
    `Forward every path from the proxy to ${note?.localUrl ?? 'an instance'}.`,
  );
}

/** Judges the proxy settings by what a request through the base URL revealed. */
export function proxyFindings(
  context: DoctorContext,
  seen: DoctorAnswer['seen'] | null,
  local: DoctorAnswer | null,
): Finding[] {
  const { baseUrl, given, server } = context;
  const { ok, warn, fail } = findingsOf('proxies');
  const trusted = given(SETTINGS.trustedProxies.env);
  const isTlsHere = given(SETTINGS.tlsCert.env) !== null;
  const isBehind = baseUrl.startsWith('https:') && !isTlsHere;
  const set = (peer: string) => `If that is your proxy, set GATEHOUSE_TRUSTED_PROXIES=${peer} and restart.`;
  if (seen === null) {
    const header = local?.untrustedProxyHeader ?? null;
    if (header !== null) return untrusted(header);
    if (isBehind && trusted === null)
      return warn(
        'A proxy terminates https, and no proxy is trusted: all clients share one rate limit.',
        'Set GATEHOUSE_TRUSTED_PROXIES to the address of the proxy, such as 127.0.0.1.',
      );
    return server === null || local === null ? [] : ok(trusted === null ? 'None is trusted.' : `Trusted: ${trusted}.`);
  }
  const { peer, client, forwardedFor, forwarded } = seen;
  if (forwardedFor !== null && !isTrusted(trusted, peer))
    return fail(
      `X-Forwarded-For came from ${peer} and is ignored: all clients share one rate limit.`,
      set(peer ?? 'ITS ADDRESS'),
    );
  if (forwardedFor !== null)
    return ok(`X-Forwarded-For of ${peer ?? 'the proxy'} is trusted: this machine counts as ${client}.`);
  if (isBehind || forwarded !== null)
    return warn(
      `A proxy (${peer ?? 'unknown'}) sends no X-Forwarded-For: all clients share one rate limit.`,
      'Make it send X-Forwarded-For with the client’s address; "gatehouse print" has examples.',
    );
  if (local?.untrustedProxyHeader) return untrusted(local.untrustedProxyHeader);
  if (trusted !== null) return ok(`The base URL leads here without a proxy. Trusted, but not in use: ${trusted}.`);
  return ok('No proxy is in front of the server.');

  function untrusted(header: string): Finding[] {
    return warn(
      `${header} came from an untrusted peer and was ignored; the log names the peer.`,
      'If that was your proxy, list its address in GATEHOUSE_TRUSTED_PROXIES; without a proxy nothing needs to be done.',
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
