/** Checks the TLS certificate of the base URL as a client does: chain, name and expiry. */
import type { X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';
import { DAY } from '../../core/clock.ts';
import { withoutBrackets } from '../../core/ip-address.ts';
import { lasting } from '../../core/quantities.ts';
import { EXPIRY_WARNING_MS } from '../../http/certificate.ts';
import { type Finding, findingsOf } from './finding.ts';

interface Presented {
  readonly certificate: X509Certificate;
  /** Why a client would reject it; null if it is accepted. */
  readonly refusal: string | null;
}

const CHAIN: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its authority is unknown to this machine',
  UNABLE_TO_GET_ISSUER_CERT: 'its authority is unknown to this machine',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its authority is unknown to this machine',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its authority is unknown to this machine, or intermediate certificates are missing',
};
const ABOUT_TIME_OR_NAME = /EXPIRED|NOT_YET_VALID|ALTNAME/;
const SOON_MS = 3 * DAY;

export async function certificateFindings(baseUrl: string, timeoutMs: number, now: number): Promise<Finding[]> {
  const { ok, warn, fail } = findingsOf('certificate');
  const { hostname, port } = new URL(baseUrl);
  const host = withoutBrackets(hostname);
  let presented: Presented;
  try {
    presented = await certificateAt(host, Number(port || 443), timeoutMs);
  } catch (error) {
    return fail(`No TLS at ${baseUrl} (${(error as Error).message}).`, 'Check that the proxy runs and serves https.');
  }
  const { certificate, refusal } = presented;
  const [begins, ends] = [certificate.validFromDate.getTime(), certificate.validToDate.getTime()];
  const left = lasting(Math.abs(ends - now));
  const renew = 'Renew it, and reload the proxy or server that uses it.';
  const findings: Finding[] = [];
  if (ends <= now) findings.push(...fail(`It expired ${left} ago.`, renew));
  else if (begins > now)
    findings.push(...fail(`It is not valid before ${certificate.validFrom}.`, 'Use a valid one, or set the clock.'));
  else if (ends - now < EXPIRY_WARNING_MS)
    findings.push(...(ends - now < SOON_MS ? fail : warn)(`It expires in ${left}.`, renew));
  if ((certificate.checkHost(host) ?? certificate.checkIP(host)) === undefined)
    findings.push(
      ...fail(
        `It is not for ${host}, but for ${certificate.subjectAltName ?? certificate.subject}.`,
        'Get one for the name in the base URL, or set GATEHOUSE_BASE_URL to a name that it covers.',
      ),
    );
  if (refusal !== null && !ABOUT_TIME_OR_NAME.test(refusal))
    findings.push(
      ...fail(
        `Clients will not trust it: ${CHAIN[refusal] ?? refusal}.`,
        'Serve one of a public authority with its whole chain. Clients and this machine must trust a private authority (NODE_EXTRA_CA_CERTS).',
      ),
    );
  return findings.length > 0 ? findings : ok(`For ${host}, trusted, and valid for another ${left}.`);
}

function certificateAt(host: string, port: number, timeoutMs: number): Promise<Presented> {
  const presented = Promise.withResolvers<Presented>();
  // Verification is off: an invalid certificate must be read to be reported. Nothing is sent over the connection.
  const socket = connect(
    { host, port, servername: /^[\d.]+$|:/.test(host) ? '' : host, rejectUnauthorized: false },
    () => {
      const certificate = socket.getPeerX509Certificate();
      const refusal = socket.authorized ? null : String(socket.authorizationError);
      socket.end();
      if (certificate) presented.resolve({ certificate, refusal });
      else presented.reject(new Error('the server presented no certificate'));
    },
  );
  const timer = setTimeout(() => presented.reject(new Error(`no answer within ${lasting(timeoutMs)}`)), timeoutMs);
  socket.on('error', presented.reject);
  return presented.promise.finally(() => {
    clearTimeout(timer);
    socket.destroy();
  });
}
